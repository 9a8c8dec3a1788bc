"""The exceptions that compiled functions raise: a class has a name in the IR, by which the error of a running program
finds it again."""

from __future__ import annotations

import numpy as np

from .. import _native

_CLASSES: dict[str, type[BaseException]] = {}


def name_of(exception: type[BaseException]) -> str:
    """The name of a class; one that another class has already gets a number."""
    name = f"{exception.__module__}.{exception.__qualname__}"
    number = 1
    unique = name
    while _CLASSES.setdefault(unique, exception) is not exception:
        number += 1
        unique = f"{name}#{number}"
    return unique


def exception_of(raised: _native.Raised) -> BaseException:
    """The exception as the user's text makes it, with a note that says where."""
    values = [_number(scalar, value) for scalar, value in raised.values]
    arguments = [raised.text.format(*values)] if raised.text else values
    error = _CLASSES[raised.exception](*arguments)
    if raised.place:
        error.add_note(f"{raised.place}note[P431]: raised in compiled code")
    return error


def _number(scalar: str, value: float) -> object:
    """A number of this type as Python's arithmetic gives it, or else NumPy's."""
    if scalar == "bool":
        return bool(value)
    if scalar in ("i64", "f64", "bf16"):  # NumPy has no bf16
        return value
    kind = {"i": "int", "u": "uint", "f": "float"}[scalar[0]]
    return getattr(np, f"{kind}{scalar[1:]}")(value)
