"""Arrays in the memory that compiled code runs on: the host's, or a GPU's.

A Buffer is an argument of jit functions that is used in place. Other libraries take it without a copy, through
DLPack, ``__array_interface__`` (host memory) or ``__cuda_array_interface__`` (GPU memory), and give theirs to
``from_array``.
"""

from __future__ import annotations

import functools
import importlib
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from . import _native
from .arrays.allocators import allocate_of
from .arrays.device_arrays import (
    DeviceArray,
    described,
    described_by,
    empty_view,
    host_copy,
    is_basic,
    on_host,
    reshaped,
    store,
)
from .backend import is_enabled
from .calls.errors import BackendError
from .calls.jit import sync as wait_for
from .calls.options import CompileBackend
from .calls.tracebacks import hides_frames
from .types import bf16, elem_size
from .vocabulary.sizes import ElemSize, Size

if TYPE_CHECKING:
    from .scale.partitioned import Partitioned

__all__ = [
    "Buffer",
    "empty",
    "empty_cache",
    "empty_like",
    "from_array",
    "from_raw",
    "full",
    "full_like",
    "set_allocator",
    "sync",
    "zeros",
    "zeros_like",
]

Shape = int | Sequence[int]


class Buffer(DeviceArray):
    """An array in the memory of one back end. The functions of this module make buffers.

    ``shape`` is the tuple of its sizes, ``dtype`` the ``ElemSize`` of its elements, and ``backend`` (also
    ``backend()``) the back end whose memory holds it.
    """

    __slots__ = ("backend", "dtype")

    def __init__(self, view: Any, dtype: Size, backend: CompileBackend) -> None:
        self._view, self.on_gpu = view, backend is CompileBackend.Cuda
        self.dtype, self.backend = dtype, backend

    def _truths(self, view: Any) -> Buffer:
        return Buffer(view, ElemSize.Bool, self.backend)

    # ------------------------------------------------------------ size and text

    def size(self) -> int:
        """Returns the number of bytes of all elements, which is also ``nbytes``."""
        return int(self.nbytes)

    def __repr__(self) -> str:
        return f"<parpy.buffer.Buffer {self.shape} of {self.dtype.name} for {self.backend.name}>"

    # ------------------------------------------------------------ for other libraries

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if self.on_gpu:
            raise AttributeError("a buffer on a GPU has no __array_interface__; copy it with numpy()")
        interface: dict[str, Any] = self._view.__array_interface__
        return interface

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if not self.on_gpu:
            raise AttributeError("a buffer in host memory has no __cuda_array_interface__")
        return self._device_interface()

    def __dlpack__(self, **keywords: Any) -> Any:
        return self._device_capsule(self.dtype.value) if self.on_gpu else self._view.__dlpack__(**keywords)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False and self.on_gpu:
            raise ValueError("a buffer on a GPU becomes a NumPy array only by a copy")
        host = self.numpy()
        return np.array(host, dtype=dtype, copy=copy if not self.on_gpu else None)

    # ------------------------------------------------------------ contents

    def sync(self) -> None:
        """Waits until the GPUs have finished their work."""
        if self.on_gpu:
            _native.synchronize()

    def numpy(self) -> Any:
        """Returns a NumPy array: the memory itself if the buffer is on the host, a copy if it is on a GPU."""
        if not self.on_gpu:
            return self._view
        return host_copy(self._view)

    def torch(self) -> Any:
        """Returns a PyTorch tensor that shares the memory."""
        torch = importlib.import_module("torch")
        if not self.on_gpu and self.dtype.name == "BF16":
            return torch.from_numpy(self._view.view(np.uint16)).view(torch.bfloat16)
        return torch.from_dlpack(self) if self.on_gpu else torch.from_numpy(self._view)

    def copy(self) -> Buffer:
        """Returns a new buffer with the same elements in C order."""
        return _copied(self, self.dtype, self.backend)

    def copy_from(self, source: Any) -> None:
        """Copies the elements of another array into the buffer and converts them to its type. Raises ValueError for
        another shape.
        """
        source = from_array(source)
        if source.shape != self.shape:
            raise ValueError(f"an array of shape {source.shape} cannot be copied into a buffer of shape {self.shape}")
        if self.on_gpu:
            store(self._view, source)
        else:
            np.copyto(self._view, source.numpy().astype(self._view.dtype, copy=False))

    def with_type(self, dtype: Any) -> Buffer:
        """Returns the elements converted to another type, or the buffer itself if it has that type."""
        wanted = _elem_size(dtype)
        return self if wanted is self.dtype else _copied(self, wanted, self.backend)

    def reshape(self, *shape: Any) -> Buffer:
        """Returns a buffer that shares the memory and has another shape; one size may be -1."""
        given = shape[0] if len(shape) == 1 and isinstance(shape[0], Iterable) else shape
        wanted = tuple(map(operator.index, given))
        count, own = math.prod(size for size in wanted if size != -1), math.prod(self.shape)
        if own % count if count and -1 in wanted else own != count:
            raise ValueError(f"a buffer of {own} elements has no shape {wanted}")
        try:
            view = reshaped(self._view, wanted)
        except ValueError:
            raise ValueError(f"a buffer of strides {self.strides} cannot be viewed as {wanted} in place") from None
        return Buffer(view, self.dtype, self.backend)

    @property
    def T(self) -> Buffer:
        """A buffer that shares the memory and has the dimensions in reverse order."""
        return Buffer(self._view.T, self.dtype, self.backend)

    def __getitem__(self, index: Any) -> Any:
        view = self._on_device(index) if self.on_gpu else self._view[index]
        if isinstance(view, np.ndarray) and view.ndim > 0:
            return Buffer(view, self.dtype, self.backend)
        return host_copy(reshaped(view, (1,)))[0] if self.on_gpu else view

    def _on_device(self, index: Any) -> Any:
        """The view that an index selects. NumPy must not read device memory, so an element becomes a 0-d view."""
        if not is_basic(index):
            raise TypeError(f"a buffer of a GPU can be indexed by integers and slices, not by {index!r}")
        parts = index if isinstance(index, tuple) else (index,)
        return self._view[parts if ... in parts else (*parts, ...)]

    def __setitem__(self, index: Any, value: Any) -> None:
        if not self.on_gpu:
            self._view[index] = on_host(value)
            return
        view = self._on_device(index)
        store(view, value if isinstance(value, DeviceArray) or np.ndim(value) == 0 else np.asarray(value))

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __float__(self) -> float:
        return float(self._only())

    def __int__(self) -> int:
        return int(self._only())

    def _only(self) -> Any:
        if math.prod(self.shape) != 1:
            raise TypeError(f"{self!r} is not a single number")
        return self.numpy().item()

    def __index__(self) -> int:
        """The only element as an int. Raises TypeError if the buffer has several elements or no integers."""
        if math.prod(self.shape) != 1 or self.dtype.name[0] not in "IU":
            raise TypeError(f"{self!r} is not a single integer")
        return int(self.numpy().item())


def _elem_size(dtype: Any) -> Size:
    if isinstance(dtype, ElemSize):
        return dtype
    found = elem_size(dtype)
    if found is None and (isinstance(dtype, str) or any(dtype is kind for kind in (int, float, bool, complex))):
        try:
            found = elem_size(np.dtype(dtype))
        except TypeError:
            found = None
    if found is None:
        raise TypeError(f"the element type must be one of parpy.types, NumPy or PyTorch, not {dtype!r}")
    return found


_dtypes: dict[int, np.dtype[Any]] = {}  # by the id of the type, because Python code computes the hash of an enum


def _numpy_dtype(dtype: Size) -> np.dtype[Any]:
    known = _dtypes.get(id(dtype))
    if known is None:
        known = _dtypes[id(dtype)] = np.dtype(dtype.to_numpy())
    return known


@functools.cache
def _has_gpu() -> bool:
    return is_enabled(CompileBackend.Cuda)


def _backend(backend: CompileBackend | None) -> CompileBackend:
    if backend is CompileBackend.Cuda and _has_gpu():
        return backend
    if backend is not None and not isinstance(backend, CompileBackend):
        raise TypeError(f"expected a parpy.CompileBackend, not {backend!r}")
    if backend in (None, CompileBackend.Auto):
        return CompileBackend.Cuda if _has_gpu() else CompileBackend.Cpu
    if backend in (CompileBackend.Metal, CompileBackend.Triton):
        raise ValueError(f"buffers of {backend.name} are not part of this version of ParPy")
    if backend is CompileBackend.Cuda:
        raise BackendError(f"there is no GPU for the buffer: {_native.cuda_unavailable()}")
    return backend


def _extents(shape: Shape) -> tuple[int, ...]:
    try:
        sizes = tuple(map(operator.index, shape if type(shape) is tuple or isinstance(shape, Iterable) else (shape,)))
    except TypeError:
        raise TypeError(f"extents must be integers, not {shape!r}") from None
    for size in sizes:
        if size < 0:
            raise ValueError(f"extents must not be negative: {sizes}")
    return sizes


@hides_frames
def empty(shape: Shape, dtype: Any = ElemSize.F64, backend: CompileBackend | None = None) -> Buffer:
    """Returns a buffer with arbitrary elements. Without a ``backend`` it is on the GPU if there is one, and otherwise
    on the host.
    """
    return _made(shape, dtype, backend, False)


@hides_frames
def zeros(shape: Shape, dtype: Any = ElemSize.F64, backend: CompileBackend | None = None) -> Buffer:
    """Returns a buffer of zeros. The ``backend`` is chosen as by ``empty``."""
    return _made(shape, dtype, backend, True)


def _made(shape: Shape, dtype: Any, backend: CompileBackend | None, zeroed: bool) -> Buffer:
    kind, place, sizes = _elem_size(dtype), _backend(backend), _extents(shape)
    elements = _numpy_dtype(kind)
    if place is CompileBackend.Cuda:
        return Buffer(empty_view(sizes, elements, zeroed=zeroed), kind, place)
    return Buffer((np.zeros if zeroed else np.empty)(sizes, elements), kind, place)


@hides_frames
def full(shape: Shape, fill_value: Any, dtype: Any = None, backend: CompileBackend | None = None) -> Buffer:
    """Returns a buffer whose elements are all ``fill_value``. Without a ``dtype`` it has the type of
    ``np.asarray(fill_value)``.
    """
    made = empty(shape, np.asarray(fill_value).dtype if dtype is None else dtype, backend)
    made[...] = fill_value
    return made


def on_gpu(view: Any, dtype: str) -> Buffer:
    """A buffer over GPU memory that compiled code has allocated. NumPy has no type for `dtype` "bf16"."""
    return Buffer(view, bf16 if dtype == "bf16" else _elem_size(view.dtype), CompileBackend.Cuda)


def sync(backend: CompileBackend | None = None) -> None:
    """Waits until the GPUs have finished all work of this process, as ``parpy.sync`` does."""
    wait_for(backend)


def empty_cache() -> None:
    """Returns the GPU memory of freed arrays to the system, after waiting for the GPUs.

    ParPy keeps freed memory for later arrays, and other libraries cannot use it until this call.
    """
    _native.empty_device_cache()


@hides_frames
def set_allocator(allocator: str | Callable[[int, int], Any] | None) -> None:
    """Takes the GPU memory of later arrays and calls from another library's allocator.

    ``"cupy"`` is CuPy's current allocator, such as a memory pool or a limit that the program has set; ``"rmm"`` is
    RMM's current device resource; None is ParPy's own pool. A function gets a number of bytes and the address of a
    CUDA stream, and returns an object whose attribute ``ptr`` is the address of memory of the current GPU. ParPy keeps
    the object as long as it uses the memory, and drops it when the stream will wait for all work that uses it.

    Arrays that exist keep their memory. The memory of CUDA graphs that are being captured is always of ParPy's pool.
    Raises ``ImportError`` if the library is missing, and ``ValueError`` for another name.
    """
    _native.set_allocator(None if allocator is None else allocate_of(allocator))


@hides_frames
def empty_like(other: Any) -> Buffer:
    """Returns a buffer with the shape, type and place of another array, and arbitrary elements."""
    like = from_array(other)
    return empty(like.shape, like.dtype, like.backend)


@hides_frames
def zeros_like(other: Any) -> Buffer:
    """Returns a buffer of zeros with the shape, type and place of another array."""
    like = from_array(other)
    return zeros(like.shape, like.dtype, like.backend)


@hides_frames
def full_like(other: Any, fill_value: Any) -> Buffer:
    """Returns a buffer with the shape, type and place of another array, whose elements are all ``fill_value``."""
    like = from_array(other)
    return full(like.shape, fill_value, like.dtype, like.backend)


@overload
def from_array(array: Any, backend: CompileBackend | None = None) -> Buffer: ...
@overload
def from_array(
    array: Any, backend: CompileBackend | None = None, *, devices: Iterable[int], axis: int = 0
) -> Partitioned: ...
@hides_frames
def from_array(
    array: Any,
    backend: CompileBackend | None = None,
    *,
    devices: Iterable[int] | None = None,
    axis: int = 0,
) -> Buffer | Partitioned:
    """Returns a buffer over the memory of another library's array. If the array is not in the memory of ``backend``,
    the buffer is a copy there.

    Without a ``backend`` the memory is always shared. With ``devices`` the elements are copied to blocks along the
    axis, one for each device, in memory of its own: calls with these ``opts.devices`` use them in place. The devices
    are those GPUs if the ``backend`` is CUDA, and otherwise virtual ones on the host. Raises TypeError for element
    types that buffers do not have.
    """
    if devices is not None:
        if backend is not None and _backend(backend) is CompileBackend.Cuda:
            from .scale.gpu_blocks import split_on_gpus

            return split_on_gpus(array, devices, axis)
        from .scale.partitioned import split

        return split(array, devices, axis)
    if isinstance(array, Buffer):
        return array if backend is None or _backend(backend) is array.backend else _moved(array, _backend(backend))
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        kind, place = _elem_size(np.dtype(interface["typestr"])), _backend(CompileBackend.Cuda)
        made = Buffer(described_by(interface, array), kind, place)
    else:
        if not isinstance(array, np.ndarray) and hasattr(array, "__dlpack__"):
            array = np.from_dlpack(array)
        host = np.asarray(array)
        if elem_size(host.dtype) is None:
            raise TypeError(f"elements of type {host.dtype} cannot be in a buffer")
        made = Buffer(host, _elem_size(host.dtype), CompileBackend.Cpu)
    return made if backend is None else from_array(made, backend)


def _moved(source: Buffer, backend: CompileBackend) -> Buffer:
    if CompileBackend.Cuda not in (source.backend, backend):
        return Buffer(source._view, source.dtype, backend)
    return _copied(source, source.dtype, backend)


def _copied(source: Buffer, dtype: Size, backend: CompileBackend) -> Buffer:
    made = empty(source.shape, dtype, backend)
    made.copy_from(source)
    return made


@hides_frames
def from_raw(
    pointer: int,
    shape: Shape,
    dtype: Any,
    backend: CompileBackend | None = None,
    strides: Sequence[int] | None = None,
    owner: object = None,
) -> Buffer:
    """Returns a buffer over the memory at the address ``pointer``, which must stay valid; the buffer keeps ``owner``
    alive.

    ``strides`` are in bytes; without them the elements are in C order.
    """
    kind, place = _elem_size(dtype), _backend(backend)
    steps = None if strides is None else tuple(strides)
    return Buffer(described(int(pointer), _extents(shape), _numpy_dtype(kind), steps, owner), kind, place)
