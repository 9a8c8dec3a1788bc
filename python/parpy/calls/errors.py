"""The exceptions ParPy raises, and the one place where diagnostics become one of them.

The core and the frontend collect located diagnostics in a `_native.Diagnostics`; `raise_for` turns
a sink with errors into the class that the first error's flavour names, with the rendered text of
all of them as its message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from .. import _native
from .raised import exception_of


class CompileError(RuntimeError):
    """A function cannot be compiled, or not for these arguments.

    `codes` holds the code of each error in the message, in order.
    """

    codes: tuple[str, ...] = ()


class CompileTypeError(CompileError, TypeError):
    """A compile error where Python would raise TypeError."""


class CompileNameError(CompileError, NameError):
    """A compile error where Python would raise NameError."""


class CompileUnboundLocalError(CompileNameError, UnboundLocalError):
    """A compile error where Python would raise UnboundLocalError."""


class CompileRecursionError(CompileError, RecursionError):
    """Calls in compiled code nest too deeply."""


class CompileOverflowError(CompileError, OverflowError):
    """A Python integer needs more than the 64 bits that compiled code has."""


class CompileZeroDivisionError(CompileError, ZeroDivisionError):
    """An integer is divided by zero in a kernel that is debugged."""


class CompileIndexError(CompileError, IndexError):
    """A compile error where Python would raise IndexError."""


class CompileKeyError(CompileError, KeyError):
    """A compile error where Python would raise KeyError."""

    __str__ = Exception.__str__  # KeyError shows its argument's repr


class CompileValueError(CompileError, ValueError):
    """A compile error where Python would raise ValueError."""


class CompileAssertionError(CompileError, AssertionError):
    """An assertion in compiled code does not hold."""


class ParallelError(CompileError):
    """A loop cannot run in parallel as requested without changing the result."""


class BackendError(CompileError):
    """A back end is missing, or refused the program or its arguments."""


class InternalError(CompileError):
    """A fault of ParPy itself."""


_BY_FLAVOUR: dict[str, type[CompileError]] = {
    "compile": CompileError,
    "type": CompileTypeError,
    "name": CompileNameError,
    "unbound": CompileUnboundLocalError,
    "index": CompileIndexError,
    "key": CompileKeyError,
    "value": CompileValueError,
    "assertion": CompileAssertionError,
    "recursion": CompileRecursionError,
    "overflow": CompileOverflowError,
    "zero division": CompileZeroDivisionError,
    "parallel": ParallelError,
    "backend": BackendError,
    "internal": InternalError,
}

_REPORT = (
    "help: this is a fault of ParPy, not of your program; please report it on the project's issue "
    "tracker with the function, its arguments and the output of a call with debug=True"
)


def raise_for(diagnostics: _native.Diagnostics, sources: Sequence[_native.Source]) -> None:
    """Raise the exception for the errors in `diagnostics`; return if there is none."""
    if diagnostics.has_errors:
        fail(diagnostics, sources)


def fail(diagnostics: _native.Diagnostics, sources: Sequence[_native.Source]) -> NoReturn:
    """Raise the exception for the errors in `diagnostics`, which has at least one."""
    errors = diagnostics.errors
    if errors[0][1] == "raised":
        raise exception_of(diagnostics.raised(list(sources)))
    kind = _BY_FLAVOUR[errors[0][1]]
    text = diagnostics.render(list(sources)).rstrip("\n")
    if any(flavour == "internal" for _, flavour in errors):
        kind = InternalError
        if "please report" not in text:
            text = f"{text}\n{_REPORT}"
    error = kind(text)
    error.codes = tuple(code for code, _ in errors)
    raise error
