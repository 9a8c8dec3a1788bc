"""The table of the README's first screen: one function in NumPy, Numba and ParPy, on all cores and on a GPU.

    python benchmarks/first_screen.py

5000 positions and 10,000 points in float64. Each time is the best of ten calls, which alternate between the programs,
after one call that compiles and whose result is compared with NumPy's. If its library or hardware is missing, a
program keeps its last figure. Writes benchmarks/results/first_screen.json.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import parpy
from parpy import CompileBackend

RESULTS = Path(__file__).parent / "results" / "first_screen.json"
ROUNDS = 10
Program = Callable[[Any, Any, Any], None]


@parpy.jit
def density(x: Any, points: Any, y: Any) -> None:
    for i in range(len(x)):
        for p in points:
            y[i] += np.exp(-0.5 * (x[i] - p) ** 2)


def by_numpy(x: Any, points: Any, y: Any) -> None:
    y += np.exp(-0.5 * (x[:, None] - points) ** 2).sum(axis=1)


def on_gpu(x: Any, points: Any, y: Any) -> None:
    density(x, points, y, opts=parpy.auto(backend=CompileBackend.Cuda))
    parpy.sync()


def programs() -> dict[str, Program]:
    found: dict[str, Program] = {"NumPy": by_numpy}
    try:
        import numba
    except ModuleNotFoundError:
        pass
    else:

        @numba.njit(parallel=True)
        def by_numba(x: Any, points: Any, y: Any) -> None:
            for i in numba.prange(len(x)):
                for p in points:
                    y[i] += np.exp(-0.5 * (x[i] - p) ** 2)

        found["Numba, `parallel=True`"] = by_numba
    found["ParPy, CPU"] = density
    if parpy.backend.is_enabled(CompileBackend.Cuda):
        found["ParPy, GPU"] = on_gpu
    return found


def measure() -> dict[str, float]:
    """The best time of each program in milliseconds."""
    x, points = np.linspace(-3, 3, 5000), np.random.default_rng(0).normal(size=10_000)
    want = np.zeros_like(x)
    by_numpy(x, points, want)
    found, best = programs(), {}
    for round in range(ROUNDS + 1):
        for name, program in found.items():
            y = np.zeros_like(x)
            begin = time.perf_counter()
            program(x, points, y)
            spent = 1e3 * (time.perf_counter() - begin)
            if round == 0:
                np.testing.assert_allclose(y, want, rtol=1e-10)
            else:
                best[name] = min(spent, best.get(name, spent))
    return best


def machine(name: str) -> str:
    if name == "ParPy, GPU":
        from parpy import cuda

        name = cuda.get_current_device().name
        return name.decode() if isinstance(name, bytes) else str(name)
    return f"{platform.machine()}, {len(os.sched_getaffinity(0))} cores"


def main() -> None:
    rows = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    rows |= {name: {"ms": round(ms, 3), "machine": machine(name)} for name, ms in measure().items()}
    RESULTS.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    print("| program | ms |\n|---|---|")
    for name, row in rows.items():
        print(f"| {name} ({row['machine']}) | {row['ms']:.3g} |")


if __name__ == "__main__":
    main()
