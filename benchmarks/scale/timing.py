"""The time of a call for the benchmarks of this folder."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def median(call: Callable[[], Any], rounds: int) -> float:
    """The median of `rounds` calls in milliseconds, after two calls that do not count."""
    for _ in range(2):
        call()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times)
