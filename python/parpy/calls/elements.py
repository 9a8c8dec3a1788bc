"""Arguments that are tuples or None: compiled code gets their elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..frontend.forms import Kind, TupleKind


def comes_apart(argument: object) -> bool:
    """Whether an argument is none to compiled code: the elements of a tuple are, and of None nothing."""
    return argument is None or isinstance(argument, tuple)


def tuple_kind(argument: tuple[Any, ...] | None, kind_of: Callable[[Any], Kind | None] = lambda _: None) -> TupleKind:
    """The kinds of the elements of a tuple, of which `kind_of` says those of numbers and arrays; of None that it is."""
    if argument is None:
        return TupleKind((), is_none=True)
    return TupleKind(tuple(tuple_kind(each, kind_of) if comes_apart(each) else kind_of(each) for each in argument))


class Elements(dict[str, Any]):
    """What is in a tuple, by place, as the entries of a dict; of None nothing."""

    def __init__(self, given: tuple[Any, ...] | None) -> None:
        self.given = given
        super().__init__(_entries_of(given or ()))


def _entries_of(value: tuple[Any, ...]) -> dict[str, Any]:
    """What is in a tuple, and in those in it, by the names of the places."""
    found: dict[str, Any] = {}
    for index, each in enumerate(value):
        if comes_apart(each):
            found |= {f"{index}_{place}": part for place, part in _entries_of(each or ()).items()}
        else:
            found[str(index)] = each
    return found
