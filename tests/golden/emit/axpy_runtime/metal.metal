// ---- device code ----
// axpy(a: f32, x: f32[x_extent0], y: f32[y_extent0], n: i64)
#include <metal_stdlib>
using namespace metal;
typedef long i64;

[[max_total_threads_per_threadgroup(1024)]] kernel void axpy_i(
        device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
        constant i64& y_stride0 [[buffer(2)]], constant i64& n [[buffer(3)]],
        constant float& a [[buffer(4)]], uint3 thread_id [[thread_position_in_threadgroup]],
        uint3 block_id [[threadgroup_position_in_grid]],
        uint3 block_size [[threads_per_threadgroup]], uint3 grid_size [[threadgroups_per_grid]]) {
    // input.ir:6: for i in range(n):
    i64 i_rest = (int)block_id.x * (int)block_size.x + (int)thread_id.x;
    for (i64 i = (int)block_id.x * (int)block_size.x + (int)thread_id.x; i < n - 4096; i += 8192) {
        i64 i_next = i + 4096;
        // input.ir:7: y[i] = a * x[i] + y[i]
        float y_value = a * x[i] + y[i * y_stride0];
        float y_value_next = a * x[i_next] + y[i_next * y_stride0];
        y[i * y_stride0] = y_value;
        y[i_next * y_stride0] = y_value_next;
        i_rest = i + 8192;
    }
    i64 i = i_rest;
    if (i < n) {
        y[i * y_stride0] = a * x[i] + y[i * y_stride0];
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

extern "C" int axpy(ParpyContext* context, float a, const float* __restrict x, i64 x_extent0,
                    float* __restrict y, i64 y_extent0, i64 y_stride0, i64 n) {
    // input.ir:6: for i in range(n):
    {
        void* arguments[] = {(void*)&x, (void*)&y, (void*)&y_stride0, (void*)&n, (void*)&a};
        const int error = parpy_launch(context, 0, 4, 1, 1, 1024, 1, 1, 0, arguments);
        if (error) {
            return error;
        }
    }
    return 0;
}

extern "C" int axpy_slots(ParpyContext* context, const u64* slots) {
    return axpy(context, __builtin_bit_cast(float, (u32)slots[0]), (const float*)slots[1],
                (i64)slots[2], (float*)slots[3], (i64)slots[4], (i64)slots[5], (i64)slots[6]);
}
