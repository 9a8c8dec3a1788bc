// ---- device code ----
// spmv(start: i32[start_extent0], column: i32[column_extent0], value: f64[value_extent0],
//     x: f64[x_extent0], y: f64[y_extent0], n: i64)
#define INLINE static __device__ __forceinline__
// A subscript with Python's meaning: a negative one counts from the end.
template <class I, class N> INLINE auto index(I i, N n) { return i < 0 ? i + n : i; }
typedef long long i64;

extern "C" __global__ void __launch_bounds__(1024) spmv_i(
        const int* start, const double* value, i64 value_extent0, const double* x, i64 x_extent0,
        const int* column, i64 column_extent0, double* y, i64 n) {
    // input.ir:6: for i in range(n):
    for (i64 i = (int)blockIdx.x * (int)blockDim.x + (int)threadIdx.x; i < n; i += 4096) {
        // input.ir:7: s = 0.0
        double s = 0.0;
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
                    const int* __restrict column, i64 column_extent0,
                    const double* __restrict value, i64 value_extent0, const double* __restrict x,
                    i64 x_extent0, double* __restrict y, i64 y_extent0, i64 n) {
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
                (const double*)slots[4], (i64)slots[5], (const double*)slots[6], (i64)slots[7],
                (double*)slots[8], (i64)slots[9], (i64)slots[10]);
}
