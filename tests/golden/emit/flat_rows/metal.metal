// ---- device code ----
// flat_rows(y: f32[64, 48], scale: f32[64], x: f32[64, 48])
#include <metal_stdlib>
using namespace metal;
[[max_total_threads_per_threadgroup(1024)]] kernel void flat_rows_k(
        device const float* scale [[buffer(0)]], device const float* x [[buffer(1)]],
        device float* y [[buffer(2)]], uint3 thread_id [[thread_position_in_threadgroup]],
        uint3 block_id [[threadgroup_position_in_grid]],
        uint3 block_size [[threads_per_threadgroup]], uint3 grid_size [[threadgroups_per_grid]]) {
    // input.ir:6: for k in range(64 * 48):
    int k = (int)block_id.x * (int)block_size.x + (int)thread_id.x;
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
