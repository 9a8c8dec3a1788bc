// ---- device code ----
// contraction(A: f64[120, 64], B: f64[64, 100], C: f64[120, 100])
#define INLINE static __device__ __forceinline__
typedef unsigned long long u64;
// Copies an element, or N elements of 16 bytes in all at an address that is a multiple of 16, to
// shared memory while the thread goes on.
template <int N, class T> INLINE void copy_async(T* to, const T* from) {
#if __CUDA_ARCH__ >= 800
    unsigned shared;
    asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(shared) : "l"(to));
    if (N * sizeof(T) == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(shared), "l"(from) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                     :: "r"(shared), "l"(from), "n"(N * (int)sizeof(T)) : "memory");
    }
#else
#ifdef report_failure  // the simulator requires the alignment that a GPU needs
    if (((u64)to | (u64)from) % (N * sizeof(T)) != 0) __trap();
#endif
    for (int i = 0; i < N; ++i) to[i] = from[i];
#endif
}
INLINE bool is_aligned(const void* at) { return (u64)at % 16 == 0; }
// Makes a group of the copies that the thread has begun since the last group.
INLINE void end_group() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Waits for all groups of copies but the last N.
template <int N> INLINE void wait_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory");
#endif
}
// Adds the product of matrices of 16 x 8 and 8 x 8 elements, which a warp holds, to 16 x 8
// sums: each sum gets its eight products in their order, each fused into its addition.
INLINE void mma(double* sums, double a0, double a1, double a2, double a3, double b0, double b1) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
                 : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1));
#elif __CUDA_ARCH__ >= 800
    const double a[] = {a0, a1, a2, a3}, b[] = {b0, b1};
#pragma unroll
    for (int i = 0; i < 4; ++i)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(sums[i % 2 * 2]), "+d"(sums[i % 2 * 2 + 1]) : "d"(a[i]), "d"(b[i / 2]));
#else
    const int lane = (int)(threadIdx.x & 31), row = lane & 28, column = lane % 4 * 8;
#ifdef report_failure  // the simulator: lane 0 has a place for all
    double own[32][6];
    double(*const all)[6] = (double(*)[6])__shfl_sync(0xffffffffu, (unsigned long long)&own, 0);
    const double mine[] = {a0, a1, a2, a3, b0, b1};
    for (int i = 0; i < 6; ++i) all[lane][i] = mine[i];
    __syncwarp();
    for (int k = 0; k < 8; ++k) {
        for (int i = 0; i < 4; ++i)
            sums[i] = fma(all[row + k % 4][k / 4 * 2 + i / 2], all[column + i % 2 * 4 + k % 4][4 + k / 4],
                          sums[i]);
    }
    __syncwarp();
#else
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        const double left[] = {__shfl_sync(0xffffffffu, k < 4 ? a0 : a2, row + k % 4),
                               __shfl_sync(0xffffffffu, k < 4 ? a1 : a3, row + k % 4)};
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const double right =
                __shfl_sync(0xffffffffu, k < 4 ? b0 : b1, column + i * 4 + k % 4);
            sums[i] = fma(left[0], right, sums[i]);
            sums[2 + i] = fma(left[1], right, sums[2 + i]);
        }
    }
#endif
#endif
}
template <class T> INLINE T min_py(T a, decltype(T()) b) { return b < a ? b : a; }
template <class T> INLINE T max_py(T a, decltype(T()) b) { return b > a ? b : a; }
typedef long long i64;
template <class T> INLINE T wrap_add(T a, decltype(T()) b) { return (T)((u64)a + (u64)b); }
template <class T> INLINE T wrap_sub(T a, decltype(T()) b) { return (T)((u64)a - (u64)b); }
template <class T> INLINE T wrap_mul(T a, decltype(T()) b) { return (T)((u64)a * (u64)b); }

extern "C" __global__ void __launch_bounds__(128) contraction_kernel(
        const double* A, const double* B, double* C) {
    // input.ir:5: for i in range(A.shape[0]):
    __shared__ __align__(16) double factors[4352];
    i64 tile_1 = (int)blockIdx.x;
    int tile_row = (int)min_py(wrap_mul(tile_1 % 4, 32), 120);
    int tile_column = (int)min_py(wrap_mul(tile_1 / 4, 32), 100);
    i64 last_row = wrap_sub(min_py(wrap_add((i64)tile_row, 32), 120), 1);
    double sums[2 * 4];
    int thread = (int)threadIdx.x;
    int lane = thread % 32;
    int warp = thread / 32;
    int own_row = wrap_add(wrap_mul(warp / 2, 16), lane / 4);
    int own_column = wrap_add(wrap_mul(warp % 2, 16), wrap_mul(lane % 4, 4));
    #pragma unroll
    for (int r = 0; r != 2; ++r) {
        i64 i = wrap_add((i64)tile_row, (i64)wrap_add(own_row, r * 8));
        #pragma unroll
        for (int c = 0; c != 4; ++c) {
            i64 j = wrap_add((i64)tile_column, (i64)wrap_add(own_column, wrap_add(wrap_mul(c / 4, 16), wrap_add(wrap_mul(c % 2, 2), c / 2 % 2))));
            sums[r / 2 * 8 + c / 2 * 4 + r % 2 * 2 + c % 2] = 0.0;
        }
    }
    int beyond = thread / 8;
    int copied_row = beyond % 16;
    int copied_step = wrap_add(wrap_mul(thread % 8, 2), wrap_mul(beyond / 16, 16));
    bool left_aligned = is_aligned(&A[(tile_row + copied_row) * 64 + copied_step]);
    int beyond_1 = thread / 16;
    int copied_row_1 = wrap_mul(thread % 16, 2);
    bool right_aligned = is_aligned(&B[beyond_1 * 100 + tile_column + copied_row_1]);
    for (int part = -3; part != 4; ++part) {
        if (0 <= part) {
            wait_copies<2>();
            __syncthreads();
        }
        if (part + 3 < 4) {
            int to = (part + 3) % 4;
            i64 ahead = ((i64)part + 3) * 16;
            if (left_aligned) {
                #pragma unroll
                for (int k = 0; k != 1; ++k) {
                    #pragma unroll
                    for (int r = 0; r != 2; ++r) {
                        int copied = wrap_add(copied_step, k * 16);
                        int place = wrap_add(copied_row, r * 16);
                        int next = (int)wrap_add(ahead, (i64)copied);
                        int i = wrap_add(tile_row, place);
                        if (i < 120) {
                            copy_async<2>(&factors[to * 1088 + place * 16 + ((copied / 2) ^ (place % 4 * 2)) * 2 + copied % 2], &A[i * 64 + next]);
                        }
                    }
                }
            } else {
                for (int k = 0; k != 1; ++k) {
                    for (int r = 0; r != 2; ++r) {
                        int copied = wrap_add(copied_step, k * 16);
                        int place = wrap_add(copied_row, r * 16);
                        i64 next = wrap_add(ahead, (i64)copied);
                        int i = wrap_add(tile_row, place);
                        for (int e = 0; e != 2; ++e) {
                            int each = wrap_add(copied, e);
                            int at = (int)wrap_add(next, (i64)e);
                            if (i < 120) {
                                copy_async<1>(&factors[to * 1088 + place * 16 + ((each / 2) ^ (place % 4 * 2)) * 2 + each % 2], &A[i * 64 + at]);
                            }
                        }
                    }
                }
            }
            if (right_aligned) {
                #pragma unroll
                for (int k = 0; k != 2; ++k) {
                    #pragma unroll
                    for (int r = 0; r != 1; ++r) {
                        int copied = wrap_add(beyond_1, k * 8);
                        int place = wrap_add(copied_row_1, r * 32);
                        int next = (int)wrap_add(ahead, (i64)copied);
                        int j = wrap_add(tile_column, place);
                        if (j < 100) {
                            copy_async<2>(&factors[to * 1088 + 512 + copied * 36 + place], &B[next * 100 + j]);
                        }
                    }
                }
            } else {
                for (int k = 0; k != 2; ++k) {
                    for (int r = 0; r != 1; ++r) {
                        int copied = wrap_add(beyond_1, k * 8);
                        int place = wrap_add(copied_row_1, r * 32);
                        int next = (int)wrap_add(ahead, (i64)copied);
                        i64 j = wrap_add((i64)tile_column, (i64)place);
                        for (int e = 0; e != 2; ++e) {
                            int each = wrap_add(place, e);
                            int at = (int)wrap_add(j, (i64)e);
                            if (at < 100) {
                                copy_async<1>(&factors[to * 1088 + 512 + copied * 36 + each], &B[next * 100 + at]);
                            }
                        }
                    }
                }
            }
        }
        end_group();
        if (0 <= part) {
            int from = part % 4;
            #pragma unroll
            for (int k = 0; k != 2; ++k) {
                double a[4];
                double b[2 * 2];
                #pragma unroll
                for (int h = 0; h != 2; ++h) {
                    #pragma unroll
                    for (int r = 0; r != 2; ++r) {
                        a[r / 2 * 4 + h * 2 + r % 2] = factors[from * 1088 + (own_row + r * 8) * 16 + (((k * 8 + h * 4 + thread % 32 % 4) / 2) ^ ((own_row + r * 8) % 4 * 2)) * 2 + (k * 8 + h * 4 + thread % 32 % 4) % 2];
                    }
                }
                #pragma unroll
                for (int h = 0; h != 2; ++h) {
                    #pragma unroll
                    for (int c = 0; c != 2; ++c) {
                        b[c * 2 + h] = factors[from * 1088 + 512 + (k * 8 + h * 4 + thread % 32 % 4) * 36 + thread / 32 % 2 * 16 + thread % 32 / 4 * 2 + c / 2 * 16 + c % 2];
                    }
                }
                #pragma unroll
                for (int m = 0; m != 1; ++m) {
                    #pragma unroll
                    for (int n = 0; n != 2; ++n) {
                        mma(&sums[m * 8 + n * 4], a[m * 4], a[m * 4 + 1], a[m * 4 + 2], a[m * 4 + 3], b[n * 2], b[n * 2 + 1]);
                    }
                }
            }
        }
    }
    #pragma unroll
    for (int r = 0; r != 2; ++r) {
        int i = wrap_add(tile_row, wrap_add(own_row, r * 8));
        #pragma unroll
        for (int c = 0; c != 4; ++c) {
            int j = wrap_add(tile_column, wrap_add(own_column, wrap_add(wrap_mul(c / 4, 16), wrap_add(wrap_mul(c % 2, 2), c / 2 % 2))));
            if (i < 120 && j < 100) {
                double total = sums[r / 2 * 8 + c / 2 * 4 + r % 2 * 2 + c % 2];
                // input.ir:10: C[i, j] = max(total, 0.0)
                C[i * 100 + j] = max_py(total, 0.0);
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
typedef unsigned long long u64;

extern "C" int contraction(ParpyContext* context, const double* __restrict A,
                           const double* __restrict B, double* __restrict C) {
    // input.ir:5: for i in range(A.shape[0]):
    {
        void* arguments[] = {(void*)&A, (void*)&B, (void*)&C};
        const int error = parpy_launch(context, 0, 16, 1, 1, 128, 1, 1, 0, arguments);
        if (error) {
            return error;
        }
    }
    return 0;
}

extern "C" int contraction_slots(ParpyContext* context, const u64* slots) {
    return contraction(context, (const double*)slots[0], (const double*)slots[1],
                       (double*)slots[2]);
}
