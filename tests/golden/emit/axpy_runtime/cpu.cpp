// ---- host code ----
// axpy(a: f64, x: f64[x_extent0], y: f64[y_extent0], n: i64)
#define NOINLINE __attribute__((noinline))
struct ParpyContext;
typedef long long i64;
extern "C" i64 parpy_chunks(ParpyContext*, i64 iterations, double cost, i64 max_workers);
extern "C" void parpy_parallel_for(ParpyContext*, i64 iterations, i64 chunks, i64 max_workers,
                                   void (*body)(void* frame, i64 begin, i64 end, i64 chunk),
                                   void* frame);
typedef unsigned long long u64;

struct axpy_i_frame {
    const double* x;
    double* y;
    double a;
    i64 y_stride0;
};

static NOINLINE void axpy_i(const double* __restrict x, double* __restrict y, double a,
                            i64 y_stride0, i64 begin, i64 end, i64 chunk) {
    // input.ir:6: for i in range(n):
    #pragma clang loop vectorize(assume_safety)
    for (i64 i = begin; i < end; ++i) {
        // input.ir:7: y[i] = a * x[i] + y[i]
        y[i * y_stride0] = a * x[i] + y[i * y_stride0];
    }
}

static void axpy_i_run(void* frame, i64 begin, i64 end, i64 chunk) {
    const axpy_i_frame& f = *(const axpy_i_frame*)frame;
    axpy_i(f.x, f.y, f.a, f.y_stride0, begin, end, chunk);
}

extern "C" int axpy(ParpyContext* context, double a, const double* __restrict x, i64 x_extent0,
                    double* __restrict y, i64 y_extent0, i64 y_stride0, i64 n) {
    // input.ir:6: for i in range(n):
    const i64 chunks = parpy_chunks(context, n, 1.4, 4096);
    axpy_i_frame axpy_i_args = {x, y, a, y_stride0};
    parpy_parallel_for(context, n, chunks, 4096, axpy_i_run, &axpy_i_args);
    return 0;
}

extern "C" int axpy_slots(ParpyContext* context, const u64* slots) {
    return axpy(context, __builtin_bit_cast(double, slots[0]), (const double*)slots[1],
                (i64)slots[2], (double*)slots[3], (i64)slots[4], (i64)slots[5], (i64)slots[6]);
}
