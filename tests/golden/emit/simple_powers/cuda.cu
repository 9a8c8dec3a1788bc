// ---- device code ----
// simple_powers(x: f32[4096])
#define INLINE static __device__ __forceinline__
// A number that is `value` minus `excess`; EXACT: `value`.
template <class T, bool EXACT = false> struct rounded { T value, excess; };
INLINE float mul_add(float a, float b, float c) { return fmaf(a, b, c); }
INLINE double mul_add(double a, double b, double c) { return fma(a, b, c); }
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
#define INFINITY __int_as_float(0x7f800000)
INLINE float sqrt_f32(float a) { return sqrtf(a); }
INLINE double sqrt_f64(double a) { return sqrt(a); }
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

extern "C" __global__ void __launch_bounds__(1024) simple_powers_i(float* x) {
    // input.ir:6: for i in range(x.shape[0]):
    int i = (int)blockIdx.x * (int)blockDim.x + (int)threadIdx.x;
    // input.ir:7: x[i] = x[i] ** 3 + x[i] ** -1
    x[i] = power_f32<6>(x[i]) + 1.0f / x[i];
    // input.ir:8: x[i] **= -0.5
    x[i] = power_f32<-1>(x[i]);
}

// ---- host code ----
struct ParpyContext;
typedef unsigned int u32;
extern "C" int parpy_launch(ParpyContext*, int kernel, u32 grid_x, u32 grid_y, u32 grid_z,
                            u32 block_x, u32 block_y, u32 block_z, u32 shared_bytes,
                            void** arguments);
typedef unsigned long long u64;

extern "C" int simple_powers(ParpyContext* context, float* __restrict x) {
    // input.ir:6: for i in range(x.shape[0]):
    {
        void* arguments[] = {(void*)&x};
        const int error = parpy_launch(context, 0, 4, 1, 1, 1024, 1, 1, 0, arguments);
        if (error) {
            return error;
        }
    }
    return 0;
}

extern "C" int simple_powers_slots(ParpyContext* context, const u64* slots) {
    return simple_powers(context, (float*)slots[0]);
}
