// ---- host code ----
// softmax(x: f32[x_extent0, 1000], y: f32[y_extent0, 1000])
#define NOINLINE __attribute__((noinline))
struct ParpyContext;
typedef long long i64;
extern "C" i64 parpy_chunks(ParpyContext*, i64 iterations, double cost, i64 max_workers);
extern "C" void parpy_parallel_for(ParpyContext*, i64 iterations, i64 chunks, i64 max_workers,
                                   void (*body)(void* frame, i64 begin, i64 end, i64 chunk),
                                   void* frame);
#define INFINITY __builtin_huge_valf()
#define INLINE static inline __attribute__((always_inline))
// Sums in whatever order is fastest.
template <class T> INLINE T add_any_order(T a, T b) {
#pragma clang fp reassociate(on)
    return a + b;
}
extern "C" float maximum_f32(float, float) __asm__("llvm.maximum.f32")
    __attribute__((const));
extern "C" double maximum_f64(double, double) __asm__("llvm.maximum.f64")
    __attribute__((const));
// Python's max(a, b), where b may be any of the values: a NaN in b is ignored.
INLINE float max_any_order(float a, float b) { return maximum_f32(a, b == b ? b : -INFINITY); }
INLINE double max_any_order(double a, double b) { return maximum_f64(a, b == b ? b : -INFINITY); }
INLINE float rint_f32(float a) { return __builtin_rintf(a); }
INLINE float mul_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
INLINE double mul_add(double a, double b, double c) { return __builtin_fma(a, b, c); }
typedef unsigned int u32;
INLINE u32 f32_bits(float x) { return __builtin_bit_cast(u32, x); }
INLINE float f32_from_bits(u32 bits) { return __builtin_bit_cast(float, bits); }
// y * 2^n for a whole n: in two steps, so that results may overflow or be denormal.
INLINE float scale_f32(float y, float n) {
    const float half = rint_f32(n * 0.5f);
    const u32 a = f32_bits(half + 0x1.8p23f) + 127, b = f32_bits(n - half + 0x1.8p23f) + 127;
    return y * f32_from_bits(a << 23) * f32_from_bits(b << 23);
}
INLINE float exp_f32(float x) {
    const float bounded = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;
    const float n = rint_f32(bounded * 1.442695f);
    float r = mul_add(n, -0x1.62e4p-1f, bounded);
    r = mul_add(n, -0x1.7f7d1cp-20f, r);
    float q = 0.001381452f;
    q = mul_add(q, r, 0.008368781f);
    q = mul_add(q, r, 0.041668393f);
    q = mul_add(q, r, 0.1666652f);
    q = mul_add(q, r, 0.49999994f);
    return scale_f32(1.0f + mul_add(r * r, q, r), n);
}
typedef unsigned long long u64;

struct softmax_i_frame {
    const float* x;
    float* y;
};

static NOINLINE void softmax_i(const float* __restrict x, float* __restrict y, i64 begin, i64 end,
                               i64 chunk) {
    // input.ir:6: for i in range(x.shape[0]):
    for (i64 i = begin; i < end; ++i) {
        // input.ir:7: big = -float.inf
        float big = -INFINITY;
        // input.ir:9: for j in range(x.shape[1]):
        for (i64 j = 0; j < 1000; ++j) {
            // input.ir:10: big = max(big, x[i, j])
            big = max_any_order(big, x[i * 1000 + j]);
        }
        // input.ir:11: s = 0.0
        float s = 0.0f;
        // input.ir:13: for j in range(x.shape[1]):
        for (i64 j = 0; j < 1000; ++j) {
            // input.ir:14: y[i, j] = exp(x[i, j] - big)
            y[i * 1000 + j] = exp_f32(x[i * 1000 + j] - big);
            // input.ir:15: s += y[i, j]
            s = add_any_order(s, y[i * 1000 + j]);
        }
        // input.ir:17: for j in range(x.shape[1]):
        #pragma clang loop vectorize(assume_safety)
        for (i64 j = 0; j < 1000; ++j) {
            // input.ir:18: y[i, j] /= s
            y[i * 1000 + j] = y[i * 1000 + j] / s;
        }
    }
}

static void softmax_i_run(void* frame, i64 begin, i64 end, i64 chunk) {
    const softmax_i_frame& f = *(const softmax_i_frame*)frame;
    softmax_i(f.x, f.y, begin, end, chunk);
}

extern "C" int softmax(ParpyContext* context, const float* __restrict x, i64 x_extent0,
                       float* __restrict y, i64 y_extent0) {
    // input.ir:6: for i in range(x.shape[0]):
    const i64 chunks = parpy_chunks(context, x_extent0, 5150.4, 256);
    softmax_i_frame softmax_i_args = {x, y};
    parpy_parallel_for(context, x_extent0, chunks, 256, softmax_i_run, &softmax_i_args);
    return 0;
}

extern "C" int softmax_slots(ParpyContext* context, const u64* slots) {
    return softmax(context, (const float*)slots[0], (i64)slots[1], (float*)slots[2], (i64)slots[3]);
}
