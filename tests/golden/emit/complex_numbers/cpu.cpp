// ---- host code ----
// roots(z: c128[100], w: c64[100])
#define NOINLINE __attribute__((noinline))
struct ParpyContext;
typedef long long i64;
extern "C" i64 parpy_chunks(ParpyContext*, i64 iterations, double cost, i64 max_workers);
extern "C" void parpy_parallel_for(ParpyContext*, i64 iterations, i64 chunks, i64 max_workers,
                                   void (*body)(void* frame, i64 begin, i64 end, i64 chunk),
                                   void* frame);
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
#define INLINE static inline __attribute__((always_inline))
template <class T, class R> INLINE complex<T> complex_cast(complex<R> a) {
    return {(T)a.re, (T)a.im};
}
typedef unsigned long long u64;
typedef double wide_real;
template <class T> INLINE bool is_inf(T a) { return a == a && a - a != 0; }
template <class T> INLINE bool is_finite(T a) { return a - a == 0; }
#define INFINITY __builtin_huge_valf()
#define NAN __builtin_nanf("")
INLINE double rint_f64(double a) { return __builtin_rint(a); }
INLINE float mul_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
INLINE double mul_add(double a, double b, double c) { return __builtin_fma(a, b, c); }
INLINE u64 f64_bits(double x) { return __builtin_bit_cast(u64, x); }
INLINE double f64_from_bits(u64 bits) { return __builtin_bit_cast(double, bits); }
// y * 2^n for a whole n: in two steps, so that results may overflow or be denormal.
INLINE double scale_f64(double y, double n) {
    const double half = rint_f64(n * 0.5);
    const u64 a = f64_bits(half + 0x1.8p52) + 1023, b = f64_bits(n - half + 0x1.8p52) + 1023;
    return y * f64_from_bits(a << 52) * f64_from_bits(b << 52);
}
INLINE double exp_f64(double x) {
    const double bounded = x < -746.0 ? -746.0 : x > 710.0 ? 710.0 : x;
    const double n = rint_f64(bounded * 1.4426950408889634);
    double r = mul_add(n, -0x1.62e42fefa38p-1, bounded);
    r = mul_add(n, -0x1.ef35793c7673p-45, r);
    double q = 2.4999965656382597e-08;
    q = mul_add(q, r, 2.7630378862167696e-07);
    q = mul_add(q, r, 2.7557587344426433e-06);
    q = mul_add(q, r, 2.480149276209247e-05);
    q = mul_add(q, r, 0.00019841269504756046);
    q = mul_add(q, r, 0.0013888888943923293);
    q = mul_add(q, r, 0.008333333333495634);
    q = mul_add(q, r, 0.041666666666529184);
    q = mul_add(q, r, 0.1666666666666641);
    q = mul_add(q, r, 0.5000000000000011);
    return scale_f64(1.0 + mul_add(r * r, q, r), n);
}
// e^x is finite for x up to this number.
#define FAR_EXPONENT 709.0
INLINE double abs_f64(double a) { return __builtin_fabs(a); }
extern "C" double libcos(double) __asm__("cos");
// x - n pi/2 with |r| <= pi/4 and the last two bits of n, for |x| < 2^32.
struct turn_f64 {
    double r;
    u64 n;
    INLINE_MEMBER turn_f64(double x) {
        const double whole = rint_f64(x * 0.6366197723675814);
        r = mul_add(whole, -0x1.921fb54442d18p+0, x);
        r = mul_add(whole, -0x1.1a62633145c07p-54, r);
        r = mul_add(whole, 0x1.f1976b7ed8fbcp-110, r);
        n = f64_bits(whole + 0x1.8p52);
    }
};
INLINE double sin_poly_f64(double r) {
    const double z = r * r;
    double q = 1.5901875530902917e-10;
    q = mul_add(q, z, -2.505085611990553e-08);
    q = mul_add(q, z, 2.7557314407090566e-06);
    q = mul_add(q, z, -0.00019841269832237133);
    q = mul_add(q, z, 0.008333333333326165);
    q = mul_add(q, z, -0.16666666666666652);
    return mul_add(r * z, q, r);
}
INLINE double cos_poly_f64(double r) {
    const double z = r * r;
    double q = -1.1360832475094446e-11;
    q = mul_add(q, z, 2.087574830307101e-09);
    q = mul_add(q, z, -2.7557314556603527e-07);
    q = mul_add(q, z, 2.4801587290281377e-05);
    q = mul_add(q, z, -0.0013888888888875608);
    q = mul_add(q, z, 0.04166666666666661);
    const double half = 0.5 * z, one = 1.0 - half;
    return one + mul_add(z * z, q, 1.0 - one - half);
}
INLINE double cos_f64(double x) {
    const double size = abs_f64(x);
    if (__builtin_expect(!(size < 0x1p32), 0)) return libcos(x);  // rare, infinity or NaN
    const turn_f64 t(size);
    const double y = t.n & 1 ? sin_poly_f64(t.r) : cos_poly_f64(t.r);
    return f64_from_bits(f64_bits(y) ^ (t.n + 1 & 2) << 62);
}
extern "C" double libsin(double) __asm__("sin");
INLINE double sin_f64(double x) {
    const double size = abs_f64(x);
    if (__builtin_expect(!(size < 0x1p32), 0)) return libsin(x);  // rare, infinity or NaN
    const turn_f64 t(size);
    const double y = t.n & 1 ? cos_poly_f64(t.r) : sin_poly_f64(t.r);
    return f64_from_bits(f64_bits(y) ^ (t.n & 2) << 62 ^ (f64_bits(x) & 0x8000000000000000));
}
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

struct roots_i_frame {
    c128* z;
    const c64* w;
};

static NOINLINE void roots_i(c128* __restrict z, const c64* __restrict w, i64 begin, i64 end,
                             i64 chunk) {
    // input.ir:6: for i in range(n):
    #pragma clang loop vectorize(assume_safety)
    for (i64 i = begin; i < end; ++i) {
        // input.ir:7: z[i] = z[i] * z[i] / w[i] + exp(z[i]) * complex{0.0, 1.0}
        z[i] = z[i] * z[i] / complex_cast<double>(w[i]) + exp_complex(z[i]) * c128{0.0, 1.0};
    }
}

static void roots_i_run(void* frame, i64 begin, i64 end, i64 chunk) {
    const roots_i_frame& f = *(const roots_i_frame*)frame;
    roots_i(f.z, f.w, begin, end, chunk);
}

extern "C" int roots(ParpyContext* context, c128* __restrict z, const c64* __restrict w) {
    // input.ir:6: for i in range(n):
    const i64 chunks = parpy_chunks(context, 100, 5.6, 100);
    roots_i_frame roots_i_args = {z, w};
    parpy_parallel_for(context, 100, chunks, 100, roots_i_run, &roots_i_args);
    return 0;
}

extern "C" int roots_slots(ParpyContext* context, const u64* slots) {
    return roots(context, (c128*)slots[0], (const c64*)slots[1]);
}
