"""The programs of tests/programs, timed: NumPy, Numba and ParPy on text that nobody wrote for ParPy.

    python benchmarks/programs.py [PROGRAM ...] [--seconds S] [--out FILE]

Needs numba and scipy, through which Numba calls BLAS. `numba` is the text for Numba under Numba, `as numba` the same
text with only the import line changed, `as numpy` the plain NumPy text under `parpy.jit`. Times are medians of calls on
fresh copies of the arguments in milliseconds, behind a call that compiles; the peers take turns. Every program has a
process of its own. A word in place of a time: `refused`, `wrong` (which also ends the run with status 1), or `late`.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "tests" / "programs"
sys.path.insert(0, str(PROGRAMS))
sys.path.insert(0, str(ROOT / "tests" / "python"))

import program_data as data  # noqa: E402

COLUMNS = ("numpy", "numba", "as numba", "as numpy")
LONGEST = 200  # seconds for a program


def of_numba(name: str) -> Callable[..., Any]:
    """The text for Numba, given to Numba."""
    path = PROGRAMS / "numba_style" / f"{name}.py"
    module = types.ModuleType(name)
    text = path.read_text().replace("import parpy as nb", "import numba as nb")
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module.__dict__[name]


def of_parpy(style: str, name: str) -> Callable[..., Any]:
    import parpy

    function = getattr(importlib.import_module(f"{style}_style.{name}"), name)
    return parpy.jit(function) if style == "numpy" else function


def of_numpy(name: str) -> Callable[..., Any]:
    return getattr(importlib.import_module(f"numpy_style.{name}"), name)


def values(result: Any, arguments: tuple[Any, ...]) -> list[Any]:
    results = result if isinstance(result, tuple) else (result,)
    return [*(each for each in results if each is not None), *arguments]


def agrees(got: list[Any], want: list[Any]) -> bool:
    def close(ours: Any, theirs: Any) -> bool:
        if np.shape(ours) != np.shape(theirs):
            return False
        # Sums of thousands of float32 differ by their order, of which exponentials make more.
        few_digits = np.asarray(theirs).dtype in (np.float32, np.complex64)
        if np.linalg.norm(np.subtract(ours, theirs)) <= (2e-4 if few_digits else 1e-6) * np.linalg.norm(theirs):
            return True
        return np.allclose(ours, theirs, rtol=1e-5, atol=1e-8, equal_nan=True)

    return len(got) == len(want) and all(close(*pair) for pair in zip(got, want, strict=True))


def measure(name: str, seconds: float) -> dict[str, float | str]:
    """By column: milliseconds, or why there are none."""
    sizes = data.PROGRAMS[name][1]
    arguments = data.initialize(name, **sizes)
    row: dict[str, float | str] = {}
    runs: dict[str, Callable[..., Any]] = {}
    want: list[Any] = []
    for column in COLUMNS:
        own = copy.deepcopy(arguments)
        try:
            if column == "numpy":
                run = of_numpy(name)
            elif column == "numba":
                run = of_numba(name)
            else:
                run = of_parpy(column.removeprefix("as "), name)
            got = values(run(*own), own)
        except Exception as error:
            row[column] = "refused"
            print(f"{name}, {column}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
            continue
        if column == "numpy":
            want = got
        elif not agrees(got, want):
            row[column] = "wrong"
            continue
        runs[column] = run
    times: dict[str, list[float]] = {column: [] for column in runs}
    begin = time.perf_counter()
    while not times["numpy"] or time.perf_counter() - begin < seconds:
        for column, run in runs.items():
            if sum(times[column]) > 3 * seconds / len(COLUMNS) and len(times[column]) > 2:
                continue  # slow ones must not leave the others few calls
            own = copy.deepcopy(arguments)
            start = time.perf_counter()
            run(*own)
            times[column].append(time.perf_counter() - start)
    row |= {column: 1e3 * statistics.median(each) for column, each in times.items()}
    return row


def measured_apart(name: str, seconds: float) -> dict[str, float | str]:
    command = [sys.executable, "-W", "ignore", __file__, name, "--seconds", str(seconds), "--apart"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return dict.fromkeys(COLUMNS, "late")
    sys.stderr.write(done.stderr[-600:])
    if done.returncode != 0:
        return dict.fromkeys(COLUMNS, f"status {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def ratio(row: dict[str, float | str], column: str) -> float | None:
    """How many times faster than Numba."""
    ours, theirs = row.get(column), row.get("numba")
    return theirs / ours if isinstance(ours, float) and isinstance(theirs, float) else None


def shown(value: float | str | None) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.3g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    parser.add_argument("--seconds", type=float, default=2.0, help="of measured calls per program")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--apart", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.programs or list(data.PROGRAMS)
    if options.apart:
        print(json.dumps(measure(names[0], options.seconds)))
        return
    rows: dict[str, dict[str, Any]] = {}
    print(f"{'program':<26}" + "".join(f"{column:>10}" for column in COLUMNS) + f"{'x':>8}{'x':>8}")
    for name in names:
        row = rows[name] = measured_apart(name, options.seconds)
        cells = "".join(f"{shown(row.get(column)):>10}" for column in COLUMNS)
        print(f"{name:<26}{cells}" + "".join(f"{shown(ratio(row, c)):>8}" for c in COLUMNS[2:]), flush=True)
    summary: dict[str, Any] = {}
    for column in COLUMNS[2:]:
        ratios = [each for row in rows.values() if (each := ratio(row, column)) is not None]
        if not ratios:
            continue
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        slow = sorted(name for name, row in rows.items() if (ratio(row, column) or 1) < 0.5)
        print(f"{column}: {mean:.2f} x Numba in the geometric mean of {len(ratios)}; below half: {', '.join(slow)}")
        summary[column] = {"geometric mean": round(mean, 3), "programs": len(ratios), "below half": slow}
    if options.out or not options.programs:
        machine = f"{platform.processor() or platform.machine()}, {len(os.sched_getaffinity(0))} cores"
        out = options.out or ROOT / "benchmarks" / "results" / "programs.json"
        out.write_text(json.dumps({"machine": machine, "ms": rows, "vs numba": summary}, indent=1) + "\n")
    if any(value == "wrong" for row in rows.values() for value in row.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
