// ---- device code ----
// row_sums(x: f32[100, 20], y: f32[100])
#include <metal_stdlib>
using namespace metal;
#define INLINE static inline

INLINE float warp_sum_f32(float value) {
    value = value + simd_shuffle_xor(value, ushort(16));
    value = value + simd_shuffle_xor(value, ushort(8));
    value = value + simd_shuffle_xor(value, ushort(4));
    value = value + simd_shuffle_xor(value, ushort(2));
    value = value + simd_shuffle_xor(value, ushort(1));
    return value;
}

[[max_total_threads_per_threadgroup(128)]] kernel void row_sums_N(
        device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
        uint3 thread_id [[thread_position_in_threadgroup]],
        uint3 block_id [[threadgroup_position_in_grid]],
        uint3 block_size [[threads_per_threadgroup]], uint3 grid_size [[threadgroups_per_grid]]) {
    // input.ir:8: for j in range(M):
    threadgroup float block_f32[4];
    // input.ir:6: for i in range(N):
    int i = (int)block_id.x;
    float y_partial = -0.0f;
    int j = (int)thread_id.x;
    if (j < 20) {
        // input.ir:9: y[i] += x[i, j]
        y_partial = y_partial + x[i * 20 + j];
    }
    y_partial = warp_sum_f32(y_partial);
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if ((int)(thread_id.x & 31) == 0) {
        block_f32[(int)(thread_id.x >> 5)] = y_partial;
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    y_partial = (int)(thread_id.x & 31) < 4 ? block_f32[(int)(thread_id.x & 31)] : -0.0f;
    y_partial = warp_sum_f32(y_partial);
    if ((int)thread_id.x == 0) {
        y[i] = y[i] + y_partial;
    }
}

// ---- host code ----
struct ParpyContext;
typedef unsigned int u32;
extern "C" int parpy_launch(ParpyContext*, int kernel, u32 grid_x, u32 grid_y, u32 grid_z,
                            u32 block_x, u32 block_y, u32 block_z, u32 shared_bytes,
                            void** arguments);
typedef unsigned long long u64;

extern "C" int row_sums(ParpyContext* context, const float* __restrict x, float* __restrict y) {
    // input.ir:6: for i in range(N):
    {
        void* arguments[] = {(void*)&x, (void*)&y};
        const int error = parpy_launch(context, 0, 100, 1, 1, 128, 1, 1, 0, arguments);
        if (error) {
            return error;
        }
    }
    return 0;
}

extern "C" int row_sums_slots(ParpyContext* context, const u64* slots) {
    return row_sums(context, (const float*)slots[0], (float*)slots[1]);
}
