// ---- device code ----
// axpy(x: f32[4096], y: f32[4096])
extern "C" __global__ void __launch_bounds__(1024) axpy_i(const float* x, float* y) {
    // input.ir:6: for i in range(n):
    int i = (int)blockIdx.x * (int)blockDim.x + (int)threadIdx.x;
    // input.ir:7: y[i] = a * x[i] + y[i]
    y[i] = 2.5f * x[i] + y[i];
}

// ---- host code ----
struct ParpyContext;
typedef unsigned int u32;
extern "C" int parpy_launch(ParpyContext*, int kernel, u32 grid_x, u32 grid_y, u32 grid_z,
                            u32 block_x, u32 block_y, u32 block_z, u32 shared_bytes,
                            void** arguments);
typedef unsigned long long u64;

extern "C" int axpy(ParpyContext* context, const float* __restrict x, float* __restrict y) {
    // input.ir:6: for i in range(n):
    {
        void* arguments[] = {(void*)&x, (void*)&y};
        const int error = parpy_launch(context, 0, 4, 1, 1, 1024, 1, 1, 0, arguments);
        if (error) {
            return error;
        }
    }
    return 0;
}

extern "C" int axpy_slots(ParpyContext* context, const u64* slots) {
    return axpy(context, (const float*)slots[0], (float*)slots[1]);
}
