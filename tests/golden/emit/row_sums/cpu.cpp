// ---- host code ----
// row_sums(x: f32[100, 20], y: f32[100])
#define NOINLINE __attribute__((noinline))
struct ParpyContext;
typedef long long i64;
extern "C" i64 parpy_chunks(ParpyContext*, i64 iterations, double cost, i64 max_workers);
extern "C" void parpy_parallel_for(ParpyContext*, i64 iterations, i64 chunks, i64 max_workers,
                                   void (*body)(void* frame, i64 begin, i64 end, i64 chunk),
                                   void* frame);
#define INLINE static inline __attribute__((always_inline))
// Sums in whatever order is fastest.
template <class T> INLINE T add_any_order(T a, T b) {
#pragma clang fp reassociate(on)
    return a + b;
}
typedef unsigned long long u64;

struct row_sums_i_frame {
    const float* x;
    float* y;
};

static NOINLINE void row_sums_i(const float* __restrict x, float* __restrict y, i64 begin, i64 end,
                                i64 chunk) {
    // input.ir:6: for i in range(N):
    for (i64 i = begin; i < end; ++i) {
        // input.ir:8: for j in range(M):
        float y_part = y[i];
        for (i64 j = 0; j < 20; ++j) {
            // input.ir:9: y[i] += x[i, j]
            y_part = add_any_order(y_part, x[i * 20 + j]);
        }
        y[i] = y_part;
    }
}

static void row_sums_i_run(void* frame, i64 begin, i64 end, i64 chunk) {
    const row_sums_i_frame& f = *(const row_sums_i_frame*)frame;
    row_sums_i(f.x, f.y, begin, end, chunk);
}

extern "C" int row_sums(ParpyContext* context, const float* __restrict x, float* __restrict y) {
    // input.ir:6: for i in range(N):
    const i64 chunks = parpy_chunks(context, 100, 19.2, 100);
    row_sums_i_frame row_sums_i_args = {x, y};
    parpy_parallel_for(context, 100, chunks, 100, row_sums_i_run, &row_sums_i_args);
    return 0;
}

extern "C" int row_sums_slots(ParpyContext* context, const u64* slots) {
    return row_sums(context, (const float*)slots[0], (float*)slots[1]);
}
