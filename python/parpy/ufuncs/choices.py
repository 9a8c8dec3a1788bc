"""Chooses where ``target='auto'`` runs calls of host arrays: where they took less time, copies included."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ..cuda import _backend

LEAST = 1 << 16
"""Elements of a result; with fewer, a GPU is not worth the copies."""

_WARM = 1  # calls in front of the one that is timed: the first compiles


class Choices:
    """Times of calls on the host and on the device, for each combination of types and power of two of sizes. Each place
    is tried twice; then the faster one has all calls."""

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
