"""Warnings of slow calls, once for each place in the user's text, when a program is compiled or has run."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from .warnings import ParPyWarning, stack_level

_told: set[tuple[str, str]] = set()


class _Quiet(threading.local):
    depth = 0


_quiet = _Quiet()


class PerformanceWarning(ParPyWarning):
    """A call runs slower than it could: for example, much of a loop nest runs on the host, or Python runs a loop."""


def warn(code: str, text: str) -> None:
    """Warns at the user's call of ParPy with the text of a diagnostic, which begins with the diagnostic's place."""
    place = (code, text.partition(": performance[")[0])
    if place in _told or _quiet.depth:
        return
    _told.add(place)
    warnings.warn(text.rstrip("\n"), PerformanceWarning, stacklevel=stack_level())


def python_runs(place: str, part: str, why: str) -> None:
    """Warns that Python runs this part of the user's text, which begins at the place `file:line:column`."""
    warn("P315", f"{place}: performance[P315]: Python runs {part}: {why}")


@contextmanager
def quiet() -> Iterator[None]:
    """Suppresses the warnings of this thread for calls that the user did not write; later calls may still warn."""
    _quiet.depth += 1
    try:
        yield
    finally:
        _quiet.depth -= 1
