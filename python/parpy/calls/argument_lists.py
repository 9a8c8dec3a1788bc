"""The arguments of a call that is looked at, not made: ``explain``, ``tune`` and ``print_compiled`` take them alike."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .options import CompileOptions


def arguments_of(
    function: Callable[..., Any], given: tuple[Any, ...], opts: CompileOptions | None = None
) -> tuple[tuple[Any, ...], CompileOptions | None]:
    """The arguments of a call, and its options.

    They are given as arguments, ``explain(f, x, n)``, or as one list or tuple, ``explain(f, [x, n])``, behind which
    the options may stand. A list or tuple is the argument itself where the function takes one, and not as many as are
    in it.
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
    """Whether the function takes so many arguments; True where nobody can tell."""
    try:
        inspect.signature(function).bind(*values)
    except TypeError:
        return False
    except ValueError:  # it has no signature
        return True
    return True
