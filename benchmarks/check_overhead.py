"""The cost of opts.check: run times of checked calls divided by those of unchecked calls, on the CPU.

    python benchmarks/check_overhead.py [kernel …]

Shapes are constants of the compiled code ("fixed") or known at run time ("general"): then fewer subscripts are proved.
Minima of several runs. Writes benchmarks/results/check_overhead.json.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from cpu import kernels

import parpy
from parpy import CompileBackend, CompileOptions, threads

HERE = Path(__file__).parent
LEVELS = ["bounds", "races", "all"]
TARGETS = {"bounds": 10.0, "all": 60.0}


@parpy.jit
def gather(x, index, y, n):
    parpy.label("i")
    for i in range(n):
        y[i] = x[index[i]]


@parpy.jit
def matmul(a, b, c, n, m, k):
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(m):
            for p in range(k):
                c[i, j] += a[i, p] * b[p, j]


@parpy.jit
def total(x, out, n):
    parpy.label("i")
    for i in range(n):
        out[0] += x[i]


def cases(scale: int) -> dict[str, tuple[Callable[..., None], tuple[Any, ...], dict[str, Any]]]:
    """Kernel, arguments and mapping; `scale` varies the shapes a little."""
    rng = np.random.default_rng(0)
    n, m = 1_000_000 + scale, 1000 + scale
    starts = np.arange(0, 10 * (m + 1), 10)
    t = threads(64)
    return {
        "axpy": (kernels.axpy, (2.0, rng.random(n), rng.random(n), n), {"i": t}),
        "axpy_f32_small": (
            kernels.axpy,
            (np.float32(2), rng.random(4000 + scale, np.float32), rng.random(4000 + scale, np.float32), 4000 + scale),
            {"i": t},
        ),
        "total": (total, (rng.random(n), np.zeros(1), n), {"i": t.reduce()}),
        "gather": (gather, (rng.random(n), rng.integers(-n, n, n), np.zeros(n), n), {"i": t}),
        "jacobi_2d": (kernels.jacobi_2d, (rng.random((m, m)), np.zeros((m, m)), m), {"i": t, "j": t}),
        "matmul": (
            matmul,
            (
                rng.random((200, 200)),
                rng.random((200, 190 + scale)),
                np.zeros((200, 190 + scale)),
                200,
                190 + scale,
                200,
            ),
            {"i": t},
        ),
        "spmv": (
            kernels.spmv,
            (starts, rng.integers(0, m, 10 * m), rng.random(10 * m), rng.random(m), np.zeros(m), m),
            {"i": t},
        ),
        "softmax": (
            kernels.softmax,
            (rng.random((m, 400)), np.zeros((m, 400)), m, 400),
            {"i": t, "j": t.reduce(), "k": t},
        ),
    }


def seconds(call: Callable[[], None]) -> float:
    call()
    best = float("inf")
    begin = time.perf_counter()
    while time.perf_counter() - begin < 0.5:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    chosen = sys.argv[1:] or list(cases(0))
    results: dict[str, dict[str, float]] = {}
    print(f"{'kernel':<24}{'unchecked':>11}" + "".join(f"{level:>9}" for level in LEVELS))
    for shapes in ("fixed", "general"):
        for name in chosen:
            times = {}
            for check in (None, *LEVELS):
                function, arguments, mapping = cases(0)[name]
                opts = CompileOptions(backend=CompileBackend.Cpu, check=check, parallelize=mapping)
                for scale in range(1, 8 if shapes == "general" else 1):
                    function(*cases(scale)[name][1], opts=opts)
                times[check] = seconds(lambda f=function, a=arguments, o=opts: f(*a, opts=o))
            ratios = {level: times[level] / times[None] for level in LEVELS}
            results[f"{name} {shapes}"] = {"unchecked_us": 1e6 * times[None], **ratios}
            print(
                f"{name + ' ' + shapes:<24}{1e6 * times[None]:>8.1f} µs"
                + "".join(
                    f"{ratios[level]:>8.1f}{'!' if ratios[level] > TARGETS.get(level, 1e9) else ' '}"
                    for level in LEVELS
                )
            )
    (HERE / "results/check_overhead.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
