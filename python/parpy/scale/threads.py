"""Runs the parts of a call as threads of this process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


def run_parts(parts: int, run: Callable[[int], Any], fail: Callable[[], None]) -> list[Any]:
    """Runs ``run(part)`` for each part in a separate thread, and returns the results. If one raises an exception,
    ``fail()`` ends the waiting of the others, and the exception is raised again."""
    results: list[Any] = [None] * parts
    failures: dict[int, BaseException] = {}

    def guarded(part: int) -> None:
        try:
            results[part] = run(part)
        except BaseException as failure:
            failures[part] = failure
            fail()

    threads = [threading.Thread(target=guarded, args=(part,), name=f"parpy part {part}") for part in range(parts)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:  # Ctrl-C: the parts end when they next wait for each other
        fail()
        for thread in threads:
            thread.join()
        raise
    if failures:
        raise _first(failures)
    return results


def _first(failures: dict[int, BaseException]) -> BaseException:
    """The first failure that is not a broken wait for another part."""
    own = [failures[part] for part in sorted(failures)]
    return next((each for each in own if not isinstance(each, threading.BrokenBarrierError)), own[0])
