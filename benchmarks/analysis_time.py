"""Time of the analysis in a cold compile: check-bounds and check-legality, beside all passes together.

    python benchmarks/analysis_time.py

Measures the nests of the legality suite (every loop that may run in parallel is mapped) and the kernels of
compile_latency.py, then those of npbench/ at preset S, these also in automatic mode, for CPU and CUDA, with
the passes that restructure loops and choose the mapping. Each figure is the best of ten runs. Writes
benchmarks/results/analysis_time.json.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np

import parpy

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests/python")]

import npbench  # noqa: E402
from cpu import kernels  # noqa: E402
from npbench.kernel import arguments as arguments_of  # noqa: E402

from legality_cases import CASES  # noqa: E402
from nests import Nest  # noqa: E402

CHECKS = ("check-bounds", "check-legality")
AUTOMATIC = (*CHECKS, "distribute-loops", "fuse-loops", "interchange-loops", "collapse-loops", "choose-mapping")


def best_of_ten(
    function: Any, arguments: tuple[Any, ...], opts: parpy.CompileOptions, passes: tuple[str, ...]
) -> tuple[float, float]:
    """Milliseconds of these passes, and of all passes."""
    runs = [parpy._native.pass_seconds(function, arguments, opts) for _ in range(10)]
    asked = min(sum(run.get(name, 0.0) for name in passes) for run in runs)
    return 1e3 * asked, 1e3 * min(sum(run.values()) for run in runs)


def milliseconds(function: Any, arguments: tuple[Any, ...], mapping: dict[str, parpy.LoopPar]) -> tuple[float, float]:
    """Milliseconds of the checks, and of all passes."""
    opts = parpy.CompileOptions(parallelize=mapping, backend=parpy.CompileBackend.Cpu)
    return best_of_ten(function, arguments, opts, CHECKS)


def automatic(backend: parpy.CompileBackend) -> dict[str, float]:
    """Milliseconds of the analysis of the kernels of npbench/ in automatic mode."""
    found = []
    for kernel in map(npbench.load, npbench.NAMES):
        function = kernel.on(backend.value)
        values = arguments_of(function, kernel.data(kernel.presets["S"]))
        found.append(best_of_ten(function, values, parpy.auto(backend=backend), AUTOMATIC)[0])
    found.sort()
    name = f"npbench_automatic_{backend.value}"
    return {
        f"{name}_median_ms": statistics.median(found),
        f"{name}_p95_ms": found[int(0.95 * len(found))],
        f"{name}_max_ms": found[-1],
    }


def main() -> None:
    threads = parpy.threads(64)
    results = {}
    for name, (verdicts, arguments, text) in CASES.items():
        values = {k: np.ones(v) if isinstance(v, tuple) else v for k, v in arguments.items()}
        nest = Nest(text, values)
        mapping = {f"L{i}": threads for i, verdict in enumerate(verdicts) if verdict not in "XS"}
        results[name] = milliseconds(nest.function, tuple(values.values()), mapping)
    ones = np.ones((12, 12, 16))
    table = np.ones((8, 64), np.float32)
    own = {
        "axpy": ((2.0, np.ones(100), np.ones(100), 100), "i"),
        "softmax": ((table, table.copy(), 8, 64), "ijk"),
        "hdiff": ((ones, np.ones((8, 8, 16)), np.zeros((8, 8, 16)), 8, 8, 16), "ik"),
    }
    for name, (arguments, labels) in own.items():
        results[name] = milliseconds(getattr(kernels, name), arguments, dict.fromkeys(labels, threads))
    checks = sorted(result[0] for result in results.values())
    suite = []
    for kernel in map(npbench.load, npbench.NAMES):
        function = kernel.on("cpu")
        values = arguments_of(function, kernel.data(kernel.presets["S"]))
        suite.append(milliseconds(function, values, dict(kernel.cpu))[0])
    suite.sort()
    summary = {
        "nests": len(checks),
        "median_ms": statistics.median(checks),
        "p95_ms": checks[int(0.95 * len(checks))],
        "max_ms": checks[-1],
        "all_passes_median_ms": statistics.median(result[1] for result in results.values()),
        **{name: results[name][0] for name in own},
        "npbench_kernels": len(suite),
        "npbench_median_ms": statistics.median(suite),
        "npbench_p95_ms": suite[int(0.95 * len(suite))],
        "npbench_max_ms": suite[-1],
        **automatic(parpy.CompileBackend.Cpu),
        **automatic(parpy.CompileBackend.Cuda),
    }
    for key, value in summary.items():
        print(f"{key:<34} {value:8.3f}" if isinstance(value, float) else f"{key:<34} {value:8}")
    (HERE / "results/analysis_time.json").write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main()
