// Hand-written C++ for benchmarks/cpu_speed.py: the usual code for these five loop nests,
// compiled by `clang++-19 -O3 -march=native`. Plain loops, restrict pointers, the C library's expf.
#include <cmath>

extern "C" {

void axpy(double a, const double* __restrict x, double* __restrict y, long n) {
    for (long i = 0; i < n; ++i)
        y[i] = a * x[i] + y[i];
}

void softmax(const float* __restrict x, float* __restrict out, long n, long m) {
    for (long i = 0; i < n; ++i) {
        const float* xi = x + i * m;
        float* oi = out + i * m;
        float top = xi[0];
        for (long j = 0; j < m; ++j)
            top = xi[j] > top ? xi[j] : top;
        float sum = 0.0f;
        for (long j = 0; j < m; ++j) {
            oi[j] = expf(xi[j] - top);
            sum += oi[j];
        }
        for (long j = 0; j < m; ++j)
            oi[j] /= sum;
    }
}

void jacobi_2d(const double* __restrict A, double* __restrict B, long n) {
    for (long i = 1; i < n - 1; ++i)
        for (long j = 1; j < n - 1; ++j)
            B[i * n + j] = 0.2 * (A[i * n + j] + A[i * n + j - 1] + A[i * n + j + 1] +
                                  A[(i + 1) * n + j] + A[(i - 1) * n + j]);
}

void spmv(const int* __restrict start, const int* __restrict column, const double* __restrict value,
          const double* __restrict x, double* __restrict y, long n) {
    for (long i = 0; i < n; ++i) {
        double s = 0.0;
        for (int k = start[i]; k < start[i + 1]; ++k)
            s += value[k] * x[column[k]];
        y[i] = s;
    }
}

// Horizontal diffusion with flux limiter; in is (I + 4, J + 4, K), coeff and out (I, J, K).
void hdiff(const double* __restrict in, const double* __restrict coeff, double* __restrict out,
           long I, long J, long K) {
    const long sj = K, si = (J + 4) * K;
    auto at = [&](long i, long j, long k) { return in[i * si + j * sj + k]; };
    auto laplacian = [&](long i, long j, long k) {
        return 4.0 * at(i, j, k) -
               (at(i + 1, j, k) + at(i - 1, j, k) + at(i, j + 1, k) + at(i, j - 1, k));
    };
    for (long i = 0; i < I; ++i)
        for (long j = 0; j < J; ++j)
            for (long k = 0; k < K; ++k) {
                const double c = laplacian(i + 2, j + 2, k);
                const double xp = laplacian(i + 3, j + 2, k), xm = laplacian(i + 1, j + 2, k);
                const double yp = laplacian(i + 2, j + 3, k), ym = laplacian(i + 2, j + 1, k);
                const double v = at(i + 2, j + 2, k);
                double fx0 = c - xm, fx1 = xp - c, fy0 = c - ym, fy1 = yp - c;
                if (fx0 * (v - at(i + 1, j + 2, k)) > 0.0) fx0 = 0.0;
                if (fx1 * (at(i + 3, j + 2, k) - v) > 0.0) fx1 = 0.0;
                if (fy0 * (v - at(i + 2, j + 1, k)) > 0.0) fy0 = 0.0;
                if (fy1 * (at(i + 2, j + 3, k) - v) > 0.0) fy1 = 0.0;
                out[(i * J + j) * K + k] = v - coeff[(i * J + j) * K + k] * (fx1 - fx0 + fy1 - fy0);
            }
}
}
