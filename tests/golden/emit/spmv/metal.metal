// ---- device code ----
// spmv(start: i32[start_extent0], column: i32[column_extent0], value: f32[value_extent0],
//     x: f32[x_extent0], y: f32[y_extent0], n: i64)
#include <metal_stdlib>
using namespace metal;
typedef long i64;
#define INLINE static inline
// A subscript with Python's meaning: a negative one counts from the end.
template <class I, class N> INLINE auto index(I i, N n) { return i < 0 ? i + n : i; }

[[max_total_threads_per_threadgroup(1024)]] kernel void spmv_i(
        device const int* start [[buffer(0)]], device const float* value [[buffer(1)]],
        constant i64& value_extent0 [[buffer(2)]], device const float* x [[buffer(3)]],
        constant i64& x_extent0 [[buffer(4)]], device const int* column [[buffer(5)]],
        constant i64& column_extent0 [[buffer(6)]], device float* y [[buffer(7)]],
        constant i64& n [[buffer(8)]], uint3 thread_id [[thread_position_in_threadgroup]],
        uint3 block_id [[threadgroup_position_in_grid]],
        uint3 block_size [[threads_per_threadgroup]], uint3 grid_size [[threadgroups_per_grid]]) {
    // input.ir:6: for i in range(n):
    for (i64 i = (int)block_id.x * (int)block_size.x + (int)thread_id.x; i < n; i += 4096) {
        // input.ir:7: s = 0.0
        float s = 0.0f;
        // input.ir:8: for k in range(start[i], start[i + 1]):
        for (int k = start[i]; k < start[i + 1]; ++k) {
            // input.ir:9: s += value[k] * x[column[k]]
            s = s + value[index(k, value_extent0)] * x[index(column[index(k, column_extent0)], x_extent0)];
        }
        // input.ir:10: y[i] = s
        y[i] = s;
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

extern "C" int spmv(ParpyContext* context, const int* __restrict start, i64 start_extent0,
                    const int* __restrict column, i64 column_extent0, const float* __restrict value,
                    i64 value_extent0, const float* __restrict x, i64 x_extent0,
                    float* __restrict y, i64 y_extent0, i64 n) {
    // input.ir:6: for i in range(n):
    {
        void* arguments[] = {(void*)&start, (void*)&value, (void*)&value_extent0, (void*)&x, (void*)&x_extent0, (void*)&column, (void*)&column_extent0, (void*)&y, (void*)&n};
        const int error = parpy_launch(context, 0, 4, 1, 1, 1024, 1, 1, 0, arguments);
        if (error) {
            return error;
        }
    }
    return 0;
}

extern "C" int spmv_slots(ParpyContext* context, const u64* slots) {
    return spmv(context, (const int*)slots[0], (i64)slots[1], (const int*)slots[2], (i64)slots[3],
                (const float*)slots[4], (i64)slots[5], (const float*)slots[6], (i64)slots[7],
                (float*)slots[8], (i64)slots[9], (i64)slots[10]);
}
