"""Arguments of a launch that are converted first: ``In``, ``Out`` and ``InOut`` of host arrays, and objects that the
user's extensions convert.
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
    """A host array and the directions in which a launch copies it."""

    copied_in = copied_back = True

    def __init__(self, value: Any) -> None:
        if isinstance(value, Directed):
            raise TypeError(f"{type(self).__name__} takes an array, not {value!r}")
        self.value = value

    def __repr__(self) -> str:
        return f"cuda.{type(self).__name__}({self.value!r})"

    def on_device(self, stream: Any) -> tuple[Any, Callable[[], Any] | None]:
        """The argument of the launch, and the call to make after the launch or None."""
        if isinstance(self.value, DeviceNDArray) or not hasattr(self.value, "__array__"):
            return self.value, None
        host = np.asarray(self.value)
        device = to_device(host, stream=stream) if self.copied_in else device_array_like(host, stream=stream)
        back = (lambda: device.copy_to_host(host, stream=stream)) if self.copied_back else None
        return device, back


class In(Directed):
    """``In(array)`` as an argument copies the array to the device. Stores of the kernel to it are lost."""

    copied_back = False


class Out(Directed):
    """``Out(array)`` as an argument copies the array back after the launch, but not to the device before it."""

    copied_in = False


class InOut(Directed):
    """``InOut(array)`` as an argument copies the array to the device before the launch and back after it."""


def prepared(
    arguments: Sequence[Any], extensions: Sequence[Any], stream: Any
) -> tuple[tuple[Any, ...], list[Callable[[], Any]]]:
    """The converted arguments of a launch, and the calls to make after it, in order."""
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
    """The argument after the conversions of all extensions, of which the last one converts first."""
    kind = type_of(value)
    for each in reversed(extensions):
        kind, value = each.prepare_args(kind, value, stream=stream, retr=behind)
    return value


def with_records(
    arguments: tuple[Any, ...], places: tuple[int, ...], behind: list[Callable[[], Any]]
) -> tuple[Any, ...]:
    """The arguments, in which the records at these places, to which the kernel assigns, become arrays of one element.
    Their fields are copied back after the launch."""
    taken = [*arguments]
    for place in places:
        given = arguments[place] if place < len(arguments) else None
        if isinstance(given, np.void) and given.dtype.names is not None:
            taken[place] = array = np.empty(1, given.dtype)
            array[0] = given
            behind.append(partial(_store_record, given, array))
        elif getattr(given, "dtype", None) is not None:
            raise TypeError(
                f"argument {place + 1} must be a single record, because the kernel assigns to its fields, not an "
                "array; for an array of records write r[i].x = …"
            )
    return tuple(taken)


def _store_record(record: Any, array: Any) -> None:
    for name in record.dtype.names:
        record[name] = array[0][name]


def type_of(value: Any) -> Any:
    """The type of an argument in the notation of signatures; None if signatures have no type for it."""
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
    """Returns the type of a value as in signatures: ``typeof(np.ones(3, "f4"))`` is ``float32[::1]``. Raises ValueError
    if signatures have no type for the value."""
    found = type_of(value)
    if found is None:
        raise ValueError(f"signatures have no type for {value!r}")
    return found
