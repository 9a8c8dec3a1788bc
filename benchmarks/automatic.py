"""The cost of the automatic mode on small programs: each beside the same loops compiled with no mapping.

    python benchmarks/automatic.py [--presets tiny S] [--rounds 15] [--out FILE]

NPBench's kernels (npbench/, both orders of their loops where they have two) and the nests of the legality suite, on the
CPU. Both alternate in one process, on arrays that are restored before each round; a time is the least of all
rounds, each of so many calls in a row that they last 0.2 ms. `ratio` is automatic over sequential; 1.1 is the limit.
Writes benchmarks/results/automatic.json.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import parpy

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests/python")]

import npbench  # noqa: E402
from npbench.kernel import arguments as arguments_of  # noqa: E402

from legality_cases import CASES, HELPERS  # noqa: E402
from nests import nest_of  # noqa: E402

CPU = parpy.CompileBackend.Cpu
WAYS = {"automatic": parpy.auto(backend=CPU), "sequential": parpy.CompileOptions(backend=CPU)}
Program = tuple[str, Callable[..., None], tuple[Any, ...]]


def programs(presets: list[str]) -> Iterator[Program]:
    for name in npbench.NAMES:
        kernel = npbench.load(name)
        for preset in presets:
            data = kernel.data(kernel.presets[preset])
            for function in {kernel.function, kernel.on("cpu")}:
                label = f"{name} {preset}" + ("" if function is kernel.on("cpu") else ", as for GPUs")
                yield label, function, arguments_of(function, data)
    for name, case in {**CASES, **HELPERS}.items():
        nest = nest_of(case[1], case[-1], case[2] if name in HELPERS else "")
        yield name, nest.function, tuple(nest.copies().values())


def nanoseconds(call: Callable[..., None], arguments: tuple[Any, ...], times: int) -> float:
    start = time.perf_counter_ns()
    for _ in range(times):
        call(*arguments)
    return (time.perf_counter_ns() - start) / times


def compared(function: Callable[..., None], arguments: tuple[Any, ...], rounds: int) -> dict[str, float]:
    def restore() -> None:
        for a, value in zip(arguments, pristine, strict=True):
            if isinstance(a, np.ndarray):
                a[...] = value

    pristine = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    calls = {name: lambda *values, opts=opts: function(*values, opts=opts) for name, opts in WAYS.items()}
    for call in calls.values():
        call(*arguments)
    restore()
    once = nanoseconds(calls["sequential"], arguments, 1)
    times = max(1, math.ceil(2e5 / once))
    least = dict.fromkeys(WAYS, math.inf)
    for _ in range(max(3, min(rounds, math.ceil(4e9 / (once * times))))):
        for name, call in calls.items():
            restore()
            least[name] = min(least[name], nanoseconds(call, arguments, times))
    return least


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--presets", nargs="+", default=["tiny", "S"])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", type=Path, default=HERE / "results/automatic.json")
    options = parser.parse_args()
    rows = []
    for name, function, arguments in programs(options.presets):
        try:
            row: dict[str, Any] = {"program": name, **compared(function, arguments, options.rounds)}
        except IndexError:  # programs whose subscripts are wrong
            continue
        rows.append({**row, "ratio": row["automatic"] / row["sequential"]})
    rows.sort(key=lambda row: -row["ratio"])
    for row in [*rows[:12], *rows[-3:]]:
        print(f"{row['program']:<44} {row['sequential']:>14.0f} ns {row['automatic']:>14.0f} ns  {row['ratio']:.2f}")
    above = [row["program"] for row in rows if row["ratio"] > 1.1]
    mean = math.exp(sum(math.log(row["ratio"]) for row in rows) / len(rows))
    print(f"{len(rows)} programs: {mean:.2f} in geometric mean, {len(above)} above 1.1")
    machine = f"{platform.processor() or platform.machine()}, {len(os.sched_getaffinity(0))} cores"
    options.out.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
