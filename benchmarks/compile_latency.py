"""Cold compile on the CPU: from the first call of a kernel to its return, disk cache off.

    python benchmarks/compile_latency.py

Each figure is the second kernel of a fresh process (the first, another one, pays for loading the compiler). Medians of
several processes. Writes benchmarks/results/compile_latency.json.
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
sys.path.insert(0, {here!r})
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
arguments, mapping = cases[{name!r}]
opts = parpy.par(mapping)
begin = time.perf_counter()
getattr(kernels, {name!r})(*arguments, opts=opts)
print(1e3 * (time.perf_counter() - begin))
"""
TARGETS = {"axpy": 15.0, "softmax": 30.0, "hdiff": 45.0}


def main() -> None:
    environment = {**os.environ, "PARPY_CACHE": "0"}
    results = {}
    print(f"{'kernel':<10} {'ms':>7} {'min':>7} {'target':>7}")
    for name, target in TARGETS.items():
        program = PROGRAM.format(here=str(HERE), name=name)
        times = [
            float(
                subprocess.run(
                    [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment
                ).stdout
            )
            for _ in range(11)
        ]
        results[name] = {"median_ms": statistics.median(times), "min_ms": min(times), "target_ms": target}
        print(f"{name:<10} {statistics.median(times):>7.1f} {min(times):>7.1f} {target:>7.1f}")
    (HERE / "results/compile_latency.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
