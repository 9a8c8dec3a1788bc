"""Arrays of a GPU made, filled, converted and compared: ParPy and CuPy alternate, microseconds, medians of rounds.

    python benchmarks/gpu_memory.py [--out FILE] [--rounds N]

A time ends when the GPU is idle. `allocating` is a program that makes its result in every call, beside its kernel.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cupy
import numpy as np

import parpy
from parpy import CompileBackend, buffer
from parpy.types import F32, F64

CUDA = CompileBackend.Cuda
SIZES = (100, 10**6, 10**8, 2 * 10**8)  # elements of 8 bytes: the last size exceeds a GiB


def wait() -> None:
    cupy.cuda.runtime.deviceSynchronize()


def timed(work: Callable[[], Any], calls: int, awaited: bool) -> float:
    wait()
    begin = time.perf_counter()
    for _ in range(calls):
        work()
    if awaited:
        wait()
    return (time.perf_counter() - begin) / calls * 1e6


def beside(
    ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int, awaited: bool = True
) -> tuple[float, float]:
    one = max(timed(ours, 3, awaited), timed(theirs, 3, awaited), 1.0)
    calls = max(3, int(20_000 / one))
    times = [(timed(ours, calls, awaited), timed(theirs, calls, awaited)) for _ in range(rounds)]
    return statistics.median(t[0] for t in times), statistics.median(t[1] for t in times)


@parpy.jit
def softmax(x: Any, y: Any, n: int, m: int) -> None:
    for i in range(n):
        largest = parpy.max(x[i, :])
        y[i, :] = parpy.math.exp(x[i, :] - largest)
        total = parpy.sum(y[i, :])
        y[i, :] = y[i, :] / total


@parpy.jit
def scale(x: Any, y: Any, n: int) -> None:
    for i in range(n):
        y[i] = 2 * x[i] + 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    rows: dict[str, tuple[float, float]] = {}

    def row(name: str, ours: Callable[[], Any], theirs: Callable[[], Any], awaited: bool = True) -> None:
        rows[name] = beside(ours, theirs, options.rounds, awaited)
        a, b = rows[name]
        print(f"{name:34} {a:10.2f} {b:10.2f} us   {a / b:6.2f}", flush=True)

    print(f"{'':34} {'parpy':>10} {'cupy':>10}")
    for n in SIZES:
        row(f"empty {n}", lambda n=n: buffer.empty((n,), F64, CUDA), lambda n=n: cupy.empty(n), False)
        row(f"zeros {n}", lambda n=n: buffer.zeros((n,), F64, CUDA), lambda n=n: cupy.zeros(n))
        row(f"full {n}", lambda n=n: buffer.full((n,), 1.5, F64, CUDA), lambda n=n: cupy.full(n, 1.5))
    for n in SIZES[:3]:
        x = cupy.random.random(n)
        b = buffer.from_array(x)
        row(f"with_type f32 {n}", lambda b=b: b.with_type(F32), lambda x=x: x.astype(np.float32))
        row(f"copy {n}", lambda b=b: b.copy(), lambda x=x: x.copy())
        row(f"copy [::-2] {n}", lambda b=b: b[::-2].copy(), lambda x=x: x[::-2].copy())
        row(
            f"x[1:] = 3 {n}", lambda b=b: b.__setitem__(slice(1, None), 3), lambda x=x: x.__setitem__(slice(1, None), 3)
        )
        row(f"x < 0.5 {n}", lambda b=b: b < 0.5, lambda x=x: x < 0.5)
    opts = parpy.CompileOptions(backend=CUDA, automatic=True)
    for n in SIZES[1:3]:
        x, y = buffer.from_array(cupy.random.random(n)), buffer.empty((n,), F64, CUDA)
        row(
            f"allocating, scale {n}",
            lambda x=x, n=n: scale(x, buffer.empty((n,), F64, CUDA), n, opts=opts),
            lambda x=x, y=y, n=n: scale(x, y, n, opts=opts),
        )
    for n, m in ((2048, 512), (16384, 4096)):
        x, y = buffer.from_array(cupy.random.random((n, m))), buffer.empty((n, m), F64, CUDA)
        row(
            f"allocating, softmax {n} x {m}",
            lambda x=x, n=n, m=m: softmax(x, buffer.zeros((n, m), F64, CUDA), n, m, opts=opts),
            lambda x=x, y=y, n=n, m=m: softmax(x, y, n, m, opts=opts),
        )
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    if options.out:
        table = {"device": device, "unit": "us", "rows": {k: [round(v, 2) for v in times] for k, times in rows.items()}}
        options.out.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
