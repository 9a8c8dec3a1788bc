// ---- device code ----
// collatz(start: i64[1000], steps: i32[1000])
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
typedef unsigned long long u64;
template <class T> INLINE T wrap_add(T a, decltype(T()) b) { return (T)((u64)a + (u64)b); }
template <class T> INLINE T wrap_mul(T a, decltype(T()) b) { return (T)((u64)a * (u64)b); }
// Rounds towards minus infinity; the divisor is positive.
template <class T> INLINE T floor_div_pos(T a, decltype(T()) b) {
    const T flip = (T)(a >> (8 * sizeof(T) - 1));
    return (T)((a ^ flip) / b ^ flip);
}
// In [0, b); the divisor is positive.
template <class T> INLINE T floor_mod_pos(T a, decltype(T()) b) {
    const T r = (T)(a % b);
    return (T)(r < 0 ? r + b : r);
}

extern "C" __global__ void __launch_bounds__(1024) collatz_i(const i64* start, int* steps) {
    // input.ir:6: for i in range(n):
    int i = (int)threadIdx.x;
    if (i < 1000) {
        // input.ir:7: x = start[i]
        i64 x = start[i];
        // input.ir:8: count = 0
        i64 count = 0;
        // input.ir:9: while x > 1:
        x = hidden(x);
        count = hidden(count);
        while (x > 1) {
            // input.ir:10: if x % 2 == 0:
            if (floor_mod_pos(x, 2) == 0) {
                // input.ir:11: x = x // 2
                x = floor_div_pos(x, 2);
            } else if (x > 1000000000) {
                // input.ir:13: count = -1
                count = -1;
                // input.ir:14: break
                break;
            } else {
                // input.ir:16: x = 3 * x + 1
                x = wrap_add(wrap_mul(3LL, x), 1);
            }
            // input.ir:17: count += 1
            count = wrap_add(count, 1);
        }
        // input.ir:18: steps[i] = i32(count)
        steps[i] = (int)count;
        // input.ir:19: for k in range(8, 0, -2):
        for (int k = 8; k != 0; k -= 2) {
            // input.ir:20: if start[i] == k:
            if (start[i] == k) {
                // input.ir:21: continue
                continue;
            }
            // input.ir:22: steps[i] += 1
            steps[i] = wrap_add(steps[i], 1);
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

extern "C" int collatz(ParpyContext* context, const i64* __restrict start, int* __restrict steps) {
    // input.ir:6: for i in range(n):
    {
        void* arguments[] = {(void*)&start, (void*)&steps};
        const int error = parpy_launch(context, 0, 1, 1, 1, 1024, 1, 1, 0, arguments);
        if (error) {
            return error;
        }
    }
    return 0;
}

extern "C" int collatz_slots(ParpyContext* context, const u64* slots) {
    return collatz(context, (const i64*)slots[0], (int*)slots[1]);
}
