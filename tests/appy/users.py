"""Programs in the style of APPy's users, run by tests/python/pragmas/test_appy_users.py. Each `case` gives a function
and its arguments; its results and stores must be those of plain Python."""

import math

import numpy as np

import parpy.appy as appy
from parpy.appy import jit, prange

rng = np.random.default_rng(7)


# ---------------------------------------------------------------- tutorial


@appy.jit
def vec_add(a, b, c, N):
    #pragma parallel for simd
    for i in range(N):
        c[i] = a[i] + b[i]


@appy.jit(dump_code=False, backend="triton")
def mat_add(a, b, c, M, N):
    #pragma parallel for
    for i in range(M):
        #pragma simd
        for j in range(N):
            c[i, j] = a[i, j] + b[i, j]


@appy.jit
def vec_sum_shared(a, N):
    s = 0.0
    #pragma parallel for simd shared(s)
    for i in range(N):
        s += a[i]
    return s


@appy.jit
def vec_max_shared(a, N):
    m = -1e308
    #pragma parallel for simd shared(m)
    for i in range(N):
        m = max(m, a[i])
    return m


@appy.jit
def vec_sum_atomic(a, b, N):
    #pragma parallel for simd
    for i in range(N):
        #pragma atomic
        b[0] += a[i]


@appy.jit
def rowwise_sum(a, b, M, N):
    #pragma parallel for
    for i in range(M):
        s = 0.0
        #pragma simd
        for j in range(N):
            s += a[i, j]
        b[i] = s


@appy.jit
def rowwise_min(a, b, M, N):
    #pragma parallel for
    for i in range(M):
        m = 1e308
        #pragma simd
        for j in range(N):
            m = min(m, a[i, j])
        b[i] = m


@appy.jit
def pi(n):
    sum = 0.0
    step = 1.0 / n
    #pragma parallel for simd shared(sum, step)
    for i in range(1, n + 1):
        x = (i - 0.5) * step
        sum += 4.0 / (1.0 + x * x)
    return step * sum


@appy.jit
def var_write(n):
    a = 0
    #pragma parallel for shared(a)
    for i in range(n):
        if i == 3:
            a = 1
    return a


@appy.jit
def spmv_csr(indptr, indices, data, x, y, N):
    #pragma parallel for
    for i in range(N):
        start, end = indptr[i], indptr[i + 1]
        s = 0.0
        #pragma simd
        for j in range(start, end):
            s += data[j] * x[indices[j]]
        y[i] = s


@appy.jit
def spmm(indptr, indices, data, B, y, M):
    #pragma parallel for
    for i in range(M):
        for k in range(indptr[i], indptr[i + 1]):
            y[i, :] += data[k] * B[indices[k], :]


@appy.jit
def masked_sum(a, mask, b, N):
    #pragma parallel for simd
    for i in range(N):
        #pragma atomic
        b[0] += a[i] if mask[i] else 0.0


@appy.jit
def black_scholes(price, strike, t, rate, vol, call, put, nopt):
    mr = -rate
    sig_sig_two = vol * vol * 2
    #pragma parallel for simd
    for i in range(nopt):
        P = price[i]
        S = strike[i]
        T = t[i]
        a = math.log(P / S)
        b = T * mr
        z = T * sig_sig_two
        c = 0.25 * z
        y = 1.0 / math.sqrt(z)
        w1 = (a - b + c) * y
        w2 = (a - b - c) * y
        d1 = 0.5 + 0.5 * math.erf(w1)
        d2 = 0.5 + 0.5 * math.erf(w2)
        Se = math.exp(b) * S
        r = P * d1 - Se * d2
        call[i] = r
        put[i] = r - P + Se


@appy.jit
def jacobi_solver(A, b, x1, x2, N):
    conv = 1e9
    iters = 0
    while conv > 1e-12 and iters < 500:
        iters += 1
        #pragma parallel for
        for i in range(N):
            s = 0.0
            #pragma simd
            for j in range(N):
                s += (A[i, j] * x1[j]) if i != j else 0.0
            x2[i] = (b[i] - s) / A[i, i]
        conv = 0.0
        #pragma parallel for simd reduction(+:conv)
        for i in range(N):
            tmp = x2[i] - x1[i]
            conv += tmp * tmp
        x1, x2 = x2, x1
    return iters


@appy.jit
def heat(u, u_tmp, n, steps, r, r2):
    for _ in range(steps):
        #pragma parallel for
        for i in range(n):
            #pragma simd
            for j in range(n):
                u_tmp[i, j] = (
                    r2 * u[i, j]
                    + r * (u[i - 1, j] if i > 0 else 0.0)
                    + r * (u[i + 1, j] if i < n - 1 else 0.0)
                    + r * (u[i, j - 1] if j > 0 else 0.0)
                    + r * (u[i, j + 1] if j < n - 1 else 0.0)
                )
        u, u_tmp = u_tmp, u
    return u


@appy.jit
def increment(a, N):
    #pragma parallel for simd
    for i in range(N):
        a[i] += 1


# ---------------------------------------------------------------- tensor statements


@appy.jit(auto_simd=True)
def gemv_readme(alpha, A, x, y, M, N):
    #pragma :M=>parallel,block(2) :N=>reduce(sum)
    y[:M] = appy.mv(alpha * A[:M, :N], x[:N])
    return y


@appy.jit(auto_simd=True)
def group_by_label(data, labels, out, count, ndata, nfeatures):
    #pragma parallel for
    for i in range(ndata):
        l = labels[i]
        #pragma atomic :nfeatures=>le(128)
        out[l, :nfeatures] += data[i, :nfeatures]
        #pragma atomic
        count[l] += 1
    return out / count[:, None]


@appy.jit
def log_softmax(a, b, M, N):
    #pragma parallel for
    for i in range(M):
        #pragma :N=>single_block,block(512)
        m = max(a[i, :N])
        s = sum(np.exp(a[i, :N] - m))
        #pragma :N=>
        b[i, :N] = a[i, :N] - m - np.log(s)


@appy.jit(tune={"BM": (32, 64)}, no_barrier_after_write=True)
def matmul(A, B, C, M, N, K, BM, BN, BK):
    #pragma :M=>parallel,block(BM) :N=>parallel,block(BN) :K=>block(BK)
    C[:M, :N] = A[:M, :K] @ B[:K, :N]


@appy.jit(auto_simd=True, dim_info={"A": ("M", "N")})
def five_points(A, B, M, N):
    #pragma 1:M-1=>parallel 1:N-1=>parallel
    B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])


@appy.jit
def masked_rows(a, mask, b, M, N):
    #pragma parallel for
    for i in range(M):
        b[i] = sum(appy.where(mask[i, :N], a[i, :N], 0.0))


# ---------------------------------------------------------------- shaders, prange, ordinary Python around


@appy.shader
def mandelbrot(out, height, width, max_iter):
    for i in appy.prange(height):
        for j in appy.prange(width):
            cr = -2.0 + 3.0 * j / width
            ci = -1.2 + 2.4 * i / height
            zr, zi = 0.0, 0.0
            n = 0
            while n < max_iter and zr * zr + zi * zi <= 4.0:
                zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
                n += 1
            out[i, j] = n


@appy.jit(backend="numba", shader=True)
def hello(out, height, width):
    for i in range(height):
        for j in range(width):
            out[i, j] = 255, 255, 255, 255


@jit
def primes(flags, n):
    for i in prange(n):
        if i > 1:
            flags[i] = 1
            for d in range(2, i):
                if i % d == 0:
                    flags[i] = 0
                    break


class Log:
    def __init__(self):
        self.lines = []

    def add(self, text):
        self.lines.append(text)


@appy.jit(auto=False)
def report(a, n, names):
    log = Log()
    out = np.zeros(n)
    try:
        for name in sorted(set(names)):
            factor = len(name)
            #pragma parallel for simd
            for i in range(n):
                out[i] += factor * a[i]
            log.add(f"{name}: {factor}")
            if factor > 5:
                raise ValueError(name)
    except ValueError as error:
        log.add(f"stopped at {error}")
    return out, log.lines


@appy.jit
def no_pragma(n):
    squares = []
    for i in range(n):
        squares.append(i * i)
    return squares


@appy.jit(backend="metal")
def gelu(x, y, N):
    #pragma parallel for simd
    for i in range(N):
        y[i] = 0.5 * x[i] * (1.0 + math.tanh(0.7978845608 * (x[i] + 0.044715 * x[i] * x[i] * x[i])))


@appy.jit
def row_expressions(A, B, alpha, M, N):
    #pragma parallel for
    for i in range(M):
        B[i, 1:] -= alpha * (A[i, 1:] - A[i, :-1])
        B[i, 0] = np.sum(A[i, :]) + A[i, :] @ A[i, :] + np.max(A[i, 1:-1])


def _sparse(m, n):
    dense = rng.random((m, n)) * (rng.random((m, n)) < 0.1)
    indptr = np.concatenate([[0], np.cumsum((dense != 0).sum(axis=1))])
    return indptr, np.nonzero(dense)[1], dense[dense != 0], dense


def cases():
    """The function and its arguments, by name."""
    r = rng.random
    n = 1003
    indptr, indices, data, _ = _sparse(60, 50)
    A = r((40, 40)) + 40 * np.eye(40)
    labels = rng.integers(0, 7, 200)
    u = r((16, 16))
    return {
        "vec_add": (vec_add, (r(n), r(n), np.zeros(n), n)),
        "mat_add": (mat_add, (r((30, 45)), r((30, 45)), np.zeros((30, 45)), 30, 45)),
        "vec_sum_shared": (vec_sum_shared, (r(n), n)),
        "vec_max_shared": (vec_max_shared, (r(n), n)),
        "vec_sum_atomic": (vec_sum_atomic, (r(n), np.zeros(1), n)),
        "rowwise_sum": (rowwise_sum, (r((30, 45)), np.zeros(30), 30, 45)),
        "rowwise_min": (rowwise_min, (r((30, 45)), np.zeros(30), 30, 45)),
        "pi": (pi, (10_000,)),
        "var_write": (var_write, (10,)),
        "spmv_csr": (spmv_csr, (indptr, indices, data, r(50), np.zeros(60), 60)),
        "spmm": (spmm, (indptr, indices, data, r((50, 20)), np.zeros((60, 20)), 60)),
        "masked_sum": (masked_sum, (r(n), r(n) < 0.3, np.zeros(1), n)),
        "black_scholes": (
            black_scholes,
            (10 + 40 * r(n), 10 + 40 * r(n), 1 + r(n), 0.1, 0.2, np.zeros(n), np.zeros(n), n),
        ),
        "jacobi_solver": (jacobi_solver, (A, r(40), np.zeros(40), np.zeros(40), 40)),
        "heat": (heat, (u, np.zeros((16, 16)), 16, 6, 0.1, 0.6)),
        "increment": (increment, (np.arange(n, dtype=np.int32), n)),
        "gemv_readme": (gemv_readme, (2.0, r((30, 45)), r(45), np.zeros(30), 30, 45)),
        "group_by_label": (group_by_label, (r((200, 100)), labels, np.zeros((7, 100)), np.zeros(7), 200, 100)),
        "log_softmax": (log_softmax, (r((20, 300)), np.zeros((20, 300)), 20, 300)),
        "matmul": (matmul, (r((33, 21)), r((21, 35)), np.zeros((33, 35)), 33, 35, 21, 16, 16, 8)),
        "five_points": (five_points, (r((20, 30)), np.zeros((20, 30)), 20, 30)),
        "masked_rows": (masked_rows, (r((20, 30)), r((20, 30)) < 0.5, np.zeros(20), 20, 30)),
        "mandelbrot": (mandelbrot, (np.zeros((24, 36), np.int64), 24, 36, 30)),
        "hello": (hello, (np.zeros((10, 10, 4), np.uint8), 10, 10)),
        "primes": (primes, (np.zeros(60, np.int64), 60)),
        "report": (report, (r(50), 50, ["ab", "c", "sevenfold", "ab"])),
        "no_pragma": (no_pragma, (7,)),
        "gelu": (gelu, (r(n).astype(np.float32), np.zeros(n, np.float32), n)),
        "row_expressions": (row_expressions, (r((20, 30)), r((20, 30)), 0.5, 20, 30)),
    }
