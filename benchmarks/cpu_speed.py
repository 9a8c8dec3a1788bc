"""CPU speed of five loop nests: ParPy against hand-written C++ (one thread) and Numba (all cores).

    python benchmarks/cpu_speed.py [--quick]

Needs clang++-19 and numba. Each pair is timed alternately in one process on random data; figures are ratios of medians
(above 1: ParPy is faster). Writes benchmarks/results/cpu_speed.json.
"""

from __future__ import annotations

import argparse
import ctypes
import inspect
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numba
import numpy as np
from numba import njit, prange

import parpy

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from cpu import kernels  # noqa: E402


@njit(parallel=True)
def numba_axpy(a, x, y, n):
    for i in prange(n):
        y[i] = a * x[i] + y[i]


@njit(parallel=True)
def numba_softmax(x, out, n, m):
    for i in prange(n):
        top = x[i, 0]
        for j in range(m):
            top = max(top, x[i, j])
        total = np.float32(0.0)
        for j in range(m):
            e = np.exp(x[i, j] - top)
            out[i, j] = e
            total += e
        for j in range(m):
            out[i, j] /= total


@njit(parallel=True)
def numba_jacobi_2d(A, B, n):
    for i in prange(1, n - 1):
        for j in range(1, n - 1):
            B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])


@njit(parallel=True)
def numba_spmv(start, column, value, x, y, n):
    for i in prange(n):
        s = 0.0
        for k in range(start[i], start[i + 1]):
            s += value[k] * x[column[k]]
        y[i] = s


numba_hdiff = None  # made in main() from the text of kernels.hdiff, with prange for the outer loop


@dataclass
class Row:
    kernel: str
    size: str
    cpp_us: float
    cpp_strict_us: float
    one_thread_us: float
    vs_cpp: float
    vs_cpp_strict: float
    numba_us: float
    all_cores_us: float
    vs_numba: float


def build_reference(flags: list[str]) -> ctypes.CDLL:
    library = Path(tempfile.mkdtemp()) / "reference.so"
    command = ["clang++-19", "-O3", "-march=native", *flags, "-shared", "-fPIC", str(HERE / "cpu/reference.cpp"), "-o"]
    subprocess.run([*command, str(library)], check=True)
    return ctypes.CDLL(str(library))


def bind(function, *arguments) -> Callable[[], None]:
    """A call of a C function with all arguments prepared: ctypes costs about 0.5 µs."""
    converted = []
    for a in arguments:
        if isinstance(a, np.ndarray):
            converted.append(ctypes.c_void_p(a.ctypes.data))
        elif isinstance(a, float):
            converted.append(ctypes.c_double(a))
        else:
            converted.append(ctypes.c_long(a))
    function.restype = None
    return lambda: function(*converted)


def measure(runs: list[Callable[[], None]], seconds: float) -> list[float]:
    """Median µs of each; they alternate, so that a disturbance affects all alike."""
    batches = []
    for run in runs:
        run()
        begin = time.perf_counter()
        run()
        batches.append(max(1, int(2e-3 / max(time.perf_counter() - begin, 1e-7))))
    times: list[list[float]] = [[] for _ in runs]
    end = time.perf_counter() + seconds * len(runs)
    while time.perf_counter() < end or len(times[0]) < 9:
        for run, batch, collected in zip(runs, batches, times, strict=True):
            begin = time.perf_counter()
            for _ in range(batch):
                run()
            collected.append((time.perf_counter() - begin) / batch * 1e6)
    return [statistics.median(t) for t in times]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="a fifth of the measuring time")
    parser.add_argument("--only", nargs="*", help="names of kernels")
    options = parser.parse_args()
    seconds = 0.3 if options.quick else 1.5
    rng = np.random.default_rng(1)
    fast, strict = build_reference([]), build_reference(["-ffp-contract=off"])
    cores = os.cpu_count() or 1
    rows: list[Row] = []

    def case(name: str, size: str, arguments: tuple, labels: dict[str, bool]) -> None:
        if options.only and name not in options.only:
            return
        ours = getattr(kernels, name)
        inner = {
            label: parpy.threads(64).reduce() if reduces else parpy.threads(64) for label, reduces in labels.items()
        }
        one = parpy.par({"i": parpy.threads(1), **inner})
        many = parpy.par({"i": parpy.threads(cores), **inner})
        peer = globals()[f"numba_{name}"]
        runs = [
            bind(getattr(fast, name), *arguments),
            bind(getattr(strict, name), *arguments),
            lambda: ours(*arguments, opts=one),
            lambda: peer(*arguments),
            lambda: ours(*arguments, opts=many),
        ]
        cpp, cpp_strict, single, numba_us, parallel = measure(runs, seconds)
        rows.append(
            Row(
                name,
                size,
                cpp,
                cpp_strict,
                single,
                cpp / single,
                cpp_strict / single,
                numba_us,
                parallel,
                numba_us / parallel,
            )
        )

    body = inspect.getsource(kernels.hdiff.__wrapped__).replace("range(I)", "prange(I)")
    body = body[body.index("def hdiff") :]
    body = "\n".join(line for line in body.splitlines() if "parpy.label" not in line)
    namespace: dict = {"prange": prange}
    exec(body, namespace)
    globals()["numba_hdiff"] = njit(parallel=True)(namespace["hdiff"])

    n = 1_000_000
    case("axpy", "1M f64", (0.25, rng.random(n), rng.random(n) * 1e-3, n), {})
    case(
        "softmax",
        "256 × 1000 f32",
        (rng.standard_normal((256, 1000)).astype(np.float32), np.empty((256, 1000), np.float32), 256, 1000),
        {"j": True, "k": False},
    )
    case("jacobi_2d", "2000² f64", (rng.random((2000, 2000)), rng.random((2000, 2000)), 2000), {"j": False})
    size, per_row = 20_000, 16
    start = np.arange(0, size * per_row + 1, per_row, dtype=np.int32)
    column = np.sort(rng.integers(0, size, (size, per_row), dtype=np.int32), axis=1).ravel()
    case(
        "spmv", "20k rows × 16", (start, column, rng.random(size * per_row), rng.random(size), np.zeros(size), size), {}
    )
    I, J, K = 64, 64, 60
    case(
        "hdiff",
        f"{I} × {J} × {K} f64",
        (rng.random((I + 4, J + 4, K)), rng.random((I, J, K)), np.zeros((I, J, K)), I, J, K),
        {"k": False},
    )

    print(
        f"{platform.processor() or platform.machine()}, {cores} cores, numba {numba.__version__}, "
        f"clang++-19 -O3 -march=native; µs, medians"
    )
    print(
        f"{'kernel':<10} {'size':<16} {'C++':>9} {'no fma':>9} {'ParPy 1':>9} {'ratio':>6} {'no fma':>6} "
        f"{'Numba':>9} {'ParPy':>9} {'ratio':>6}"
    )
    for r in rows:
        print(
            f"{r.kernel:<10} {r.size:<16} {r.cpp_us:>9.1f} {r.cpp_strict_us:>9.1f} {r.one_thread_us:>9.1f} "
            f"{r.vs_cpp:>6.2f} {r.vs_cpp_strict:>6.2f} {r.numba_us:>9.1f} {r.all_cores_us:>9.1f} {r.vs_numba:>6.2f}"
        )
    if len(rows) > 1:
        mean = math.exp(statistics.fmean(math.log(r.vs_numba) for r in rows))
        print(f"geometric mean against Numba on {cores} cores: {mean:.2f}")
    if not options.only:
        target = HERE / "results/cpu_speed.json"
        target.write_text(json.dumps({"cores": cores, "rows": [asdict(r) for r in rows]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
