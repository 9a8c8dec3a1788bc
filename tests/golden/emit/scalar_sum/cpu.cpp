// ---- host code ----
// scalar_sum(x: f64[100000], out: f64[2])
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
template <class T> INLINE T max_py(T a, decltype(T()) b) { return b > a ? b : a; }
typedef unsigned long long u64;

struct scalar_sum_i_frame {
    const double* x;
    double* s_parts;
};

static NOINLINE void scalar_sum_i(const double* __restrict x, double* __restrict s_parts, i64 begin,
                                  i64 end, i64 chunk) {
    // input.ir:7: for i in range(0, n, 3):
    double s = -0.0;
    for (i64 i_count = begin; i_count < end; ++i_count) {
        i64 i = i_count * 3;
        // input.ir:8: s += x[i] * x[i]
        s = add_any_order(s, x[i] * x[i]);
    }
    s_parts[chunk] = s;
}

static void scalar_sum_i_run(void* frame, i64 begin, i64 end, i64 chunk) {
    const scalar_sum_i_frame& f = *(const scalar_sum_i_frame*)frame;
    scalar_sum_i(f.x, f.s_parts, begin, end, chunk);
}

struct scalar_sum_i_1_frame {
    const double* x;
    double* out_parts;
};

static NOINLINE void scalar_sum_i_1(const double* __restrict x, double* __restrict out_parts,
                                    i64 begin, i64 end, i64 chunk) {
    // input.ir:12: for i in range(n):
    double out_part = -INFINITY;
    for (i64 i = begin; i < end; ++i) {
        // input.ir:13: out[1] = max(out[1], x[i])
        out_part = max_any_order(out_part, x[i]);
    }
    out_parts[chunk] = out_part;
}

static void scalar_sum_i_1_run(void* frame, i64 begin, i64 end, i64 chunk) {
    const scalar_sum_i_1_frame& f = *(const scalar_sum_i_1_frame*)frame;
    scalar_sum_i_1(f.x, f.out_parts, begin, end, chunk);
}

extern "C" int scalar_sum(ParpyContext* context, const double* __restrict x,
                          double* __restrict out) {
    // input.ir:5: s = 0.0
    double s = 0.0;
    // input.ir:7: for i in range(0, n, 3):
    double s_parts[1024];
    const i64 chunks = parpy_chunks(context, 33334, 0.9, 1024);
    scalar_sum_i_frame scalar_sum_i_args = {x, s_parts};
    parpy_parallel_for(context, 33334, chunks, 1024, scalar_sum_i_run, &scalar_sum_i_args);
    for (i64 chunk = 0; chunk < chunks; ++chunk) {
        s = s + s_parts[chunk];
    }
    // input.ir:10: out[0] = s
    out[0] = s;
    // input.ir:12: for i in range(n):
    double out_parts[1024];
    const i64 chunks_1 = parpy_chunks(context, 100000, 1.0, 1024);
    scalar_sum_i_1_frame scalar_sum_i_1_args = {x, out_parts};
    parpy_parallel_for(context, 100000, chunks_1, 1024, scalar_sum_i_1_run, &scalar_sum_i_1_args);
    for (i64 chunk = 0; chunk < chunks_1; ++chunk) {
        out[1] = max_py(out[1], out_parts[chunk]);
    }
    return 0;
}

extern "C" int scalar_sum_slots(ParpyContext* context, const u64* slots) {
    return scalar_sum(context, (const double*)slots[0], (double*)slots[1]);
}
