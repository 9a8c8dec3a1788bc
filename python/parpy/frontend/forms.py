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
    """What a function that gets records knows of them: the fields it uses, how many subscripts they have, how many
    dimensions there are and which type, where functions are told that."""

    keys: tuple[str, ...]
    taken: int
    rank: int | None
    dtype: np.dtype[Any] | None


Forms = tuple[tuple[str, RecordForm], ...]
"""The parameters of a function that are records."""


class Kind(NamedTuple):
    """What is known of an argument before the kernel is parsed: its elements, numbers or records, and how many
    dimensions it has."""

    element: str | np.dtype[Any]
    ndim: int


class Single:
    """A function, a type or a text that is an argument: the first one of those that mean the same, `key`. The numbers
    and arrays that a function reads of the function around it are arguments of their own, by the names of these
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
    """A number of an object or a dict that the program assigns to: an array of one element to compiled code."""

    ndim: int = 1


CELL = Cell()


class TupleKind(NamedTuple):
    """The kinds of the elements of an argument that is a tuple; None where nothing is known of one. `of_class`: the
    class of a named tuple."""

    parts: tuple[Kind | Composed | None, ...]
    is_none: bool = False  # it is None instead
    of_class: Any = None


class RecordKind(NamedTuple):
    """The kinds of the attributes of an argument that is an object of this class, or of the entries of a dict; None
    where nothing is known of one. `is_whole`: a dict has no other entries."""

    of_class: type
    names: tuple[str, ...]
    parts: tuple[Kind | Cell | Composed | None, ...]
    is_whole: bool = False


Composed: TypeAlias = TupleKind | RecordKind | Single
"""What is known of an argument that is no number and no array to compiled code."""


class DictParam(NamedTuple):
    """A parameter of which the function uses entries: one surface parameter for each key."""

    entries: dict[str, _native.Var]
    first_use: ast.expr


class Record(NamedTuple):
    """An array of records, or an element: its `fields`, or the parameter of the entry that has them, which field of
    these it is (`prefix`), and the subscripts that its first dimensions have (`at`); where they are known, how many
    dimensions there are with those, and its type. The fields of a slice of records are names of parts (`is_part`)."""

    fields: dict[str, _native.Var]
    owner: str
    prefix: str
    at: tuple[_native.Var, ...] = ()
    rank: int | None = None
    dtype: np.dtype[Any] | None = None
    is_part: bool = False

    @property
    def is_element(self) -> bool:
        """Whether it is a single record."""
        return self.rank == len(self.at)

    @property
    def variables(self) -> list[_native.Var]:
        """What says which of the records it is."""
        names = [self.fields[key] for key in sorted(self.fields)] if self.is_part else []
        return [*self.at, *names]

    def of_variables(self, variables: list[_native.Var]) -> Record:
        """The same kind of records, which these say."""
        count = len(self.at)
        names = dict(zip(sorted(self.fields), variables[count:], strict=True)) if self.is_part else self.fields
        return self._replace(at=tuple(variables[:count]), fields=names)


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
