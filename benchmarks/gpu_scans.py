"""Prefix sums and selections on the GPU: loops and NumPy texts of the automatic mode beside CuPy.

    python benchmarks/gpu_scans.py [--quick] [--out FILE]

Needs a GPU and CuPy. All arrays are on the device, and times include the memory of the results: medians of calls that
end with a synchronisation, in milliseconds, for 10^5 to 10^8 float64. "one thread" is the same loop with PARPY_SCANS=0,
for 10^5 elements. Results are checked against NumPy. Writes benchmarks/results/gpu_scans.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import cupy as cp
import numpy as np

import parpy

AUTO = parpy.auto(backend=parpy.CompileBackend.Cuda)


def sums(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
        y[i] = s


def sums_as_numpy(x, y):
    y[:] = np.cumsum(x)


def sums_of_cupy(x, y):
    cp.cumsum(x, out=y)


def kept(x, y):
    k = 0
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            y[k] = x[i]
            k += 1
    return k


def kept_as_numpy(x, y):
    return x[x > 0.5]


def most(x, y):
    m = x[0]
    for i in range(x.shape[0]):
        m = max(m, x[i])
        y[i] = m


FORMS: dict[str, dict[str, Callable[..., object]]] = {
    "prefix sums": {"loop": sums, "NumPy text": sums_as_numpy, "CuPy": sums_of_cupy},
    "selection": {"loop": kept, "NumPy text": kept_as_numpy, "CuPy": kept_as_numpy},
    "running maximum": {"loop": most},
}


def prepared(form: str, function: Callable[..., object]) -> Callable[..., object]:
    if form == "CuPy":
        return function
    compiled = parpy.jit(function)
    return lambda x, y: compiled(x, y, opts=AUTO)


def median_ms(call: Callable[..., object], x: cp.ndarray, y: cp.ndarray, seconds: float) -> float:
    times = []
    for _ in range(3):
        call(x, y)
    cp.cuda.Device().synchronize()
    end = time.perf_counter() + seconds
    while len(times) < 5 or (time.perf_counter() < end and len(times) < 200):
        begin = time.perf_counter()
        call(x, y)
        cp.cuda.Device().synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def check(name: str, found: object, x: np.ndarray, y: cp.ndarray) -> None:
    if name == "prefix sums":
        np.testing.assert_allclose(y.get(), np.cumsum(x), rtol=1e-9)
    elif name == "running maximum":
        np.testing.assert_array_equal(y.get(), np.maximum.accumulate(x))
    else:
        want = x[x > 0.5]
        got = y[:found].get() if isinstance(found, int) else cp.asarray(found).get()
        np.testing.assert_array_equal(got, want)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="short runs, up to 10^7 elements")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "gpu_scans.json")
    arguments = parser.parse_args()
    seconds = 0.05 if arguments.quick else 0.3
    sizes = [10**5, 10**6, 10**7] if arguments.quick else [10**5, 10**6, 10**7, 10**8]
    name = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    rows = []
    for n in sizes:
        x = np.random.default_rng(n).random(n)
        on_device, y = cp.asarray(x), cp.zeros(n)
        for task, forms in FORMS.items():
            row: dict[str, object] = {"task": task, "n": n}
            for form, function in forms.items():
                call = prepared(form, function)
                check(task, call(on_device, y), x, y)
                row[form] = median_ms(call, on_device, y, seconds)
            if n == sizes[0]:
                os.environ["PARPY_SCANS"] = "0"
                call = prepared("loop", forms["loop"])
                check(task, call(on_device, y), x, y)
                row["one thread"] = median_ms(call, on_device, y, seconds)
                del os.environ["PARPY_SCANS"]
            rows.append(row)
            print(
                "  ".join(
                    f"{key} {value:.4g}" if isinstance(value, float) else f"{value}" for key, value in row.items()
                )
            )
    arguments.out.write_text(json.dumps({"device": name, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
