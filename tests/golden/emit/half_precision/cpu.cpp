// ---- host code ----
// halves(h: f16[100], b: bf16[100], d: f64[100])
#define NOINLINE __attribute__((noinline))
struct ParpyContext;
typedef long long i64;
extern "C" i64 parpy_chunks(ParpyContext*, i64 iterations, double cost, i64 max_workers);
extern "C" void parpy_parallel_for(ParpyContext*, i64 iterations, i64 chunks, i64 max_workers,
                                   void (*body)(void* frame, i64 begin, i64 end, i64 chunk),
                                   void* frame);
typedef _Float16 f16;
#define INLINE static inline __attribute__((always_inline))
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
// A value out of range gives the lowest integer, like the processor's instruction. A plain conversion
// would give the highest one above the range, with more tests.
template <class F> INLINE int whole_i32(F a) {
    typedef F Float __attribute__((ext_vector_type(1)));
    typedef int Whole __attribute__((ext_vector_type(1)));
    return a >= (F)-2147483648.0 && a < (F)2147483648.0 ? __builtin_convertvector((Float)a, Whole)[0] : -2147483647 - 1;
}
template <class F> INLINE i64 whole_i64(F a) {
    typedef F Float __attribute__((ext_vector_type(1)));
    typedef i64 Whole __attribute__((ext_vector_type(1)));
    return a >= (F)-9223372036854775808.0 && a < (F)9223372036854775808.0 ? __builtin_convertvector((Float)a, Whole)[0] : -9223372036854775807LL - 1;
}
// Converts a float to an integer, towards zero. Out of range the results are NumPy's on x86-64: small
// types and negative values for unsigned ones wrap around; larger values and NaN give the lowest value.
template <class I, class F> INLINE I truncate(F a) {
    if constexpr (sizeof(I) < 4 || (sizeof(I) == 4 && (I)-1 < 0)) {
        return (I)whole_i32(a);
    } else if constexpr ((I)-1 < 0) {
        return (I)whole_i64(a);
    } else if constexpr (sizeof(I) == 4) {
        const bool high = a >= (F)2147483648.0;
        return (I)whole_i32(high ? a - (F)2147483648.0 : a) ^ (I)high << 31;
    } else {
        const bool high = a >= (F)9223372036854775808.0;
        return (I)whole_i64(high ? a - (F)9223372036854775808.0 : a) ^ (I)high << 63;
    }
}
INLINE float f32_to_odd(double x) {
    const float near = (float)x;
    const double back = near;
    const bool beyond = (back < 0 ? -back : back) > (x < 0 ? -x : x);
    const u32 odd = (f32_bits(near) - beyond) | 1;
    return f32_from_bits(back == x || x != x ? f32_bits(near) : odd);
}
// Rounds once: the float is rounded to odd, so that its rounding to f16 is that of the double.
INLINE f16 f16_from_f64(double x) { return (f16)f32_to_odd(x); }
typedef unsigned short u16;
#define INLINE_MEMBER inline __attribute__((always_inline))
// The upper half of a float, computed in float, rounded to nearest after every operation.
struct bf16 {
    u16 bits;
    bf16() = default;
    INLINE_MEMBER bf16(float x) {
        const u32 wide = f32_bits(x);
        bits = (u16)(x == x ? (wide + 0x7fff + (wide >> 16 & 1)) >> 16 : wide >> 16 | 0x40);
    }
    INLINE_MEMBER operator float() const { return f32_from_bits((u32)bits << 16); }
};
typedef unsigned long long u64;

struct halves_i_frame {
    f16* h;
    bf16* b;
    const double* d;
};

static NOINLINE void halves_i(f16* __restrict h, bf16* __restrict b, const double* __restrict d,
                              i64 begin, i64 end, i64 chunk) {
    // input.ir:6: for i in range(n):
    #pragma clang loop vectorize(assume_safety)
    for (i64 i = begin; i < end; ++i) {
        // input.ir:7: h[i] = h[i] * h[i] + 0.1 * exp(h[i])
        h[i] = (f16)(h[i] * h[i]) + (f16)(0.099975586f * (f16)exp_f32(h[i]));
        // input.ir:8: b[i] = b[i] / 3.0 if b[i] > 1.0 else -b[i]
        b[i] = b[i] > 1.0f ? (bf16)(b[i] / 3.0f) : (bf16)-b[i];
        // input.ir:9: h[i] = f16(d[i]) + f16(int(h[i]))
        h[i] = f16_from_f64(d[i]) + (f16)(float)truncate<i64>((float)h[i]);
    }
}

static void halves_i_run(void* frame, i64 begin, i64 end, i64 chunk) {
    const halves_i_frame& f = *(const halves_i_frame*)frame;
    halves_i(f.h, f.b, f.d, begin, end, chunk);
}

extern "C" int halves(ParpyContext* context, f16* __restrict h, bf16* __restrict b,
                      const double* __restrict d) {
    // input.ir:6: for i in range(n):
    const i64 chunks = parpy_chunks(context, 100, 8.2, 100);
    halves_i_frame halves_i_args = {h, b, d};
    parpy_parallel_for(context, 100, chunks, 100, halves_i_run, &halves_i_args);
    return 0;
}

extern "C" int halves_slots(ParpyContext* context, const u64* slots) {
    return halves(context, (f16*)slots[0], (bf16*)slots[1], (const double*)slots[2]);
}
