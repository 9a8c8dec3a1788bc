"""Chooses the place for calls with host arrays under ``target='auto'``: the faster one, copies included."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ..cuda import _backend

LEAST = 1 << 16
"""The least number of elements of a result for which a GPU is worth the copies."""

_WARM = 1  # the number of untimed calls before the timed one; the first call compiles


class Choices:
    """Times of calls on the host and on the device, for each combination of types and power of two of sizes. Two calls
    run in each place; all later calls run in the place whose second call was faster."""

    def __init__(self) -> None:
        self._times: dict[Any, dict[str, list[float]]] = {}

    def run(self, types: Any, count: int, on_host: Callable[[], Any], on_device: Callable[[], Any]) -> Any:
        """Makes a call whose result has ``count`` elements in one of the two places."""
        if count < LEAST or not _backend.has_gpu():
            return on_host()
        times = self._times.setdefault((types, count.bit_length()), {"host": [], "device": []})
        ways = {"host": on_host, "device": on_device}
        for place, found in times.items():
            if len(found) <= _WARM:
                begin = time.perf_counter()
                result = ways[place]()
                found.append(time.perf_counter() - begin)
                return result
        return ways[min(times, key=lambda place: times[place][-1])]()
