// ---- host code ----
// simple_powers(x: f32[4096])
#define NOINLINE __attribute__((noinline))
struct ParpyContext;
typedef long long i64;
extern "C" i64 parpy_chunks(ParpyContext*, i64 iterations, double cost, i64 max_workers);
extern "C" void parpy_parallel_for(ParpyContext*, i64 iterations, i64 chunks, i64 max_workers,
                                   void (*body)(void* frame, i64 begin, i64 end, i64 chunk),
                                   void* frame);
#define INLINE static inline __attribute__((always_inline))
// A number that is `value` minus `excess`; EXACT: `value`.
template <class T, bool EXACT = false> struct rounded { T value, excess; };
INLINE float mul_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
INLINE double mul_add(double a, double b, double c) { return __builtin_fma(a, b, c); }
template <class T, bool A, bool B> INLINE rounded<T> rounded_product(rounded<T, A> a, rounded<T, B> b) {
    const T value = a.value * b.value;
    T excess = mul_add(-a.value, b.value, value);
    if (!A) excess = mul_add(a.excess, b.value, excess);
    if (!B) excess = mul_add(a.value, b.excess, excess);
    return {value, excess};
}
#define FINITE_MATH __FINITE_MATH_ONLY__
// a ** N, less than 16
template <int N, class T, bool EXACT> INLINE T rounded_power(rounded<T, EXACT> a) {
    const rounded<T> p2 = rounded_product(a, a), p4 = rounded_product(p2, p2), p8 = rounded_product(p4, p4);
    rounded<T> power = N & 1 ? rounded<T>{a.value, a.excess} : N & 2 ? p2 : N & 4 ? p4 : p8;
    if ((N & 1) && (N & 2)) power = rounded_product(p2, a);
    if ((N & 3) && (N & 4)) power = rounded_product(power, p4);
    if ((N & 7) && (N & 8)) power = rounded_product(power, p8);
#if FINITE_MATH  // the compiler may reorder the products, and deletes the test of infinities
    return power.value;
#else
    const bool rounds = power.value != 0 && power.excess - power.excess == 0;
    return rounds ? power.value - power.excess : power.value;
#endif
}
template <class T, bool EXACT> INLINE rounded<T> rounded_inverse(rounded<T, EXACT> a) {
    const T value = 1 / a.value, error = mul_add(a.value, value, (T)-1);
    return {value, value * (EXACT ? error : mul_add(-value, a.excess, error))};
}
#define INFINITY __builtin_huge_valf()
INLINE float sqrt_f32(float a) { return __builtin_sqrtf(a); }
INLINE double sqrt_f64(double a) { return __builtin_sqrt(a); }
INLINE float sqrt_any(float a) { return sqrt_f32(a); }
INLINE double sqrt_any(double a) { return sqrt_f64(a); }
// x ** (K / 2): products, roots and quotients that are rounded once, together.
template <int K, class T> INLINE T power_any(T x) {
    constexpr int size = K < 0 ? -K : K;
    if (K % 2 == 0) {
        const rounded<T, true> base = {x, 0};
        return K > 0 ? rounded_power<size / 2>(base) : rounded_power<size / 2>(rounded_inverse(base));
    }
    const T radicand = x == -(T)INFINITY ? (T)INFINITY : x + (T)0, root = sqrt_any(radicand);
    if (K == 1) return root;
    const rounded<T> base = {root, mul_add(root, root, -radicand) / (root + root)};
    return K > 0 ? rounded_power<size>(base) : rounded_power<size>(rounded_inverse(base));
}
template <int K> INLINE float power_f32(float x) { return power_any<K>(x); }
typedef unsigned long long u64;

struct simple_powers_i_frame {
    float* x;
};

static NOINLINE void simple_powers_i(float* __restrict x, i64 begin, i64 end, i64 chunk) {
    // input.ir:6: for i in range(x.shape[0]):
    #pragma clang loop vectorize(assume_safety)
    for (i64 i = begin; i < end; ++i) {
        // input.ir:7: x[i] = x[i] ** 3 + x[i] ** -1
        x[i] = power_f32<6>(x[i]) + 1.0f / x[i];
        // input.ir:8: x[i] **= -0.5
        x[i] = power_f32<-1>(x[i]);
    }
}

static void simple_powers_i_run(void* frame, i64 begin, i64 end, i64 chunk) {
    const simple_powers_i_frame& f = *(const simple_powers_i_frame*)frame;
    simple_powers_i(f.x, begin, end, chunk);
}

extern "C" int simple_powers(ParpyContext* context, float* __restrict x) {
    // input.ir:6: for i in range(x.shape[0]):
    const i64 chunks = parpy_chunks(context, 4096, 3.3, 4096);
    simple_powers_i_frame simple_powers_i_args = {x};
    parpy_parallel_for(context, 4096, chunks, 4096, simple_powers_i_run, &simple_powers_i_args);
    return 0;
}

extern "C" int simple_powers_slots(ParpyContext* context, const u64* slots) {
    return simple_powers(context, (float*)slots[0]);
}
