"""The cost of deterministic=True: a sum, a dot product and a matrix product, by default and in the order of the loop.

    python benchmarks/deterministic.py [cpu|cuda] [--size N] [--side N] [--rounds N] [--out FILE]

Times are medians of calls that alternate, on arrays in the memory of the back end. Writes
benchmarks/results/deterministic_BACKEND.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import parpy


@parpy.jit
def total(x, out):
    out[0] = np.sum(x)


@parpy.jit
def dot(x, y, out, n):
    for i in range(n):
        out[0] += x[i] * y[i]


@parpy.jit
def row_sums(a, out, n, m):
    for i in range(n):
        for j in range(m):
            out[i] += a[i, j]


@parpy.jit
def product(a, b, c, n):
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[i, j] += a[i, k] * b[k, j]


@parpy.jit
def product_of_slices(a, b, c):
    c[:, :] = a @ b


@parpy.jit
def functions(x, y, n):
    for i in range(n):
        y[i] = np.exp(x[i]) + np.sin(x[i])


def milliseconds(calls: list[Callable[[], Any]], rounds: int) -> list[float]:
    times: list[list[float]] = [[] for _ in calls]
    for call in calls:
        call()
    parpy.sync()
    for _ in range(rounds):
        for call, found in zip(calls, times, strict=True):
            begin = time.perf_counter()
            call()
            parpy.sync()
            found.append(1e3 * (time.perf_counter() - begin))
    return [statistics.median(found) for found in times]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("backend", nargs="?", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--size", type=int, default=10_000_000)
    parser.add_argument("--side", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    backend = parpy.CompileBackend(options.backend)
    n, side = options.size, options.side
    rng = np.random.default_rng(0)

    def on_device(array: np.ndarray) -> Any:
        return parpy.buffer.from_array(array, backend) if options.backend == "cuda" else array

    x, y, one = on_device(rng.random(n)), on_device(rng.random(n)), on_device(np.zeros(1))
    a, b, c = (on_device(rng.random((side, side))) for _ in range(3))
    wide, sums = on_device(rng.random((2000, n // 2000))), on_device(np.zeros(2000))
    cases: list[tuple[str, Callable[..., None], tuple[Any, ...]]] = [
        (f"np.sum of {n:.0e}", total, (x, one)),
        (f"dot product of {n:.0e}", dot, (x, y, one, n)),
        (f"sums of 2000 rows of {n // 2000}", row_sums, (wide, sums, 2000, n // 2000)),
        (f"matrix product {side}³, loops", product, (a, b, c, side)),
        (f"matrix product {side}³, a @ b", product_of_slices, (a, b, c)),
        (f"exp + sin of {n:.0e}", functions, (x, y, n)),
    ]
    print(f"{'float64, ' + options.backend:36} default  deterministic  ratio")
    figures = {}
    for name, function, arguments in cases:
        calls = []
        for deterministic in (False, True):
            opts = parpy.auto(backend=backend, deterministic=deterministic)
            calls.append(lambda f=function, p=arguments, o=opts: f(*p, opts=o))
        plain, settled = milliseconds(calls, options.rounds)
        figures[name] = {"default": round(plain, 3), "deterministic": round(settled, 3)}
        print(f"{name:36} {plain:7.2f}  {settled:13.2f}  {settled / plain:5.2f}")
    machine = {"cores": os.cpu_count()} if options.backend == "cpu" else {"back end": "cuda"}
    result = {"machine": machine, "unit": "ms", "float64": figures}
    out = options.out or Path(__file__).parent / "results" / f"deterministic_{options.backend}.json"
    out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
