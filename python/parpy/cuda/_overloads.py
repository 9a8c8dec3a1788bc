"""A kernel for one combination of argument types: ``k.overloads[types]``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..vocabulary.signatures import Record, Scalar, Signature, TupleType, argument_type

if TYPE_CHECKING:
    from ._kernel import Kernel


class Overload:
    """A kernel for arguments of some types, with its needs on the device and its text."""

    def __init__(self, kernel: Kernel, types: tuple[Any, ...]) -> None:
        self._kernel, self.argument_types = kernel, types
        self.signature = Signature(None, types)

    def samples(self) -> tuple[Any, ...]:
        """Arguments of these types, which serve to compile the kernel."""
        return tuple(map(_with_date, map(sample, self.argument_types), self.argument_types))

    def _fact(self, name: str) -> int:
        return self._kernel.facts(self.samples())[name]

    regs_per_thread = property(lambda self: self._fact("registers"), doc="Registers of a thread.")
    shared_mem_per_block = property(lambda self: self._fact("shared_bytes"), doc="Bytes that a block shares.")
    local_mem_per_thread = property(lambda self: self._fact("local_bytes"), doc="Bytes of a thread in no register.")
    const_mem_size = property(lambda self: self._fact("constant_bytes"), doc="Bytes of constants.")
    max_threads_per_block = property(lambda self: self._fact("most_threads"), doc="The most threads of a block.")

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """Returns the largest number of blocks in a grid whose kernel calls ``cg.this_grid().sync()``."""
        return self._kernel.max_cooperative_grid_blocks(blockdim, *self.samples(), dynsmemsize=dynsmemsize)

    def inspect_asm(self) -> str:
        """Returns the PTX."""
        return str(self._kernel.inspect_asm(*self.samples()))

    def inspect_source(self) -> str:
        """Returns the CUDA C++ and host text."""
        return str(self._kernel.inspect_source(*self.samples()))

    def __repr__(self) -> str:
        return f"<{self._kernel!r} for {self.signature}>"


class Overloads(dict[tuple[Any, ...], Overload]):
    """The overloads of a kernel by the types of their arguments, from its signatures or its launches. A subscript with
    other types compiles a new overload."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__()
        self._kernel = kernel

    def __missing__(self, key: Any) -> Overload:
        types = types_of(key)
        return self[types] if types in self else self.setdefault(types, Overload(self._kernel, types))

    def note(self, types: Iterable[Any]) -> None:
        """Notes that the kernel is compiled for arguments of these types."""
        key = tuple(types)
        if None not in key and key not in self:
            self[key] = Overload(self._kernel, key)


def types_of(given: Any) -> tuple[Any, ...]:
    """The types of the arguments in a signature, a tuple of types or a single type."""
    if isinstance(given, Signature):
        return given.arguments
    return tuple(map(argument_type, given if isinstance(given, tuple | list) else (given,)))


def asked_types(arguments: Sequence[Any]) -> tuple[Any, ...] | None:
    """The types, if the only argument of an inspection is a signature or a tuple of types; None if it is a value."""
    if len(arguments) != 1 or not isinstance(arguments[0], tuple | Signature):
        return None
    try:
        return types_of(arguments[0])
    except TypeError:
        return None


def of_each(kernel: Kernel, get: Callable[[Overload], Any]) -> dict[tuple[Any, ...], Any]:
    """The results of `get` for all overloads, by the types of their arguments."""
    return {types: get(each) for types, each in kernel.overloads.items()}


def sample(kind: Any) -> Any:
    """An argument of this type, which serves to compile a kernel."""
    if isinstance(kind, Scalar):
        return _plain(kind).type(0)
    if isinstance(kind, Record):
        return np.zeros(1, kind.dtype)[0]
    if isinstance(kind, TupleType):
        return tuple(map(sample, kind.parts))
    order = "F" if getattr(kind, "layout", "A") == "F" else "C"
    return np.zeros((1,) * getattr(kind, "ndim", 1), _plain(kind.element), order)  # type: ignore[call-overload]


def _with_date(value: Any, kind: Any) -> Any:
    """A sample with the type of dates or durations, if `kind` is one of them."""
    element = getattr(kind, "element", kind)
    return value.view(element.dtype) if isinstance(element, Scalar) and element.is_date else value


def _plain(kind: Scalar | Record) -> np.dtype[Any]:
    """The NumPy type of such elements in kernels, in which dates and durations are int64."""
    return np.dtype(np.int64) if isinstance(kind, Scalar) and kind.is_date else kind.dtype
