"""Arguments that are no numbers and no arrays: tuples, None, functions, types and texts. Compiled code is made for
them, and gets the numbers and arrays in them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from types import FunctionType
from typing import Any

import numpy as np

from ..frontend.forms import Kind, Single, TupleKind
from ..frontend.function_values import FUNCTIONS
from ..syntax.names import cell_of, is_array, is_scalar, jit_source
from ..vocabulary.operators import scalar_name

_WHOLE = frozenset((np.ndarray, np.float64, np.float32, np.int64, int, float, complex, bool))


def comes_apart(argument: object) -> bool:
    """Whether an argument is none to compiled code: the elements of a tuple are, what a function reads of another one
    is, and of None, types and texts nothing."""
    kind = type(argument)
    if kind in _WHOLE:
        return False
    return argument is None or isinstance(argument, tuple) or is_single(argument)


def is_single(argument: object) -> bool:
    """Whether an argument is a function, a type or a text."""
    if isinstance(argument, (str, *FUNCTIONS)):
        return True
    return scalar_name(argument) is not None or jit_source(argument) is not None


def is_misused(values: Iterable[object], codes: Collection[str]) -> bool:
    """Whether what is wrong with a program for arguments that come apart may be that one of them is None or a text."""
    apart = [value for value in values if comes_apart(value)]
    if all(value is None for value in apart):
        return True
    return all(isinstance(value, str) for value in apart if value is not None) and {*codes} <= {"P018", "P204"}


def tuple_kind(argument: Any, kind_of: Callable[[Any], Kind | None] = lambda _: None) -> TupleKind | Single:
    """The kinds of the elements of a tuple, of which `kind_of` says those of numbers and arrays; of None that it is;
    of functions, types and texts which ones."""
    if argument is None:
        return TupleKind((), is_none=True)
    if not isinstance(argument, tuple):
        return Single(argument, _identity(argument), tuple(_cells(argument)))
    return TupleKind(tuple(tuple_kind(each, kind_of) if comes_apart(each) else kind_of(each) for each in argument))


def _cells(value: object) -> dict[str, Any]:
    """The numbers and arrays that a function reads of the one that made it, by name."""
    if not isinstance(value, FunctionType) or value.__closure__ is None:
        return {}
    found = {}
    for name in value.__code__.co_freevars:
        try:
            read = cell_of(value, name).cell_contents
        except ValueError:  # it has no value yet
            continue
        if is_scalar(read) or is_array(read):
            found[name] = read
    return found


def _identity(value: object) -> object:
    """What two such arguments have in common that mean the same, though each call may make a new one."""
    if isinstance(value, FunctionType):
        own = _cells(value)
        others = (cell_of(value, name) for name in value.__code__.co_freevars if name not in own)
        named = (value.__kwdefaults__ or {}).items()
        defaults = (*map(id, value.__defaults__ or ()), *((name, id(each)) for name, each in named))
        return value.__code__, id(value.__globals__), tuple(own), tuple(map(id, others)), defaults
    return value if isinstance(value, str) else id(value)


class Elements(dict[str, Any]):
    """What is in a tuple or in a function, by place, as the entries of a dict; of None nothing."""

    def __init__(self, given: Any) -> None:
        self.given = given
        super().__init__(_entries_of(given))


def _entries_of(value: Any) -> dict[str, Any]:
    """What is in a tuple, and in those in it, by the names of the places."""
    if not isinstance(value, tuple):
        return _cells(value)
    found: dict[str, Any] = {}
    for index, each in enumerate(value):
        if comes_apart(each):
            found |= {f"{index}_{place}": part for place, part in _entries_of(each).items()}
        else:
            found[str(index)] = each
    return found


NO_ELEMENTS = Elements(None)
