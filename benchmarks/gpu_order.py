"""Sorting, medians and returned sums on the GPU: NumPy texts of the automatic mode beside CuPy.

    python benchmarks/gpu_order.py [--quick] [--out FILE]

Needs a GPU and CuPy. Arrays are on the device, and times include the memory of the results: medians of calls that end
with a synchronisation, in milliseconds, for 10^5 to 10^7 random float64. A returned sum or norm is a number on the
host in ParPy, and an array of no dimensions that is copied to the host in CuPy. Results are checked against NumPy.
Writes benchmarks/results/gpu_order.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import cupy as cp
import numpy as np

import parpy

AUTO = parpy.auto(backend=parpy.CompileBackend.Cuda)


def sort(x):
    return np.sort(x)


def argsort(x):
    return np.argsort(x)


def median(x):
    return np.median(x)


def percentile(x):
    return np.percentile(x, 90.0)


def total(x):
    return x.sum()


def norm(x):
    return np.linalg.norm(x)


def mean_of_kept(x):
    return x[x > 0.5].mean()


CUPY: dict[str, Callable[[cp.ndarray], object]] = {
    "sort": lambda x: cp.sort(x),
    "argsort": lambda x: cp.argsort(x),
    "median": lambda x: float(cp.median(x)),
    "percentile": lambda x: float(cp.percentile(x, 90.0)),
    "total": lambda x: float(x.sum()),
    "norm": lambda x: float(cp.linalg.norm(x)),
    "mean_of_kept": lambda x: float(x[x > 0.5].mean()),
}
TASKS = (sort, argsort, median, percentile, total, norm, mean_of_kept)


def median_ms(call: Callable[[], object], seconds: float) -> float:
    times = []
    for _ in range(3):
        call()
    cp.cuda.Device().synchronize()
    end = time.perf_counter() + seconds
    while len(times) < 5 or (time.perf_counter() < end and len(times) < 200):
        begin = time.perf_counter()
        call()
        cp.cuda.Device().synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def check(task: Callable[..., object], found: object, x: np.ndarray) -> None:
    got = float(found) if isinstance(found, int | float | np.floating) else cp.asarray(found).get()
    np.testing.assert_allclose(got, task(x), rtol=1e-9)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="short runs")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "gpu_order.json")
    arguments = parser.parse_args()
    seconds = 0.05 if arguments.quick else 0.3
    rows = []
    for n in (10**5, 10**6, 10**7):
        x = np.random.default_rng(n).random(n)
        on_device = cp.asarray(x)
        for task in TASKS:
            compiled = parpy.jit(task)
            check(task, compiled(on_device, opts=AUTO), x)
            row: dict[str, object] = {"task": task.__name__, "n": n}
            row["ParPy"] = median_ms(lambda f=compiled, a=on_device: f(a, opts=AUTO), seconds)
            row["CuPy"] = median_ms(lambda f=CUPY[task.__name__], a=on_device: f(a), seconds)
            rows.append(row)
            print(f"{task.__name__} {n}: ParPy {row['ParPy']:.4g}  CuPy {row['CuPy']:.4g} ms", flush=True)
    name = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    arguments.out.write_text(json.dumps({"device": name, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
