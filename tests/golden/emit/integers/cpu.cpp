// ---- host code ----
// integers(a: i32[100], b: u8[100], c: i64[100], flags: bool[100])
#define NOINLINE __attribute__((noinline))
struct ParpyContext;
typedef long long i64;
extern "C" i64 parpy_chunks(ParpyContext*, i64 iterations, double cost, i64 max_workers);
extern "C" void parpy_parallel_for(ParpyContext*, i64 iterations, i64 chunks, i64 max_workers,
                                   void (*body)(void* frame, i64 begin, i64 end, i64 chunk),
                                   void* frame);
#define INLINE static inline __attribute__((always_inline))
template <class T> INLINE T min_py(T a, decltype(T()) b) { return b < a ? b : a; }
typedef unsigned char u8;
typedef unsigned long long u64;
// An element of an array of bool: any byte but 0 is true.
INLINE bool truth(const bool& element) { return *(const unsigned char*)&element != 0; }
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

struct integers_i_frame {
    int* a;
    const u8* b;
    const i64* c;
    bool* flags;
};

static NOINLINE void integers_i(int* __restrict a, const u8* __restrict b, const i64* __restrict c,
                                bool* __restrict flags, i64 begin, i64 end, i64 chunk) {
    // input.ir:6: for i in range(n):
    #pragma clang loop vectorize(assume_safety)
    for (i64 i = begin; i < end; ++i) {
        // input.ir:7: a[i] = a[i] * a[i] + (a[i] << 3) - (a[i] >> 1 & 7 | 1)
        a[i] = a[i] * a[i] + (a[i] << 3) - (((a[i] >> 1) & 7) | 1);
        // input.ir:8: a[i] = min(a[i], -a[i]) ** 3 // 7 + a[i] % a[99 - i]
        a[i] = floor_div_pos(int_pow(min_py(a[i], -a[i]), 3), 7) + floor_mod(a[i], a[99 - i]);
        // input.ir:9: a[i] += i32((b[i] + b[i]) // b[99 - i]) + i32(c[i] * -9223372036854775808)
        a[i] = a[i] + (div_unsigned((u8)(b[i] + b[i]), b[99 - i]) + (int)(c[i] * (-9223372036854775807LL - 1)));
        // input.ir:10: flags[i] = not flags[i] and b[i] < 200 or c[i] == 5 ^ 3
        flags[i] = !truth(flags[i]) && b[i] < 200 || c[i] == 6;
    }
}

static void integers_i_run(void* frame, i64 begin, i64 end, i64 chunk) {
    const integers_i_frame& f = *(const integers_i_frame*)frame;
    integers_i(f.a, f.b, f.c, f.flags, begin, end, chunk);
}

extern "C" int integers(ParpyContext* context, int* __restrict a, const u8* __restrict b,
                        const i64* __restrict c, bool* __restrict flags) {
    // input.ir:6: for i in range(n):
    const i64 chunks = parpy_chunks(context, 100, 19.7, 100);
    integers_i_frame integers_i_args = {a, b, c, flags};
    parpy_parallel_for(context, 100, chunks, 100, integers_i_run, &integers_i_args);
    return 0;
}

extern "C" int integers_slots(ParpyContext* context, const u64* slots) {
    return integers(context, (int*)slots[0], (const u8*)slots[1], (const i64*)slots[2],
                    (bool*)slots[3]);
}
