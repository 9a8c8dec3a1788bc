"""The forms of records before types are known, and the facts about arguments before a kernel is parsed."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .. import _native

Span = tuple[int, int, int, int, int]
Note = tuple[Span | None, str]


class RecordForm(NamedTuple):
    """The form of records that are an argument of a function: the fields that it uses, the number of subscripts and, if
    known, the number of dimensions and the type."""

    keys: tuple[str, ...]
    taken: int
    rank: int | None
    dtype: np.dtype[Any] | None


Forms = tuple[tuple[str, RecordForm], ...]
"""The parameters of a function that are records."""


class Kind(NamedTuple):
    """The facts about an argument before the kernel is parsed: the type of its elements (numbers or records) and the
    number of dimensions."""

    element: str | np.dtype[Any]
    ndim: int


class Single:
    """A function, a type or a text that is an argument. Arguments with equal `key` have the same meaning, and `value`
    is the first of them. The numbers and arrays in a function's closure are arguments of their own, with the names in
    `cells`."""

    __slots__ = ("_hash", "cells", "key", "value")

    def __init__(self, value: Any, key: object, cells: tuple[str, ...] = ()) -> None:
        self.value, self.key, self.cells = value, key, cells
        self._hash = hash(key)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Single) and self.key == other.key)

    def __hash__(self) -> int:
        return self._hash


class Cell(NamedTuple):
    """A number in an object or a dict that the program assigns to. Compiled code gets it as an array of one element."""

    ndim: int = 1


CELL = Cell()


class TupleKind(NamedTuple):
    """The kinds of the elements of an argument that is a tuple; None for an element of unknown kind. `of_class` is the
    class of a named tuple."""

    parts: tuple[Kind | Composed | None, ...]
    is_none: bool = False  # the argument is None rather than a tuple
    of_class: Any = None


class RecordKind(NamedTuple):
    """The kinds of the attributes of an object of this class, or of the entries of a dict; None for unknown kinds. With
    `is_whole`, a dict has no other entries."""

    of_class: type
    names: tuple[str, ...]
    parts: tuple[Kind | Cell | Composed | None, ...]
    is_whole: bool = False


Composed: TypeAlias = TupleKind | RecordKind | Single
"""The known form of an argument that compiled code gets neither as a number nor as an array."""


class DictParam(NamedTuple):
    """A parameter whose entries the function uses. Each key has one surface parameter."""

    entries: dict[str, _native.Var]
    first_use: ast.expr


class Record(NamedTuple):
    """An array of records or one of its elements. It has `fields`, or the parameter `owner` of the entry has them.
    `prefix` is the key of a nested field, `at` the subscripts of the first dimensions, `rank` the number of dimensions
    including these, if known. The fields of a slice of records are names of parts of arrays (`is_part`)."""

    fields: dict[str, _native.Var]
    owner: str
    prefix: str
    at: tuple[_native.Var, ...] = ()
    rank: int | None = None
    dtype: np.dtype[Any] | None = None
    is_part: bool = False

    @property
    def is_element(self) -> bool:
        """Whether all dimensions are subscripted, so that this is a single record."""
        return self.rank == len(self.at)

    @property
    def variables(self) -> list[_native.Var]:
        """The variables that determine the record: its subscripts, and the parts of arrays of a slice."""
        names = [self.fields[key] for key in sorted(self.fields)] if self.is_part else []
        return [*self.at, *names]

    def of_variables(self, variables: list[_native.Var]) -> Record:
        """Records of the same kind that these variables determine."""
        count = len(self.at)
        names = dict(zip(sorted(self.fields), variables[count:], strict=True)) if self.is_part else self.fields
        return self._replace(at=tuple(variables[:count]), fields=names)


class CapturedRecords(NamedTuple):
    """An array of records from outside the function: its name in messages, and the mapping that holds its fields."""

    shown: str
    container: Mapping[str, Any]
    fields: dict[str, _native.Var]
    ndim: int
    dtype: np.dtype[Any]


class RecordArray(NamedTuple):
    """An array of records that a kernel makes: the call that makes it, and the arrays of its fields so far."""

    target: ast.Name
    call: ast.Call
    space: str
    sizes: list[int]
    dtype: np.dtype[Any] | None
    fields: dict[str, _native.Var]
