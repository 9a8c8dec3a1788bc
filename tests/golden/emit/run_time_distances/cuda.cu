// ---- device code ----
// f(a: f64[a_extent0, a_extent1], b: f64[b_extent0], n: i64)
#define INLINE static __device__ __forceinline__
// Hides a value from NVRTC's optimiser, which otherwise loads another element than that at a
// decreasing subscript, and ends a loop whose counter it knows too early.
template <class T> INLINE T hidden(T value) {
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(T) == 8) {
        asm("" : "+l"(value));
    } else {
        int bits = (int)value;
        asm("" : "+r"(bits));
        value = (T)bits;
    }
#endif
    return value;
}
typedef long long i64;

extern "C" __global__ void __launch_bounds__(1) f_gpu(double* a, i64 a_stride0, const double* b,
                                                      i64 n) {
    // input.ir:7: for i in range(2, n):
    for (i64 i = hidden<i64>(2); i < n; ++i) {
        // input.ir:8: x = a[i, 1]
        double x = a[i * a_stride0 + 1];
        // input.ir:9: if b[i] > 3.0:
        if (b[i] > 3.0) {
            // input.ir:10: x = b[i] - x
            x = b[i] - x;
        }
        // input.ir:11: a[i, 1] = x
        a[i * a_stride0 + 1] = x;
    }
    // input.ir:12: for i in range(2, 9):
    for (int i = hidden<int>(2); i < 9; ++i) {
        // input.ir:13: a[i, 0] = a[i, 0] + b[i]
        a[i * a_stride0] = a[i * a_stride0] + b[i];
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

extern "C" int f(ParpyContext* context, double* __restrict a, i64 a_extent0, i64 a_stride0,
                 i64 a_extent1, const double* __restrict b, i64 b_extent0, i64 n) {
    // input.ir:5: entry f(a, b, n):
    {
        void* arguments[] = {(void*)&a, (void*)&a_stride0, (void*)&b, (void*)&n};
        const int error = parpy_launch(context, 0, 1, 1, 1, 1, 1, 1, 0, arguments);
        if (error) {
            return error;
        }
    }
    return 0;
}

extern "C" int f_slots(ParpyContext* context, const u64* slots) {
    return f(context, (double*)slots[0], (i64)slots[1], (i64)slots[2], (i64)slots[3],
             (const double*)slots[4], (i64)slots[5], (i64)slots[6]);
}
