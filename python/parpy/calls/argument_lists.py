"""The arguments of a call that ``explain``, ``tune`` or ``print_compiled`` inspects instead of making it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .options import CompileOptions


def arguments_of(
    function: Callable[..., Any], given: tuple[Any, ...], opts: CompileOptions | None = None
) -> tuple[tuple[Any, ...], CompileOptions | None]:
    """The arguments of a call, and its options.

    They are given as arguments, ``explain(f, x, n)``, or as one list or tuple, ``explain(f, [x, n])``, which options
    may follow. A list or tuple is itself the argument if the function can be called with one argument, but not with
    the elements as its arguments.
    """
    if not 1 <= len(given) <= 2 or not isinstance(given[0], list | tuple):
        return given, opts
    listed, *behind = given
    if behind and isinstance(behind[0], CompileOptions) and opts is None:
        return tuple(listed), behind[0]
    if (not behind or behind == [None]) and (_takes(function, listed) or not _takes(function, given)):
        return tuple(listed), opts
    return given, opts


def _takes(function: Callable[..., Any], values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether the function can be called with these arguments; True if its signature is unknown."""
    try:
        inspect.signature(function).bind(*values)
    except TypeError:
        return False
    except ValueError:  # the function has no signature
        return True
    return True
