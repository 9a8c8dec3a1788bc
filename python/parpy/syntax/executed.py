"""Finds the text that `exec` or `python -c` runs at present, which is not registered under any name.

Each text in the enclosing frames, nearest first, and on the command line is a candidate. The right one compiles to the
code that is running.
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
    """The lines of the running text that contains `code`, the code of a function. There are several if texts differ
    only in comments, and none if the text is not found."""
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
    """The lines as Python counts them; characters such as U+2028, which end lines elsewhere, do not end them."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _is_part(code: CodeType, program: CodeType) -> bool:
    """Whether this code object, rather than an equal one, belongs to a function of the program."""
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
    """The values in each of the enclosing scopes, the nearest first."""
    while frame is not None:
        yield (*_of_variables(frame), *frame.f_code.co_consts)
        if frame.f_back is None or frame.f_back.f_globals is not frame.f_globals:
            yield [*dict.values(frame.f_globals)]  # a copy, because other threads may add values
        frame = frame.f_back
    yield sys.orig_argv


def _of_variables(frame: FrameType) -> list[object]:
    """The values of a frame's variables, which may be in any mapping that the user gives to exec."""
    variables = frame.f_locals
    if frame.f_code.co_flags & CO_OPTIMIZED:
        return [*variables.values()]  # not changed: under a trace function the running function uses this mapping
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
