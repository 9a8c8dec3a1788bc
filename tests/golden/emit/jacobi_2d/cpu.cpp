// ---- host code ----
// jacobi_2d(steps: i64, A: f64[500, 500], B: f64[500, 500])
#define NOINLINE __attribute__((noinline))
struct ParpyContext;
typedef long long i64;
extern "C" i64 parpy_chunks(ParpyContext*, i64 iterations, double cost, i64 max_workers);
extern "C" void parpy_parallel_for(ParpyContext*, i64 iterations, i64 chunks, i64 max_workers,
                                   void (*body)(void* frame, i64 begin, i64 end, i64 chunk),
                                   void* frame);
typedef unsigned long long u64;

struct jacobi_2d_i_frame {
    const double* A;
    double* B;
};

static NOINLINE void jacobi_2d_i(const double* __restrict A, double* __restrict B, i64 begin,
                                 i64 end, i64 chunk) {
    // input.ir:7: for i in range(1, n - 1):
    for (i64 i = begin + 1; i < end + 1; ++i) {
        // input.ir:9: for j in range(1, n - 1):
        #pragma clang loop vectorize(assume_safety)
        for (i64 j = 1; j < 499; ++j) {
            // input.ir:10: B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
            B[i * 500 + j] = 0.2 * (A[i * 500 + j] + A[i * 500 + j - 1] + A[i * 500 + j + 1] + A[(i + 1) * 500 + j] + A[(i - 1) * 500 + j]);
        }
    }
}

static void jacobi_2d_i_run(void* frame, i64 begin, i64 end, i64 chunk) {
    const jacobi_2d_i_frame& f = *(const jacobi_2d_i_frame*)frame;
    jacobi_2d_i(f.A, f.B, begin, end, chunk);
}

struct jacobi_2d_i_1_frame {
    const double* B;
    double* A;
};

static NOINLINE void jacobi_2d_i_1(const double* __restrict B, double* __restrict A, i64 begin,
                                   i64 end, i64 chunk) {
    // input.ir:12: for i in range(1, n - 1):
    for (i64 i = begin + 1; i < end + 1; ++i) {
        // input.ir:14: for j in range(1, n - 1):
        #pragma clang loop vectorize(assume_safety)
        for (i64 j = 1; j < 499; ++j) {
            // input.ir:15: A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])
            A[i * 500 + j] = 0.2 * (B[i * 500 + j] + B[i * 500 + j - 1] + B[i * 500 + j + 1] + B[(i + 1) * 500 + j] + B[(i - 1) * 500 + j]);
        }
    }
}

static void jacobi_2d_i_1_run(void* frame, i64 begin, i64 end, i64 chunk) {
    const jacobi_2d_i_1_frame& f = *(const jacobi_2d_i_1_frame*)frame;
    jacobi_2d_i_1(f.B, f.A, begin, end, chunk);
}

extern "C" int jacobi_2d(ParpyContext* context, i64 steps, double* __restrict A,
                         double* __restrict B) {
    // input.ir:5: for t in range(1, steps):
    for (i64 t = 1; t < steps; ++t) {
        // input.ir:7: for i in range(1, n - 1):
        const i64 chunks = parpy_chunks(context, 498, 1419.5, 498);
        jacobi_2d_i_frame jacobi_2d_i_args = {A, B};
        parpy_parallel_for(context, 498, chunks, 498, jacobi_2d_i_run, &jacobi_2d_i_args);
        // input.ir:12: for i in range(1, n - 1):
        const i64 chunks_1 = parpy_chunks(context, 498, 1419.5, 498);
        jacobi_2d_i_1_frame jacobi_2d_i_1_args = {B, A};
        parpy_parallel_for(context, 498, chunks_1, 498, jacobi_2d_i_1_run, &jacobi_2d_i_1_args);
    }
    return 0;
}

extern "C" int jacobi_2d_slots(ParpyContext* context, const u64* slots) {
    return jacobi_2d(context, (i64)slots[0], (double*)slots[1], (double*)slots[2]);
}
