// ---- device code ----
// softmax(x: f32[x_extent0, 1000], y: f32[y_extent0, 1000])
#include <metal_stdlib>
using namespace metal;
#define INLINE static inline
typedef long i64;
template <class T> INLINE T max_py(T a, decltype(T()) b) { return b > a ? b : a; }

INLINE float warp_max_f32(float value) {
    float other = simd_shuffle_xor(value, ushort(16));
    value = ((int)(thread_id.x & 31) & 16) != 0 ? max_py(other, value) : max_py(value, other);
    other = simd_shuffle_xor(value, ushort(8));
    value = ((int)(thread_id.x & 31) & 8) != 0 ? max_py(other, value) : max_py(value, other);
    other = simd_shuffle_xor(value, ushort(4));
    value = ((int)(thread_id.x & 31) & 4) != 0 ? max_py(other, value) : max_py(value, other);
    other = simd_shuffle_xor(value, ushort(2));
    value = ((int)(thread_id.x & 31) & 2) != 0 ? max_py(other, value) : max_py(value, other);
    other = simd_shuffle_xor(value, ushort(1));
    value = ((int)(thread_id.x & 31) & 1) != 0 ? max_py(other, value) : max_py(value, other);
    return value;
}

INLINE float warp_sum_f32(float value) {
    value = value + simd_shuffle_xor(value, ushort(16));
    value = value + simd_shuffle_xor(value, ushort(8));
    value = value + simd_shuffle_xor(value, ushort(4));
    value = value + simd_shuffle_xor(value, ushort(2));
    value = value + simd_shuffle_xor(value, ushort(1));
    return value;
}

[[max_total_threads_per_threadgroup(128)]] kernel void softmax_rows(
        device const float* x [[buffer(0)]], constant i64& x_extent0 [[buffer(1)]],
        device float* y [[buffer(2)]], uint3 thread_id [[thread_position_in_threadgroup]],
        uint3 block_id [[threadgroup_position_in_grid]],
        uint3 block_size [[threads_per_threadgroup]], uint3 grid_size [[threadgroups_per_grid]]) {
    // input.ir:9: for j in range(x.shape[1]):
    threadgroup float block_f32[4];
    // input.ir:6: for i in range(x.shape[0]):
    for (i64 i = (int)block_id.x; i < x_extent0; i += 256) {
        // input.ir:7: big = -float.inf
        float big = -INFINITY;
        float big_partial = -INFINITY;
        float x_kept[8];
        #pragma unroll
        for (int q = 0; q < 8; ++q) {
            int j = (int)thread_id.x + q * 128;
            if (j < 1000) {
                // input.ir:10: big = max(big, x[i, j])
                x_kept[q] = x[i * 1000 + j];
                big_partial = max_py(big_partial, x_kept[q]);
            }
        }
        big_partial = warp_max_f32(big_partial);
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
        if ((int)(thread_id.x & 31) == 0) {
            block_f32[(int)(thread_id.x >> 5)] = big_partial;
        }
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
        big_partial = (int)(thread_id.x & 31) < 4 ? block_f32[(int)(thread_id.x & 31)] : -INFINITY;
        big_partial = warp_max_f32(big_partial);
        big = max_py(big, big_partial);
        // input.ir:11: s = 0.0
        float s = 0.0f;
        // input.ir:13: for j in range(x.shape[1]):
        float s_partial = -0.0f;
        float y_kept[8];
        #pragma unroll
        for (int q = 0; q < 8; ++q) {
            int j = (int)thread_id.x + q * 128;
            if (j < 1000) {
                // input.ir:14: y[i, j] = exp(x[i, j] - big)
                y_kept[q] = exp(float(x_kept[q] - big));
                // input.ir:15: s += y[i, j]
                s_partial = s_partial + y_kept[q];
            }
        }
        s_partial = warp_sum_f32(s_partial);
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
        if ((int)(thread_id.x & 31) == 0) {
            block_f32[(int)(thread_id.x >> 5)] = s_partial;
        }
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
        s_partial = (int)(thread_id.x & 31) < 4 ? block_f32[(int)(thread_id.x & 31)] : -0.0f;
        s_partial = warp_sum_f32(s_partial);
        s = s + s_partial;
        // input.ir:17: for j in range(x.shape[1]):
        #pragma unroll
        for (int q = 0; q < 8; ++q) {
            int j = (int)thread_id.x + q * 128;
            if (j < 1000) {
                // input.ir:18: y[i, j] /= s
                y[i * 1000 + j] = y_kept[q] / s;
            }
        }
    }
}

// ---- host code ----
struct ParpyContext;
typedef unsigned int u32;
extern "C" int parpy_launch(ParpyContext*, int kernel, u32 grid_x, u32 grid_y, u32 grid_z,
                            u32 block_x, u32 block_y, u32 block_z, u32 shared_bytes,
                            void** arguments);
typedef long long i64;
typedef unsigned long long u64;

extern "C" int softmax(ParpyContext* context, const float* __restrict x, i64 x_extent0,
                       float* __restrict y, i64 y_extent0) {
    // input.ir:6: for i in range(x.shape[0]):
    {
        void* arguments[] = {(void*)&x, (void*)&x_extent0, (void*)&y};
        const int error = parpy_launch(context, 0, 256, 1, 1, 128, 1, 1, 0, arguments);
        if (error) {
            return error;
        }
    }
    return 0;
}

extern "C" int softmax_slots(ParpyContext* context, const u64* slots) {
    return softmax(context, (const float*)slots[0], (i64)slots[1], (float*)slots[2], (i64)slots[3]);
}
