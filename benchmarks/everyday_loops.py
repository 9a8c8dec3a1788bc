"""Small loops that programs have everywhere, beside Numba and NumPy on the CPU.

    python benchmarks/everyday_loops.py [--quick] [--out FILE]

Constant powers, a chain of comparisons of bytes, counts, a histogram, a recurrent network, and a row times a matrix.
Numba compiles the same text, also with parallel=True. All alternate in one process on random data, and results are
compared. Figures are medians in µs, with the ratio to the fastest peer (above 1: ParPy is faster).
Writes benchmarks/results/everyday_loops.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
import types
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np

import parpy
from parpy import prange

RESULTS = Path(__file__).parent / "results" / "everyday_loops.json"
Call = Callable[[], Any]


def cubes(x, y):
    for i in prange(len(x)):
        y[i] = x[i] ** 3


def sixth_powers(x, y):
    for i in prange(len(x)):
        y[i] = x[i] ** 6


def reciprocals(x, y):
    for i in prange(len(x)):
        y[i] = x[i] ** -1


def roots(x, y):
    for i in prange(len(x)):
        y[i] = x[i] ** 0.5


def gravity(x, y):
    for i in prange(len(x)):
        y[i] = (x[i] * x[i] + 0.01) ** -1.5


def complement(x, y):
    for i in prange(len(x)):
        v = x[i]
        if v == 65:
            y[i] = 84
        elif v == 67:
            y[i] = 71
        elif v == 71:
            y[i] = 67
        elif v == 84:
            y[i] = 65
        else:
            y[i] = v


def bases(x, y):
    a, c, g, t = 0, 0, 0, 0
    for i in prange(len(x)):
        v = x[i]
        if v == 65:
            a += 1
        elif v == 67:
            c += 1
        elif v == 71:
            g += 1
        elif v == 84:
            t += 1
    y[0], y[1], y[2], y[3] = a, c, g, t


def histogram(x, y):
    y[:] = 0
    for i in range(len(x)):
        y[int(x[i] * 64)] += 1


def recurrent(x, w, u, y):
    h = np.zeros(u.shape[0])
    for t in range(x.shape[0]):
        h = np.tanh(x[t] @ w + h @ u)
        y[t] = h


def row_times_matrix(x, a, y):
    y[:] = x @ a


def twin(function: Callable[..., Any], threads: bool) -> Any:
    text = types.FunctionType(function.__code__, {**function.__globals__, "prange": numba.prange})
    return numba.njit(parallel=threads)(text)


def cases(quick: bool) -> Iterator[tuple[str, Callable[..., Any], tuple[Any, ...], Callable[..., Any] | None]]:
    """Name, function, its arguments (the last one is the result), and NumPy's way if it is another text."""
    rng = np.random.default_rng(0)
    n = 200_000 if quick else 1_000_000
    x, y = rng.uniform(0.1, 2, n), np.empty(n)
    yield "x ** 3", cubes, (x, y), lambda x, y: np.power(x, 3, out=y)
    yield "x ** 6", sixth_powers, (x, y), lambda x, y: np.power(x, 6, out=y)
    yield "x ** -1", reciprocals, (x, y), lambda x, y: np.divide(1, x, out=y)
    yield "x ** 0.5", roots, (x, y), lambda x, y: np.sqrt(x, out=y)
    yield "(x * x + e) ** -1.5", gravity, (x, y), None
    text = rng.choice(np.frombuffer(b"ACGTN", np.uint8), n)
    yield "chain of comparisons", complement, (text, np.empty_like(text)), None
    yield "counts of bytes", bases, (text, np.empty(4, np.int64)), None
    counts = np.empty(64, np.int64)
    share = rng.random(n)
    yield "histogram", histogram, (share, counts), lambda x, y: np.copyto(y, np.histogram(x, 64, (0, 1))[0])
    steps, width = 100, 128
    weights = rng.normal(size=(64, width)) * 0.1, rng.normal(size=(width, width)) * 0.1
    network = (rng.normal(size=(steps, 64)), *weights, np.empty((steps, width)))
    yield "recurrent network", recurrent, network, recurrent
    a = rng.random((1000, 1200) if quick else (4000, 5000))
    yield "row times matrix", row_times_matrix, (rng.random(len(a)), a, np.empty(a.shape[1])), row_times_matrix


def times(calls: dict[str, Call], seconds: float) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(taken["parpy"]) < 5:
        for name, call in calls.items():
            call()
            for _ in range(5):
                begin = time.perf_counter()
                call()
                taken[name].append(time.perf_counter() - begin)
    return {name: round(1e6 * statistics.median(values), 2) for name, values in taken.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Everyday loops beside Numba and NumPy.")
    parser.add_argument("--quick", action="store_true", help="smaller arrays, shorter")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    rows: dict[str, dict[str, float]] = {}
    for name, function, arguments, by_numpy in cases(options.quick):
        compiled = parpy.jit(function)
        forms = {"parpy": compiled, "numba": twin(function, False), "numba parallel": twin(function, True)}
        if by_numpy is not None:
            forms["numpy"] = by_numpy
        found = {}
        for form, call in forms.items():
            call(*arguments)
            found[form] = arguments[-1].copy()
        for form, result in found.items():
            np.testing.assert_allclose(result, found["parpy"], rtol=1e-12, atol=1e-12, err_msg=f"{name}: {form}")
        calls = {form: partial(call, *arguments) for form, call in forms.items()}
        row = times(calls, 0.3 if options.quick else 1.5)
        row["ratio"] = round(min(value for form, value in row.items() if form != "parpy") / row["parpy"], 3)
        rows[name] = row
        print(
            f"{name:22}",
            *(f"{form} {value:10.1f}" for form, value in row.items() if form != "ratio"),
            f" {row['ratio']:.2f}",
            flush=True,
        )
    machine = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    versions = {"numba": numba.__version__, "numpy": np.__version__}
    options.out.write_text(json.dumps({"machine": machine, **versions, "us": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
