// ---- device code ----
// flat_rows(y: f32[64, 48], scale: f32[64], x: f32[64, 48])
extern "C" __global__ void __launch_bounds__(1024) flat_rows_k(
        const float* scale, const float* x, float* y) {
    // input.ir:6: for k in range(64 * 48):
    int k = (int)blockIdx.x * (int)blockDim.x + (int)threadIdx.x;
    // input.ir:7: y[k // 48, k % 48] = scale[k // 48] * x[k // 48, k % 48]
    y[k / 48 * 48 + k % 48] = scale[k / 48] * x[k / 48 * 48 + k % 48];
}

// ---- host code ----
struct ParpyContext;
typedef unsigned int u32;
extern "C" int parpy_launch(ParpyContext*, int kernel, u32 grid_x, u32 grid_y, u32 grid_z,
                            u32 block_x, u32 block_y, u32 block_z, u32 shared_bytes,
                            void** arguments);
typedef unsigned long long u64;

extern "C" int flat_rows(ParpyContext* context, float* __restrict y, const float* __restrict scale,
                         const float* __restrict x) {
    // input.ir:6: for k in range(64 * 48):
    {
        void* arguments[] = {(void*)&scale, (void*)&x, (void*)&y};
        const int error = parpy_launch(context, 0, 3, 1, 1, 1024, 1, 1, 0, arguments);
        if (error) {
            return error;
        }
    }
    return 0;
}

extern "C" int flat_rows_slots(ParpyContext* context, const u64* slots) {
    return flat_rows(context, (float*)slots[0], (const float*)slots[1], (const float*)slots[2]);
}
