"""Caches facts about arguments by their types: arguments are alike if they and their attributes have the same
classes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, FunctionType
from typing import Any, Generic, TypeVar

import numpy as np

from .._native import JitFunction, type_version
from ..calls.elements import WHOLE, identity, is_series
from ..calls.objects import Reads, is_object
from ..syntax.names import is_array

_NUMBERS = WHOLE | {np.dtype(code).type for code in "?bBhHiIlLqQefdFD"} | {type(None)}
_SINGLE = frozenset((str, type, FunctionType, BuiltinFunctionType, np.ufunc))
_TEXTS = _SINGLE | {JitFunction, deque, set, bytearray}
_DEEPEST = 4  # the deepest nesting of objects
_LARGEST = 64  # the most attributes
_MOST = 256  # the most cached keys
_Names = tuple[str, ...]
_Found = TypeVar("_Found")


class Alike(Generic[_Found]):
    """A cache with keys that are equal for arguments that are alike. With `texts`, all texts are alike, and so are all
    functions, and lists of one class, though compiled code differs for them. Without, functions, types and texts with
    one meaning are alike."""

    def __init__(self, texts: bool) -> None:
        self._plain = _NUMBERS | _TEXTS if texts else _NUMBERS
        self._texts = texts
        self._names: dict[tuple[type, _Names], _Names | None] = {}  # the relevant attributes, by class and own dict
        self._count = -1
        self._found: dict[tuple[Any, ...], _Found] = {}

    def find(self, reads: Reads, values: tuple[Any, ...], look: Callable[[], _Found]) -> _Found:
        """The result of `look`, cached for arguments like these of a program that `reads` attributes."""
        key = self.key(reads, values)
        if key is not None and key in self._found:
            return self._found[key]
        found = look()
        if key is not None and key[0] == reads.count:  # no object had a new class
            if len(self._found) == _MOST:
                self._found.clear()
            self._found[key] = found
        return found

    def key(self, reads: Reads, values: Iterable[Any]) -> tuple[Any, ...] | None:
        """The key of the arguments; None if they cannot be cached."""
        count = reads.count
        if self._count != count:
            self._names.clear()
            self._count = count
        found: list[Any] = [count]
        plain = self._plain
        for value in values:
            key: Any = type(value)
            if key not in plain and (key := self._of(reads, value, _DEEPEST)) is None:
                return None
            found.append(key)
        return tuple(found)

    def _of(self, reads: Reads, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind in self._plain:
            return kind
        if depth == 0:
            return None
        if not self._texts and kind in _SINGLE:
            return kind, identity(value)
        if not self._texts and kind is JitFunction:
            return kind, value
        if kind is list and self._texts:
            is_long = not is_series(value)
            return (list, is_long) if is_long or self._plain.issuperset(map(type, value)) else None
        if kind is tuple or (kind is list and is_series(value)):
            names: _Names | None = ()
            parts = value
        elif issubclass(kind, tuple):
            if not hasattr(kind, "_fields") or (version := type_version(kind)) == 0:
                return None
            names = (str(version),)  # the class may get other methods
            parts = value
        else:
            own = value if kind is dict else getattr(value, "__dict__", None)
            if own is None or len(own) > _LARGEST or reads.is_changed(kind):
                return None
            names = self._names_of(reads, value, own)
            if names is None:
                return None
            parts = [own[name] for name in names]
        keys = tuple([type(part) for part in parts])
        if not self._plain.issuperset(keys):
            keys = tuple([self._of(reads, part, depth - 1) for part in parts])
            if None in keys:
                return None
        return kind, names, keys

    def _names_of(self, reads: Reads, value: Any, own: dict[str, Any]) -> _Names | None:
        """The relevant attributes of an object; None if one of them is not in its own dict."""
        key = type(value), tuple(own)
        if key not in self._names:
            names = tuple(reads.of(value)) if is_object(value) else None
            if names is not None and (reads.not_computed(value) or not own.keys() >= set(names)):
                names = None
            if names is not None and own is value and reads.all_entries and len(names) != len(own):
                names = None  # a dict with keys that are no texts
            key = type(value), tuple(own)  # `of` may have computed further attributes
            if len(self._names) == _MOST:
                self._names.clear()
            self._names[key] = names
        return self._names[key]


def forms_of(values: Iterable[Any]) -> tuple[Any, ...]:
    """The types of arguments, with the element types and dimensions of arrays, also of those in tuples and objects.
    Lists and dicts of one class have one form, because they may grow."""
    return tuple([_form_of(value, _DEEPEST) for value in values])


def _form_of(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is np.ndarray:
        return kind, value.dtype, value.ndim
    if depth == 0 or kind in _NUMBERS:
        return kind
    if is_array(value):
        return kind, str(getattr(value, "dtype", "")), getattr(value, "ndim", 0)
    if isinstance(value, list | dict):
        return kind
    if isinstance(value, tuple):
        return kind, tuple([_form_of(each, depth - 1) for each in value[:_LARGEST]])
    own = getattr(value, "__dict__", None) if is_object(value) else None
    arrays = [(name, _form_of(each, 0)) for name, each in own.items() if is_array(each)] if own else []
    return kind, tuple(arrays[:_LARGEST])
