"""APPy's programs, timed: annotated loops and tensor expressions against the automatic mode, NumPy and the best peer.

    python benchmarks/appy/run.py [PROGRAM ...] [--preset paper] [--backend cpu|cuda] [--seconds 1]

Data, references, sizes and the way of timing are those of benchmarks/npbench/; on a GPU the data lie there, which
needs CuPy. `auto` is the kernel of that folder in automatic mode, whose algorithm may differ; `plain` the loops here
without their pragmas. The `x` after each of these is its time divided by that of the loops; the `x` after `tensors`
is the time of the loops divided by that of `tensors`. Without names writes benchmarks/results/appy_<backend>.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import npbench  # noqa: E402
from npbench.frameworks import Target, of_parpy  # noqa: E402
from npbench.measure import Job, compare, milliseconds, prepare  # noqa: E402
from npbench.places import Device, Host, graphics_card, processor  # noqa: E402

from appy import NAMES, load  # noqa: E402
from parpy.appy import compile_from_src  # noqa: E402

PEERS = json.loads((HERE.parent / "npbench/peers_h200.json").read_text())
WIDTHS = (16, 9, 9, 6, 9, 6, 9, 6, 9, 6)


def without_pragmas(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function without pragmas, which the automatic mode maps."""
    source = function.__parpy_source__
    header = "from parpy.appy import *\n"
    lines = [line for line in source.text.split("\n") if not line.lstrip().startswith("#pragma")]
    return compile_from_src(header + "\n".join(lines))


def timed(place: Host, job: Job, function: Callable[..., Any], options: argparse.Namespace) -> float:
    """The median of the milliseconds of a call, after one whose outputs are compared with NumPy's."""
    version = of_parpy("appy", function, job.kernel, Target(options.backend, {}))
    compare(place, job, version)
    return statistics.median(milliseconds(place, job, version, options.seconds, False))


def row_of(name: str, options: argparse.Namespace, place: Host) -> dict[str, Any]:
    kernel = npbench.load(name)
    job = prepare(kernel, options.preset, options.check_steps)
    loops = load(name, "loops")
    forms = {"loops": loops, "tensors": load(name, "tensors"), "plain": without_pragmas(loops)}
    forms["auto"] = kernel.on(options.backend)
    row: dict[str, Any] = {"program": name, "sizes": dict(job.sizes)}
    row |= {form: timed(place, job, function, options) for form, function in forms.items()}
    row["numpy"] = job.numpy["ms"]
    if options.backend == "cuda" and options.preset == "paper":
        peers = [ms for ms in PEERS.get(name, {}).values() if isinstance(ms, int | float) and ms]
        row["peer"] = min(peers, default=None)
    return row


def number(value: float | None) -> str:
    return f"{value:.4g}" if value else "–"


def ratio(theirs: float | None, ours: float | None) -> str:
    return f"{theirs / ours:.2f}" if theirs and ours else "–"


def line(row: dict[str, Any]) -> str:
    other = row.get("peer") or row["numpy"]
    cells = [row["program"], number(row["loops"])]
    cells += [number(row["tensors"]), ratio(row["loops"], row["tensors"])]
    for theirs in (row["plain"], row["auto"], other):
        cells += [number(theirs), ratio(theirs, row["loops"])]
    return " ".join(f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS, strict=False))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(NAMES))
    parser.add_argument("--preset", default="M", choices=["tiny", "S", "M", "L", "paper"])
    parser.add_argument("--backend", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--seconds", type=float, default=1.0, help="measuring time of each figure")
    parser.add_argument("--check-steps", type=int, default=0, help="at most so many time steps are checked; 0: all")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    place, machine = (Device(), graphics_card()) if options.backend == "cuda" else (Host(), processor())
    print(f"{machine}; preset {options.preset}; ms")
    last = "best peer" if options.backend == "cuda" and options.preset == "paper" else "NumPy"
    head = ("program", "loops", "tensors", "x", "plain", "x", "auto", "x", last, "x")
    print(" ".join(f"{cell:>{width}}" for cell, width in zip(head, WIDTHS, strict=True)), flush=True)
    rows, failures = [], []
    for name in options.programs or NAMES:
        try:
            rows.append(row_of(name, options, place))
            print(line(rows[-1]), flush=True)
        except Exception as error:  # the other programs still count
            failures.append(f"{name}: {type(error).__name__}: {error}")
            print(failures[-1], file=sys.stderr, flush=True)
    target = options.out or HERE.parent / f"results/appy_{options.backend}.json"
    if options.out or not options.programs:
        target.write_text(json.dumps({"machine": machine, "preset": options.preset, "rows": rows}, indent=1) + "\n")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
