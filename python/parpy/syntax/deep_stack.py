"""Runs work that recurses along the nesting of a program on a large stack. CPython compiles chains of
thousands of `elif`, operators or ternaries, which nest more deeply than its recursion limit allows."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_LIMIT = 60_000
_BYTES = 1 << 30  # the size of the stack; only the used part takes memory
_lock = threading.Lock()
_worker: int | None = None


def _in_child() -> None:
    """Resets the lock in a forked child, where the thread that may have held it does not exist."""
    global _lock, _worker
    _lock, _worker = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def on_deep_stack() -> bool:
    """Whether this thread was started by `with_deep_stack`."""
    return _worker == threading.get_ident()


def with_deep_stack(work: Callable[[], T]) -> T:
    """The result of work(), which is repeated on a thread with a large stack if it recurses too deeply."""
    try:
        return work()
    except RecursionError:
        if on_deep_stack():
            raise
    results: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        global _worker
        _worker = threading.get_ident()
        try:
            results.append(work())
        except BaseException as error:
            failures.append(error)
        finally:
            _worker = None

    with _lock:  # the recursion limit and the stack size are global settings of the interpreter
        limit = sys.getrecursionlimit()
        size = threading.stack_size(_BYTES)
        try:
            sys.setrecursionlimit(max(limit, _LIMIT))
            thread = threading.Thread(target=run)
            thread.start()
            threading.stack_size(size)
            thread.join()
        finally:
            threading.stack_size(size)
            sys.setrecursionlimit(limit)
    if failures:
        raise failures[0]
    return results[0]
