"""The cost of a call besides the work: warm calls, the first call of a process, and import.

    python benchmarks/call_overhead.py

Warm: ns of a call of a function with an empty loop minus those of an empty Python function called in the same way,
medians of interleaved batches; the empty call also shows the current speed of the machine. First call: ms from the
call to its return in a new process whose code is in the disk cache. Import: ms of `import parpy` in a process that has
imported NumPy. Writes benchmarks/results/call_overhead.json.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import timeit
from pathlib import Path

import numpy as np

import parpy

HERE = Path(__file__).parent
TARGETS = {
    "3 arrays, 2 scalars": 150.0,
    "first call, warm disk cache": 5.0,
    "import parpy": 100.0,
}


@parpy.jit
def nothing(x, y, z, n, a):
    parpy.label("i")
    for i in range(n):
        z[i] = a * x[i] + y[i]


def empty(x, y, z, n, a, opts=None):
    pass


def warm_ns(rounds: int = 31, batch: int = 20_000) -> dict[str, float]:
    """ns more than an empty call, by way of calling. No iteration is executed."""
    opts = parpy.par({"i": parpy.threads(64)})
    arrays = [np.zeros(0), np.zeros(0), np.zeros(0)]
    matrices = [np.zeros((0, 4)).T[0], np.zeros(0), np.zeros(0)]
    names = {"nothing": nothing, "empty": empty, "opts": opts}
    names |= dict(zip("xyz", arrays, strict=True)) | dict(zip("uvw", matrices, strict=True))
    ways = {
        "3 arrays, 2 scalars": "({f})(x, y, z, 0, 2.0)",
        "… with opts=": "({f})(x, y, z, 0, 2.0, opts=opts)",
        "… one strided": "({f})(u, v, w, 0, 2.0)",
        "… by keyword": "({f})(x=x, y=y, z=z, n=0, a=2.0)",
    }
    timers = {
        way: [timeit.Timer(call.format(f=f), globals=names) for f in ("nothing", "empty")] for way, call in ways.items()
    }
    seconds: dict[str, list[float]] = {way: [] for way in ways} | {"(an empty Python call)": []}
    for _ in range(rounds):
        for way, (ours, theirs) in timers.items():
            base = theirs.timeit(batch)
            seconds[way].append(ours.timeit(batch) - base)
            seconds["(an empty Python call)"].append(base)
    return {way: 1e9 * statistics.median(times) / batch for way, times in seconds.items()}


FIRST_CALL = """
import sys, time, numpy as np, parpy
sys.path.insert(0, {here!r})
from cpu import kernels
x, y = np.ones(1000), np.ones(1000)
opts = parpy.CompileOptions(parallelize={{'i': parpy.threads(64)}}, backend=parpy.CompileBackend.Cpu)
begin = time.perf_counter()
kernels.axpy(2.0, x, y, 1000, opts=opts)
print(1e3 * (time.perf_counter() - begin))
"""
IMPORT = """
import time, numpy
begin = time.perf_counter()
import parpy
print(1e3 * (time.perf_counter() - begin))
"""


def in_new_processes(program: str, environment: dict[str, str], repeats: int = 15) -> float:
    """Median of the numbers that `program` prints, after a run that fills the caches."""
    times = [
        float(
            subprocess.run(
                [sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True
            ).stdout
        )
        for _ in range(repeats + 1)
    ]
    return statistics.median(times[1:])


def main() -> None:
    rows = [(way, ns, "ns") for way, ns in warm_ns().items()]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PARPY_CACHE_DIR": cache}
        rows.append(
            ("first call, warm disk cache", in_new_processes(FIRST_CALL.format(here=str(HERE)), environment), "ms")
        )
        rows.append(("import parpy", in_new_processes(IMPORT, environment), "ms"))
    print(f"{'what':<28} {'measured':>9} {'target':>9}")
    results = {}
    for name, value, unit in rows:
        target = TARGETS.get(name)
        print(f"{name:<28} {value:>9.1f} {'' if target is None else f'{target:9.0f}'} {unit}")
        results[name] = {"value": value, "unit": unit, "target": target}
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results/call_overhead.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
