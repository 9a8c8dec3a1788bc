// ---- host code ----
// f(a: f64[300], n: i64)
struct ParpyContext;
#define INLINE static inline __attribute__((always_inline))
template <class T> INLINE T max_py(T a, decltype(T()) b) { return b > a ? b : a; }
typedef long long i64;
typedef unsigned long long u64;

extern "C" int f(ParpyContext* context, double* __restrict a, i64 n) {
    // input.ir:3: for q: i64 in range(100):
    for (i64 q = 0; q < 100; ++q) {
        // input.ir:4: for i: i64 in range(max(q, n)):
        const i64 i_end = max_py(q, n);
        for (i64 i = 0; i < i_end; ++i) {
            // input.ir:5: a[i] = a[i] * 0.5
            a[i] = a[i] * 0.5;
        }
        // input.ir:6: for i: i64 in range(max(q, n)):
        const i64 i_end_1 = max_py(q, n);
        for (i64 i = 0; i < i_end_1; ++i) {
            // input.ir:7: a[i] = a[i] + 1.0
            a[i] = a[i] + 1.0;
        }
    }
    return 0;
}

extern "C" int f_slots(ParpyContext* context, const u64* slots) {
    return f(context, (double*)slots[0], (i64)slots[1]);
}
