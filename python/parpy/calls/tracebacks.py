"""Removes the frames of this package from tracebacks, so that they end at the user's line.

``PARPY_TRACEBACK=full`` in the environment keeps them, for debugging ParPy itself.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import ParamSpec, TypeVar

from .warnings import is_ours

_P = ParamSpec("_P")
_R = TypeVar("_R")


def end_at_caller(error: BaseException) -> None:
    """Removes the frames of this package from the traceback of an exception and from those of its causes and contexts.
    A cause or context without other frames is not shown."""
    if os.environ.get("PARPY_TRACEBACK") == "full":
        return
    seen = set()
    left: list[BaseException | None] = [error]
    while left:
        each = left.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.__traceback__ = _outside(each.__traceback__)
        context = each.__context__
        if context is not None and context.__traceback__ is not None:
            left.append(context)
            if context is not each.__cause__ and _outside(context.__traceback__) is None:
                each.__suppress_context__ = True
        left.append(each.__cause__)


def _outside(trace: TracebackType | None) -> TracebackType | None:
    """The entries of a traceback that are frames of the user's code."""
    kept: list[TracebackType] = []
    inside = False
    while trace is not None:
        inside = is_ours(trace.tb_frame) or (inside and _is_of_libraries(trace.tb_frame))
        if not inside:
            kept.append(trace)
        trace = trace.tb_next
    made = None
    for each in reversed(kept):
        made = TracebackType(made, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return made


def _is_of_libraries(frame: FrameType) -> bool:
    """Whether the frame runs code of NumPy or of Python's standard library."""
    root = str(frame.f_globals.get("__name__")).partition(".")[0]
    return root != "__main__" and (root == "numpy" or root in sys.stdlib_module_names)


def hides_frames(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorates a function that users call: its exceptions have no frames of this package, not even its own."""

    @functools.wraps(function)
    def called(*args: _P.args, **keywords: _P.kwargs) -> _R:
        try:
            return function(*args, **keywords)
        except BaseException as error:
            end_at_caller(error)
            raise  # a bare raise: CPython then adds no entry of this frame to the traceback

    return called
