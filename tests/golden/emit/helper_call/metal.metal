// ---- device code ----
// norms(x: f32[1000, 3], y: f32[1000])
#include <metal_stdlib>
using namespace metal;
#define INLINE static inline
typedef long i64;
// A subscript with Python's meaning: a negative one counts from the end.
template <class I, class N> INLINE auto index(I i, N n) { return i < 0 ? i + n : i; }
template <class T> INLINE T square(T a) { return (T)(a * a); }
typedef ulong u64;
template <class T> INLINE T wrap_sub(T a, decltype(T()) b) { return (T)((u64)a - (u64)b); }
template <class T> INLINE T wrap_mul(T a, decltype(T()) b) { return (T)((u64)a * (u64)b); }

static i64 factorial(i64 n, i64 lowest_frame);

// input.ir:9: helper norm(x, i, n):
INLINE float norm_(device const float* x, i64 i, i64 n) {
    // input.ir:10: s = 0.0
    float s = 0.0f;
    // input.ir:11: for k in range(n):
    for (i64 k = 0; k < n; ++k) {
        // input.ir:12: s += square(x[i, k])
        s = s + square(x[index(i, 1000) * 3 + k]);
    }
    // input.ir:13: return sqrt(s)
    return sqrt(float(s));
}

// input.ir:15: helper factorial(n):
static i64 factorial(i64 n, i64 lowest_frame) {
    if (0 < lowest_frame) {
        fail(0);
        return 0;
    }
    // input.ir:16: if n < 2:
    if (n < 2) {
        // input.ir:17: return 1
        return 1;
    }
    // input.ir:18: return n * factorial(n - 1)
    return wrap_mul(n, factorial(wrap_sub(n, 1), lowest_frame));
}

[[max_total_threads_per_threadgroup(1024)]] kernel void norms_i(
        device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
        uint3 thread_id [[thread_position_in_threadgroup]],
        uint3 block_id [[threadgroup_position_in_grid]],
        uint3 block_size [[threads_per_threadgroup]], uint3 grid_size [[threadgroups_per_grid]]) {
    // input.ir:6: for i in range(n):
    int i = (int)thread_id.x;
    if (i < 1000) {
        // input.ir:7: y[i] = norm(x, i, 3) + f32(factorial(3))
        y[i] = norm_(x, i, 3) + factorial(3, 0);
    }
}

// ---- host code ----
struct ParpyContext;
typedef unsigned int u32;
extern "C" int parpy_launch(ParpyContext*, int kernel, u32 grid_x, u32 grid_y, u32 grid_z,
                            u32 block_x, u32 block_y, u32 block_z, u32 shared_bytes,
                            void** arguments);
typedef unsigned long long u64;

extern "C" int norms(ParpyContext* context, const float* __restrict x, float* __restrict y) {
    // input.ir:6: for i in range(n):
    {
        void* arguments[] = {(void*)&x, (void*)&y};
        const int error = parpy_launch(context, 0, 1, 1, 1, 1024, 1, 1, 0, arguments);
        if (error) {
            return error;
        }
    }
    return 0;
}

extern "C" int norms_slots(ParpyContext* context, const u64* slots) {
    return norms(context, (const float*)slots[0], (float*)slots[1]);
}
