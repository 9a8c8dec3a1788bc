"""Plans of library calls. Calls whose operands have the same layout share a plan. The first call checks the operands
and makes the plan; later calls use it with their own addresses and numbers.
"""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from operator import is_
from typing import Any, NamedTuple

import numpy as np

from .. import _native
from ..arrays.libraries import device_of_all, has_several_devices, on_device
from ..buffer import Buffer
from ..calls.options import CompileBackend
from ..cuda._arrays import DeviceNDArray
from ._operands import Handle, handle_of_device, number_of

_MOST = 256
_MOST_ARGUMENTS = 23  # the most arguments of a direct call after the first

How = tuple[Any, ...]
"""The layout of an array on a GPU: the library and all properties but the address."""


# ---------------------------------------------------------------- keys


def _how_of_ours(array: Any) -> tuple[How, int] | None:
    if not array.on_gpu:
        return None
    found = _native.layout_of(array._view)
    return None if found is None else ((DeviceNDArray, found[0]), found[1])


def _how_of_buffer(array: Any) -> tuple[How, int] | None:
    if array.backend is not CompileBackend.Cuda:
        return None
    found = _native.layout_of(array._view)
    return None if found is None else ((Buffer, found[0]), found[1])


def _how_of_cupy(array: Any) -> tuple[How, int]:
    return ("cupy", array.dtype, array.shape, array.strides), array.data.ptr


def _how_of_torch(array: Any) -> tuple[How, int] | None:
    if not array.is_cuda or array.is_conj():
        return None
    return ("torch", array.dtype, tuple(array.shape), array.stride()), array.data_ptr()


Reader = Callable[[Any], tuple[How, int] | None]


def _not_on_gpu(array: Any) -> None:
    return None


READERS: dict[type, Reader] = {DeviceNDArray: _how_of_ours, Buffer: _how_of_buffer}
"""The function that returns the layout and address of an array, by its class; None if the array is not on a GPU."""
_BY_NAME: dict[tuple[str, str], Reader] = {("cupy", "ndarray"): _how_of_cupy, ("torch", "Tensor"): _how_of_torch}


def how_of(array: Any) -> tuple[How, int] | None:
    """The layout of an array on a GPU, and its address; None for other objects."""
    kind = array.__class__
    reader = READERS.get(kind)
    if reader is None:
        reader = _BY_NAME.get((kind.__module__.partition(".")[0], kind.__name__), _not_on_gpu)
        READERS[kind] = reader
    return reader(array)


_NUMBERS = (float, complex, np.inexact)


def key_of(name: str, arguments: Iterable[Any]) -> tuple[Any, list[int]] | None:
    """The key of the plan that a call uses, and the addresses of its arrays; None if an array is not on a GPU. The key
    contains no floats and complex numbers, because they may differ between calls of one plan."""
    key: list[Any] = [name]
    addresses: list[int] = []
    for each in arguments:
        kind = each.__class__
        if kind is int or kind is str:
            key.append(each)
        elif kind is DeviceNDArray and each.on_gpu:
            key.append(kind)
            layout = _native.layout_of(each._view)
            if layout is None:
                return None
            key.append(layout[0])
            addresses.append(layout[1])
        elif kind is float or (kind not in READERS and isinstance(each, _NUMBERS)):
            key.append(kind)
        elif kind not in READERS and isinstance(each, np.integer):
            key.append(int(each))
        else:
            found = how_of(each)
            if found is None:
                return None
            key.append(found[0])
            addresses.append(found[1])
    return tuple(key), addresses


# ---------------------------------------------------------------- plans


class At(NamedTuple):
    """An address among the arguments: that of the array with this number plus an offset in bytes."""

    array: int
    offset: int = 0


class Number(NamedTuple):
    """A number among the arguments, passed by reference in the type of this letter; ``number`` is its index."""

    number: int
    letter: str


class Call:
    """A call of cuBLAS without its addresses and numbers. ``names`` are the possible names of the function."""

    __slots__ = (
        "_addresses",
        "_arguments",
        "_direct",
        "_given",
        "_in_order",
        "_last",
        "_library",
        "_names",
        "_numbers",
    )

    def __init__(self, names: Sequence[str], arguments: Sequence[Any]) -> None:
        self._names = names
        self._given = [ctypes.c_int(each) if each.__class__ is int else each for each in arguments]
        placed = list(enumerate(arguments))
        self._arguments = arguments
        # The call without ctypes; None before the first call, False if the library or an argument needs ctypes.
        self._direct: Any = None
        self._addresses = [(at, each.array, each.offset) for at, each in placed if each.__class__ is At]
        self._in_order = [array for _, array, _ in self._addresses] == [*range(len(self._addresses))]
        self._numbers = [(at, each.letter, each.number) for at, each in placed if each.__class__ is Number]
        # The numbers of the last call, what cuBLAS reads, and the addresses of that.
        self._last: tuple[Sequence[Any], list[Any], list[int]] = (), [], []

    def run(self, stream: int, addresses: Sequence[int], numbers: Sequence[Any], *more: Any) -> None:
        if not has_several_devices():
            self._run(handle_of_device(0), stream, addresses, numbers, more)
            return
        device = device_of_all(addresses)
        with on_device(device):
            self._run(handle_of_device(device), stream, addresses, numbers, more)

    def _run(
        self, handle: Handle, stream: int, addresses: Sequence[int], numbers: Sequence[Any], more: Sequence[Any]
    ) -> None:
        direct = self._direct
        if direct is None:
            direct = self._direct = self._without_ctypes(handle, more)
        last, made, places = self._last
        if last is not numbers and not (len(last) == len(numbers) and all(map(is_, last, numbers))):
            made = [number_of(letter, numbers[number]) for _, letter, number in self._numbers]
            places = [*map(ctypes.addressof, made)]
            self._last = tuple(numbers), made, places
        if direct:
            given = (
                addresses
                if self._in_order and len(addresses) == len(self._addresses)
                else [addresses[array] for _, array, _ in self._addresses]
            )
            handle.call_directly(direct, self._names, stream, *given, *places, *map(ctypes.addressof, more))
            return
        arguments = self._given.copy()
        for at, array, offset in self._addresses:
            arguments[at] = ctypes.c_void_p(addresses[array] + offset)
        for (at, _, _), number in zip(self._numbers, made, strict=True):
            arguments[at] = number
        handle.call(self._names, stream, arguments, more)

    def _without_ctypes(self, handle: Handle, more: Sequence[Any]) -> Any:
        """The call with addresses of arrays, of numbers and of further results; False if there is none."""
        function = handle.address_of(self._names)
        plain: list[int] = []
        for each in self._arguments:
            if each.__class__ is int or isinstance(each, At | Number):
                plain.append(each if each.__class__ is int else 0)
            elif isinstance(each, ctypes.c_longlong):
                plain.append(each.value)
            else:
                return False
        count = len(plain) + len(more)
        if function is None or count > _MOST_ARGUMENTS:
            return False
        self._library = handle.library  # its functions exist as long as the call
        places = [(at, offset) for at, _, offset in self._addresses]
        places += [(at, 0) for at, _, _ in self._numbers] + [(at, 0) for at in range(len(plain), count)]
        return _native.LibraryCall(function, [*plain, *[0] * len(more)], places)


class Plans:
    """The most recently used plans by the keys of their calls."""

    def __init__(self) -> None:
        self._known: OrderedDict[Any, Any] = OrderedDict()

    def get(self, key: Any) -> Any:
        return self._known.get(key)

    def keep(self, key: Any, plan: Any) -> None:
        self._known[key] = plan
        if len(self._known) > _MOST:
            self._known.popitem(last=False)

    def clear(self) -> None:
        self._known.clear()
