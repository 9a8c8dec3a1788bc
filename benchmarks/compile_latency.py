"""Cold compile on the CPU: from the first call of a kernel to its return, disk cache off.

    python benchmarks/compile_latency.py

Each figure is the second kernel of a fresh process (the first one, a different kernel, loads the compiler). Medians of
several processes. The last two are large functions in automatic mode: 18 nested loops, and 10 000 statements. Writes
benchmarks/results/compile_latency.json.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PROGRAM = r"""
import sys, time
import numpy as np
import parpy
sys.path[:0] = [{here!r}, {tests!r}]
import large_programs
from cpu import kernels

kernels.increment(np.ones(8), 8, opts=parpy.par({{'i': parpy.threads(8)}}))
threads = parpy.threads(64)
rng = np.random.default_rng(0)
cases = {{
    'axpy': ((2.0, np.ones(100), np.ones(100), 100), {{'i': threads}}),
    'softmax': ((rng.random((8, 64), dtype=np.float32), np.empty((8, 64), np.float32), 8, 64),
                {{'i': threads, 'j': threads.reduce(), 'k': threads}}),
    'hdiff': ((rng.random((12, 12, 16)), rng.random((8, 8, 16)), np.zeros((8, 8, 16)), 8, 8, 16),
              {{'i': threads, 'k': threads}}),
}}
large = {{'nest_of_18': (large_programs.nest, 18), 'statements_10000': (large_programs.statements, 10_000)}}
if {name!r} in large:
    make, size = large[{name!r}]
    (kernel, arguments), opts = make(size), parpy.auto(backend=parpy.CompileBackend.Cpu)
else:
    arguments, mapping = cases[{name!r}]
    kernel, opts = getattr(kernels, {name!r}), parpy.par(mapping)
begin = time.perf_counter()
kernel(*arguments, opts=opts)
print(1e3 * (time.perf_counter() - begin))
"""
TARGETS = {"axpy": 15.0, "softmax": 30.0, "hdiff": 45.0, "nest_of_18": 1000.0, "statements_10000": 5000.0}


def main() -> None:
    environment = {**os.environ, "PARPY_CACHE": "0"}
    results = {}
    print(f"{'kernel':<16} {'ms':>7} {'min':>7} {'target':>7}")
    for name, target in TARGETS.items():
        program = PROGRAM.format(here=str(HERE), tests=str(HERE.parent / "tests/python"), name=name)
        times = [
            float(
                subprocess.run(
                    [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment
                ).stdout
            )
            for _ in range(11 if target < 1000 else 3)
        ]
        results[name] = {"median_ms": statistics.median(times), "min_ms": min(times), "target_ms": target}
        print(f"{name:<16} {statistics.median(times):>7.1f} {min(times):>7.1f} {target:>7.1f}")
    (HERE / "results/compile_latency.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
