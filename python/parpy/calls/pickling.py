"""Pickling of functions and kernels: by reference if their name leads to them, as for Python functions, and otherwise
by value, as their Python function, its text and their options.

cloudpickle, and with it joblib and dask, sends the Python functions of `__main__`, of notebooks and of registered
modules by value. To get the same treatment, each function of ParPy has a Python function as its `reference`, which is
named like an attribute of it: `f.__parpy_reference__`. A reference that is sent by reference leads to the object, and
one that is sent by value contains the parts of the object.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import reduce
from types import FunctionType
from typing import Any, Self

_ATTRIBUTE = "__parpy_reference__"
_LEAST_PROTOCOL = 4  # the first pickle protocol with dotted names


class _Owner:
    """The object that a reference leads to in this process. Pickles contain an empty owner."""

    __slots__ = ("made",)

    def __init__(self, made: Any = None) -> None:
        self.made = made

    def __reduce__(self) -> tuple[Any, ...]:
        return _Owner, ()


class ByReference:
    """An object that `give_reference` has made picklable. Its copies are the object itself."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced(self, protocol)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self


def give_reference(made: Any, function: FunctionType, fill: Callable[..., None], *parts: Any) -> None:
    """Makes an object in place of a Python function picklable. ``fill(empty, *parts)`` must give an empty object of its
    type the contents of this object."""

    def reference() -> None:
        """The reference that the pickle of a ParPy function contains."""

    reference.__module__ = function.__module__
    reference.__name__, reference.__qualname__ = _ATTRIBUTE, f"{function.__qualname__}.{_ATTRIBUTE}"
    reference.__dict__.update(owner=_Owner(made), fill=fill, parts=parts)
    setattr(made, _ATTRIBUTE, reference)


def reduced(made: Any, protocol: int) -> str | tuple[Any, ...]:
    """The result of ``__reduce_ex__`` for an object with a reference."""
    reference = getattr(made, _ATTRIBUTE)
    if _leads_to(reference):
        if protocol < _LEAST_PROTOCOL:
            return str(reference.__qualname__).removesuffix(f".{_ATTRIBUTE}")
        return _restored, (type(made), reference)
    return _empty, (type(made),), (reference.fill, reference.parts), None, None, _fill


def _leads_to(reference: FunctionType) -> bool:
    """Whether the qualified name of a reference leads to this reference."""
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
    """The object that a reference leads to. While the parts of a reference that was sent by value are unpickled, which
    may refer to the object, this is an empty object; it gets its contents once the parts are there."""
    space = reference.__dict__
    owner = space.get("owner")
    if owner is not None and owner.made is not None:
        return owner.made
    made = space.setdefault("empty", _empty(kind))
    if owner is not None:
        owner.made = space.pop("empty")
        _fill(made, (space["fill"], space["parts"]))
    return made
