// ---- device code ----
// roots(z: c128[100], w: c64[100])
#define INLINE_MEMBER __device__ __forceinline__
template <class T> struct complex {
    T re, im;
    INLINE_MEMBER complex operator+(complex b) const { return {re + b.re, im + b.im}; }
    INLINE_MEMBER complex operator-(complex b) const { return {re - b.re, im - b.im}; }
    INLINE_MEMBER complex operator-() const { return {-re, -im}; }
    INLINE_MEMBER complex operator*(complex b) const {
        return {re * b.re - im * b.im, re * b.im + im * b.re};
    }
    INLINE_MEMBER complex operator/(complex b) const {
        const T re_size = b.re < 0 ? -b.re : b.re, im_size = b.im < 0 ? -b.im : b.im;
        if (re_size >= im_size) {
            if (re_size == 0) return {re / (T)0, im / (T)0};
            const T ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
            return {(re + im * ratio) * scale, (im - re * ratio) * scale};
        }
        const T ratio = b.re / b.im, scale = 1 / (b.im + b.re * ratio);
        return {(re * ratio + im) * scale, (im * ratio - re) * scale};
    }
    INLINE_MEMBER bool operator==(complex b) const { return re == b.re && im == b.im; }
    INLINE_MEMBER bool operator!=(complex b) const { return re != b.re || im != b.im; }
    INLINE_MEMBER bool operator<(complex b) const { return re < b.re || (re == b.re && im < b.im); }
    INLINE_MEMBER bool operator>(complex b) const { return b < *this; }
    INLINE_MEMBER bool operator<=(complex b) const { return re < b.re || (re == b.re && im <= b.im); }
    INLINE_MEMBER bool operator>=(complex b) const { return b <= *this; }
};
typedef complex<float> c64;
typedef complex<double> c128;
#define INLINE static __device__ __forceinline__
template <class T, class R> INLINE complex<T> complex_cast(complex<R> a) {
    return {(T)a.re, (T)a.im};
}
typedef double wide_real;
template <class T> INLINE bool is_inf(T a) { return a == a && a - a != 0; }
template <class T> INLINE bool is_finite(T a) { return a - a == 0; }
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fc00000)
INLINE double exp_f64(double a) { return exp(a); }
// e^x is finite for x up to this number.
#define FAR_EXPONENT 709.0
INLINE double cos_f64(double a) { return cos(a); }
INLINE double sin_f64(double a) { return sin(a); }
// The parts may be finite where e^x is not.
template <class T> INLINE complex<T> exp_complex(complex<T> a) {
    const wide_real x = a.re, y = a.im;
    if (is_inf(x) && !is_finite(y)) {
        return x > 0 ? complex<T>{(T)INFINITY, (T)NAN} : complex<T>{(T)0, (T)0};
    }
    if (y == 0) return {(T)exp_f64(x), a.im};
    const bool far = x > FAR_EXPONENT;
    const wide_real size = exp_f64(far ? x - 1 : x), rest = far ? 2.718281828459045 : 1.0;
    return {(T)(size * cos_f64(y) * rest), (T)(size * sin_f64(y) * rest)};
}

extern "C" __global__ void __launch_bounds__(128) roots_i(c128* z, const c64* w) {
    // input.ir:6: for i in range(n):
    int i = (int)threadIdx.x;
    if (i < 100) {
        // input.ir:7: z[i] = z[i] * z[i] / w[i] + exp(z[i]) * complex{0.0, 1.0}
        z[i] = z[i] * z[i] / complex_cast<double>(w[i]) + exp_complex(z[i]) * c128{0.0, 1.0};
    }
}

// ---- host code ----
struct ParpyContext;
typedef unsigned int u32;
extern "C" int parpy_launch(ParpyContext*, int kernel, u32 grid_x, u32 grid_y, u32 grid_z,
                            u32 block_x, u32 block_y, u32 block_z, u32 shared_bytes,
                            void** arguments);
#define INLINE_MEMBER inline __attribute__((always_inline))
template <class T> struct complex {
    T re, im;
    INLINE_MEMBER complex operator+(complex b) const { return {re + b.re, im + b.im}; }
    INLINE_MEMBER complex operator-(complex b) const { return {re - b.re, im - b.im}; }
    INLINE_MEMBER complex operator-() const { return {-re, -im}; }
    INLINE_MEMBER complex operator*(complex b) const {
        return {re * b.re - im * b.im, re * b.im + im * b.re};
    }
    INLINE_MEMBER complex operator/(complex b) const {
        const T re_size = b.re < 0 ? -b.re : b.re, im_size = b.im < 0 ? -b.im : b.im;
        if (re_size >= im_size) {
            if (re_size == 0) return {re / (T)0, im / (T)0};
            const T ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
            return {(re + im * ratio) * scale, (im - re * ratio) * scale};
        }
        const T ratio = b.re / b.im, scale = 1 / (b.im + b.re * ratio);
        return {(re * ratio + im) * scale, (im * ratio - re) * scale};
    }
    INLINE_MEMBER bool operator==(complex b) const { return re == b.re && im == b.im; }
    INLINE_MEMBER bool operator!=(complex b) const { return re != b.re || im != b.im; }
    INLINE_MEMBER bool operator<(complex b) const { return re < b.re || (re == b.re && im < b.im); }
    INLINE_MEMBER bool operator>(complex b) const { return b < *this; }
    INLINE_MEMBER bool operator<=(complex b) const { return re < b.re || (re == b.re && im <= b.im); }
    INLINE_MEMBER bool operator>=(complex b) const { return b <= *this; }
};
typedef complex<float> c64;
typedef complex<double> c128;
typedef unsigned long long u64;

extern "C" int roots(ParpyContext* context, c128* __restrict z, const c64* __restrict w) {
    // input.ir:6: for i in range(n):
    {
        void* arguments[] = {(void*)&z, (void*)&w};
        const int error = parpy_launch(context, 0, 1, 1, 1, 128, 1, 1, 0, arguments);
        if (error) {
            return error;
        }
    }
    return 0;
}

extern "C" int roots_slots(ParpyContext* context, const u64* slots) {
    return roots(context, (c128*)slots[0], (const c64*)slots[1]);
}
