"""Arrays in page-locked host memory: a GPU reads and writes them in place, or copies them without a staging buffer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _native
from ..arrays.device_arrays import described, pointer_of
from ..calls.tracebacks import hides_frames
from ._arrays import DeviceNDArray, elements_of, like, sizes_of, span_of, to_device
from ._backend import on_gpu
from ._streams import handle_of

__all__ = [
    "MappedNDArray", "managed_array", "mapped", "mapped_array", "mapped_array_like", "pinned", "pinned_array",
    "pinned_array_like",
]  # fmt: skip


class MappedNDArray(DeviceNDArray, np.lib.mixins.NDArrayOperatorsMixin):
    """A device array in host memory. Operators, NumPy's functions and the methods of NumPy's arrays use the elements in
    place. Call ``synchronize`` after a launch that writes them."""

    __slots__ = ("_memory",)

    def __init__(self, view: Any, stream: Any, on_gpu: bool, memory: _native.PinnedMemory | None) -> None:
        super().__init__(view, stream, on_gpu)
        self._memory = memory

    __hash__ = object.__hash__

    def _of(self, view: Any) -> DeviceNDArray:
        return MappedNDArray(view, self.stream, self.on_gpu, self._memory)

    @property
    def host(self) -> Any:
        """The elements as a NumPy array, which shares the memory."""
        view = self._view
        if self._memory is None:
            return view
        address = self._memory.address + pointer_of(view) - self._memory.device_pointer
        return described(address, view.shape, view.dtype, view.strides, self._memory)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The elements for ``np.asarray(a)``, without a copy unless ``dtype`` or ``copy`` requires one."""
        return np.array(self.host, dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:  # type: ignore[override]
        """Runs NumPy's functions and operators on the host, where the elements lie."""
        out = keywords.get("out")
        if out is not None:
            keywords["out"] = tuple(map(_on_host, out))
        made = getattr(ufunc, method)(*map(_on_host, inputs), **keywords)
        return out[0] if out is not None and len(out) == 1 else made

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return getattr(self.host, name)


def _on_host(value: Any) -> Any:
    return value.host if isinstance(value, MappedNDArray) else value


def managed_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    attach_global: bool = True,
) -> MappedNDArray:
    """Returns a ``mapped_array``, which lies in host memory and which the GPU uses in place. No pages migrate."""
    return mapped_array(shape, dtype, strides, order, stream)


def mapped_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0, **_: Any
) -> MappedNDArray:
    """Returns an array in host memory that the GPU reads and writes in place, with arbitrary contents. Kernels and
    NumPy's functions accept it. ``strides`` are in bytes."""
    handle_of(stream)
    host, memory = _pinned(shape, dtype, strides, order, True)
    if memory is None:
        return MappedNDArray(host, stream, False, None)
    first = pointer_of(host) - memory.address
    view = described(memory.device_pointer + first, host.shape, host.dtype, host.strides, memory)
    return MappedNDArray(view, stream, True, memory)


def mapped_array_like(ary: Any, stream: Any = 0) -> MappedNDArray:
    """Returns a mapped array with shape, type and order of another array, and arbitrary contents."""
    return mapped_array(*like(ary), stream=stream)


@contextlib.contextmanager
def mapped(*arrays: Any, stream: Any = 0) -> Iterator[Any]:
    """``with cuda.mapped(a) as d:`` copies a host array to the device array ``d``, and copies ``d`` back after the
    block. Several arrays give a list of device arrays."""
    made: list[DeviceNDArray] = [to_device(each, stream=stream) for each in arrays]
    yield made[0] if len(made) == 1 else made
    for host, device in zip(arrays, made, strict=True):
        device.copy_to_host(host, stream=stream)


@hides_frames
def pinned_array(shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C") -> Any:
    """Returns a NumPy array in page-locked host memory, which the GPU copies without a staging buffer. ``strides`` are
    in bytes."""
    return _pinned(shape, dtype, strides, order, False)[0]


def pinned_array_like(ary: Any) -> Any:
    """Returns a pinned array with shape, type and order of another array."""
    return pinned_array(*like(ary))


@contextlib.contextmanager
def pinned(*arrays: Any) -> Iterator[None]:
    """Has no effect; it exists for compatibility. Large copies of ordinary memory use pinned staging buffers."""
    yield


def _pinned(shape: Any, dtype: Any, strides: Any, order: str, mapped: bool) -> tuple[Any, _native.PinnedMemory | None]:
    sizes, kind = sizes_of(shape), elements_of(dtype)
    if order not in ("C", "F"):
        raise ValueError(f"the order of an array is 'C' or 'F', not {order!r}")
    if strides is not None:
        span, first = span_of(sizes, kind, strides)
        block, memory = _pinned(span, np.uint8, None, "C", mapped)
        return np.ndarray(sizes, kind, block, first, strides), memory
    if not on_gpu():
        return np.empty(sizes, kind, order), None  # type: ignore[call-overload]
    memory = _native.PinnedMemory(int(np.prod(sizes)) * kind.itemsize, mapped)
    array = described(memory.address, sizes if order == "C" else sizes[::-1], kind, None, memory)
    return array if order == "C" else array.T, memory
