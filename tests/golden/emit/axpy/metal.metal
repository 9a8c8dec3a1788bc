// ---- device code ----
// axpy(x: f32[4096], y: f32[4096])
#include <metal_stdlib>
using namespace metal;
[[max_total_threads_per_threadgroup(1024)]] kernel void axpy_i(
        device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
        uint3 thread_id [[thread_position_in_threadgroup]],
        uint3 block_id [[threadgroup_position_in_grid]],
        uint3 block_size [[threads_per_threadgroup]], uint3 grid_size [[threadgroups_per_grid]]) {
    // input.ir:6: for i in range(n):
    int i = (int)block_id.x * (int)block_size.x + (int)thread_id.x;
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
