"""Device arrays: memory of the GPU, or of the simulator, under NumPy's shapes.

Every array is a view of its memory as NumPy would have it; slices, reshapes and transposes are NumPy's own, on a NumPy
array that represents the device's. On a GPU that array holds device addresses and is never read.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from .. import _native
from ..arrays.device_arrays import (
    DeviceArray,
    described,
    described_by,
    empty_view,
    fetch,
    host_copy,
    is_basic,
    is_int,
    on_host,
    pointer_of,
    reshaped,
    store,
)
from ..calls.tracebacks import hides_frames
from ..types import elem_size
from ..vocabulary.operators import is_torch_dtype, scalar_name
from ._backend import on_gpu
from ._streams import handle_of

__all__ = [
    "DeviceNDArray",
    "DeviceRecord",
    "as_cuda_array",
    "device_array",
    "device_array_like",
    "from_cuda_array_interface",
    "is_cuda_array",
    "to_device",
]


class DeviceNDArray(DeviceArray):
    """An array on the device; ``on_gpu`` is False on the simulator. Slices are views that share the memory. An index of
    one element copies that element to the host."""

    __slots__ = ("_source", "stream")

    def __init__(self, view: Any, stream: Any, on_gpu: bool) -> None:
        self._view, self.on_gpu = view, on_gpu
        self.stream = stream
        """The stream that it was made on; 0: the default one."""
        self._source: Callable[[], np.ndarray | None] | None = None  # the host array that to_host fills

    def _own_stream(self) -> int:
        return handle_of(self.stream)

    def _truths(self, view: Any) -> DeviceNDArray:
        return self._of(view)

    # ------------------------------------------------------------ type, interfaces and layout

    dtype = property(lambda self: self._view.dtype, doc="The type of the elements.")
    size = property(lambda self: self._view.size, doc="The number of elements.")
    itemsize = property(lambda self: self._view.itemsize, doc="Bytes of an element.")
    flags = property(lambda self: self._view.flags, doc="NumPy's flags of the layout.")

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """On the simulator, if there is no GPU, it describes host memory and only ParPy may read it."""
        if self.on_gpu:
            return self._device_interface()
        if not _native.cuda_unavailable():
            raise AttributeError("an array of the simulator is not on a GPU")
        return self._device_interface() | {"stream": None, "simulated": True}

    def __dlpack__(
        self, *, stream: int | None = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any:
        """A DLPack capsule of the same memory; later work on ``stream`` sees the elements."""
        place = self.__dlpack_device__()
        if copy or (dl_device is not None and tuple(dl_device) != place):
            raise BufferError(
                "a device array is shared without a copy, on its own device; copy it with copy_to_host or to_device"
            )
        if not self.on_gpu:
            return self._view.__dlpack__()
        scalar = scalar_name(self.dtype)
        if scalar is None:
            raise BufferError(f"DLPack has no elements of type {self.dtype}")
        own = handle_of(self.stream)
        if stream != -1 and (stream or 1) != (own or 1):  # 1 is the default stream too
            _native.synchronize_stream(own)
        return self._device_capsule(scalar)

    def is_c_contiguous(self) -> bool:
        """Whether the elements lie in C order without gaps."""
        return bool(self._view.flags.c_contiguous)

    def is_f_contiguous(self) -> bool:
        """Whether the elements lie in Fortran order without gaps."""
        return bool(self._view.flags.f_contiguous)

    def __repr__(self) -> str:
        return f"<parpy.cuda device array {self.shape} of {self.dtype}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """For ``np.asarray(a)``: a copy on the host."""
        if copy is False:
            raise ValueError("an array on the device becomes a NumPy array only by a copy")
        made = self.copy_to_host()
        return made if dtype is None else made.astype(dtype, copy=False)

    @property
    def alloc_size(self) -> int:
        """Bytes from the first element to the end of the last one."""
        steps = [(n - 1) * abs(step) for n, step in zip(self.shape, self.strides, strict=True)]
        return sum(steps) + self.itemsize if self.size else 0

    @property
    def device_ctypes_pointer(self) -> ctypes.c_uint64:
        """The address of the first element, for libraries that take one."""
        return ctypes.c_uint64(pointer_of(self._view) if self.on_gpu else self._view.ctypes.data)

    @property
    def gpu_data(self) -> DeviceNDArray:
        """The owner of the memory, which is the array itself."""
        return self

    def bind(self, stream: Any = 0) -> DeviceNDArray:
        """A view of all elements whose copies and launches use ``stream`` where none is given."""
        handle_of(stream)
        made = self._of(self._view)
        made.stream, made._source = stream, self._source
        return made

    def get_ipc_handle(self) -> NoReturn:
        """Raises NotImplementedError: ParPy shares no GPU memory between processes."""
        raise NotImplementedError("memory is not shared with other processes (CUDA's IPC); pass arrays by copy_to_host")

    # ------------------------------------------------------------ views

    def _of(self, view: Any) -> DeviceNDArray:
        return DeviceNDArray(view, self.stream, self.on_gpu)

    @property
    def T(self) -> DeviceNDArray:
        """The transposed view."""
        return self._of(self._view.T)

    def transpose(self, axes: tuple[int, ...] | None = None) -> DeviceNDArray:
        """A view with the dimensions in another order."""
        return self._of(self._view.transpose(axes))

    def reshape(self, *shape: Any, order: str = "C") -> DeviceNDArray:
        """A view with another shape. Raises ValueError if only a copy could have that shape."""
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        try:
            view = reshaped(self._view, tuple(wanted)) if order == "C" else reshaped(self._view.T, tuple(wanted)[::-1])
        except ValueError:
            raise ValueError(
                f"an array of shape {self.shape} and strides {self.strides} has no view of shape {tuple(wanted)}"
            ) from None
        return self._of(view if order == "C" else view.T)

    def ravel(self, order: str = "C") -> DeviceNDArray:
        """A view with one dimension in the order "C" or "F"; "A" means "F" for arrays in Fortran order and else "C"."""
        if order == "A":
            order = "F" if self.is_f_contiguous() and not self.is_c_contiguous() else "C"
        return self.reshape(-1, order=order)

    def view(self, dtype: Any) -> DeviceNDArray:
        """A view of the same bytes as elements of another type."""
        return self._of(self._view.view(elements_of(dtype)))

    def squeeze(self, axis: Any = None) -> DeviceNDArray:
        """A view without dimensions of size 1."""
        return self._of(self._view.squeeze(axis))

    def split(self, section: int, stream: Any = 0) -> Iterator[DeviceNDArray]:
        """Views of ``section`` elements each along the first dimension."""
        if not is_int(section) or section < 1:
            raise ValueError(f"a section is a number of elements from 1, not {section!r}")
        for begin in range(0, len(self), section):
            yield self[begin : begin + section]

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TypeError("an array without dimensions cannot be iterated over; a[()] is its only element")
        return (self[i] for i in range(len(self)))

    def getitem(self, index: Any, stream: Any = 0) -> Any:
        """``a[index]``. A single element is copied to the host on ``stream``."""
        handle = handle_of(stream)
        if not _is_element(index, self.ndim):
            return self._of(self._view[_index(index, self.dtype)])
        cell = self._view[_cell(index, self.shape)].reshape(1)
        made = host_copy(cell, handle) if self.on_gpu else cell.copy()
        return made[0] if self.dtype.names is None else DeviceRecord.of(made, self._of(cell))

    __getitem__ = getitem

    def fill(self, value: Any, stream: Any = 0) -> None:
        """Sets all elements to ``value``."""
        self.setitem(..., value, stream)

    def __bool__(self) -> bool:
        """The truth of the only element, which is copied to the host. Raises ValueError unless the size is 1."""
        if self.size != 1:
            raise ValueError(f"an array of {self.size} elements has no truth value; use copy_to_host().all()")
        return bool(self.copy_to_host().reshape(1)[0])

    def setitem(self, index: Any, value: Any, stream: Any = 0) -> None:
        """``a[index] = value``. The copy to the device runs on ``stream``."""
        handle = handle_of(stream)
        cell = _cell(index, self.shape) if _is_element(index, self.ndim) else _index(index, self.dtype)
        target = self._view[cell]
        given = value if isinstance(value, DeviceArray) else np.asarray(value, target.dtype)
        if self.on_gpu:
            store(target, value if np.ndim(value) == 0 and target.dtype.names is None else given, handle)
        else:
            target[...] = on_host(given)

    __setitem__ = setitem

    # ------------------------------------------------------------ copies

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> Any:
        """Copies the elements to ``ary`` or a new NumPy array, complete once a given ``stream`` is synchronized."""
        if ary is None:
            order = "F" if self.is_f_contiguous() and not self.is_c_contiguous() else "C"
            ary = np.empty(self.shape, self.dtype, order)  # type: ignore[call-overload]
        elif not isinstance(ary, np.ndarray):
            raise TypeError(f"copy_to_host fills a NumPy array, not {type(ary).__name__}")
        elif not ary.flags.writeable:
            raise ValueError("copy_to_host fills an array, and this one is read-only")
        elif ary.shape != self.shape or ary.dtype != self.dtype:
            raise ValueError(
                f"an array of shape {self.shape} and type {self.dtype} cannot be copied into one of shape {ary.shape} "
                f"and type {ary.dtype}"
            )
        handle = handle_of(stream)
        if self.on_gpu:
            fetch(ary, self._view, handle)
        else:
            np.copyto(ary, self._view)
        return ary

    def to_host(self, stream: Any = 0) -> Any:
        """Copies the elements to the NumPy array that was given to ``to_device``, and returns that array."""
        if self._source is None:
            raise ValueError("this array was not made of a NumPy array by to_device; write a.copy_to_host()")
        return self.copy_to_host(self._source(), stream)

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Fills the array with the elements of another array, which is on the device or on the host."""
        handle = handle_of(stream)
        source = ary._view if isinstance(ary, DeviceNDArray) else np.asarray(ary)
        if source.shape != self.shape or not np.can_cast(source.dtype, self.dtype, "same_kind"):
            raise ValueError(
                f"an array of shape {source.shape} and type {source.dtype} cannot be copied into one of shape "
                f"{self.shape} and type {self.dtype}"
            )
        if self.on_gpu:
            store(self._view, ary if isinstance(ary, DeviceNDArray) else source, handle)
        else:
            np.copyto(self._view, on_host(ary) if isinstance(ary, DeviceNDArray) else source)


class DeviceRecord(np.void):  # type: ignore[misc]
    """A copy of one record of a device array. The fields have the values of the time of the copy; an assignment to a
    field also stores to the device."""

    _place: DeviceNDArray

    @classmethod
    def of(cls, host: Any, place: DeviceNDArray) -> DeviceRecord:
        """``host``: an array of one record on the host; ``place``: the same record on the device, as an array."""
        made: DeviceRecord = host.view(np.dtype((cls, host.dtype)))[0]
        made._place = place
        return made

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        name = self._place.dtype.names[key] if is_int(key) else key
        self._place[name][...] = value

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> Any:
        """The current values of the record, in ``ary`` (a record, or an array of one element) or in a new record."""
        found = self._place.copy_to_host(stream=stream)
        if ary is None:
            return found[0]
        for name in found.dtype.names:
            ary[name] = found[0][name]
        return ary


class Constant:
    """The result of const.array_like: a copy of the array's elements at that time, copied once to each GPU."""

    def __init__(self, array: Any) -> None:
        self._host = array.copy_to_host() if isinstance(array, DeviceNDArray) else np.array(array)
        self._host.flags.writeable = False
        self._devices: dict[int, DeviceNDArray] = {}

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._host.__array_interface__

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if not on_gpu():
            raise AttributeError("the simulator reads it on the host")
        device = int(_native.current_device())
        if device not in self._devices:
            self._devices[device] = to_device(self._host)
        interface = self._devices[device].__cuda_array_interface__
        return {**interface, "data": (interface["data"][0], True), "stream": None}


class ConstantByCopy:
    """A Constant whose element type array interfaces have no name for (bfloat16): each launch copies it to the GPU."""

    def __init__(self, array: Any) -> None:
        self._constant = Constant(array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._constant._host


def constant_of(array: Any) -> Constant | ConstantByCopy:
    """The constant that replaces a global array in kernels which use its present elements."""
    has_name = np.dtype(array.dtype).kind != "V" if hasattr(array, "dtype") else True
    return Constant(array) if has_name else ConstantByCopy(array)


def _is_element(index: Any, ndim: int) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return len(parts) == ndim and all(map(is_int, parts))


def _cell(index: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """The index of one element as slices of length 1. Raises IndexError if it is out of bounds."""
    parts = index if isinstance(index, tuple) else (index,)
    for axis, (part, size) in enumerate(zip(parts, shape, strict=True)):
        if not -size <= part < size:
            raise IndexError(f"index {part} is out of bounds for axis {axis} with size {size}")
    return (*parts[:-1], slice(parts[-1], parts[-1] + 1 or None)) if parts else (...,)


def _index(index: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(index, str):  # the name of a field of records
        if dtype.names is None:
            raise TypeError(f"the array has no field '{index}': its elements are {dtype}")
        return index
    if not is_basic(index):
        raise TypeError(f"a device array is indexed by integers and slices, not by {index!r}")
    return index


_native.set_kernel_array_type(DeviceNDArray)


# ---------------------------------------------------------------- making arrays


@hides_frames
def device_array(
    shape: int | tuple[int, ...], dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0
) -> DeviceNDArray:
    """Returns a device array of the given shape with arbitrary contents. ``order`` is "C" or "F"; ``strides`` are in
    bytes.
    """
    sizes, kind = sizes_of(shape), elements_of(dtype)
    handle = handle_of(stream)
    if order not in ("C", "F"):
        raise ValueError(f"the order of an array is 'C' or 'F', not {order!r}")
    if strides is None:
        if on_gpu():
            return DeviceNDArray(empty_view(sizes, kind, order == "F", stream=handle), stream, True)
        return DeviceNDArray(np.empty(sizes, kind, order), stream, False)  # type: ignore[call-overload]
    span, first = span_of(sizes, kind, strides)
    if not on_gpu():
        return DeviceNDArray(np.ndarray(sizes, kind, np.empty(span, np.uint8), first, strides), stream, False)
    memory = _native.DeviceMemory(span, handle)
    return DeviceNDArray(described(memory.pointer + first, sizes, kind, tuple(strides), memory), stream, True)


def span_of(sizes: tuple[int, ...], kind: np.dtype[Any], strides: Any) -> tuple[int, int]:
    """The bytes of memory that an array with these strides spans, and the place of its first element in them. Raises
    ValueError for anything else than a number of bytes for each dimension."""
    if not isinstance(strides, tuple | list) or len(strides) != len(sizes) or not all(map(is_int, strides)):
        raise ValueError(f"strides are a number of bytes for each of {len(sizes)} dimensions, not {strides!r}")
    steps = [] if 0 in sizes else [(n - 1) * s for n, s in zip(sizes, strides, strict=True)]
    return sum(map(abs, steps)) + kind.itemsize, -sum(step for step in steps if step < 0)


def sizes_of(shape: Any) -> tuple[int, ...]:
    """The extents of a shape, an int or a sequence of ints. Raises ValueError for anything else."""
    parts = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if not all(is_int(part) and part >= 0 for part in parts):
        raise ValueError(f"a shape is an int that is not negative, or a tuple of such ints, not {shape!r}")
    return tuple(map(int, parts))


def elements_of(dtype: Any) -> np.dtype[Any]:
    """``dtype`` as a NumPy type. Raises TypeError if such elements cannot be on the device."""
    of_torch = is_torch_dtype(dtype)
    known = elem_size(dtype) if of_torch else None
    if of_torch and known is None:
        raise TypeError(f"elements of type {dtype} cannot be on the device")
    kind: np.dtype[Any] = np.dtype(dtype if known is None else known.to_numpy())
    if not is_number(kind) and not _is_record(kind) and kind.kind not in "mM":
        raise TypeError(f"elements of type {kind} cannot be on the device")
    return kind


@hides_frames
def device_array_like(ary: Any, stream: Any = 0) -> DeviceNDArray:
    """Returns a device array with the shape, type and order of another array, and arbitrary contents."""
    return device_array(*like(ary), stream=stream)


def like(ary: Any) -> tuple[tuple[int, ...], np.dtype[Any], None, str]:
    """Shape, type, strides and order of a new array like ``ary``."""
    if not all(hasattr(ary, name) for name in ("shape", "dtype", "flags")):
        raise TypeError(f"an array is needed to make another one like it, not {ary!r}")
    fortran = ary.flags["F_CONTIGUOUS"] and not ary.flags["C_CONTIGUOUS"]
    return ary.shape, ary.dtype, None, "F" if fortran else "C"


@hides_frames
def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: DeviceNDArray | None = None) -> DeviceNDArray:
    """Copies an array to the device and returns the copy. ``to`` is an existing device array to fill instead."""
    if to is None and isinstance(obj, DeviceNDArray):
        return obj
    source = obj if isinstance(obj, DeviceNDArray) else np.asarray(obj)
    elements_of(source.dtype)
    handle_of(stream)
    if to is not None and not isinstance(to, DeviceNDArray):
        raise TypeError(f"to_device fills a device array, not {type(to).__name__}")
    if to is None:
        to = device_array_like(source, stream)
        if isinstance(obj, np.ndarray):  # one that nobody else keeps is not kept; a view may be all that is left of it
            to._source = weakref.ref(obj) if obj.base is None else lambda: obj
    if copy:
        to.copy_to_device(source, stream)
    return to


def is_number(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "biufc" or dtype.name == "bfloat16"  # NumPy's kind of bfloat16 is V (bytes)


def _is_record(dtype: np.dtype[Any]) -> bool:
    """Whether it is a record type whose fields are numbers, arrays of numbers or, recursively, such records."""
    fields = [dtype[name].base for name in dtype.names or ()]
    return dtype.names is not None and all(is_number(each) or _is_record(each) for each in fields)


def is_cuda_array(obj: Any) -> bool:
    """Returns whether ``obj`` is an array on the device, from ParPy or from another library."""
    return isinstance(obj, DeviceNDArray) or hasattr(obj, "__cuda_array_interface__")


@hides_frames
def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    """Returns another library's GPU array as a device array that shares the memory."""
    if isinstance(obj, DeviceNDArray):
        return obj
    if not hasattr(obj, "__cuda_array_interface__"):
        raise TypeError(f"{type(obj).__name__} is not an array on the GPU; to_device(…) copies one to it")
    return from_cuda_array_interface(obj.__cuda_array_interface__, obj, sync)


@hides_frames
def from_cuda_array_interface(desc: dict[str, Any], owner: Any = None, sync: bool = True) -> DeviceNDArray:
    """Returns the GPU array that a ``__cuda_array_interface__`` describes. The array keeps ``owner`` alive. With
    ``sync`` the call waits for the stream that the interface names."""
    if not isinstance(desc, dict) or not {"shape", "typestr", "data", "version"} <= desc.keys():
        raise TypeError(
            f"a __cuda_array_interface__ is a dict with 'shape', 'typestr', 'data' and 'version', not {desc!r}"
        )
    view = described_by(desc, owner)
    if desc.get("simulated"):
        return DeviceNDArray(view, 0, False)
    if sync and desc.get("stream"):
        _native.synchronize_stream(desc["stream"])
    return DeviceNDArray(view, 0, True)
