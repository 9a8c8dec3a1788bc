"""Sums down the columns of a matrix on the CPU, with rows read as they lie in memory and as the text has them.

    python benchmarks/columns.py [--quick] [--out FILE]

The programs are sums in scalars and in elements, a mean along the first axis, a maximum, and an update whose columns
are summed, float64. Each is timed with the loops as written and in the automatic mode, beside sums of rows, which read
the matrix once and are the floor. All of them alternate in one process on PARPY_NUM_THREADS threads, and figures are
medians. Both ways give the same bits for columns, which is checked. Writes benchmarks/results/columns.json.
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
from parpy import CompileBackend, CompileOptions

HERE = Path(__file__).parent


@parpy.jit
def sums_of_rows(x, u, s, t):
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j]
        t[i] = total


@parpy.jit
def scalars(x, u, s, t):
    for j in range(x.shape[1]):
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i, j]
        s[j] = total


@parpy.jit
def elements(x, u, s, t):
    for j in range(x.shape[1]):
        s[j] = 0.0
        for i in range(x.shape[0]):
            s[j] += x[i, j]


@parpy.jit
def mean(x, u, s, t):
    s[:] = x.mean(axis=0)


@parpy.jit
def maximum(x, u, s, t):
    for j in range(x.shape[1]):
        most = x[0, j]
        for i in range(1, x.shape[0]):
            most = max(most, x[i, j])
        s[j] = most


@parpy.jit
def update(x, u, s, t):
    for j in range(x.shape[1]):
        total = 0.0
        for i in range(x.shape[0]):
            u[i, j] = 2.0 * x[i, j]
            total += u[i, j]
        s[j] = total


WAYS = {
    "as written": CompileOptions(backend=CompileBackend.Cpu, restructure=False),
    "automatic": parpy.auto(backend=CompileBackend.Cpu),
}


def measure(rows: int, columns: int, seconds: float) -> dict[str, Any]:
    x = np.random.default_rng(0).random((rows, columns))
    functions: list[Callable[..., None]] = [sums_of_rows, scalars, elements, mean, maximum, update]
    times: dict[tuple[str, str], list[float]] = {}
    results: dict[tuple[str, str], np.ndarray] = {}
    arguments = {way: (x, np.zeros_like(x), np.zeros(columns), np.zeros(rows)) for way in WAYS}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[functions[0].__name__, "automatic"]) < 4:
        for function in functions:
            for way, opts in WAYS.items():
                begin = time.perf_counter()
                function(*arguments[way], opts=opts)
                times.setdefault((function.__name__, way), []).append(1e3 * (time.perf_counter() - begin))
                results[function.__name__, way] = arguments[way][2].copy()
    found: dict[str, Any] = {"rows": rows, "columns": columns, "bytes": x.nbytes}
    for function in functions:
        name = function.__name__
        if function is not sums_of_rows:
            np.testing.assert_array_equal(results[name, "as written"], results[name, "automatic"])
        ms = {way: statistics.median(times[name, way][1:]) for way in WAYS}
        found[name] = {**ms, "gain": ms["as written"] / ms["automatic"]}
        print(
            f"{rows} x {columns} {name:13} as written {ms['as written']:9.3f} ms  automatic {ms['automatic']:9.3f} ms"
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small matrices, a tenth of a second each")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "columns.json")
    given = parser.parse_args()
    sizes = [(50, 60)] if given.quick else [(500, 600), (5000, 4000)]
    tables = [measure(rows, columns, 0.1 if given.quick else 12.0) for rows, columns in sizes]
    table = {"cores": os.cpu_count(), "threads": os.environ.get("PARPY_NUM_THREADS"), "sizes": tables}
    given.out.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
