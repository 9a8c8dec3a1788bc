"""What stands for values that are no numbers until types are known: views, records, tuples, and what is known of
arguments before a kernel is parsed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .. import _native
from .uses import TupleForm

Element: TypeAlias = "_native.Var | list[Element]"  # of a tuple
Span = tuple[int, int, int, int, int]
Note = tuple[Span | None, str]


class Axis(NamedTuple):
    """A dimension of the array behind a view: subscripted once (`at`), a part of it (`begin` and `size`, every
    `step`-th element), or, with none of these, the whole of it."""

    at: _native.Var | None = None
    begin: _native.Var | None = None
    size: _native.Var | None = None
    step: int = 1

    @property
    def variables(self) -> list[_native.Var]:
        return [var for var in (self.at, self.begin, self.size) if var is not None]


class View(NamedTuple):
    """`array` with its first dimensions as `axes` say; those behind are whole."""

    array: _native.Var
    axes: tuple[Axis, ...]
    of_records: bool = False  # then the array is one of their fields, and may have dimensions of its own
    rank: int | None = None  # of records: how many dimensions their array has, where that is known

    @property
    def variables(self) -> list[_native.Var]:
        return [var for axis in self.axes for var in axis.variables]

    def of_variables(self, variables: list[_native.Var]) -> View:
        """The same kind of view with these variables."""
        left = iter(variables)

        def other(var: _native.Var | None) -> _native.Var | None:
            return None if var is None else next(left)

        axes = [Axis(other(axis.at), other(axis.begin), other(axis.size), axis.step) for axis in self.axes]
        return self._replace(axes=tuple(axes))

    @property
    def form(self) -> Form:
        return tuple((axis.at is not None, axis.begin is not None, axis.step) for axis in self.axes)


Form = tuple[tuple[bool, bool, int], ...]
"""What a function that gets a view knows of it before it runs, per axis: subscripted, a part, its step."""


def axes_of(form: Form, variables: Iterator[_native.Var]) -> tuple[Axis, ...]:
    """Axes of this form in these variables."""

    def one(is_there: bool) -> _native.Var | None:
        return next(variables) if is_there else None

    return tuple(Axis(one(is_index), one(is_part), one(is_part), step) for is_index, is_part, step in form)


class ArrayForm(NamedTuple):
    """The same of a view, and the number of dimensions that the array behind it has, where functions are told that."""

    axes: Form
    rank: int | None


class RecordForm(NamedTuple):
    """What a function that gets records knows of them: the fields it uses, how they are subscripted, how many
    dimensions there are and which type, where functions are told that."""

    keys: tuple[str, ...]
    axes: Form
    rank: int | None
    dtype: np.dtype[Any] | None


Forms = tuple[tuple[str, ArrayForm | RecordForm | TupleForm], ...]
"""The parameters of a function that are views, records, tuples or None."""


class Kind(NamedTuple):
    """What is known of an argument before the kernel is parsed: its elements, numbers or records, and how many
    dimensions it has."""

    element: str | np.dtype[Any]
    ndim: int


class TupleKind(NamedTuple):
    """The kinds of the elements of an argument that is a tuple; None where nothing is known of one."""

    parts: tuple[Kind | TupleKind | None, ...]
    is_none: bool = False  # it is None instead


class DictParam(NamedTuple):
    """A parameter of which the function uses entries: one surface parameter for each key."""

    entries: dict[str, _native.Var]
    first_use: ast.expr


class Record(NamedTuple):
    """An array of records, or an element: its `fields`, or the parameter of the entry that has them, which field of
    these it is (`prefix`), and how it is subscripted; where they are known, how many dimensions there are with those
    that are subscripted, and its type."""

    fields: dict[str, _native.Var]
    owner: str
    prefix: str
    axes: tuple[Axis, ...]
    rank: int | None = None
    dtype: np.dtype[Any] | None = None

    @property
    def taken(self) -> int:
        """How many dimensions are subscripted by integers."""
        return sum(axis.at is not None for axis in self.axes)

    @property
    def is_element(self) -> bool:
        """Whether it is a single record."""
        return self.rank == self.taken


class CapturedRecords(NamedTuple):
    """An array of records from outside the function: what messages call it, and where its fields are found by key."""

    shown: str
    container: Mapping[str, Any]
    fields: dict[str, _native.Var]
    ndim: int
    dtype: np.dtype[Any]


class RecordArray(NamedTuple):
    """An array of records that a kernel makes: how, and the arrays of the fields that are there so far."""

    target: ast.Name
    call: ast.Call
    space: str
    sizes: list[int]
    dtype: np.dtype[Any] | None
    fields: dict[str, _native.Var]
