// ---- host code ----
// spmv(start: i32[start_extent0], column: i32[column_extent0], value: f64[value_extent0],
//     x: f64[x_extent0], y: f64[y_extent0], n: i64)
#define NOINLINE __attribute__((noinline))
struct ParpyContext;
typedef long long i64;
extern "C" i64 parpy_chunks(ParpyContext*, i64 iterations, double cost, i64 max_workers);
extern "C" void parpy_parallel_for(ParpyContext*, i64 iterations, i64 chunks, i64 max_workers,
                                   void (*body)(void* frame, i64 begin, i64 end, i64 chunk),
                                   void* frame);
#define INLINE static inline __attribute__((always_inline))
// A subscript with Python's meaning: a negative one, which is rare, counts from the end.
INLINE i64 index(i64 i, i64 n) { return __builtin_expect(i < 0, 0) ? i + n : i; }
typedef unsigned long long u64;

struct spmv_i_frame {
    const int* start;
    const double* value;
    const double* x;
    const int* column;
    double* y;
    i64 value_extent0;
    i64 column_extent0;
    i64 x_extent0;
};

static NOINLINE void spmv_i(const int* __restrict start, const double* __restrict value,
                            const double* __restrict x, const int* __restrict column,
                            double* __restrict y, i64 value_extent0, i64 column_extent0,
                            i64 x_extent0, i64 begin, i64 end, i64 chunk) {
    // input.ir:6: for i in range(n):
    for (i64 i = begin; i < end; ++i) {
        // input.ir:7: s = 0.0
        double s = 0.0;
        // input.ir:8: for k in range(start[i], start[i + 1]):
        bool k_negative = start[i] < 0;
        for (i64 k = start[i]; k < start[i + 1]; ++k) {
            // input.ir:9: s += value[k] * x[column[k]]
            s = s + value[(k_negative ? index(k, value_extent0) : k)] * x[index(column[(k_negative ? index(k, column_extent0) : k)], x_extent0)];
        }
        // input.ir:10: y[i] = s
        y[i] = s;
    }
}

static void spmv_i_run(void* frame, i64 begin, i64 end, i64 chunk) {
    const spmv_i_frame& f = *(const spmv_i_frame*)frame;
    spmv_i(f.start, f.value, f.x, f.column, f.y, f.value_extent0, f.column_extent0, f.x_extent0,
           begin, end, chunk);
}

extern "C" int spmv(ParpyContext* context, const int* __restrict start, i64 start_extent0,
                    const int* __restrict column, i64 column_extent0,
                    const double* __restrict value, i64 value_extent0, const double* __restrict x,
                    i64 x_extent0, double* __restrict y, i64 y_extent0, i64 n) {
    // input.ir:6: for i in range(n):
    const i64 chunks = parpy_chunks(context, n, 161.4, 4096);
    spmv_i_frame spmv_i_args = {start, value, x, column, y, value_extent0, column_extent0, x_extent0};
    parpy_parallel_for(context, n, chunks, 4096, spmv_i_run, &spmv_i_args);
    return 0;
}

extern "C" int spmv_slots(ParpyContext* context, const u64* slots) {
    return spmv(context, (const int*)slots[0], (i64)slots[1], (const int*)slots[2], (i64)slots[3],
                (const double*)slots[4], (i64)slots[5], (const double*)slots[6], (i64)slots[7],
                (double*)slots[8], (i64)slots[9], (i64)slots[10]);
}
