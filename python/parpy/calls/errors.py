"""The exceptions that ParPy raises, and the conversion of diagnostics to exceptions.

The core and the frontend collect located diagnostics in a `_native.Diagnostics`; `raise_for` turns
a sink with errors into the class that the first error's flavour names, with the rendered text of
all of them as its message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from .. import _native


class CompileError(RuntimeError):
    """A function cannot be compiled, or cannot be compiled for these arguments.

    `codes` holds the code of each error in the message, in order. If the only errors are integer attributes of
    arguments that would become floats, `attributes` names them.
    `python_may_call` says that Python can run the program if it makes some of the calls itself. `facts` says of each
    error which remedies a caller has. `lines` are the lines of the function that the errors name (misfits.py),
    if Python runs the statements there.
    """

    codes: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    python_may_call: bool = False
    facts: tuple[frozenset[str], ...] = ()
    lines: tuple[Any, ...] = ()

    def again(self) -> CompileError:
        """The same error without the traceback, to be raised by later calls."""
        made = type(self)(*self.args)
        made.__dict__.update(self.__dict__)
        return made

    def says(self, *facts: str) -> bool:
        """Whether any of the errors says one of these facts (support/diagnostic.h) to a caller."""
        return any(not each.isdisjoint(facts) for each in self.facts)

    def says_only(self, *facts: str) -> bool:
        """Whether each of the errors says one of these facts."""
        return all(not each.isdisjoint(facts) for each in self.facts)


def _like(error: type[Exception], base: type[CompileError] = CompileError) -> type[CompileError]:
    """The class of compile errors where Python would raise `error`."""
    space = {
        "__doc__": f"A compile error where Python would raise {error.__name__}.",
        "__module__": __name__,
        "__str__": Exception.__str__,  # KeyError.__str__ would show the repr of the message
    }
    return type(f"Compile{error.__name__}", (base, error), space)


CompileTypeError = _like(TypeError)
CompileNameError = _like(NameError)
CompileUnboundLocalError = _like(UnboundLocalError, CompileNameError)
CompileRecursionError = _like(RecursionError)  # calls in compiled code nest too deeply
CompileOverflowError = _like(OverflowError)  # a Python integer needs more than the 64 bits that compiled code has
CompileZeroDivisionError = _like(ZeroDivisionError)
CompileIndexError = _like(IndexError)
CompileKeyError = _like(KeyError)
CompileValueError = _like(ValueError)
CompileAssertionError = _like(AssertionError)  # an assertion in compiled code does not hold


class ParallelError(CompileError):
    """A loop cannot run in parallel as requested, because that would change the result."""


class BackendError(CompileError):
    """A back end is missing, or it refused the program or its arguments."""


class InternalError(CompileError):
    """A fault of ParPy itself. Please report it."""


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


def refuse(
    code: str, message: str, help_text: str, span: _native.Span | None = None, sources: Sequence[_native.Source] = ()
) -> NoReturn:
    """Raise the exception for the error of this code."""
    diagnostics = _native.Diagnostics()
    diagnostics.error(code, span, message, help_text)
    fail(diagnostics, sources)


def fail(diagnostics: _native.Diagnostics, sources: Sequence[_native.Source]) -> NoReturn:
    """Raise the exception for the errors in `diagnostics`, which has at least one."""
    errors = diagnostics.errors
    if errors[0][1] == "raised":
        raise exception_of(diagnostics.raised(list(sources)))
    kind = _BY_FLAVOUR[errors[0][1]]
    text = diagnostics.render(list(sources)).rstrip("\n")
    if any(flavour == "internal" for _, flavour, _ in errors):
        kind = InternalError
        if "please report" not in text:
            text = f"{text}\n{_REPORT}"
    error = kind(text)
    error.codes = tuple(code for code, _, _ in errors)
    error.facts = tuple(frozenset(facts) for _, _, facts in errors)
    error.attributes = tuple(diagnostics.attributes)
    error.python_may_call = diagnostics.python_may_call
    raise error


# ------------------------------------------------------------ exceptions that compiled functions raise

# The exception classes by their names in the IR; an error of a running program has such a name.
_CLASSES: dict[str, type[BaseException]] = {}


def name_of(exception: type[BaseException]) -> str:
    """The unique name of a class in the IR: its qualified name, with a number if another class has that name."""
    name = f"{exception.__module__}.{exception.__qualname__}"
    number = 1
    unique = name
    while _CLASSES.setdefault(unique, exception) is not exception:
        number += 1
        unique = f"{name}#{number}"
    return unique


def exception_of(raised: _native.Raised) -> BaseException:
    """The exception that the user's raise statement makes, with a note about its place."""
    values = [_number(scalar, value) for scalar, value in raised.values]
    arguments = [raised.text.format(*values)] if raised.text else values
    error = _CLASSES[raised.exception](*arguments)
    if raised.place:
        error.add_note(f"{raised.place}note[P431]: raised in compiled code")
    return error


def _number(scalar: str, value: float) -> object:
    """The value as a Python number if the type is one of Python's, and otherwise as a NumPy scalar."""
    if scalar == "bool":
        return bool(value)
    if scalar in ("i64", "f64", "bf16"):  # NumPy has no bf16
        return value
    kind = {"i": "int", "u": "uint", "f": "float"}[scalar[0]]
    return getattr(np, f"{kind}{scalar[1:]}")(value)
