"""Errors of calls from Python, located at the line of the user's code that called ParPy."""

from __future__ import annotations

import linecache
import sys
from itertools import islice
from types import FrameType
from typing import NoReturn

from .. import _native
from ..syntax.text import as_text
from .errors import refuse
from .warnings import is_ours


def refuse_call(code: str, message: str, help_text: str) -> NoReturn:
    """Raises the error with this code, located at the innermost call by code outside of this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_ours(frame):
        frame = frame.f_back
    if frame is None:
        refuse(code, message, help_text)
    line = frame.f_lineno
    name = frame.f_code.co_filename
    text = linecache.getline(name, line, frame.f_globals).rstrip("\n")
    begin, end = _columns(frame, line) or (len(text) - len(text.lstrip()), len(text.rstrip()))
    span = 0, line, begin + 1, line, max(end, begin + 1) + 1
    refuse(code, message, help_text, span, [_native.Source(as_text(name), text, line)])


def _columns(frame: FrameType, line: int) -> tuple[int, int] | None:
    """The columns of the frame's current call in its line; None if they are unknown or the call has several lines."""
    positions = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), None)
    if positions is None or positions[0] != line or positions[1] != line:
        return None
    begin, end = positions[2:]
    return None if begin is None or end is None else (begin, end)
