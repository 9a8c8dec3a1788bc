"""The cost of ufuncs: parpy.vectorize beside NumPy and, if it is installed, Numba; on a GPU beside copies and CuPy.

    python benchmarks/ufuncs.py [largest power of ten]
    python benchmarks/ufuncs.py gpu

On the CPU: a polynomial of two arguments, a function of exponentials and one of integers, on 10^2 to 10^7 elements
(10^8 if the largest power is 8), with one thread and with all; the best of several batches, interleaved with those
of Numba. Then calls of 10 elements beside NumPy's `add`, and generalised ufuncs beside the same loops under `jit`.
On a GPU: bandwidth of 10^8 elements beside that of a copy, and the host's time for a call beside that of
CuPy's ElementwiseKernel. Writes benchmarks/results/ufuncs.json, in which the GPU's figures stay if there is no
GPU. With `gpu`, only these are measured.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import parpy

HERE = Path(__file__).parent
GPU = parpy.backend.is_enabled(parpy.CompileBackend.Cuda)
OVERHEAD_TARGET = 1.3

try:
    import numba
except ImportError:
    numba = None


def polynomial(a, b):
    return a * a * 3.0 + a * b * 2.0 - b * b * b + 1.0


def exponential(a, b):
    return math.exp(-a * a) * math.exp(b) + math.exp(a - b)


def integer(a, b):
    return (a * 31 + b) ^ (b >> 3)


def numpy_exponential(a, b):
    return np.exp(-a * a) * np.exp(b) + np.exp(a - b)


CASES = {
    "polynomial": ("float64(float64, float64)", polynomial, polynomial),
    "exponential": ("float64(float64, float64)", exponential, numpy_exponential),
    "integer": ("int64(int64, int64)", integer, integer),
}


def best(calls: dict[str, Callable[[], Any]], seconds: float = 0.4) -> dict[str, float]:
    """The shortest time of each call, in batches that alternate."""
    counts, found = {}, dict.fromkeys(calls, math.inf)
    for name, call in calls.items():
        call()
        begin = time.perf_counter()
        call()
        counts[name] = max(1, int(2e-3 / max(time.perf_counter() - begin, 1e-9)))
    end = time.perf_counter() + seconds * len(calls)
    while time.perf_counter() < end:
        for name, call in calls.items():
            begin = time.perf_counter()
            for _ in range(counts[name]):
                call()
            found[name] = min(found[name], (time.perf_counter() - begin) / counts[name])
    return found


def operands(case: str, count: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    if case == "integer":
        return rng.integers(0, 1000, count), rng.integers(0, 1000, count), np.empty(count, np.int64)
    return rng.random(count), rng.random(count), np.empty(count)


def on_the_cpu(largest: int) -> list[dict[str, Any]]:
    rows = []
    for case, (signature, function, of_numpy) in CASES.items():
        for target in ("cpu", "parallel"):
            ours = parpy.vectorize([signature], target=target)(function)
            others = None if numba is None else numba.vectorize([signature], target=target)(function)
            for power in range(2, largest + 1):
                a, b, out = operands(case, 10**power)
                calls = {"parpy": partial(ours, a, b, out), "numpy": partial(of_numpy, a, b)}
                if others is not None:
                    calls["numba"] = partial(others, a, b, out)
                times = best(calls)
                np.testing.assert_allclose(ours(a, b), of_numpy(a, b), rtol=1e-12)
                rows.append({"case": case, "target": target, "elements": 10**power, **times})
    return rows


def overheads() -> dict[str, float]:
    """Seconds of a call of ten elements."""
    add = parpy.vectorize(["float64(float64, float64)"])(lambda a, b: a + b)
    x, out = np.arange(10.0), np.empty(10)
    return best({"parpy": lambda: add(x, x), "numpy": lambda: np.add(x, x), "parpy, out": lambda: add(x, x, out),
                 "numpy, out": lambda: np.add(x, x, out)}, 1.0)  # fmt: skip


def products(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0.0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def normalized(row, result):
    total = 0.0
    for i in range(row.shape[0]):
        total += row[i] * row[i]
    for i in range(row.shape[0]):
        result[i] = row[i] / math.sqrt(total)


@parpy.jit
def product_loops(a, b, c):
    for n in range(a.shape[0]):
        for i in range(a.shape[1]):
            for j in range(b.shape[2]):
                c[n, i, j] = 0.0
                for k in range(a.shape[2]):
                    c[n, i, j] += a[n, i, k] * b[n, k, j]


@parpy.jit
def normalizing_loops(rows, result):
    for n in range(rows.shape[0]):
        total = 0.0
        for i in range(rows.shape[1]):
            total += rows[n, i] * rows[n, i]
        for i in range(rows.shape[1]):
            result[n, i] = rows[n, i] / math.sqrt(total)


def generalised() -> list[dict[str, Any]]:
    rows = []
    multiply = parpy.guvectorize(["void(f8[:,:], f8[:,:], f8[:,:])"], "(m,n),(n,p)->(m,p)", target="parallel")(products)
    normalize = parpy.guvectorize(["void(f8[:], f8[:])"], "(n)->(n)", target="parallel")(normalized)
    for count, size in ((1, 4), (100, 4), (10_000, 4), (100, 64), (1, 512)):
        a, b, c = np.random.rand(3, count, size, size)
        times = best({"gufunc": partial(multiply, a, b, c), "jit": partial(product_loops, a, b, c)})
        rows.append({"case": f"{count} products of {size} x {size}", **times})
    for count, size in ((10, 8), (1000, 8), (100_000, 8), (1000, 1000)):
        a, c = np.random.rand(2, count, size)
        times = best({"gufunc": partial(normalize, a, c), "jit": partial(normalizing_loops, a, c)})
        rows.append({"case": f"{count} rows of {size} normalised", **times})
    return rows


def on_the_gpu() -> dict[str, Any]:
    from parpy import cuda

    add = parpy.vectorize(["float32(float32, float32)"], target="gpu")(polynomial)
    count, begin, end = 10**8, cuda.event(), cuda.event()
    a, b, c = (cuda.to_device(np.ones(count, np.float32)) for _ in range(3))

    def milliseconds(run: Callable[[], Any], rounds: int = 20) -> float:
        run()
        found = []
        for _ in range(rounds):
            begin.record()
            run()
            end.record()
            end.synchronize()
            found.append(begin.elapsed_time(end))
        return min(found)

    copy = 2 * 4 * count / milliseconds(lambda: c.copy_to_device(a)) / 1e6
    ours = 3 * 4 * count / milliseconds(lambda: add(a, b, out=c)) / 1e6
    result: dict[str, Any] = {"copy GB/s": copy, "ufunc GB/s": ours, "share": ours / copy}
    small = [cuda.to_device(np.ones(10, np.float32)) for _ in range(3)]

    def host_us(run: Callable[[], Any], calls: int = 2000) -> float:
        run()
        cuda.synchronize()
        found = []
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(calls):
                run()
            found.append((time.perf_counter() - start) / calls * 1e6)
            cuda.synchronize()
        return min(found)

    result["call us, new result"] = host_us(lambda: add(small[0], small[1]))
    result["call us, out="] = host_us(lambda: add(small[0], small[1], out=small[2]))
    try:
        import cupy
    except ImportError:
        return result
    kernel = cupy.ElementwiseKernel("float32 a, float32 b", "float32 c", "c = a * a * 3 + a * b * 2 - b * b * b + 1")
    x, y = cupy.ones(10, "f4"), cupy.ones(10, "f4")
    result["CuPy's ElementwiseKernel us"] = host_us(lambda: kernel(x, y))
    result["call us, CuPy's arrays"] = host_us(lambda: add(x, y))
    return result


def main() -> None:
    results = HERE / "results" / "ufuncs.json"
    found: dict[str, Any] = json.loads(results.read_text()) if results.exists() else {}
    if sys.argv[1:] != ["gpu"]:
        largest = int(sys.argv[1]) if len(sys.argv) > 1 else 7
        found |= {"cpu": on_the_cpu(largest), "overhead": overheads(), "gufuncs": generalised()}
    if GPU:
        found["gpu"] = on_the_gpu()
    results.parent.mkdir(exist_ok=True)
    results.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{'case':<14}{'target':<10}{'elements':>10}{'parpy us':>12}{'numpy':>8}{'numba':>8}  (times as long)")
    for row in found["cpu"]:
        others = "".join(f"{row[each] / row['parpy']:>8.2f}" if each in row else " " * 8 for each in ("numpy", "numba"))
        print(f"{row['case']:<14}{row['target']:<10}{row['elements']:>10}{row['parpy'] * 1e6:>12.2f}{others}")
    for row in found["gufuncs"]:
        share = row["jit"] / row["gufunc"]
        print(f"{row['case']:<34}{row['gufunc'] * 1e6:>12.2f} us; the loops under jit {share:.2f} x as long")
    times = found["overhead"]
    for kind in ("", ", out"):
        ours, other = times[f"parpy{kind}"] * 1e9, times[f"numpy{kind}"] * 1e9
        shown = f"{ours / other:.2f} x (at most {OVERHEAD_TARGET})"
        print(f"10 elements{kind}: {ours:.0f} ns, NumPy's add {other:.0f} ns, {shown}")
    for name, value in found.get("gpu", {}).items():
        print(f"GPU {name}: {value:.2f}")


if __name__ == "__main__":
    main()
