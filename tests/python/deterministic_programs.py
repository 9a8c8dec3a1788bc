"""Programs whose results depend on the order and the rounding of sums, products, minima and maxima.

    python deterministic_programs.py

prints a digest of the results of each program on the CPU, one per line, for comparisons between processes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import parpy

N, ROWS, COLUMNS = 1003, 37, 53


@parpy.jit
def dot(x, y, out, n):
    s = 0.0
    parpy.label("i")
    for i in range(n):
        s += x[i] * y[i]
    out[0] = s


@parpy.jit
def sum_of_all(x, out, n):
    parpy.label("i")
    for i in range(n):
        out[0] += x[i]


@parpy.jit
def product_of_all(x, out, n):
    parpy.label("i")
    for i in range(n):
        out[1] *= 1 + x[i] / 64


@parpy.jit
def spelled_out(x, y, out, n):
    s = x[0]
    parpy.label("i")
    for i in range(1, n):
        s = s - x[i] * y[i] + y[i] * y[i] - x[i]
    out[2] = s


@parpy.jit
def guarded(x, y, out, n):
    parpy.label("i")
    for i in range(n):
        if x[i] > y[i]:
            out[0] -= x[i] * y[i]
        else:
            out[0] += x[i] * x[i]


@parpy.jit
def rows(a, x, y, n, m):
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(m):
            y[i] += a[i, j] * x[j]


@parpy.jit
def columns(a, x, y, n, m):
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(m):
            y[j] += a[i, j] * x[i]


@parpy.jit
def product(a, b, c, n, m):
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(n):
            parpy.label("k")
            for k in range(m):
                c[i, j] += 0.7 * a[i, k] * b[k, j]


@parpy.jit
def product_by_rows(a, b, c, n, m):
    parpy.label("i")
    for i in range(n):
        parpy.label("k")
        for k in range(m):
            parpy.label("j")
            for j in range(n):
                c[i, j] += 0.7 * a[i, k] * b[k, j]


@parpy.jit
def whole_nest(a, out, n, m):
    s = 0.0
    t = 1.0
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(m):
            s += a[i, j]
        t += a[i, 0] * a[i, 1]
    out[0] = s
    out[1] = t


@parpy.jit
def beside_other_work(a, x, y, out, n, m):
    s = 0.0
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(m):
            a[i, j] = a[i, j] + x[j]
        y[i] = a[i, 2] * 2
        s += a[i, 1] * x[i]
    out[0] = s


@parpy.jit
def slices(a, x, y, out):
    y[:] = a @ x
    out[0] = np.sum(x)
    out[1] = np.dot(x, x)
    out[2] = np.mean(a[1, :])
    out[3] = np.prod(1 + x / 64)


@parpy.jit
def slices_along_axes(a, b, c, y):
    c[:, :] = a @ b
    y[:] = np.sum(a * a, axis=1)


@parpy.jit
def extremes(x, out, n):
    parpy.label("i")
    for i in range(n):
        out[0] = min(out[0], x[i])
        out[1] = max(out[1], x[i])
        out[2] = np.minimum(out[2], x[i])
        out[3] = np.maximum(out[3], x[i])
        out[4] = np.fmin(out[4], x[i])
        out[5] = np.fmax(out[5], x[i])
        if x[i] < out[6]:
            out[6] = x[i]


@parpy.jit
def extreme_scalars(x, out, n):
    low = 0.0 * x[0]
    high = -(0.0 * x[0])
    parpy.label("i")
    for i in range(n):
        low = min(low, x[i])
        high = max(high, x[i])
    out[0] = low
    out[1] = high


@parpy.jit
def order_of_nans(x, out, n):
    m = x[0]
    parpy.label("i")
    for i in range(1, n):
        m = max(x[i], m)
    out[0] = m


@parpy.jit
def counts(x, k, out, n):
    parpy.label("i")
    for i in range(n):
        out[k[i]] += k[i] * i


@parpy.jit
def sums_of_slices(x, out):
    out[0] = np.min(x)
    out[1] = np.max(x)
    out[2] = np.sum(x * x)


class Program(NamedTuple):
    name: str
    function: Callable[..., None]
    arguments: tuple[Any, ...]
    labels: str


def values(seed: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    rng = np.random.default_rng(seed)
    made = rng.standard_normal(shape) * np.exp2(rng.integers(-3, 4, shape))
    if np.dtype(dtype).kind == "c":
        made = made + 1j * rng.standard_normal(shape)
    return made.astype(dtype)


def signed_zeros(seed: int, dtype: str, special: float) -> np.ndarray:
    """Zeros of both signs, and a few elements with the value `special`."""
    rng = np.random.default_rng(seed)
    made = np.where(rng.random(N) < 0.5, 0.0, -0.0)
    made[rng.integers(N // 2, N, 3)] = special
    return made.astype(dtype)


def programs() -> Iterator[Program]:
    for t in ("float64", "float32", "complex128"):
        x, y, long = values(1, (N,), t), values(2, (N,), t), values(6, (COLUMNS,), t)
        a, b, out = values(3, (ROWS, COLUMNS), t), values(4, (COLUMNS, ROWS), t), values(5, (8,), t)
        yield Program(f"dot {t}", dot, (x, y, out, N), "i")
        yield Program(f"sum {t}", sum_of_all, (x, out, N), "i")
        yield Program(f"product {t}", product_of_all, (x, out, N), "i")
        yield Program(f"rows {t}", rows, (a, long, values(7, (ROWS,), t), ROWS, COLUMNS), "ij")
        yield Program(f"columns {t}", columns, (a, values(7, (ROWS,), t), long, ROWS, COLUMNS), "ij")
        yield Program(f"a @ b {t}", product, (a, b, values(8, (ROWS, ROWS), t), ROWS, COLUMNS), "ijk")
        yield Program(f"a @ b by rows {t}", product_by_rows, (a, b, values(8, (ROWS, ROWS), t), ROWS, COLUMNS), "ijk")
        yield Program(f"nest {t}", whole_nest, (a, out, ROWS, COLUMNS), "ij")
        beside = (a, long, values(7, (ROWS,), t), out, ROWS, COLUMNS)
        yield Program(f"beside {t}", beside_other_work, beside, "ij")
        yield Program(f"slices {t}", slices, (a, long, values(7, (ROWS,), t), out), "")
        yield Program(f"axes {t}", slices_along_axes, (a, b, np.zeros((ROWS, ROWS), t), values(7, (ROWS,), t)), "")
        yield Program(f"spelled {t}", spelled_out, (x, y, out, N), "i")
    for t in ("float64", "float32", "float16"):
        x, y, out = values(1, (N,), t), values(2, (N,), t), values(5, (8,), t)
        yield Program(f"guarded {t}", guarded, (x, y, out, N), "i")
        yield Program(f"half sum {t}", sum_of_all, (x, out, N), "i")
        for special in (0.0, np.nan, 1.0, -1.0):
            zeros = signed_zeros(9, t, special)
            for start in (0.0, -0.0, np.nan, np.inf):
                yield Program(f"extremes {t} {special} {start}", extremes, (zeros, np.full(8, start, t), N), "i")
            yield Program(f"scalars {t} {special}", extreme_scalars, (zeros, out, N), "i")
            yield Program(f"nans {t} {special}", order_of_nans, (zeros, out, N), "i")
            yield Program(f"of slices {t} {special}", sums_of_slices, (zeros, out), "")
    k = np.random.default_rng(3).integers(0, 8, N)
    yield Program("counts", counts, (values(1, (N,), "float64"), k, np.zeros(8, np.int64), N), "i")


def bits(arguments: tuple[Any, ...]) -> list[Any]:
    """The values on which two runs must agree: the bits of each element, with all NaNs made equal."""
    found = []
    for array in arguments:
        if isinstance(array, np.ndarray):
            parts = array.view(array.real.dtype) if array.dtype.kind == "c" else array.copy()
            if parts.dtype.kind == "f":
                parts = np.where(np.isnan(parts), np.array(np.nan, parts.dtype), parts)
            found.append(parts.view(f"u{parts.dtype.itemsize}").tolist())
    return found


def copies(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def main() -> None:
    for program in programs():
        for opts in (
            parpy.auto(backend=parpy.CompileBackend.Cpu, deterministic=True),
            parpy.CompileOptions(
                backend=parpy.CompileBackend.Cpu,
                deterministic=True,
                parallelize={label: parpy.threads(5) for label in program.labels},
            ),
        ):
            arguments = copies(program.arguments)
            program.function(*arguments, opts=opts)
            print(program.name, hashlib.sha256(str(bits(arguments)).encode()).hexdigest()[:16])


if __name__ == "__main__":
    main()
