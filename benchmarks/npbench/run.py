"""NPBench's kernels, timed: ParPy with mappings found by hand against NumPy and Numba, or on a GPU against its peers.

    python benchmarks/npbench/run.py [KERNEL ...] [--preset paper] [--backend cpu|cuda] [--framework parpy …]

Times are what NPBench takes: one call and its synchronisation on arrays that are restored before. The median is that of
the calls that fit into --seconds (three if that takes less than five times as long). Before, a call compiles, and its
outputs are compared with NumPy's; --check-steps cuts the time steps of that call. `auto` is automatic mode, its `x` the
speed in terms of the hand mapping's; the other `x` are the others' times over that of the hand mapping. Numba is the
best of three versions (numba_twin.py). On a GPU the data lie there, which takes CuPy; the others are ParPy 0.3.3 and
the best peer on an H200 at preset paper (peers_h200.json). Without names of kernels, writes
benchmarks/results/npbench_<backend>.json.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import parpy  # noqa: E402
from npbench import NAMES, load  # noqa: E402
from npbench.kernel import BACKENDS, Kernel, Sizes, arguments, check  # noqa: E402

Data = dict[str, Any]
Call = Callable[..., Any]
PEERS = json.loads((HERE / "peers_h200.json").read_text())


class Host:
    """Where data live and calls run."""

    name = f"{platform.processor() or platform.machine()}, {len(os.sched_getaffinity(0))} cores"

    def take(self, data: Mapping[str, Any]) -> Data:
        return copy.deepcopy(dict(data))

    def give(self, data: Data) -> Data:
        return data

    def synchronize(self) -> None:
        pass


class Device(Host):
    def __init__(self) -> None:
        import cupy

        self.cupy = cupy
        self.name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()

    def take(self, data: Mapping[str, Any]) -> Data:
        return {k: self.cupy.array(v) if hasattr(v, "shape") else v for k, v in data.items()}

    def give(self, data: Data) -> Data:
        return {k: self.cupy.asnumpy(v) if hasattr(v, "shape") else v for k, v in data.items()}

    def synchronize(self) -> None:
        self.cupy.cuda.Device().synchronize()


def milliseconds(place: Host, call: Call, parameters: Call, data: Data, seconds: float) -> list[float]:
    """The times of single calls; `data` are never touched."""
    pristine, work = place.take(data), place.take(data)
    values = arguments(parameters, work)
    times: list[float] = []
    start = time.perf_counter()
    while time.perf_counter() - start < (seconds if len(times) >= 3 else 5 * seconds) and len(times) < 100:
        for name, value in work.items():
            if hasattr(value, "shape"):
                value[...] = pristine[name]
        place.synchronize()
        begin = time.perf_counter()
        call(*values)
        place.synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return times


def compare(place: Host, kernel: Kernel, call: Call, parameters: Call, data: Data, want: Data) -> None:
    work = place.take(data)
    call(*arguments(parameters, work))
    check(kernel, place.give({name: work[name] for name in kernel.outputs}), want)


class Case:
    """One kernel at one preset on one backend."""

    def __init__(self, name: str, options: argparse.Namespace, place: Host) -> None:
        self.name, self.options, self.place = name, options, place
        self.kernel = load(name)
        self.sizes = self.kernel.presets[options.preset]
        self.data = self.kernel.data(self.sizes)
        self.checked, self.trial = self.sizes, self.data
        steps = self.kernel.steps
        if steps and options.check_steps and options.check_steps < self.sizes[steps]:
            self.checked = {**self.sizes, steps: options.check_steps}
            self.trial = self.kernel.data(self.checked)
        self.want = copy.deepcopy(self.trial)
        self.kernel.reference(*arguments(self.kernel.reference, self.want))

    def parpy(self) -> dict[str, Any]:
        return self.ours(lambda sizes, **fields: self.kernel.options(self.options.backend, sizes, **fields))

    def auto(self) -> dict[str, Any]:
        backend = BACKENDS[self.options.backend]
        return self.ours(lambda sizes, **fields: parpy.auto(backend=backend, **fields))

    def ours(self, options: Callable[..., parpy.CompileOptions]) -> dict[str, Any]:
        function = self.kernel.on(self.options.backend)

        def mapped(sizes: Sizes) -> Call:
            opts = options(sizes, **dict.fromkeys(self.options.set, True))
            return lambda *values: function(*values, opts=opts)

        compare(self.place, self.kernel, mapped(self.checked), function, self.trial, self.want)
        run = mapped(self.sizes)
        run(*arguments(function, self.place.take(self.data)))
        return self.row(milliseconds(self.place, run, function, self.data, self.options.seconds))

    def numpy(self) -> dict[str, Any]:
        reference = self.kernel.reference
        return self.row(milliseconds(self.place, reference, reference, self.data, self.options.seconds))

    def numba(self) -> dict[str, Any]:
        from npbench.numba_twin import versions

        rows = []
        for version, function, parameters in versions(self.kernel):
            try:
                compare(self.place, self.kernel, function, parameters, self.trial, self.want)
            except Exception as error:  # Numba's many, and AssertionError where conflicting iterations gave nonsense
                if self.options.verbose:
                    print(f"{self.name}: Numba's {version}: {type(error).__name__}: {error}"[:400], file=sys.stderr)
                continue
            times = milliseconds(self.place, function, parameters, self.data, self.options.seconds)
            rows.append({**self.row(times), "version": version})
        return min(rows, key=lambda row: row["ms"]) if rows else {}

    @staticmethod
    def row(times: list[float]) -> dict[str, Any]:
        return {"ms": statistics.median(times), "best_ms": min(times), "calls": len(times)}


def ratio(theirs: float | None, ours: float | None) -> str:
    return f"{theirs / ours:.2f}" if theirs and ours else "–"


def number(value: float | None) -> str:
    return f"{value:.4g}" if value else "–"


def layout(kernel: str, numbers: Sequence[str], note: str, rates: Sequence[str]) -> str:
    widths = (9, 9, 6, 9, 6, 9, 6)
    columns = " ".join(f"{text:>{width}}" for text, width in zip(numbers, widths, strict=True))
    return f"{kernel:<16} {columns}  {note:<14} {rates[0]:>7} {rates[1]:>8}"


def head(backend: str) -> str:
    first, second = ("NumPy", "Numba") if backend == "cpu" else ("0.3.3", "best peer")
    return layout("kernel", ["ParPy", "auto", "x", first, "x", second, "x"], "", ["GB/s", "Gflop/s"])


def line(row: Mapping[str, Any], backend: str, preset: str) -> str:
    ours, auto = row.get("parpy", {}).get("ms"), row.get("auto", {}).get("ms")
    if backend == "cpu":
        first, second = row.get("numpy", {}).get("ms"), row.get("numba", {}).get("ms")
        note = row.get("numba", {}).get("version", "")
    else:
        measured = PEERS.get(row["kernel"], {}) if preset == "paper" else {}
        peers = {name: ms for name, ms in measured.items() if ms}
        note = min(peers, key=peers.__getitem__, default="")
        first, second = peers.get("upstream parpy"), peers.get(note)
    numbers = [number(ours), number(auto), ratio(ours, auto)]
    numbers += [number(first), ratio(first, ours), number(second), ratio(second, ours)]
    rates = [number(row[key] / (1e6 * ours)) if ours else "–" for key in ("bytes", "flops")]
    return layout(row["kernel"], numbers, note, rates)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help=", ".join(NAMES))
    parser.add_argument("--preset", default="M", choices=["tiny", "S", "M", "L", "paper"])
    parser.add_argument("--backend", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--framework", nargs="+", choices=["parpy", "auto", "numpy", "numba"])
    parser.add_argument("--seconds", type=float, default=1.0, help="measuring time of each figure")
    parser.add_argument("--check-steps", type=int, default=0, help="at most so many time steps are checked; 0: all")
    parser.add_argument("--set", nargs="*", default=[], metavar="OPTION", help="compile options to set, as fast_math")
    parser.add_argument("--verbose", action="store_true", help="why Numba's versions do not count")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if unknown := set(options.kernels) - set(NAMES):
        parser.error(f"no such kernel: {', '.join(sorted(unknown))}")
    frameworks = options.framework or (
        ["parpy", "auto"] if options.backend == "cuda" else ["parpy", "auto", "numpy", "numba"]
    )

    place = Device() if options.backend == "cuda" else Host()
    print(f"{place.name}; preset {options.preset}; ms")
    print(head(options.backend), flush=True)
    rows, failures = [], []
    for name in options.kernels or NAMES:
        kernel = load(name)
        sizes = kernel.presets[options.preset]
        row: dict[str, Any] = {"kernel": name, "sizes": sizes}
        row |= {"bytes": kernel.bytes(**sizes), "flops": kernel.flops(**sizes)}
        row["mapping"] = {label: repr(loop) for label, loop in kernel.mapping(options.backend, sizes).items()}
        try:
            case = Case(name, options, place)
            for framework in frameworks:
                row[framework] = getattr(case, framework)()
        except Exception as error:  # the other kernels still count
            failures.append(f"{name}: {type(error).__name__}: {error}")
        rows.append(row)
        print(line(row, options.backend, options.preset), flush=True)
    target = options.out or HERE.parent / f"results/npbench_{options.backend}.json"
    if options.out or not options.kernels:
        result = {"machine": place.name, "preset": options.preset, "numpy": np.__version__, "rows": rows}
        target.write_text(json.dumps(result, indent=1) + "\n")
    for failure in failures:
        print(failure, file=sys.stderr)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
