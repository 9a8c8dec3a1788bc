// ---- device code ----
// axpy(a: f64, x: f64[x_extent0], y: f64[y_extent0], n: i64)
typedef long long i64;

extern "C" __global__ void __launch_bounds__(1024) axpy_i(
        const double* x, double* y, i64 y_stride0, i64 n, double a) {
    // input.ir:6: for i in range(n):
    for (i64 i = (int)blockIdx.x * (int)blockDim.x + (int)threadIdx.x; i < n; i += 4096) {
        // input.ir:7: y[i] = a * x[i] + y[i]
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

extern "C" int axpy(ParpyContext* context, double a, const double* __restrict x, i64 x_extent0,
                    double* __restrict y, i64 y_extent0, i64 y_stride0, i64 n) {
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
    return axpy(context, __builtin_bit_cast(double, slots[0]), (const double*)slots[1],
                (i64)slots[2], (double*)slots[3], (i64)slots[4], (i64)slots[5], (i64)slots[6]);
}
