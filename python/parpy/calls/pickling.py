"""How functions and kernels are pickled: by reference where their name leads to them, as functions of Python are, else
by value, as their Python function, its text and their options.

Picklers that send functions by value (cloudpickle, and with it joblib and dask) do so with the functions of Python of
`__main__`, of notebooks and of modules that they are told. So that they treat ours alike, each of ours has a function
of Python as a `reference`, whose name is an attribute of its own: `f.__parpy_reference__`. Sent by reference it leads
to the object; sent by value it brings along what the object is made of.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import reduce
from types import FunctionType
from typing import Any, Self

_ATTRIBUTE = "__parpy_reference__"
_LEAST_PROTOCOL = 4  # that knows dotted names


class _Owner:
    """What a reference leads to in this process; pickled as nothing."""

    __slots__ = ("made",)

    def __init__(self, made: Any = None) -> None:
        self.made = made

    def __reduce__(self) -> tuple[Any, ...]:
        return _Owner, ()


class ByReference:
    """What `give_reference` has made one that is pickled; a copy is the object itself."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced(self, protocol)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self


def give_reference(made: Any, function: FunctionType, fill: Callable[..., None], *parts: Any) -> None:
    """Makes an object that stands for a Python function one that is pickled: ``fill(empty, *parts)`` gives an object of
    its type without contents those of this one."""

    def reference() -> None:
        """What the pickle of a function of parpy refers to."""

    reference.__module__ = function.__module__
    reference.__name__, reference.__qualname__ = _ATTRIBUTE, f"{function.__qualname__}.{_ATTRIBUTE}"
    reference.__dict__.update(owner=_Owner(made), fill=fill, parts=parts)
    setattr(made, _ATTRIBUTE, reference)


def reduced(made: Any, protocol: int) -> str | tuple[Any, ...]:
    """The ``__reduce_ex__`` of such an object."""
    reference = getattr(made, _ATTRIBUTE)
    if _leads_to(reference):
        if protocol < _LEAST_PROTOCOL:
            return str(reference.__qualname__).removesuffix(f".{_ATTRIBUTE}")
        return _restored, (type(made), reference)
    return _empty, (type(made),), (reference.fill, reference.parts), None, None, _fill


def _leads_to(reference: FunctionType) -> bool:
    """Whether the name of a reference is its own."""
    try:
        found: Any = sys.modules[reference.__module__]
        found = reduce(getattr, reference.__qualname__.split("."), found)
    except (AttributeError, KeyError):
        return False
    return found is reference


def _empty(kind: type) -> Any:
    make: Any = kind.__new__
    return make(kind)


def _fill(made: Any, state: tuple[Callable[..., None], tuple[Any, ...]]) -> None:
    fill, parts = state
    fill(made, *parts)


def _restored(kind: type, reference: FunctionType) -> Any:
    """The object that a reference leads to. One that came by value without its parts, which refer to the object, gives
    an object without contents, and the same with contents once the parts are there."""
    space = reference.__dict__
    owner = space.get("owner")
    if owner is not None and owner.made is not None:
        return owner.made
    made = space.setdefault("empty", _empty(kind))
    if owner is not None:
        owner.made = space.pop("empty")
        _fill(made, (space["fill"], space["parts"]))
    return made
