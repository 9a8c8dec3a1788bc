// ---- host code ----
// axpy(x: f32[4096], y: f32[4096])
#define NOINLINE __attribute__((noinline))
struct ParpyContext;
typedef long long i64;
extern "C" i64 parpy_chunks(ParpyContext*, i64 iterations, double cost, i64 max_workers);
extern "C" void parpy_parallel_for(ParpyContext*, i64 iterations, i64 chunks, i64 max_workers,
                                   void (*body)(void* frame, i64 begin, i64 end, i64 chunk),
                                   void* frame);
typedef unsigned long long u64;

struct axpy_i_frame {
    const float* x;
    float* y;
};

static NOINLINE void axpy_i(const float* __restrict x, float* __restrict y, i64 begin, i64 end,
                            i64 chunk) {
    // input.ir:6: for i in range(n):
    #pragma clang loop vectorize(assume_safety)
    for (i64 i = begin; i < end; ++i) {
        // input.ir:7: y[i] = a * x[i] + y[i]
        y[i] = 2.5f * x[i] + y[i];
    }
}

static void axpy_i_run(void* frame, i64 begin, i64 end, i64 chunk) {
    const axpy_i_frame& f = *(const axpy_i_frame*)frame;
    axpy_i(f.x, f.y, begin, end, chunk);
}

extern "C" int axpy(ParpyContext* context, const float* __restrict x, float* __restrict y) {
    // input.ir:6: for i in range(n):
    const i64 chunks = parpy_chunks(context, 4096, 1.4, 4096);
    axpy_i_frame axpy_i_args = {x, y};
    parpy_parallel_for(context, 4096, chunks, 4096, axpy_i_run, &axpy_i_args);
    return 0;
}

extern "C" int axpy_slots(ParpyContext* context, const u64* slots) {
    return axpy(context, (const float*)slots[0], (float*)slots[1]);
}
