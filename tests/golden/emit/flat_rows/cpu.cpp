// ---- host code ----
// flat_rows(y: f32[64, 48], scale: f32[64], x: f32[64, 48])
#define NOINLINE __attribute__((noinline))
struct ParpyContext;
typedef long long i64;
extern "C" i64 parpy_chunks(ParpyContext*, i64 iterations, double cost, i64 max_workers);
extern "C" void parpy_parallel_for(ParpyContext*, i64 iterations, i64 chunks, i64 max_workers,
                                   void (*body)(void* frame, i64 begin, i64 end, i64 chunk),
                                   void* frame);
typedef unsigned long long u64;

struct flat_rows_k_frame {
    const float* scale;
    const float* x;
    float* y;
};

static NOINLINE void flat_rows_k(const float* __restrict scale, const float* __restrict x,
                                 float* __restrict y, i64 begin, i64 end, i64 chunk) {
    // input.ir:6: for k in range(64 * 48):
    #pragma clang loop vectorize(assume_safety)
    for (i64 k = begin; k < end; ++k) {
        // input.ir:7: y[k // 48, k % 48] = scale[k // 48] * x[k // 48, k % 48]
        y[k / 48 * 48 + k % 48] = scale[k / 48] * x[k / 48 * 48 + k % 48];
    }
}

static void flat_rows_k_run(void* frame, i64 begin, i64 end, i64 chunk) {
    const flat_rows_k_frame& f = *(const flat_rows_k_frame*)frame;
    flat_rows_k(f.scale, f.x, f.y, begin, end, chunk);
}

extern "C" int flat_rows(ParpyContext* context, float* __restrict y, const float* __restrict scale,
                         const float* __restrict x) {
    // input.ir:6: for k in range(64 * 48):
    const i64 chunks = parpy_chunks(context, 3072, 6.3, 3072);
    flat_rows_k_frame flat_rows_k_args = {scale, x, y};
    parpy_parallel_for(context, 3072, chunks, 3072, flat_rows_k_run, &flat_rows_k_args);
    return 0;
}

extern "C" int flat_rows_slots(ParpyContext* context, const u64* slots) {
    return flat_rows(context, (float*)slots[0], (const float*)slots[1], (const float*)slots[2]);
}
