"""Arrays in the memory of the host that a GPU reads and writes in place, or copies from and to without a detour."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _native
from ..arrays.device_arrays import described, pointer_of
from ..calls.tracebacks import hides_frames
from ._arrays import DeviceNDArray, elements_of, like, sizes_of, to_device
from ._backend import on_gpu
from ._streams import handle_of

__all__ = [
    "MappedNDArray", "managed_array", "mapped", "mapped_array", "mapped_array_like", "pinned", "pinned_array",
    "pinned_array_like",
]  # fmt: skip


class MappedNDArray(DeviceNDArray, np.lib.mixins.NDArrayOperatorsMixin):
    """A device array in the memory of the host. Operators, NumPy's functions and the methods of NumPy's arrays work on
    the elements where they lie; ``synchronize`` after launches that write them."""

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
        """For ``np.asarray(a)``: the elements, without a copy if none is asked for."""
        return np.array(self.host, dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:  # type: ignore[override]
        """NumPy's functions and operators: on the host, where the elements lie."""
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
    """Returns an array in host memory that the GPU reads and writes in place: a ``mapped_array``. No pages migrate."""
    return mapped_array(shape, dtype, strides, order, stream)


def mapped_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0, **_: Any
) -> MappedNDArray:
    """Returns an array in host memory that the GPU reads and writes in place, with arbitrary contents. Kernels take it,
    and so do NumPy's functions."""
    handle_of(stream)
    host, memory = _pinned(shape, dtype, order, True)
    if memory is None:
        return MappedNDArray(host, stream, False, None)
    view = described(memory.device_pointer, host.shape, host.dtype, host.strides, memory)
    return MappedNDArray(view, stream, True, memory)


def mapped_array_like(ary: Any, stream: Any = 0) -> MappedNDArray:
    """Returns a mapped array with shape, type and order of another array, and arbitrary contents."""
    return mapped_array(*like(ary), stream=stream)


@contextlib.contextmanager
def mapped(*arrays: Any, stream: Any = 0) -> Iterator[Any]:
    """``with cuda.mapped(a) as d:`` gives device arrays of host arrays, which have their elements again behind the
    block; several arrays give a list of them."""
    made: list[DeviceNDArray] = [to_device(each, stream=stream) for each in arrays]
    yield made[0] if len(made) == 1 else made
    for host, device in zip(arrays, made, strict=True):
        device.copy_to_host(host, stream=stream)


@hides_frames
def pinned_array(shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C") -> Any:
    """Returns a NumPy array in host memory that the GPU copies from and to without a detour."""
    return _pinned(shape, dtype, order, False)[0]


def pinned_array_like(ary: Any) -> Any:
    """Returns a pinned array with shape, type and order of another array."""
    return pinned_array(*like(ary))


@contextlib.contextmanager
def pinned(*arrays: Any) -> Iterator[None]:
    """For compatibility: large copies of ordinary memory go through pinned buffers by themselves."""
    yield


def _pinned(shape: Any, dtype: Any, order: str, mapped: bool) -> tuple[Any, _native.PinnedMemory | None]:
    sizes, kind = sizes_of(shape), elements_of(dtype)
    if order not in ("C", "F"):
        raise ValueError(f"the order of an array is 'C' or 'F', not {order!r}")
    if not on_gpu():
        return np.empty(sizes, kind, order), None  # type: ignore[call-overload]
    memory = _native.PinnedMemory(int(np.prod(sizes)) * kind.itemsize, mapped)
    array = described(memory.address, sizes if order == "C" else sizes[::-1], kind, None, memory)
    return array if order == "C" else array.T, memory
