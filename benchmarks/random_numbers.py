"""Random numbers on one core: loops that draw, arrays of draws, and NumPy's generators.

    python benchmarks/random_numbers.py

A million numbers each; figures are the best of 20 runs in milliseconds. Writes benchmarks/results/random_numbers.json.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import parpy

HERE = Path(__file__).parent
N = 1_000_000
ONE_CORE = parpy.par({"i": parpy.threads(1)}, backend=parpy.CompileBackend.Cpu)


@parpy.jit
def uniform(x: Any, rng: Any) -> None:
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = rng.random()


@parpy.jit
def uniform_pairs(x: Any, rng: Any) -> None:
    parpy.label("i")
    for i in range(x.shape[0] // 2):
        x[2 * i] = rng.random()
        x[2 * i + 1] = rng.random()


@parpy.jit
def normal(x: Any, rng: Any) -> None:
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = rng.standard_normal()


@parpy.jit
def exponential(x: Any, rng: Any) -> None:
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = rng.standard_exponential()


@parpy.jit
def dice(x: Any, rng: Any) -> None:
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = rng.integers(1, 7)


@parpy.jit
def stored_array(x: Any, rng: Any) -> None:
    x[:] = rng.random(x.shape[0])


@parpy.jit
def returned_array(x: Any, rng: Any) -> Any:
    return rng.random(x.shape[0])


def best(run: Callable[[], Any]) -> float:
    run()
    times = []
    for _ in range(20):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return round(1e3 * min(times), 3)


def main() -> None:
    x, k, rng = np.zeros(N), np.zeros(N, np.int64), np.random.default_rng(1)
    numpy = {
        "uniform": best(lambda: rng.random(N)),
        "normal": best(lambda: rng.standard_normal(N)),
        "exponential": best(lambda: rng.standard_exponential(N)),
        "dice": best(lambda: rng.integers(1, 7, N)),
    }
    like = {"uniform_pairs": "uniform", "stored_array": "uniform", "returned_array": "uniform"}
    rows = {}
    for function in (uniform, uniform_pairs, stored_array, returned_array, normal, exponential, dice):
        name = function.__name__
        labelled = {} if "array" in name else {"opts": ONE_CORE}
        ours = best(lambda: function(k if function is dice else x, rng, **labelled))  # noqa: B023
        rows[name] = {"parpy": ours, "numpy": numpy[like.get(name, name)]}
        print(f"{name:16} parpy {ours:8.3f} ms    numpy {rows[name]['numpy']:8.3f} ms")
    (HERE / "results" / "random_numbers.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
