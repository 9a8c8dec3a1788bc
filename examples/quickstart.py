"""Five loop nests, compiled by ParPy and checked against NumPy.

Run with `make demo`. Prints the source generated for one of them and a table of times: NumPy, ParPy and their
ratio, medians of several runs. Uses the NVIDIA GPU if there is one, else all cores of this machine.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable

import numpy as np

import parpy


@parpy.jit
def axpy(a, x, y, N):
    parpy.label("N")
    for i in range(N):
        y[i] = a * x[i] + y[i]


@parpy.jit
def sum_rows(x, y, N, M):
    parpy.label("N")
    for i in range(N):
        y[i] = 0.0
        parpy.label("M")
        for j in range(M):
            y[i] += x[i, j]


@parpy.jit
def softmax(x, out, N, M):
    parpy.label("N")
    for i in range(N):
        m = x[i, 0]
        parpy.label("max")
        for j in range(M):
            m = max(m, x[i, j])
        s = 0.0
        parpy.label("sum")
        for j in range(M):
            out[i, j] = np.exp(x[i, j] - m)
            s += out[i, j]
        parpy.label("scale")
        for j in range(M):
            out[i, j] /= s


@parpy.jit
def jacobi_2d(A, B, steps, N):
    for t in range(steps):
        parpy.label("rows")
        for i in range(1, N - 1):
            parpy.label("columns")
            for j in range(1, N - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        parpy.label("rows")
        for i in range(1, N - 1):
            parpy.label("columns")
            for j in range(1, N - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


@parpy.jit
def spmv(start, column, value, x, y, N):
    parpy.label("N")
    for i in range(N):
        s = 0.0
        for k in range(start[i], start[i + 1]):
            s += value[k] * x[column[k]]
        y[i] = s


def numpy_softmax(x, out):
    np.subtract(x, x.max(axis=1, keepdims=True), out=out)
    np.exp(out, out=out)
    np.divide(out, out.sum(axis=1, keepdims=True), out=out)


def numpy_jacobi_2d(A, B, steps):
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


def numpy_spmv(start, column, value, x, y):
    np.add.reduceat(value * x[column], start[:-1], out=y)


def median_ms(run: Callable[[], None], repeats: int = 7) -> float:
    run()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times)


def main() -> None:
    rng = np.random.default_rng(0)
    rows: list[tuple[str, str, float, float]] = []

    def compare(name: str, size: str, ours, theirs, got, want, restore=None) -> None:
        """Runs both once from the same state, compares the results, then times both."""
        for array, initial in restore or ():
            array[...] = initial
        theirs()
        expected = want.copy()
        for array, initial in restore or ():
            array[...] = initial
        ours()
        tolerance = 1e-5 if got.dtype == np.float32 else 1e-10
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)
        rows.append((name, size, median_ms(theirs), median_ms(ours)))

    n = 4_000_000
    x, y = rng.random(n), rng.random(n)
    y0, scratch = y.copy(), np.empty_like(y)

    def numpy_axpy():
        np.multiply(x, 2.5, out=scratch)
        np.add(y, scratch, out=y)

    opts = parpy.par({"N": parpy.threads(n)})
    compare("axpy", "4M f64", lambda: axpy(2.5, x, y, n, opts=opts), numpy_axpy, y, y, [(y, y0)])

    N, M = 4096, 2048
    matrix, sums = rng.random((N, M)), np.zeros(N)
    opts_rows = parpy.par({"N": parpy.threads(N), "M": parpy.threads(256).reduce()})
    compare(
        "row sums",
        "4096 × 2048 f64",
        lambda: sum_rows(matrix, sums, N, M, opts=opts_rows),
        lambda: matrix.sum(axis=1, out=sums),
        sums,
        sums,
    )

    xs = rng.standard_normal((N, M)).astype(np.float32)
    out = np.empty_like(xs)
    opts_softmax = parpy.par(
        {
            "N": parpy.threads(N),
            "max": parpy.threads(256).reduce(),
            "sum": parpy.threads(256).reduce(),
            "scale": parpy.threads(256),
        }
    )
    compare(
        "softmax",
        "4096 × 2048 f32",
        lambda: softmax(xs, out, N, M, opts=opts_softmax),
        lambda: numpy_softmax(xs, out),
        out,
        out,
    )

    side, steps = 1500, 10
    A = rng.random((side, side))
    B = A.copy()
    A0 = A.copy()
    opts_jacobi = parpy.par({"rows": parpy.threads(side - 2), "columns": parpy.threads(256)})
    compare(
        "jacobi_2d",
        "1500² f64, 10 steps",
        lambda: jacobi_2d(A, B, steps, side, opts=opts_jacobi),
        lambda: numpy_jacobi_2d(A, B, steps),
        A,
        A,
        [(A, A0), (B, A0)],
    )

    size, per_row = 262_144, 16
    column = np.sort(rng.integers(0, size, (size, per_row), dtype=np.int32), axis=1).ravel()
    start = np.arange(0, size * per_row + 1, per_row, dtype=np.int32)
    value, vector, product = rng.random(size * per_row), rng.random(size), np.zeros(size)
    opts_spmv = parpy.par({"N": parpy.threads(size)})
    compare(
        "spmv (CSR)",
        "262144 rows × 16",
        lambda: spmv(start, column, value, vector, product, size, opts=opts_spmv),
        lambda: numpy_spmv(start, column, value, vector, product),
        product,
        product,
    )

    print("Generated for sum_rows:\n")
    print(parpy.print_compiled(sum_rows, [matrix, sums, N, M], opts_rows))
    backends = ", ".join(b.name for b in parpy.backend.available())
    print(f"\nBackends on this machine: {backends}. Every result agrees with NumPy. Medians of 7 runs:\n")
    print(f"{'kernel':<12} {'size':<22} {'NumPy ms':>10} {'ParPy ms':>10} {'ratio':>7}")
    for name, size_text, numpy_ms, parpy_ms in rows:
        print(f"{name:<12} {size_text:<22} {numpy_ms:>10.2f} {parpy_ms:>10.2f} {numpy_ms / parpy_ms:>6.1f}×")
    mean = math.exp(statistics.fmean(math.log(r[2] / r[3]) for r in rows))
    print(f"{'geometric mean':<35} {'':>21} {mean:>6.1f}×")


if __name__ == "__main__":
    main()
