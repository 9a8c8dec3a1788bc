"""NPBench's kernels, timed: ParPy beside NumPy, Numba, CuPy, JAX, and DaCe and docc if they are installed.

    python benchmarks/npbench/run.py [KERNEL ...] [--preset paper] [--backend cpu|cuda] [--framework loops jax …]

Times are those of NPBench: one call and its synchronisation on arrays that are restored before; on a GPU the data are
on the device, which needs CuPy. The median is over the calls that fit into --seconds (three if they fit into five
times as long). Before, a call compiles, and its outputs are compared with NumPy's; --check-steps cuts the time steps of
that call. Each pair of a kernel and a framework has a process, which is killed after --limit seconds, or a multiple of
that if a framework compiles for long; the results until then count. The fastest valid version of a framework
counts (frameworks.py).

Results are written after every kernel, by default for whole runs to results/npbench_<backend>_<preset>.json, with a
table and plots beside them (report.py, plots.py). --resume keeps the results in a file and measures the missing ones,
such as those that --budget skipped.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from tqdm import tqdm  # noqa: E402

from npbench import NAMES, load  # noqa: E402
from npbench.frameworks import DEFAULT, FRAMEWORKS, OURS, Target, available  # noqa: E402
from npbench.measure import Job, Row, measure, prepare, versions_of  # noqa: E402
from npbench.places import graphics_card, processor  # noqa: E402
from npbench.report import head, line, summary  # noqa: E402

# A process is a copy of one that has neither a GPU nor threads yet, so it inherits the data.
FORK = multiprocessing.get_context("fork")


def apart(
    seconds: float, work: Callable[[Callable[[Any], None]], None], first: float | None = None, quiet: bool = False
) -> Iterator[Any]:
    """Yields the messages of `work` in a process of its own, and a last one if it fails. The process is killed `first`
    seconds after its start without a message, and `seconds` after a message. If `quiet`, its output is dropped."""
    here, there = FORK.Pipe(duplex=False)
    process = FORK.Process(target=_run, args=(work, there, quiet))
    process.start()
    there.close()
    limit = seconds if first is None else first
    end = time.monotonic() + limit
    try:
        while here.poll(max(0.0, end - time.monotonic())):
            yield here.recv()
            if first is not None:
                first, limit = None, seconds
                end = time.monotonic() + limit
        yield {"failure": "late", "why": [f"ended after {limit:.0f} s"]}
    except EOFError:
        process.join()
        if process.exitcode:
            yield {"failure": "died", "why": [f"status {process.exitcode}"]}
    finally:
        process.kill()
        process.join()


def _run(work: Callable[[Callable[[Any], None]], None], there: Connection, quiet: bool) -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: the process ends with its parent
    if quiet:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
    with tempfile.TemporaryDirectory() as folder:  # for frameworks that write files to the working folder
        os.chdir(folder)
        work(there.send)


def timed(framework: str, job: Job, options: argparse.Namespace) -> Row:
    target = Target(options.backend, dict.fromkeys(options.set, True))
    row: Row = {}
    limit = options.limit * FRAMEWORKS[framework].patience
    work = partial(measure, framework, job, target, options.seconds)
    for told in apart(limit, work, quiet=not options.verbose):
        if "ms" in row and "failure" in told:
            row["cut"] = told["failure"]
        else:
            row = told
    return row


def all_timed(name: str, frameworks: list[str], options: argparse.Namespace, tell: Callable[[Any], None]) -> None:
    job = prepare(load(name), options.preset, options.check_steps)
    tell(("prepared", job.numpy))
    for framework in frameworks:
        tell((framework, timed(framework, job, options)))


def row_of(name: str, preset: str) -> Row:
    kernel = load(name)
    sizes = kernel.presets[preset]
    least = {"bytes": kernel.bytes(**sizes), "flops": kernel.flops(**sizes), "unit": kernel.unit}
    return {"kernel": name, "sizes": dict(sizes), **least}


def chosen(options: argparse.Namespace) -> list[str]:
    asked = options.framework or DEFAULT[options.backend]
    missing = [name for name in asked if not available(name, options.backend)]
    if missing and options.framework:
        print(f"not installed, or not for {options.backend}: {', '.join(missing)}", file=sys.stderr)
    return [name for name in asked if name not in missing]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help=", ".join(NAMES))
    parser.add_argument("--preset", default="S", choices=["tiny", "S", "M", "L", "paper"])
    parser.add_argument("--backend", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--framework", nargs="+", choices=list(FRAMEWORKS), help="default: all for this back end")
    parser.add_argument("--seconds", type=float, default=1.0, help="measuring time of each version")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a pair, its validation included")
    parser.add_argument("--numpy-limit", type=float, default=200.0, help="seconds for NumPy's validating call")
    parser.add_argument("--check-steps", type=int, default=0, help="at most so many time steps are checked; 0: all")
    parser.add_argument("--set", nargs="*", default=[], metavar="OPTION", help="compile options to set, as fast_math")
    parser.add_argument("--budget", type=float, default=math.inf, help="seconds after which no kernel is begun")
    parser.add_argument("--resume", action="store_true", help="keep what the file of results has")
    parser.add_argument("--verbose", action="store_true", help="why versions do not count")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if unknown := set(options.kernels) - set(NAMES):
        parser.error(f"no such kernel: {', '.join(sorted(unknown))}")
    if options.out:
        options.out = options.out.absolute()
    elif not options.kernels:
        options.out = HERE.parent / f"results/npbench_{options.backend}_{options.preset}.json"
    return options


def machine(backend: str) -> str:
    if backend == "cpu":
        return processor()
    told = next(apart(60.0, lambda tell: tell(graphics_card())))
    if not isinstance(told, str):
        sys.exit("CuPy finds no GPU here")
    return told


def begun(options: argparse.Namespace, frameworks: list[str]) -> Row:
    """The results to which the run adds: empty, or those of the file if --resume."""
    result: Row = {"machine": machine(options.backend), "processor": processor(), "backend": options.backend}
    result |= {"load": os.getloadavg()[0], "preset": options.preset, "seconds": options.seconds, "limit": options.limit}
    result |= {"versions": versions_of(*(FRAMEWORKS[name].module for name in frameworks)), "rows": []}
    if options.resume and options.out and options.out.exists():
        old = json.loads(options.out.read_text())
        same = all(old.get(key) == result[key] for key in ("machine", "backend", "preset"))
        if not same:
            sys.exit(f"{options.out} has results of another machine or preset")
        result |= {"versions": {**result["versions"], **old["versions"]}, "rows": old["rows"]}
    return result


def complete(row: Row, name: str, frameworks: list[str], options: argparse.Namespace, progress: Any) -> None:
    """Measures the frameworks that `row` lacks."""
    missing = [framework for framework in frameworks if framework not in row]
    progress.set_postfix_str(f"{name}, NumPy")
    # The process ends after its last pair; the limit kills a process that hangs.
    limit = sum(options.limit * FRAMEWORKS[framework].patience + 10.0 for framework in missing)
    for told in apart(limit, lambda tell: all_timed(name, missing.copy(), options, tell), options.numpy_limit):
        if isinstance(told, dict):  # a failure of the whole process
            row["numpy_once"] = row.get("numpy_once", told)
            break
        framework, found = told
        if framework == "prepared":
            row["numpy_once"] = found
        else:
            row[framework] = found
            progress.update()
            missing.remove(framework)
            if options.verbose and found.get("why"):
                progress.write("\n".join(f"  {framework}, {why}" for why in found["why"]), file=sys.stderr)
        progress.set_postfix_str(f"{name}, {missing[0]}" if missing else name)


def main() -> None:
    options = arguments()
    frameworks = chosen(options)
    result = begun(options, frameworks)
    tqdm.monitor_interval = 0  # processes with threads must not be forked
    rows = {row["kernel"]: row for row in result["rows"]}
    print(f"{result['machine']}; preset {options.preset}; ms")
    print(head(frameworks), flush=True)
    names = options.kernels or NAMES
    progress = tqdm(total=len(names) * len(frameworks), file=sys.stderr, disable=None, leave=False, unit="pair")
    begin = time.monotonic()
    for done, name in enumerate(names):
        if time.monotonic() - begin > options.budget:
            progress.write(f"{len(names) - done} kernels are left, with which --resume goes on", file=sys.stderr)
            break
        row = rows.setdefault(name, row_of(name, options.preset))
        complete(row, name, frameworks, options, progress)
        progress.write(line(row, frameworks, result), file=sys.stdout)
        sys.stdout.flush()
        result["rows"] = [rows[each] for each in NAMES if each in rows]
        if options.out:
            options.out.write_text(json.dumps(result, indent=1) + "\n")
    progress.close()
    print("\n".join(summary(result)))
    if options.out:
        from npbench.plots import draw

        draw(result, options.out)
    sys.exit(any(row.get(name, {}).get("failure") == "wrong" for row in rows.values() for name in OURS))


if __name__ == "__main__":
    main()
