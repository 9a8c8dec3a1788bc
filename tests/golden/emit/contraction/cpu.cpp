// ---- host code ----
// contraction(A: f64[120, 64], B: f64[64, 100], C: f64[120, 100])
#define NOINLINE __attribute__((noinline))
struct ParpyContext;
typedef long long i64;
extern "C" i64 parpy_chunks(ParpyContext*, i64 iterations, double cost, i64 max_workers);
extern "C" void parpy_parallel_for(ParpyContext*, i64 iterations, i64 chunks, i64 max_workers,
                                   void (*body)(void* frame, i64 begin, i64 end, i64 chunk),
                                   void* frame);
// Adds left * right to R x V * L sums, which stay in V vectors of L lanes per row and begin at
// zero if Z, in the order of the steps; if F, each product is fused into its addition.
template <int R, int V, int L, bool F, bool Z, class T>
__attribute__((noinline, min_vector_width(512))) static void tile(
    T* __restrict sums, i64 sums_row, const T* __restrict left, i64 left_row, i64 left_step,
    const T* __restrict right, i64 right_step, i64 steps) {
    typedef T Vector __attribute__((ext_vector_type(L), aligned(sizeof(T))));
    Vector sum[R][V];
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r) {
#pragma clang loop unroll(full)
        for (int v = 0; v < V; ++v) {
            sum[r][v] = Z ? Vector(0) : *(const Vector*)(sums + r * sums_row + v * L);
        }
    }
#pragma clang loop unroll(disable)
    for (i64 k = 0; k < steps; ++k) {
        Vector row[V];
#pragma clang loop unroll(full)
        for (int v = 0; v < V; ++v) row[v] = *(const Vector*)(right + v * L);
#pragma clang loop unroll(full)
        for (int r = 0; r < R; ++r) {
            const Vector factor = left[r * left_row];
#pragma clang loop unroll(full)
            for (int v = 0; v < V; ++v) {
                if constexpr (F) {
                    sum[r][v] = __builtin_elementwise_fma(factor, row[v], sum[r][v]);
                } else {
                    sum[r][v] += factor * row[v];
                }
            }
        }
        left += left_step;
        right += right_step;
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r) {
#pragma clang loop unroll(full)
        for (int v = 0; v < V; ++v) *(Vector*)(sums + r * sums_row + v * L) = sum[r][v];
    }
}
#define INLINE static inline __attribute__((always_inline))
template <class T> INLINE T min_py(T a, decltype(T()) b) { return b < a ? b : a; }
template <class T> INLINE T max_py(T a, decltype(T()) b) { return b > a ? b : a; }
typedef unsigned long long u64;

struct contraction_block_frame {
    const double* A;
    const double* B;
    double* C;
};

static NOINLINE void contraction_block(const double* __restrict A, const double* __restrict B,
                                       double* __restrict C, i64 begin, i64 end, i64 chunk) {
    // input.ir:5: for i in range(A.shape[0]):
    for (i64 block = begin; block < end; ++block) {
        i64 row = block % 5 * 24;
        i64 first_strip = block / 5 * 4;
        i64 strip_end = min_py(first_strip + 4, 13);
        alignas(64) double sums[192];
        for (i64 strip = first_strip; strip < strip_end; ++strip) {
            i64 column = strip * 8;
            i64 tile_column = min_py(column, 92);
            for (i64 band = 0; band < 1; ++band) {
                i64 tile_row = row + band * 24;
                #pragma clang loop vectorize(assume_safety)
                for (i64 sum = 0; sum < 192; ++sum) {
                    sums[sum] = 0.0;
                }
                tile<24, 1, 8, true, false>(&sums[0], 8, &A[tile_row * 64], 64, 1, &B[tile_column], 100, 64);
                double total;
                if (column + 8 <= 100) {
                    for (i64 i = tile_row; i < tile_row + 24; ++i) {
                        #pragma clang loop vectorize(assume_safety)
                        for (i64 j = column; j < column + 8; ++j) {
                            total = sums[(i - tile_row) * 8 + j - tile_column];
                            // input.ir:10: C[i, j] = max(total, 0.0)
                            C[i * 100 + j] = max_py(total, 0.0);
                        }
                    }
                } else {
                    const i64 i_end = min_py(tile_row + 24, row + 24);
                    for (i64 i = tile_row; i < i_end; ++i) {
                        const i64 j_end = min_py(column + 8, 100);
                        #pragma clang loop vectorize(assume_safety)
                        for (i64 j = column; j < j_end; ++j) {
                            total = sums[(i - tile_row) * 8 + j - tile_column];
                            C[i * 100 + j] = max_py(total, 0.0);
                        }
                    }
                }
            }
        }
    }
}

static void contraction_block_run(void* frame, i64 begin, i64 end, i64 chunk) {
    const contraction_block_frame& f = *(const contraction_block_frame*)frame;
    contraction_block(f.A, f.B, f.C, begin, end, chunk);
}

extern "C" int contraction(ParpyContext* context, const double* __restrict A,
                           const double* __restrict B, double* __restrict C) {
    // input.ir:5: for i in range(A.shape[0]):
    const i64 chunks = parpy_chunks(context, 20, 1440.0, 120);
    contraction_block_frame contraction_block_args = {A, B, C};
    parpy_parallel_for(context, 20, chunks, 120, contraction_block_run, &contraction_block_args);
    return 0;
}

extern "C" int contraction_slots(ParpyContext* context, const u64* slots) {
    return contraction(context, (const double*)slots[0], (const double*)slots[1],
                       (double*)slots[2]);
}
