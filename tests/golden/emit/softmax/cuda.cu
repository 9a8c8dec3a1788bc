// ---- device code ----
// softmax(x: f32[x_extent0, 1000], y: f32[y_extent0, 1000])
#define INLINE static __device__ __forceinline__
#define INFINITY __int_as_float(0x7f800000)
template <class T> INLINE T max_py(T a, decltype(T()) b) { return b > a ? b : a; }
typedef long long i64;

INLINE float warp_max_f32(float value) {
    float other = __shfl_xor_sync(0xffffffffu, value, 16);
    value = ((int)(threadIdx.x & 31) & 16) != 0 ? max_py(other, value) : max_py(value, other);
    other = __shfl_xor_sync(0xffffffffu, value, 8);
    value = ((int)(threadIdx.x & 31) & 8) != 0 ? max_py(other, value) : max_py(value, other);
    other = __shfl_xor_sync(0xffffffffu, value, 4);
    value = ((int)(threadIdx.x & 31) & 4) != 0 ? max_py(other, value) : max_py(value, other);
    other = __shfl_xor_sync(0xffffffffu, value, 2);
    value = ((int)(threadIdx.x & 31) & 2) != 0 ? max_py(other, value) : max_py(value, other);
    other = __shfl_xor_sync(0xffffffffu, value, 1);
    value = ((int)(threadIdx.x & 31) & 1) != 0 ? max_py(other, value) : max_py(value, other);
    return value;
}

INLINE float warp_sum_f32(float value) {
    value = value + __shfl_xor_sync(0xffffffffu, value, 16);
    value = value + __shfl_xor_sync(0xffffffffu, value, 8);
    value = value + __shfl_xor_sync(0xffffffffu, value, 4);
    value = value + __shfl_xor_sync(0xffffffffu, value, 2);
    value = value + __shfl_xor_sync(0xffffffffu, value, 1);
    return value;
}

extern "C" __global__ void __launch_bounds__(128) softmax_rows(
        const float* x, i64 x_extent0, float* y) {
    // input.ir:9: for j in range(x.shape[1]):
    __shared__ float block_f32[4];
    // input.ir:6: for i in range(x.shape[0]):
    for (i64 i = (int)blockIdx.x; i < x_extent0; i += 256) {
        // input.ir:7: big = -float.inf
        float big = -INFINITY;
        float big_partial = -INFINITY;
        float x_kept[8];
        #pragma unroll
        for (int q = 0; q != 8; ++q) {
            int j = (int)threadIdx.x + q * 128;
            if (j < 1000) {
                // input.ir:10: big = max(big, x[i, j])
                x_kept[q] = x[i * 1000 + j];
                big_partial = max_py(big_partial, x_kept[q]);
            }
        }
        big_partial = warp_max_f32(big_partial);
        __syncthreads();
        if ((int)(threadIdx.x & 31) == 0) {
            block_f32[(int)(threadIdx.x >> 5)] = big_partial;
        }
        __syncthreads();
        big_partial = (int)(threadIdx.x & 31) < 4 ? block_f32[(int)(threadIdx.x & 31)] : -INFINITY;
        big_partial = warp_max_f32(big_partial);
        big = max_py(big, big_partial);
        // input.ir:11: s = 0.0
        float s = 0.0f;
        // input.ir:13: for j in range(x.shape[1]):
        float s_partial = -0.0f;
        float y_kept[8];
        #pragma unroll
        for (int q = 0; q != 8; ++q) {
            int j = (int)threadIdx.x + q * 128;
            if (j < 1000) {
                // input.ir:14: y[i, j] = exp(x[i, j] - big)
                y_kept[q] = expf(x_kept[q] - big);
                // input.ir:15: s += y[i, j]
                s_partial = s_partial + y_kept[q];
            }
        }
        s_partial = warp_sum_f32(s_partial);
        __syncthreads();
        if ((int)(threadIdx.x & 31) == 0) {
            block_f32[(int)(threadIdx.x >> 5)] = s_partial;
        }
        __syncthreads();
        s_partial = (int)(threadIdx.x & 31) < 4 ? block_f32[(int)(threadIdx.x & 31)] : -0.0f;
        s_partial = warp_sum_f32(s_partial);
        s = s + s_partial;
        // input.ir:17: for j in range(x.shape[1]):
        #pragma unroll
        for (int q = 0; q != 8; ++q) {
            int j = (int)threadIdx.x + q * 128;
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
