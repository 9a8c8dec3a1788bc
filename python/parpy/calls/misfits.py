"""Calls that compiled code refuses: whether they may be repeated with other arguments, or in parts."""

from __future__ import annotations

import ast
import inspect
import os
import re
from collections.abc import Mapping
from traceback import walk_tb
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from ..syntax.annotations import annotations_of, number_of_numpy
from ..syntax.source import FunctionSource
from ..syntax.walks import walk
from ..types import BufferType
from .errors import CompileError, ParallelError

_STARS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_PLACE = re.compile(r"^.*?:(\d+):\d+: error\[", re.M)
_HELP = re.compile(r"^help: (.*)$", re.M)
_LIBRARIES = (os.path.dirname(np.__file__) + os.sep, os.path.dirname(os.path.dirname(__file__)) + os.sep)
_REFUSAL = re.compile(r"^(.*?):(\d+):\d+: error\[\w+\]: (.*)$", re.M)


def is_wrong_elsewhere(source: FunctionSource, error: Exception) -> bool:
    """Whether all errors are in statements without pragmas, which Python may run."""
    if not isinstance(error, CompileError) or isinstance(error, ParallelError):
        return False
    if not source.pragmas or source.only_pragmas or error.says("mapping", "run", "back end", "argument"):
        return False
    ranges = [
        (part.lineno + source.line_shift, (part.end_lineno or part.lineno) + source.line_shift)
        for part in walk(source.written())
        if isinstance(part, ast.stmt) and source.pragmas.of(part) is not None
    ]
    lines = [int(line) for line in _PLACE.findall(str(error))]
    return bool(lines) and not any(first <= line <= last for line in lines for first, last in ranges)


class Refusal(NamedTuple):
    """A line of a function that an error names, with the message and the remedy, which may be empty."""

    line: int
    why: str
    help: str


def refusals(source: FunctionSource, error: CompileError) -> tuple[Refusal, ...]:
    """The lines of the function that the errors name."""
    node, file = source.written(), source.function.__code__.co_filename
    first, last = node.lineno + source.line_shift, (node.end_lineno or node.lineno) + source.line_shift
    text = str(error)
    found = [*_REFUSAL.finditer(text)]
    ends = [each.start() for each in found[1:]] + [len(text)]
    helps = [_HELP.search(text, each.end(), end) for each, end in zip(found, ends, strict=True)]
    all_of_them = (
        (each[1], Refusal(int(each[2]), each[3], "" if remedy is None else remedy[1]))
        for each, remedy in zip(found, helps, strict=True)
    )
    return tuple(refusal for name, refusal in all_of_them if name == file and first <= refusal.line <= last)


def is_refused_by_python(source: FunctionSource, error: CompileError, failed: Exception) -> bool:
    """Whether the exception, with which Python ended the function, comes from a statement that the error names."""
    frames = [*walk_tb(failed.__traceback__)]
    while frames and frames[-1][0].f_code.co_filename.startswith(_LIBRARIES):
        frames.pop()
    if not frames or frames[-1][0].f_code.co_filename != source.function.__code__.co_filename:
        return False
    return any(each.line == frames[-1][1] for each in refusals(source, error))


def numbers_taken(
    source: FunctionSource, error: CompileError, values: tuple[Any, ...]
) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments with which a call that ended with this error may be repeated; None if it is not about numbers."""
    code = source.function.__code__
    if not error.says("number of NumPy", "in place") or code.co_flags & _STARS:
        return None
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return in_their_place(source.function, error, dict(zip(names, values, strict=False)))


def in_their_place(
    function: FunctionType, error: CompileError, given: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]] | None:
    """The positional and the keyword arguments with which a call that ended with this error may be repeated;
    None if nothing changes.

    An array of a GPU without dimensions is read. NumPy's numbers become Python's, which convert, if the
    annotation names another type.
    """
    taken = dict(given)
    if error.says("in place"):
        taken |= {name: _read(value) for name, value in given.items() if _is_number_on_device(value)}
    if error.says("number of NumPy"):
        numbers = [name for name, each in annotations_of(function).items() if not isinstance(each, BufferType)]
        taken |= {name: number_of_numpy(taken[name]) for name in numbers if name in taken}
    if all(taken[name] is value for name, value in given.items()):
        return None
    positional = function.__code__.co_varnames[: function.__code__.co_argcount]
    named = {name: value for name, value in taken.items() if name not in positional}
    return [taken[name] for name in positional if name in taken], named


def _is_number_on_device(value: Any) -> bool:
    interface = getattr(value, "__cuda_array_interface__", None)
    return interface is not None and interface["shape"] == ()


def _read(value: Any) -> Any:
    """The number in an array of a GPU, with its type."""
    number = value.item() if hasattr(value, "item") else value.numpy()
    return np.dtype(value.__cuda_array_interface__["typestr"]).type(number)
