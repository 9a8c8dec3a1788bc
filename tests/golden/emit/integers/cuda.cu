// ---- device code ----
// integers(a: i32[100], b: u8[100], c: i64[100], flags: bool[100])
#define INLINE static __device__ __forceinline__
template <class T> INLINE T min_py(T a, decltype(T()) b) { return b < a ? b : a; }
typedef long long i64;
typedef unsigned char u8;
// An element of an array of bool: any byte but 0 is true.
INLINE bool truth(const bool& element) { return *(const unsigned char*)&element != 0; }
typedef unsigned long long u64;
template <class T> INLINE T wrap_add(T a, decltype(T()) b) { return (T)((u64)a + (u64)b); }
template <class T> INLINE T wrap_sub(T a, decltype(T()) b) { return (T)((u64)a - (u64)b); }
template <class T> INLINE T wrap_mul(T a, decltype(T()) b) { return (T)((u64)a * (u64)b); }
template <class T> INLINE T wrap_neg(T a) { return (T)(0 - (u64)a); }
template <class T> INLINE T div_unsigned(T a, decltype(T()) b) { return b == 0 ? (T)0 : (T)(a / b); }
// Has the sign of the divisor; x % 0 is 0.
template <class T> INLINE T floor_mod(T a, decltype(T()) b) {
    if (b == 0 || b == -1) return 0;
    const T r = (T)(a % b);
    return (T)(r != 0 && (r < 0) != (b < 0) ? r + b : r);
}
// Rounds towards minus infinity; the divisor is positive.
template <class T> INLINE T floor_div_pos(T a, decltype(T()) b) {
    const T flip = (T)(a >> (8 * sizeof(T) - 1));
    return (T)((a ^ flip) / b ^ flip);
}
// Wraps; a negative exponent gives 0, unless the base is 1 or -1.
template <class T> INLINE T int_pow(T base, decltype(T()) exponent) {
    if (exponent < 0) return base == 1 ? (T)1 : base == (T)-1 ? (T)(exponent & 1 ? -1 : 1) : (T)0;
    u64 result = 1, power = (u64)base;
    for (; exponent != 0; exponent = (T)(exponent >> 1)) {
        if (exponent & 1) result *= power;
        power *= power;
    }
    return (T)result;
}

extern "C" __global__ void __launch_bounds__(128) integers_i(
        int* a, const u8* b, const i64* c, bool* flags) {
    // input.ir:6: for i in range(n):
    int i = (int)threadIdx.x;
    if (i < 100) {
        // input.ir:7: a[i] = a[i] * a[i] + (a[i] << 3) - (a[i] >> 1 & 7 | 1)
        a[i] = wrap_sub(wrap_add(wrap_mul(a[i], a[i]), a[i] << 3), ((a[i] >> 1) & 7) | 1);
        // input.ir:8: a[i] = min(a[i], -a[i]) ** 3 // 7 + a[i] % a[99 - i]
        a[i] = wrap_add(floor_div_pos(int_pow(min_py(a[i], wrap_neg(a[i])), 3), 7), floor_mod(a[i], a[99 - i]));
        // input.ir:9: a[i] += i32((b[i] + b[i]) // b[99 - i]) + i32(c[i] * -9223372036854775808)
        a[i] = wrap_add(a[i], wrap_add((int)div_unsigned((u8)(b[i] + b[i]), b[99 - i]), (int)wrap_mul(c[i], (-9223372036854775807LL - 1))));
        // input.ir:10: flags[i] = not flags[i] and b[i] < 200 or c[i] == 5 ^ 3
        flags[i] = !truth(flags[i]) && b[i] < 200 || c[i] == 6;
    }
}

// ---- host code ----
struct ParpyContext;
typedef unsigned int u32;
extern "C" int parpy_launch(ParpyContext*, int kernel, u32 grid_x, u32 grid_y, u32 grid_z,
                            u32 block_x, u32 block_y, u32 block_z, u32 shared_bytes,
                            void** arguments);
typedef long long i64;
typedef unsigned char u8;
typedef unsigned long long u64;

extern "C" int integers(ParpyContext* context, int* __restrict a, const u8* __restrict b,
                        const i64* __restrict c, bool* __restrict flags) {
    // input.ir:6: for i in range(n):
    {
        void* arguments[] = {(void*)&a, (void*)&b, (void*)&c, (void*)&flags};
        const int error = parpy_launch(context, 0, 1, 1, 1, 128, 1, 1, 0, arguments);
        if (error) {
            return error;
        }
    }
    return 0;
}

extern "C" int integers_slots(ParpyContext* context, const u64* slots) {
    return integers(context, (int*)slots[0], (const u8*)slots[1], (const i64*)slots[2],
                    (bool*)slots[3]);
}
