"""The operations that the arrays of parpy.buffer and parpy.cuda share: copies with conversion, fills and comparisons.

A NumPy array, the view, describes each array. On the host the view is the array itself; on a GPU the view has its
address, shape and strides, and NumPy must not read its elements: compiled functions of this file do all the work.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping
from functools import partialmethod
from typing import Any

import numpy as np

from .. import _native
from ..calls.jit import jit
from ..calls.options import CompileBackend, CompileOptions

_KNOWS_COPY = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


@jit
def _copy(target: Any, source: Any) -> None:
    target[...] = source[...]


@jit
def _fill(target: Any, value: Any) -> None:
    target[...] = value


@jit
def _equal(target: Any, a: Any, b: Any) -> None:
    target[...] = a == b


@jit
def _not_equal(target: Any, a: Any, b: Any) -> None:
    target[...] = a != b


@jit
def _less(target: Any, a: Any, b: Any) -> None:
    target[...] = a < b


@jit
def _less_equal(target: Any, a: Any, b: Any) -> None:
    target[...] = a <= b


_COMPARISONS = {operator.eq: _equal, operator.ne: _not_equal, operator.lt: _less, operator.le: _less_equal}
_MIRRORED = {operator.gt: operator.lt, operator.ge: operator.le}


class DeviceArray:
    """An array in the memory of a GPU, or of the host if ``on_gpu`` is False. Comparisons give an array of
    truth values, like NumPy's; arrays are hashed by identity."""

    __slots__ = ("__weakref__", "_view", "on_gpu")
    __array_ufunc__ = None
    _truths: Callable[[Any], Any]
    """Makes an array of this class from a view of truth values; each subclass sets it."""

    def __init__(self, view: Any, on_gpu: bool) -> None:
        self._view, self.on_gpu = view, on_gpu

    # ------------------------------------------------------------ attributes

    shape = property(lambda self: self._view.shape, doc="The sizes of the dimensions.")
    strides = property(lambda self: self._view.strides, doc="Bytes from one element to the next, per dimension.")
    ndim = property(lambda self: self._view.ndim, doc="The number of dimensions.")
    nbytes = property(lambda self: self._view.nbytes, doc="Bytes of all elements.")

    def __len__(self) -> int:
        return len(self._view)

    def _own_stream(self) -> int:
        """The default stream for work on the array."""
        return 0

    # ------------------------------------------------------------ exchange with other libraries

    def _device_interface(self) -> dict[str, Any]:
        """The ``__cuda_array_interface__`` of an array on a GPU."""
        view = self._view
        return {
            "data": (pointer_of(view) if view.size else 0, not view.flags.writeable),
            "shape": view.shape,
            "strides": None if view.flags.c_contiguous else view.strides,
            "typestr": view.dtype.str,
            "version": 3,
            "stream": self._own_stream() or 1,
        }

    def _device_capsule(self, scalar: str) -> Any:
        """The DLPack capsule of an array on a GPU; ``scalar`` is the name of its element type in IR text."""
        view = self._view
        strides = tuple(step // view.itemsize for step in view.strides)
        return _native.dlpack_of_device(self, pointer_of(view), view.shape, strides, scalar)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The DLPack device: (2, GPU number) for a GPU, (1, 0) for the host."""
        return (2, device_of(self._view)) if self.on_gpu else (1, 0)

    # ------------------------------------------------------------ comparisons

    def _compared(self, compare: Callable[[Any, Any], Any], other: Any) -> Any:
        if not isinstance(other, DeviceArray | np.ndarray | bool | int | float | complex | np.generic):
            return NotImplemented
        if not self.on_gpu:
            return self._truths(np.asarray(compare(self._view, on_host(other))))
        theirs = other._view if isinstance(other, DeviceArray) else other
        stream, device = self._own_stream(), device_of(self._view)
        if not isinstance(theirs, np.ndarray):
            theirs = theirs if isinstance(theirs, np.generic) else _as_number(self._view, theirs)
        elif not (isinstance(other, DeviceArray) and other.on_gpu) or device_of(theirs) != device:
            theirs = uploaded(on_host(other), device, stream)
        kinds = {self._view.dtype.kind, theirs.dtype.kind}
        if "V" in kinds and (self._view.dtype.names or theirs.dtype.names):
            raise TypeError("records can be compared only field by field: a['x'] == b['x']")
        if kinds & {"m", "M"} and theirs.dtype != self._view.dtype:
            raise TypeError(
                f"{self._view.dtype} elements can be compared only with elements of this type, not {theirs.dtype}"
            )
        if "c" in kinds and compare not in (operator.eq, operator.ne):
            raise TypeError("complex numbers on a GPU have no order; compare their .real or abs")
        shape = np.broadcast_shapes(self._view.shape, theirs.shape)
        made = empty_view(shape, np.dtype(bool), stream=stream, device=device)
        operands = [_readable(each, shape, made, stream) for each in (self._view, theirs)]
        if compare in _MIRRORED:
            compare, operands = _MIRRORED[compare], operands[::-1]
        _run(_COMPARISONS[compare], made, *operands, stream=stream)
        return self._truths(made)

    __eq__ = partialmethod(_compared, operator.eq)
    __ne__ = partialmethod(_compared, operator.ne)
    __lt__ = partialmethod(_compared, operator.lt)
    __le__ = partialmethod(_compared, operator.le)
    __gt__ = partialmethod(_compared, operator.gt)
    __ge__ = partialmethod(_compared, operator.ge)
    __hash__ = object.__hash__


_native.set_device_array_type(DeviceArray)


# ---------------------------------------------------------------- views


def described(
    pointer: int, shape: tuple[int, ...], dtype: np.dtype[Any], strides: tuple[int, ...] | None, owner: object = None
) -> Any:
    """The view of memory at an address; it keeps ``owner`` alive. ``strides`` are in bytes; None is C order."""
    return _native.device_view(pointer, shape, dtype, strides, owner)


def described_by(interface: Mapping[str, Any], owner: object) -> Any:
    """The view that a ``__cuda_array_interface__`` describes, read-only if the interface says so. Raises
    NotImplementedError for an array with a mask."""
    if interface.get("mask") is not None:
        raise NotImplementedError("masked arrays of a GPU are not supported; pass data and mask as two arguments")
    (pointer, read_only), strides = interface["data"], interface.get("strides")
    steps = None if strides is None else tuple(strides)
    view = described(int(pointer), tuple(interface["shape"]), np.dtype(interface["typestr"]), steps, owner)
    if read_only:
        view.flags.writeable = False
    return view


def empty_view(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    fortran: bool = False,
    zeroed: bool = False,
    stream: int = 0,
    device: int = -1,
) -> Any:
    """The view of new memory on a GPU (-1: the current GPU), which must be used first on ``stream``."""
    return _native.new_device_array(shape, dtype, fortran, zeroed, stream, device)


def reshaped(view: Any, shape: tuple[int, ...]) -> Any:
    """A view of the elements with another shape; ValueError if that needs a copy. No element is read."""
    if _KNOWS_COPY:
        return np.reshape(view, shape, copy=False)
    result = view.view()
    try:
        result.shape = shape
    except AttributeError:
        raise ValueError(f"an array of strides {view.strides} has no view of shape {shape}") from None
    return result


def pointer_of(view: Any) -> int:
    """The address of the first element."""
    return int(view.__array_interface__["data"][0])


def device_of(view: Any) -> int:
    """The number of the GPU that has the elements, whichever GPU is selected."""
    return int(_native.device_of_pointer(pointer_of(view)))


def _spread(view: Any, shape: tuple[int, ...]) -> Any:
    """The view broadcast to a shape. Leading dimensions of size 1 are dropped, like in NumPy's assignments."""
    if view.shape == shape:
        return view
    while view.ndim > len(shape) and view.shape[0] == 1:
        view = view[0, ...]
    return np.broadcast_to(view, shape)


def _as_number(view: Any, number: Any) -> Any:
    """A Python number in the type in which NumPy compares it with the array. An integer outside of the range of all
    integer types becomes an infinity."""
    kind = view.dtype.kind
    if isinstance(number, int) and kind in "biu" and not -(2**63) <= number < 2**64:
        return np.float64(math.inf if number > 0 else -math.inf)
    common = np.result_type(view.dtype, number) if kind in "biufc" else None
    if common is not None and common.kind in "iu" and not np.iinfo(common).min <= number <= np.iinfo(common).max:
        common = None
    return np.asarray(number, common)[()]


def _readable(operand: Any, shape: tuple[int, ...], like: Any, stream: int) -> Any:
    """An operand of a comparison in the form that kernels read: a number, or aligned elements of that shape."""
    if not isinstance(operand, np.ndarray):
        return operand
    return _spread(operand if is_aligned(operand) else _copied(operand, like, stream), shape)


def is_basic(index: Any) -> bool:
    """Whether an index gives a view; any other index makes NumPy read elements."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is ... or isinstance(part, slice) or is_int(part) for part in parts)


def is_int(value: Any) -> bool:
    """Whether a value is an integer of Python or NumPy and not a truth value."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


# ---------------------------------------------------------------- work on the device


@functools.lru_cache(maxsize=64)
def _options(stream: int) -> CompileOptions:
    return CompileOptions(backend=CompileBackend.Cuda, automatic=True, stream=stream)


def _run(function: Any, *operands: Any, stream: int = 0) -> None:
    """Calls an elementwise function on views of one shape; it writes the first view."""
    operands = tuple(map(_as_number_of_date, operands))
    views = [each for each in operands if isinstance(each, np.ndarray)]
    if views[0].size == 0:
        return
    flat = iter(_coalesced(views))
    function(*(DeviceArray(next(flat), True) if isinstance(each, np.ndarray) else each for each in operands),
             opts=_options(stream))  # fmt: skip


def _as_number_of_date(operand: Any) -> Any:
    """The operand; dates and durations are viewed as the int64 that compiled code uses for them."""
    return operand.view(np.int64) if getattr(getattr(operand, "dtype", None), "kind", "") in ("m", "M") else operand


def _coalesced(views: list[Any]) -> list[Any]:
    """Views of the same elements in a common order, with as few dimensions as possible but at least one."""
    if all(view.ndim == 1 for view in views):
        return views
    if all(view.flags.c_contiguous for view in views):
        order, whole = list(range(views[0].ndim)), True
    else:
        order = sorted(range(views[0].ndim), key=lambda axis: -abs(views[0].strides[axis]))
        whole = False
    extents: list[int] = []
    steps: list[tuple[int, ...]] = []
    for axis in order:
        extent, step = views[0].shape[axis], tuple(view.strides[axis] for view in views)
        if extent == 1:
            continue
        if extents and (whole or all(a == b * extent for a, b in zip(steps[-1], step, strict=True))):
            extents[-1], steps[-1] = extents[-1] * extent, step
        else:
            extents.append(extent)
            steps.append(step)
    if not extents:
        extents, steps = [1], [tuple(view.itemsize for view in views)]
    return [
        described(pointer_of(view), tuple(extents), view.dtype, tuple(step[i] for step in steps), view)
        for i, view in enumerate(views)
    ]


def is_aligned(view: Any) -> bool:
    """Whether a GPU can read the elements directly: they are numbers at multiples of their size."""
    whole = not any(step % view.itemsize for step in view.strides)
    return whole and bool(view.flags.aligned) and view.dtype.names is None


def _as_words(*views: Any) -> list[Any]:
    """Views of elements of one size as the largest unsigned integers that fit all views, with one more dimension."""
    numbers = [number for view in views for number in (pointer_of(view), view.itemsize, *view.strides)]
    size = math.gcd(8, *numbers)
    words, count = np.dtype(f"u{size}"), views[0].itemsize // size
    return [described(pointer_of(view), (*view.shape, count), words, (*view.strides, size), view) for view in views]


def _overlap(a: Any, b: Any) -> bool:
    (a_low, a_high), (b_low, b_high) = map(np.lib.array_utils.byte_bounds, (a, b))
    return bool(a_low < b_high and b_low < a_high)


def assign(target: Any, source: Any, stream: int = 0) -> None:
    """``target[...] = source`` on one GPU, with NumPy's broadcasting and conversion: the real part of complex
    numbers, and integers modulo their range. Enqueued on ``stream``."""
    require_writeable(target)
    source = _spread(source, target.shape)
    if target.size == 0:
        return
    overlap = _overlap(target, source)
    if target.dtype == source.dtype and not overlap:
        for order in ("C_CONTIGUOUS", "F_CONTIGUOUS"):
            if target.flags[order] and source.flags[order]:
                _native.copy_on_device(pointer_of(target), pointer_of(source), target.nbytes, stream, device_of(target))
                return
    elif {source.dtype.kind, target.dtype.kind} & {"m", "M"} and source.dtype != target.dtype:
        source = uploaded(
            host_copy(source, stream).astype(target.dtype, casting="same_kind"), device_of(target), stream
        )
    elif source.dtype.kind == "c" and target.dtype.kind not in "bc":
        source = described(
            pointer_of(source), source.shape, np.dtype(f"f{source.itemsize // 2}"), source.strides, source
        )
    if overlap:  # all elements are read before the first one is written
        source = _copied(source, target, stream)
    if target.dtype == source.dtype and not (is_aligned(target) and is_aligned(source)):
        _run(_copy, *_as_words(target, source), stream=stream)
    elif target.dtype.names is not None or source.dtype.names is not None:
        raise TypeError(f"elements of type {source.dtype} cannot become elements of type {target.dtype}")
    elif not is_aligned(source):
        assign(target, _copied(source, target, stream), stream)
    elif not is_aligned(target):
        between = empty_view(target.shape, target.dtype, stream=stream, device=device_of(target))
        assign(between, source, stream)
        assign(target, between, stream)
    else:
        _run(_copy, target, source, stream=stream)


def require_writeable(view: Any) -> None:
    """Raises ValueError for read-only memory."""
    if not view.flags.writeable:
        raise ValueError("the array is read-only, as its owner shared it")


def _copied(source: Any, target: Any, stream: int) -> Any:
    """A copy of ``source`` on the GPU of ``target``."""
    made = empty_view(source.shape, source.dtype, stream=stream, device=device_of(target))
    assign(made, source, stream)
    return made


def fill(target: Any, value: Any, stream: int = 0) -> None:
    """``target[...] = value`` on a GPU for one value, with NumPy's conversion. Enqueued on ``stream``."""
    require_writeable(target)
    element = np.asarray(value, target.dtype)
    if not is_aligned(target):
        assign(target, uploaded(element, device_of(target), stream), stream)
    elif target.flags.c_contiguous and element.tobytes().count(0) == element.nbytes:
        _native.zero_device(pointer_of(target), target.nbytes, stream, device_of(target))
    else:
        _run(_fill, target, element[()], stream=stream)


def uploaded(host: Any, device: int = -1, stream: int = 0) -> Any:
    """A copy of a host array on a GPU."""
    fortran = host.flags.f_contiguous and not host.flags.c_contiguous
    whole = host if host.flags.c_contiguous or fortran else np.ascontiguousarray(host)
    made = empty_view(host.shape, host.dtype, fortran, stream=stream, device=device)
    _native.copy_to_device(pointer_of(made), pointer_of(whole), whole.nbytes, stream, device_of(made))
    _native.synchronize_stream(stream, device_of(made))  # the caller may free or change the host array at once
    return made


def store(target: Any, value: Any, stream: int = 0) -> None:
    """``target[...] = value`` on a GPU, for a number, a host array or a device array."""
    require_writeable(target)
    if isinstance(value, DeviceArray) and value.on_gpu:
        source = value._view
        if device_of(source) == device_of(target):
            assign(target, source, stream)
        else:
            _store_from_other(target, source, stream)
        return
    host = value._view if isinstance(value, DeviceArray) else np.asarray(value)
    if host.ndim == 0:
        fill(target, host[()] if isinstance(value, np.generic | DeviceArray) else value, stream)
        return
    for order in ("C", "F"):
        if host.shape == target.shape and target.flags[order + "_CONTIGUOUS"]:
            given = np.asarray(host, target.dtype, order)
            _native.copy_to_device(pointer_of(target), pointer_of(given), given.nbytes, stream, device_of(target))
            if given is not value or stream == 0:
                _native.synchronize_stream(stream, device_of(target))
            return
    converts = host.dtype.names is not None or host.nbytes > math.prod(host.shape) * target.itemsize
    assign(target, uploaded(host.astype(target.dtype) if converts else host, device_of(target), stream), stream)


def _store_from_other(target: Any, source: Any, stream: int) -> None:
    """``target[...] = source`` for arrays on different GPUs. Enqueued on ``stream`` of the GPU of ``target``, after
    the work on the default stream of the GPU of ``source``."""
    if source.size == 0:
        assign(target, empty_view(source.shape, source.dtype, device=device_of(target)), stream)
        return
    whole = source if source.flags.c_contiguous else _copied(source, source, 0)
    device = device_of(target)
    plain = target.flags.c_contiguous and (target.shape, target.dtype) == (source.shape, source.dtype)
    there = target if plain else empty_view(source.shape, source.dtype, stream=stream, device=device)
    _native.copy_between(pointer_of(there), device, pointer_of(whole), device_of(whole), whole.nbytes, stream)
    if not plain:
        assign(target, there, stream)


def fetch(host: Any, source: Any, stream: int = 0) -> None:
    """Copies a GPU array to a host array of the same shape and type; without a ``stream`` it waits for the copy."""
    require_writeable(host)
    if source.size == 0:
        return
    device = device_of(source)
    for order in ("C_CONTIGUOUS", "F_CONTIGUOUS"):
        if host.flags[order] and source.flags[order]:
            _native.copy_to_host(pointer_of(host), pointer_of(source), host.nbytes, stream, device)
            if stream == 0:
                _native.synchronize_stream(stream, device)
            return
    whole = source
    if not source.flags.c_contiguous:
        whole = empty_view(source.shape, source.dtype, stream=stream, device=device)
        assign(whole, source, stream)
    between = host if host.flags.c_contiguous else np.empty(host.shape, host.dtype)
    _native.copy_to_host(pointer_of(between), pointer_of(whole), between.nbytes, stream, device)
    if between is not host or stream == 0:
        _native.synchronize_stream(stream, device)
    if between is not host:
        np.copyto(host, between)


def host_copy(source: Any, stream: int = 0) -> Any:
    """A host copy of the elements, made after the work on ``stream``; waits for the copy."""
    host = np.empty(source.shape, source.dtype)
    fetch(host, source, stream)
    if stream != 0 and source.size != 0:
        _native.synchronize_stream(stream, device_of(source))
    return host


def on_host(value: Any) -> Any:
    """The elements of a device array on the host; other values unchanged."""
    if not isinstance(value, DeviceArray):
        return value
    return host_copy(value._view) if value.on_gpu else value._view
