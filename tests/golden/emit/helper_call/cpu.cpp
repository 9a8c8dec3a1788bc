// ---- host code ----
// norms(x: f32[1000, 3], y: f32[1000])
#define NOINLINE __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))
struct ParpyContext;
typedef long long i64;
extern "C" i64 parpy_chunks(ParpyContext*, i64 iterations, double cost, i64 max_workers);
extern "C" void parpy_parallel_for(ParpyContext*, i64 iterations, i64 chunks, i64 max_workers,
                                   void (*body)(void* frame, i64 begin, i64 end, i64 chunk),
                                   void* frame);
// The lowest address where this thread may begin another call.
extern "C" __attribute__((const)) i64 parpy_stack_limit();
extern "C" __attribute__((noreturn)) void parpy_fail(i64 site, const i64* values, i64 count);
// Ends the program; the values are part of the error message.
template <class... T>
__attribute__((noreturn, cold, noinline)) static void fail(int site, T... values) {
    const i64 all[] = {(i64)values..., 0};
    parpy_fail(site, all, sizeof...(values));
}
// A subscript with Python's meaning: a negative one, which is rare, counts from the end.
INLINE i64 index(i64 i, i64 n) { return __builtin_expect(i < 0, 0) ? i + n : i; }
template <class T> INLINE T square(T a) { return (T)(a * a); }
typedef unsigned long long u64;

__attribute__((disable_tail_calls)) static i64 factorial(i64 n, i64 lowest_frame);

// input.ir:9: helper norm(x, i, n):
INLINE float norm_(const float* x, i64 i, i64 n) {
    // input.ir:10: s = 0.0
    float s = 0.0f;
    // input.ir:11: for k in range(n):
    for (i64 k = 0; k < n; ++k) {
        // input.ir:12: s += square(x[i, k])
        s = s + square(x[index(i, 1000) * 3 + k]);
    }
    // input.ir:13: return sqrt(s)
    return __builtin_sqrtf(s);
}

// input.ir:15: helper factorial(n):
__attribute__((disable_tail_calls)) static i64 factorial(i64 n, i64 lowest_frame) {
    if ((i64)__builtin_frame_address(0) < lowest_frame) {
        fail(0);
        return 0;
    }
    // input.ir:16: if n < 2:
    if (n < 2) {
        // input.ir:17: return 1
        return 1;
    }
    // input.ir:18: return n * factorial(n - 1)
    return n * factorial(n - 1, lowest_frame);
}

struct norms_i_frame {
    const float* x;
    float* y;
};

static NOINLINE void norms_i(const float* __restrict x, float* __restrict y, i64 begin, i64 end,
                             i64 chunk) {
    // input.ir:6: for i in range(n):
    #pragma clang loop vectorize(assume_safety)
    for (i64 i = begin; i < end; ++i) {
        // input.ir:7: y[i] = norm(x, i, 3) + f32(factorial(3))
        y[i] = norm_(x, i, 3) + factorial(3, parpy_stack_limit());
    }
}

static void norms_i_run(void* frame, i64 begin, i64 end, i64 chunk) {
    const norms_i_frame& f = *(const norms_i_frame*)frame;
    norms_i(f.x, f.y, begin, end, chunk);
}

extern "C" int norms(ParpyContext* context, const float* __restrict x, float* __restrict y) {
    // input.ir:6: for i in range(n):
    const i64 chunks = parpy_chunks(context, 1000, 13.6, 1000);
    norms_i_frame norms_i_args = {x, y};
    parpy_parallel_for(context, 1000, chunks, 1000, norms_i_run, &norms_i_args);
    return 0;
}

extern "C" int norms_slots(ParpyContext* context, const u64* slots) {
    return norms(context, (const float*)slots[0], (float*)slots[1]);
}
