"""Finds the text that `exec` or `python -c` runs at the moment, which is kept nowhere by name.

A candidate is any text that the frames around hold, those that the call of `exec` can see first, or that the command
line has. It is the right one if it compiles to the very code that runs.
"""

from __future__ import annotations
import __future__

import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType

_FUTURE = 0
for _feature in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _feature).compiler_flag


def executed_lines(code: CodeType) -> list[list[str]]:
    """The lines of the running text that `code`, of a function, is a part of. Several where texts with other comments
    would be the same code, none if it is not found."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not _is_part(code, frame.f_code):
        frame = frame.f_back
    if frame is None:
        return []
    words = ("lambda",) if code.co_name == "<lambda>" else ("def", code.co_name)
    for values in _values(frame.f_back):
        texts = {_text(value) for value in values if isinstance(value, str | bytes | bytearray)}
        mentions = [text for text in texts if all(word in text for word in words)]
        fitting = [text for text in mentions if _compiles_to(text, frame.f_code)]
        if fitting:
            return [lines_of(text) for text in fitting]
    return []


def lines_of(text: str) -> list[str]:
    """Lines as Python counts them: other characters that end lines elsewhere (U+2028) are a part of them."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _is_part(code: CodeType, program: CodeType) -> bool:
    """Whether this very object is among the functions of a program, which another program may have the like of."""
    if program.co_name != "<module>" or program.co_filename != code.co_filename:
        return False
    inner = [program]
    while inner:
        constants = [found for found in inner.pop().co_consts if isinstance(found, CodeType)]
        if any(found is code for found in constants):
            return True
        inner.extend(constants)
    return False


def _values(frame: FrameType | None) -> Iterator[Iterable[object]]:
    """What each of the scopes around holds, the nearest first."""
    while frame is not None:
        yield (*_of_variables(frame), *frame.f_code.co_consts)
        if frame.f_back is None or frame.f_back.f_globals is not frame.f_globals:
            yield [*dict.values(frame.f_globals)]  # other threads may add some
        frame = frame.f_back
    yield sys.orig_argv


def _of_variables(frame: FrameType) -> list[object]:
    """The values of a frame's variables, which may be in any mapping that the user gives to exec."""
    variables = frame.f_locals
    if frame.f_code.co_flags & CO_OPTIMIZED:
        return [*variables.values()]  # not to be changed: it is what the function goes on with under a trace function
    if isinstance(variables, dict):
        return [*dict.values(variables)]
    found = []
    for name in frame.f_code.co_names:
        with suppress(Exception):
            found.append(variables[name])
    return found


def _text(value: str | bytes | bytearray) -> str:
    return value if isinstance(value, str) else bytes(value).decode("utf-8-sig", "replace")


def _compiles_to(text: str, code: CodeType) -> bool:
    try:
        return bool(compile(text, code.co_filename, "exec", code.co_flags & _FUTURE, dont_inherit=True) == code)
    except (SyntaxError, ValueError):
        return False
