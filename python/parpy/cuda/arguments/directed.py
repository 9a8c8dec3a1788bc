"""Arguments of a launch besides numbers and arrays: ``In``, ``Out`` and ``InOut`` of host arrays, and what an extension
of the user's makes one of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...vocabulary.signatures import Array, Tuple, argument_type
from .._arrays import DeviceNDArray, device_array_like, to_device

__all__ = ["In", "InOut", "Out", "typeof"]


class Directed:
    """A host array and which way it is copied around a launch."""

    copied_in = copied_back = True

    def __init__(self, value: Any) -> None:
        if isinstance(value, Directed):
            raise TypeError(f"{type(self).__name__} takes an array, not {value!r}")
        self.value = value

    def __repr__(self) -> str:
        return f"cuda.{type(self).__name__}({self.value!r})"

    def on_device(self, stream: Any) -> tuple[Any, Callable[[], Any] | None]:
        """What the launch gets, and what is to be done behind it."""
        if isinstance(self.value, DeviceNDArray) or not hasattr(self.value, "__array__"):
            return self.value, None
        host = np.asarray(self.value)
        device = to_device(host, stream=stream) if self.copied_in else device_array_like(host, stream=stream)
        back = (lambda: device.copy_to_host(host, stream=stream)) if self.copied_back else None
        return device, back


class In(Directed):
    """``In(array)`` as an argument: it is copied to the device, and what the kernel stores to it is lost."""

    copied_back = False


class Out(Directed):
    """``Out(array)`` as an argument: the kernel fills it; what is in it before is not copied to the device."""

    copied_in = False


class InOut(Directed):
    """``InOut(array)`` as an argument: it is copied to the device and back."""


def prepared(
    arguments: Sequence[Any], extensions: Sequence[Any], stream: Any
) -> tuple[tuple[Any, ...], list[Callable[[], Any]]]:
    """The arguments as the launch gets them, and what is to be done behind it, in order."""
    taken: list[Any] = []
    behind: list[Callable[[], Any]] = []
    for each in arguments:
        if extensions:
            each = _extended(each, extensions, stream, behind)
        if isinstance(each, Directed):
            each, back = each.on_device(stream)
            if back is not None:
                behind.append(back)
        taken.append(each)
    return tuple(taken), behind


def _extended(value: Any, extensions: Sequence[Any], stream: Any, behind: list[Callable[[], Any]]) -> Any:
    """What the extensions make of an argument, the last one first."""
    kind = type_of(value)
    for each in reversed(extensions):
        kind, value = each.prepare_args(kind, value, stream=stream, retr=behind)
    return value


def with_records(
    arguments: tuple[Any, ...], places: tuple[int, ...], behind: list[Callable[[], Any]]
) -> tuple[Any, ...]:
    """The arguments with the records at these places, to which the kernel assigns, as arrays of one: their fields go
    back behind the launch."""
    taken = [*arguments]
    for place in places:
        given = arguments[place] if place < len(arguments) else None
        if isinstance(given, np.void) and given.dtype.names is not None:
            taken[place] = array = np.empty(1, given.dtype)
            array[0] = given
            behind.append(partial(_store_record, given, array))
        elif getattr(given, "dtype", None) is not None:
            raise TypeError(
                f"argument {place + 1} must be a single record, to whose fields the kernel assigns, not an array; of "
                "arrays of records write r[i].x = …"
            )
    return tuple(taken)


def _store_record(record: Any, array: Any) -> None:
    for name in record.dtype.names:
        record[name] = array[0][name]


def type_of(value: Any) -> Any:
    """The type of an argument as signatures write it; None of what they have no type for."""
    if isinstance(value, tuple) and type(value) is not tuple:
        return None  # signatures have no named tuples
    if isinstance(value, tuple):
        parts = [type_of(each) for each in value]
        return None if None in parts else Tuple(tuple(parts))
    try:
        element = argument_type(value.dtype if hasattr(value, "dtype") else type(value))
    except TypeError:
        return None
    rank = getattr(value, "ndim", 0)
    if not rank:
        return element
    flags = getattr(value, "flags", None)
    layout = "A" if flags is None else "C" if flags["C_CONTIGUOUS"] else "F" if flags["F_CONTIGUOUS"] else "A"
    return Array(element, rank, layout)  # type: ignore[arg-type]


def typeof(value: Any) -> Any:
    """The type of a value as signatures write it: ``typeof(np.ones(3, "f4"))`` is ``float32[::1]``. Raises ValueError
    for a value that signatures have no type for."""
    found = type_of(value)
    if found is None:
        raise ValueError(f"signatures have no type for {value!r}")
    return found
