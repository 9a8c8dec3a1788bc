"""One kernel under one framework: every version is validated against NumPy, then timed."""

from __future__ import annotations

import copy
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .frameworks import FRAMEWORKS, Target, Version
from .kernel import Kernel, Sizes, arguments, check, expected, results
from .places import Data, Host

Row = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]
CALLS = 100  # at most


@dataclass(frozen=True)
class Job:
    """A kernel with its data and NumPy's results, with fewer time steps if all of them take long."""

    kernel: Kernel
    sizes: Sizes
    data: Data
    checked_sizes: Sizes
    checked_data: Data
    want: Data
    numpy: Row  # the time of NumPy


def prepare(kernel: Kernel, preset: str, check_steps: int) -> Job:
    """Makes the data and runs NumPy once for the validated steps."""
    sizes = checked_sizes = kernel.presets[preset]
    data = checked_data = kernel.data(sizes)
    if kernel.steps and 0 < check_steps < sizes[kernel.steps]:
        checked_sizes = {**sizes, kernel.steps: check_steps}
        checked_data = kernel.data(checked_sizes)
    work = copy.deepcopy(checked_data)
    begin = time.perf_counter()
    want = expected(kernel, work)
    ms = 1e3 * (time.perf_counter() - begin)
    row: Row = {"ms": ms, "calls": 1, "version": "reference" if kernel.reference else "text"}
    if checked_sizes is not sizes:
        row |= {"ms": ms * sizes[kernel.steps] / check_steps, "estimated": f"from {check_steps} steps"}
    return Job(kernel, sizes, data, checked_sizes, checked_data, want, row)


def first_line(message: Exception | str) -> str:
    """The first line of a message, in which the paths of this repository begin at its root."""
    return (str(message).strip().splitlines() or [""])[0].replace(f"{ROOT}/", "")


def compare(place: Host, job: Job, version: Version) -> str:
    """Checks the outputs of one call, and returns the first performance warning, or an empty text."""
    work = place.take(job.checked_data)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        returned = version.bind(job.checked_sizes)(*arguments(version.parameters, work))
    place.synchronize(returned)
    found = results(job.kernel, returned, work, version.returns)
    check(job.kernel, {name: place.give(value) for name, value in found.items()}, job.want)
    return next((first_line(each.message) for each in raised if "performance" in str(each.message)), "")


def milliseconds(place: Host, job: Job, version: Version, seconds: float, warm: bool) -> list[float]:
    """The times of single calls on restored arrays, after a call that does not count, unless `warm`."""
    pristine, work = place.take(job.data), place.take(job.data)
    call, values = version.bind(job.sizes), arguments(version.parameters, work)
    if not warm:
        place.synchronize(call(*values))
    times: list[float] = []
    start = time.perf_counter()
    while time.perf_counter() - start < (seconds if len(times) >= 3 else 5 * seconds) and len(times) < CALLS:
        place.restore(work, pristine)
        place.synchronize(None)
        begin = time.perf_counter()
        place.synchronize(call(*values))
        times.append(1e3 * (time.perf_counter() - begin))
    return times


def measure(framework: str, job: Job, target: Target, seconds: float, tell: Callable[[Row], None]) -> None:
    """Calls `tell` with the best version so far, or the failures, after each version."""
    best: Row = {}
    failures: list[str] = []
    versions = iter(FRAMEWORKS[framework].versions(job.kernel, target))
    place = None
    warm = job.checked_sizes is job.sizes or not FRAMEWORKS[framework].compiles
    while True:
        name = framework
        try:
            place = place or FRAMEWORKS[framework].places[target.backend]()
            version = next(versions, None)
            if version is None:
                return
            name = version.name
            remark = compare(place, job, version)
            times = milliseconds(place, job, version, seconds, warm)
        except Exception as error:  # frameworks raise many types; AssertionError if outputs differ
            failures.append(f"{name}: {type(error).__name__}: {first_line(error)}"[:300])
            failure = "wrong" if isinstance(error, AssertionError) else "refused"
            tell({**(best or {"failure": failure}), "why": failures})
            if place is None:
                return
            continue
        row: Row = {"ms": statistics.median(times), "best_ms": min(times), "calls": len(times), "version": version.name}
        row |= {"remark": remark} if remark else {}
        if not best or row["ms"] < best["ms"]:
            best = row
        tell({**best, **({"why": failures} if failures else {})})


def versions_of(*modules: str) -> dict[str, str]:
    """The versions of those modules that are installed."""
    import importlib.metadata

    found = {}
    for module in modules:
        for name in (module, f"{module}-cuda12x", f"{module}-cuda13x", f"{module}-compiler"):
            try:
                found[module] = importlib.metadata.version(name)
                break
            except importlib.metadata.PackageNotFoundError:
                pass
    return {"numpy": np.__version__, **found}
