"""Random differential tests: programs compiled for a back end leave the same memory as the Python interpreter.

    python tests/fuzz/run.py [--backend cpu|sim|cuda|eval|eval-cuda|ptx] [--seed N] [--count N] [--jobs N]
                             [--minimise] [--out FILE]

`eval` is the reference interpreter, after a pass of the CPU's pipeline that is chosen at random, `eval-cuda` after
one of CUDA's before kernels are made; `ptx` runs NVRTC's code for a program's body on one thread. Each program is
made from its number, so that `--seed N --count 1` repeats a failure. A process that dies or hangs is a failure of
the program that it ran. Prints the failures and a table, writes the table to FILE as JSON, and exits with 1 if there
was a failure.
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(_HERE), str(_HERE.parent / "python")]
sys.path.append(str(_HERE.parents[1] / "python"))  # where parpy is not installed

SECONDS = 60.0  # the limit for one program, including the compilation of all its variants


def work(backend: str, first: int, end: int, stride: int, smaller: bool) -> None:
    """Runs programs and prints a line of JSON with each result; a line that announces the program precedes it."""
    from random_programs.compare import Comparison, case_of, fault_of
    from random_programs.minimise import minimise

    for pass_ in ("PARPY_WAVES", "PARPY_SCANS"):  # the nests of random programs are too small to gain time
        os.environ.setdefault(pass_, "2")
    for seed in range(first, end, stride):
        print(json.dumps({"begin": seed}), flush=True)
        case = case_of(seed, backend)
        outcome = Comparison(case).run()
        report = {"end": seed, "counts": dict(outcome.counts)}
        if outcome.fault is not None:
            shown, fault = case, outcome.fault
            if smaller:
                shown = minimise(case, fault_of)
                fault = fault_of(shown) or fault
            report["fault"] = f"{shown.text}\n{fault}"
        print(json.dumps(report), flush=True)


class Worker:
    """A process that runs every `stride`-th program, started again after a program that ended it."""

    def __init__(self, options: argparse.Namespace, number: int) -> None:
        self._options = options
        self._next = options.seed + number
        self.running: int | None = None
        self.since = time.monotonic()
        self.process: subprocess.Popen[str] | None = None
        self.start()

    def start(self) -> None:
        if self._next >= self._options.seed + self._options.count:
            self.process = None
            return
        command = [sys.executable, __file__, "--backend", self._options.backend, "--jobs", str(self._options.jobs)]
        command += ["--seed", str(self._options.seed), "--count", str(self._options.count), "--worker", str(self._next)]
        command += ["--minimise"] if self._options.minimise else []
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), True)
        self.since = time.monotonic()

    def begin(self, seed: int) -> None:
        self.running, self.since = seed, time.monotonic()

    def end(self, seed: int) -> None:
        self.running, self._next = None, seed + self._options.jobs

    def restart(self) -> None:
        """Starts the process again after the program that ended it."""
        if self.running is not None:
            self._next = self.running + self._options.jobs
        self.running = None
        self.start()


def supervise(options: argparse.Namespace) -> int:
    started = time.monotonic()
    counts: Counter[str] = Counter()
    failures: dict[int, str] = {}
    programs = 0
    selector = selectors.DefaultSelector()
    workers: list[Worker] = []

    def watch(worker: Worker) -> None:
        if worker.process is not None:
            selector.register(worker.process.stdout, selectors.EVENT_READ, worker)  # type: ignore[arg-type]

    def fail(seed: int, text: str) -> None:
        failures[seed] = text
        print(f"=== program {seed}\n{text}\n", flush=True)

    for number in range(min(options.jobs, options.count)):
        workers.append(Worker(options, number))
        watch(workers[-1])
    noise: dict[int, list[str]] = {}
    while selector.get_map():
        for key, _ in selector.select(timeout=1):
            worker = key.data
            line = key.fileobj.readline()  # type: ignore[union-attr]
            if line:
                try:
                    report = json.loads(line)
                except json.JSONDecodeError:
                    noise.setdefault(id(worker), []).append(line)
                    continue
                if "begin" in report:
                    worker.begin(report["begin"])
                    noise[id(worker)] = []
                else:
                    programs += 1
                    counts.update(report["counts"])
                    worker.end(report["end"])
                    if "fault" in report:
                        fail(report["end"], report["fault"])
                continue
            selector.unregister(key.fileobj)
            status = worker.process.wait()
            if worker.running is not None:
                programs += 1
                fail(worker.running, f"the process died with {status}\n{''.join(noise.get(id(worker), [])[-20:])}")
            elif status != 0:
                print(f"a worker ended with {status}\n{''.join(noise.get(id(worker), []))}")
                return 2
            else:
                continue
            worker.restart()
            watch(worker)
        for worker in workers:
            limit = SECONDS * (30 if options.minimise else 1)
            if worker.running is not None and time.monotonic() - worker.since > limit:
                worker.process.kill()  # type: ignore[union-attr]
                noise.setdefault(id(worker), []).append(f"killed after {limit:.0f} s\n")
    seconds = time.monotonic() - started
    table = {
        "backend": options.backend,
        "seed": options.seed,
        "programs": programs,
        "failures": sorted(failures),
        "seconds": round(seconds, 1),
        "counts": dict(counts.most_common()),
    }
    print(f"{programs} programs, {counts['calls']} calls, {len(failures)} failures, {seconds:.0f} s")
    print("  " + ", ".join(f"{name} {count}" for name, count in counts.most_common()))
    if options.out:
        options.out.write_text(json.dumps(table, indent=1) + "\n")
    return 1 if failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--backend", choices=("cpu", "sim", "cuda", "eval", "eval-cuda", "ptx"), default="cpu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minimise", action="store_true", help="show the smallest program found that fails alike")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.setdefault("PARPY_CACHE", "0")
    os.environ.setdefault("PARPY_CHUNKS", "3")  # the loops are too short to be spread over threads otherwise
    if options.worker is not None:
        work(options.backend, options.worker, options.seed + options.count, options.jobs, options.minimise)
        return 0
    return supervise(options)


if __name__ == "__main__":
    sys.exit(main())
