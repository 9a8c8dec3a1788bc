"""Arrays of all libraries as operands: their types, their memory, and how to create new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from .. import _native
from ..buffer import Buffer
from ..buffer import empty as empty_buffer
from ..cuda._arrays import DeviceNDArray
from ..cuda._backend import on_gpu
from ..cuda._streams import external_stream, handle_of
from ..types import elem_size


class Library(NamedTuple):
    """A library of arrays. ``empty(shape, dtype, like, stream)`` creates an array on the device of ``like`` for work on
    ``stream``, which is a stream or its handle; None is the stream of ``like``."""

    name: str
    on_device: bool
    empty: Callable[[tuple[int, ...], np.dtype[Any], Any, Any], Any]


@cache
def _module(name: str) -> Any:
    return import_module(name)


@cache
def has_several_devices() -> bool:
    """Whether the machine has more than one GPU."""
    return bool(_native.device_count() > 1)


def _of_numpy(shape: tuple[int, ...], dtype: np.dtype[Any], like: Any, stream: Any) -> Any:
    return np.empty(shape, dtype)


def _of_cupy(shape: tuple[int, ...], dtype: np.dtype[Any], like: Any, stream: Any) -> Any:
    cupy = _module("cupy")
    if not has_several_devices():
        return cupy.empty(shape, dtype)
    with cupy.cuda.Device(like.device.id):
        return cupy.empty(shape, dtype)


def _of_torch(shape: tuple[int, ...], dtype: np.dtype[Any], like: Any, stream: Any) -> Any:
    torch = _module("torch")
    return torch.empty(shape, dtype=getattr(torch, dtype.name), device=like.device)


def _of_numba(shape: tuple[int, ...], dtype: np.dtype[Any], like: Any, stream: Any) -> Any:
    return _module("numba.cuda").device_array(shape, dtype)


def _buffer(shape: tuple[int, ...], dtype: np.dtype[Any], like: Buffer, stream: Any) -> Any:
    return empty_buffer(shape, elem_size(dtype), like.backend)


def _device_array(shape: tuple[int, ...], dtype: np.dtype[Any], like: Any, stream: Any) -> Any:
    ours = like.__class__ is DeviceNDArray
    if not (like.on_gpu if ours else on_gpu()):
        return DeviceNDArray(np.empty(shape, dtype), 0, False)
    if stream is None:
        stream = like.stream if ours else 0
    elif stream.__class__ is int and stream:
        stream = like.stream if ours and like._own_stream() == stream else external_stream(stream)
    device = -1 if not ours else device_at(_native.address_of(like._view)) if has_several_devices() else 0
    return DeviceNDArray(_native.new_device_array(shape, dtype, False, False, handle_of(stream), device), stream, True)


_OWN_TYPES = (DeviceNDArray, Buffer)
_PYTHON_NUMBERS = (int, float, complex)
HOST = Library("numpy", False, _of_numpy)
_TORCH = Library("torch", True, _of_torch)
_TORCH_HOST = Library("torch", False, _of_torch)
_BUFFER = Library("parpy", True, _buffer)
_OWN = Library("parpy.cuda", True, _device_array)
_BY_MODULE = {"cupy": Library("cupy", True, _of_cupy), "numba": Library("numba", True, _of_numba)}


def device_at(address: int) -> int:
    """The number of the GPU that has the memory at this address."""
    return int(_native.device_of_pointer(address)) if has_several_devices() else 0


def device_of_all(addresses: Sequence[int]) -> int:
    """The number of the GPU that has the memory at all of these addresses. Raises ValueError if there are several."""
    if not has_several_devices():
        return 0
    found = sorted({device_at(each) for each in addresses})
    if len(found) > 1:
        raise ValueError(f"the arrays of a call are on different GPUs: {found[0]} and {found[1]}; move them to one GPU")
    return found[0]


class _OnDevice:
    """Selects a GPU for the calls of this thread in a `with` statement."""

    def __init__(self, device: int) -> None:
        self._device, self._before = device, int(_native.current_device())

    def __enter__(self) -> None:
        if self._device != self._before:
            _native.select_device(self._device)

    def __exit__(self, *error: object) -> None:
        if self._device != self._before:
            _native.select_device(self._before)


_AS_IT_IS = nullcontext()


def on_device(device: int) -> AbstractContextManager[None]:
    """A context in which other libraries of this thread work on this GPU."""
    return _OnDevice(device) if has_several_devices() else _AS_IT_IS


def library_of(value: Any) -> Library | None:
    """The library that an array belongs to; None for numbers and other objects."""
    if isinstance(value, np.ndarray):
        return HOST
    if isinstance(value, DeviceNDArray):
        return _OWN
    if isinstance(value, Buffer):
        return _BUFFER
    module = type(value).__module__.partition(".")[0]
    if module == "torch" and hasattr(value, "is_cuda"):
        return _TORCH if value.is_cuda else _TORCH_HOST
    if module in _BY_MODULE and hasattr(value, "__cuda_array_interface__"):
        return _BY_MODULE[module]
    return _OWN if hasattr(value, "__cuda_array_interface__") else None


def is_on_device(value: Any) -> bool:
    found = library_of(value)
    return found is not None and found.on_device


def dtype_of(array: Any) -> np.dtype[Any]:
    """The NumPy dtype of the elements. Raises TypeError if NumPy has no such type."""
    dtype: Any = getattr(array, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype
    found = elem_size(dtype)
    if found is not None:
        return np.dtype(found.to_numpy())
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        raise TypeError(f"elements of type {dtype} are not known")
    kind: np.dtype[Any] = np.dtype(interface["typestr"])
    return kind


def shape_of(array: Any) -> tuple[int, ...]:
    found = getattr(array, "shape", None)
    return tuple(array.__cuda_array_interface__["shape"] if found is None else found)


def as_operand(value: Any) -> Any:
    """Arrays and numbers unchanged, any other value converted by ``np.asarray``."""
    if library_of(value) is not None or isinstance(value, bool | int | float | complex | np.generic):
        return value
    return np.asarray(value)


def overriding_operand(values: Sequence[Any]) -> Any:
    """The first object that overrides ``__array_ufunc__`` (NEP 13) and is no array of another library; None if none."""
    for each in values:
        method = getattr(type(each), "__array_ufunc__", None)
        if method is None or method is np.ndarray.__array_ufunc__ or isinstance(each, np.generic):
            continue
        if library_of(each) in (None, HOST):
            return each
    return None


def is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex | np.generic) or (
        isinstance(value, np.ndarray) and value.ndim == 0
    )


def reshaped(array: Any, shape: tuple[int, ...]) -> Any:
    """The elements with another shape."""
    return array.reshape(shape)


class Memory(NamedTuple):
    """The memory of an array; ``strides`` and ``size``, the size of an element, are in bytes."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    size: int
    read_only: bool


def memory_of(array: Any) -> Memory | None:
    """The memory of an array; None for other objects."""
    view = getattr(array, "_view", None)  # the view of ParPy's arrays
    if isinstance(array, DeviceNDArray | Buffer) and view is not None:
        array = view
    if isinstance(array, np.ndarray):
        return Memory(_native.address_of(array), array.shape, array.strides, array.itemsize, not array.flags.writeable)
    if hasattr(array, "data_ptr"):
        size = array.element_size()
        return Memory(array.data_ptr(), tuple(array.shape), tuple(size * each for each in array.stride()), size, False)
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        return None
    shape, size = tuple(interface["shape"]), np.dtype(interface["typestr"]).itemsize
    strides = interface.get("strides")
    if strides is None:
        strides = tuple(size * int(np.prod(shape[d + 1 :])) for d in range(len(shape)))
    return Memory(interface["data"][0], shape, tuple(strides), size, bool(interface["data"][1]))


def is_read_only(array: Any) -> bool:
    found = memory_of(array)
    return found is not None and found.read_only


def is_c_contiguous(array: Any) -> bool:
    """Whether the elements are contiguous in C order."""
    view = array._view if array.__class__ in _OWN_TYPES else array
    if isinstance(view, np.ndarray):
        return view.flags.c_contiguous
    found = memory_of(array)
    assert found is not None
    expected = found.size
    for extent, stride in zip(reversed(found.shape), reversed(found.strides), strict=True):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


def _range(address: int, shape: Sequence[int], strides: Sequence[int], size: int) -> tuple[int, int]:
    if 0 in shape:
        return address, address
    reach = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    return address + sum(min(each, 0) for each in reach), address + size + sum(max(each, 0) for each in reach)


def overlap(stored: Any, read: Any) -> bool:
    """Whether storing to one array may change elements of the other that are read later: the arrays share bytes but do
    not have the same elements in the same order."""
    first, second = memory_of(stored), memory_of(read)
    if first is None or second is None or first[:4] == second[:4]:
        return False
    (a, b), (c, d) = _range(*first[:4]), _range(*second[:4])
    return a < d and c < b


def _bounds(array: Any) -> tuple[int, int] | None:
    """The first and the end address of a contiguous array of another library; None for other arrays."""
    module = type(array).__module__.partition(".")[0]
    if module == "torch" and array.is_contiguous():
        begin = array.data_ptr()
        return begin, begin + array.numel() * array.element_size()
    if module == "cupy" and array.flags.c_contiguous:
        begin = array.data.ptr
        return begin, begin + array.nbytes
    return None


def are_apart(stored: Any, read: Sequence[Any]) -> bool:
    """Whether a fast test proves that an array is writeable and that each of the others is the same array or shares no
    memory with it. If not, ``overlap`` decides."""
    if stored.__class__ in _OWN_TYPES:
        views = [stored._view]
        for each in read:
            if each.__class__ in _OWN_TYPES:
                if each is not stored:
                    views.append(each._view)
            elif not isinstance(each, _PYTHON_NUMBERS):
                return False
        return _native.are_apart(tuple(views))
    arrays = [stored, *(each for each in read if each is not stored and not isinstance(each, _PYTHON_NUMBERS))]
    if all(each.__class__ is np.ndarray for each in arrays):
        return _native.are_apart(tuple(arrays))
    found = [_bounds(each) for each in arrays]
    first = found[0]
    return first is not None and all(
        each is not None and (each[1] <= first[0] or first[1] <= each[0]) for each in found[1:]
    )


def copied(array: Any, library: Library, stream: Any) -> Any:
    """A copy of the elements on the same device."""
    if library.name == "torch":
        return array.clone()
    if library is _OWN:
        made = library.empty(shape_of(array), dtype_of(array), array, stream)
        made.setitem(..., array, made.stream)
        return made
    return array.copy()


def with_type(array: Any, dtype: np.dtype[Any], stream: Any) -> Any:
    """A converted copy of the elements on the same device."""
    library = library_of(array) or HOST
    if library.name == "torch":
        return array.to(getattr(_module("torch"), dtype.name))
    if library is _BUFFER:
        return array.with_type(dtype)
    if library is _OWN:
        made = library.empty(shape_of(array), dtype, array, stream)
        made.setitem(..., array, made.stream)
        return made
    return array.astype(dtype)


def transposed(array: Any, order: Sequence[int]) -> Any:
    """A view with permuted dimensions."""
    if list(order) == list(range(len(order))):
        return array
    if hasattr(array, "permute"):
        return array.permute(*order)
    if not hasattr(array, "transpose"):
        raise TypeError(
            f"'axis' and 'axes' need arrays with a method 'transpose', which {type(array).__name__} does not have"
        )
    return array.transpose(tuple(order))


def stream_of(arrays: Iterable[Any], stream: Any) -> int:
    """The handle of the stream for work on these arrays: the given stream, else the current stream of their
    library."""
    if stream is not None:
        return handle_of(stream)
    for array in arrays:
        if array.__class__ is DeviceNDArray:
            return 0 if array.stream.__class__ is int else array._own_stream()  # the only int is 0
        library = library_of(array)
        if library is not None and library.name == "cupy":
            return int(_module("cupy").cuda.get_current_stream().ptr)
        if library is _TORCH:
            return int(_module("torch").cuda.current_stream(array.device).cuda_stream)
        if library is _OWN and isinstance(array, DeviceNDArray):
            return array._own_stream()
    return 0
