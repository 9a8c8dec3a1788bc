"""The gain by the order of loops on the CPU: nests in the order of textbooks, with and without interchange-loops.

    python benchmarks/interchange.py [--quick] [--out FILE]

A matrix product c[i, j] += a[i, k] * b[k, j] with k innermost, and a sweep over the columns of a matrix, float64. Each
is timed in the order of its text, in the order that the pass gives it, and in that order with the mapping of the
automatic mode, all alternating in one process; the first two run on one thread. Figures are medians. All results have
the same bits, which is checked. Writes benchmarks/results/interchange.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import parpy
from parpy import CompileBackend, CompileOptions

HERE = Path(__file__).parent


@parpy.jit
def product(a, b, c, n):
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[i, j] += a[i, k] * b[k, j]


@parpy.jit
def columns(x, y, n):
    for j in range(n):
        for i in range(n):
            y[i, j] = 2.0 * x[i, j] + 1.0


def orders() -> dict[str, CompileOptions]:
    cpu = CompileBackend.Cpu
    return {
        "as written": CompileOptions(backend=cpu, restructure=False),
        "interchanged": CompileOptions(backend=cpu, restructure=True),
        "automatic": parpy.auto(backend=cpu),
    }


def medians(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Milliseconds; each version runs once per round."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for way in ways.values():
        way()
    for _ in range(rounds):
        for name, way in ways.items():
            begin = time.perf_counter()
            way()
            times[name].append(1e3 * (time.perf_counter() - begin))
    return {name: statistics.median(taken) for name, taken in times.items()}


def measure(name: str, function: Callable[..., None], inputs: tuple[Any, ...], n: int, rounds: int) -> dict[str, Any]:
    outputs = {way: np.zeros((n, n)) for way in orders()}
    for way, opts in orders().items():
        function(*inputs, outputs[way], n, opts=opts)
        np.testing.assert_array_equal(outputs[way], outputs["as written"], err_msg=f"{name}: {way}")
    ways = {way: partial(function, *inputs, outputs[way], n, opts=opts) for way, opts in orders().items()}
    ms: dict[str, float] = medians(ways, rounds)
    gains = {way: ms["as written"] / ms[way] for way in ("interchanged", "automatic")}
    print(
        f"{name} {n}²: as written {ms['as written']:.1f} ms, interchanged {ms['interchanged']:.1f} ms "
        f"({gains['interchanged']:.1f} x), automatic {ms['automatic']:.1f} ms ({gains['automatic']:.1f} x)"
    )
    return {"n": n, "ms": ms, "gain": gains}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small matrices, few rounds")
    parser.add_argument("--out", type=Path, default=HERE / "results/interchange.json")
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    n, wide, rounds = (150, 300, 3) if arguments.quick else (700, 2000, 15)
    results = {
        "product": measure("product", product, (rng.random((n, n)), rng.random((n, n))), n, rounds),
        "columns": measure("columns", columns, (rng.random((wide, wide)),), wide, rounds),
    }
    facts = {"cores": len(os.sched_getaffinity(0)), **results}
    arguments.out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
