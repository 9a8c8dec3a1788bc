"""Fourier transforms over one to three dimensions, by cuFFT for arrays on a GPU and by NumPy for other arrays.

As in cuFFT, neither direction is scaled, so that ``ifft(fft(x))`` is ``x`` times the number n of its elements. Without
``axes`` all axes are transformed. ``norm="backward"`` divides inverse transforms by n, as ``numpy.fft`` does,
``norm="ortho"`` both directions by the root of n, and ``norm="forward"`` forward transforms by n.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np

from .. import _native
from ..arrays.libraries import (
    HOST,
    Library,
    are_apart,
    as_operand,
    copied,
    device_of_all,
    dtype_of,
    has_several_devices,
    is_c_contiguous,
    library_of,
    on_device,
    overlap,
    shape_of,
    stream_of,
    with_type,
)
from ..cuda import external_stream
from ..cuda._arrays import DeviceNDArray
from ._libraries import open_library
from ._operands import address_of
from ._places import contiguous, host_view, like, on_the_gpu, require_writable, runs_on_gpu
from ._plans import Plans, how_of
from ._scaling import scale

__all__ = [
    "FFTPlan", "clear_plan_cache", "fft", "fft_inplace", "ifft", "ifft_inplace", "irfft", "plan_cache_size", "rfft",
]  # fmt: skip

_FORWARD, _INVERSE = -1, 1
_MOST_PLANS = 32


class _Kind(NamedTuple):
    """A kind of transform: its number, its function, and the types of input and output."""

    number: int
    function: str
    given: str
    made: str


_KINDS = {
    ("c8", "c8"): _Kind(0x29, "cufftExecC2C", "c8", "c8"),
    ("f4", "c8"): _Kind(0x2A, "cufftExecR2C", "f4", "c8"),
    ("c8", "f4"): _Kind(0x2C, "cufftExecC2R", "c8", "f4"),
    ("c16", "c16"): _Kind(0x69, "cufftExecZ2Z", "c16", "c16"),
    ("f8", "c16"): _Kind(0x6A, "cufftExecD2Z", "f8", "c16"),
    ("c16", "f8"): _Kind(0x6C, "cufftExecZ2D", "c16", "f8"),
}


def _code(dtype: np.dtype[Any]) -> str:
    return f"{dtype.kind}{dtype.itemsize}"


def _kind(given: np.dtype[Any], made: np.dtype[Any]) -> _Kind:
    found = _KINDS.get((_code(given), _code(made)))
    if found is None:
        raise ValueError(f"Invalid type combination: there is no transform from {given} to {made}")
    return found


def _complex_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.complex64 if dtype in (np.float32, np.float16, np.complex64) else np.complex128)


def _real_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.float32 if _complex_of(dtype) == np.complex64 else np.float64)


# ---------------------------------------------------------------- plans


class _Handle:
    """A plan of cuFFT, which is destroyed with this object."""

    def __init__(self, shape: tuple[int, ...], batch: int, kind: _Kind, given: int, made: int, device: int) -> None:
        self._lock = threading.Lock()
        self._device, self._stream = device, 0
        self._library = open_library("cufft")
        self.number = ctypes.c_int()
        sizes = (ctypes.c_int * len(shape))(*shape)
        self._library.call(
            "cufftPlanMany",
            ctypes.byref(self.number),
            len(shape),
            sizes,
            None,
            1,
            given,
            None,
            1,
            made,
            kind.number,
            batch,
        )
        self._name, self._function = kind.function, self._library.function(kind.function)

    def run(self, stream: int, given: int, made: int, *direction: int) -> None:
        """Runs the plan on a stream. ``given`` and ``made`` are the addresses of input and output; complex transforms
        have a direction."""
        with self._lock:
            if stream != self._stream:
                self._library.call("cufftSetStream", self.number, ctypes.c_void_p(stream))
                self._stream = stream
            status = self._function(self.number, ctypes.c_void_p(given), ctypes.c_void_p(made), *direction)
        if status:
            raise self._library.failure(self._name, status)
        if stream:
            _native.note_stream(stream, self._device)

    def __del__(self) -> None:
        if getattr(self, "number", None) is not None and self.number.value:
            self._library.call("cufftDestroy", self.number)


_plans: OrderedDict[Any, _Handle] = OrderedDict()
_plans_lock = threading.Lock()


def _plan_for(shape: tuple[int, ...], batch: int, kind: _Kind, device: int, stream: int) -> _Handle:
    """The plan for transforms on one stream. Streams share no plan, because a plan has one work area."""
    key = (shape, batch, kind.number, device, stream)
    with _plans_lock:
        found = _plans.get(key)
        if found is not None:
            _plans.move_to_end(key)
            return found
    half = (*shape[:-1], shape[-1] // 2 + 1)
    given = math.prod(half if kind.given[0] == "c" and kind.made[0] == "f" else shape)
    made = math.prod(half if kind.given[0] == "f" else shape)
    plan = _Handle(shape, batch, kind, given, made, device)
    with _plans_lock:
        _plans[key] = plan
        while len(_plans) > _MOST_PLANS:
            _plans.popitem(last=False)
    return plan


def plan_cache_size() -> int:
    """Returns the number of plans of cuFFT that are kept for further calls: from 0 to 32. The plans that were used last
    are kept."""
    return len(_plans)


def clear_plan_cache() -> None:
    """Destroys the plans that are kept, and with them their work areas in the memory of the GPU. Later calls make new
    ones."""
    with _plans_lock:
        _plans.clear()


class FFTPlan:
    """A plan for many transforms of arrays of one shape and type.

    ``shape`` has the sizes of one transform, 1 to 3 ints from 1, or is one int. ``itype`` and ``otype`` are the types
    of input and output: two equal complex types, or a real type and the complex type of the same precision (float32 and
    complex64, float64 and complex128). ``batch`` is the number of transforms, which are stacked along a first
    dimension of the arrays. ``stream`` is the stream of transforms that name none. ``mode`` is accepted for programs of
    Accelerate and ignored, because the layout is always cuFFT's native one.

    Neither direction is scaled. The transforms are those of cuFFT for arrays on a GPU, and of pocketfft (``numpy.fft``)
    for others.

    Raises ValueError for other shapes, batches and combinations of types.
    """

    def __init__(self, shape: Any, itype: Any, otype: Any, batch: int = 1, stream: Any = None, mode: int = 1) -> None:
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        if not 1 <= len(self.shape) <= 3 or any(not isinstance(n, int) or n < 1 for n in self.shape):
            raise ValueError(f"a plan is for one to three dimensions of sizes from 1, not {shape!r}")
        if not isinstance(batch, int) or batch < 1:
            raise ValueError(f"a plan is for a number of transforms from 1, not {batch!r}")
        self.itype, self.otype = np.dtype(itype), np.dtype(otype)
        _kind(self.itype, self.otype)
        self.batch, self.stream = batch, stream

    def forward(self, ary: Any, out: Any = None, stream: Any = None) -> Any:
        """Returns the forward transform of ``ary``, an array of type ``itype`` whose shape is that of the plan, with
        ``batch`` before it if there are several transforms.

        ``out`` is an array for the result, or ``ary`` itself for a transform in place. The result of a transform of
        real numbers has ``n // 2 + 1`` elements along its last dimension of size n. Raises ValueError for other shapes
        and types, and for plans from complex to real numbers.
        """
        return self._run(ary, out, self.itype, self.otype, _FORWARD, stream)

    def inverse(self, ary: Any, out: Any = None, stream: Any = None) -> Any:
        """Returns the inverse transform of ``ary``, an array of type ``otype``, as an array of type ``itype``. It is
        not scaled: ``inverse(forward(x))`` is ``x`` times the number of elements of a transform. The arguments and
        errors are those of ``forward``."""
        return self._run(ary, out, self.otype, self.itype, _INVERSE, stream)

    def _run(self, ary: Any, out: Any, given: np.dtype[Any], made: np.dtype[Any], direction: int, stream: Any) -> Any:
        if given.kind == "f" and direction == _INVERSE:
            raise ValueError(f"Invalid type combination: there is no inverse transform from {given} to {made}")
        if given.kind == "c" and made.kind == "f" and direction == _FORWARD:
            raise ValueError(f"Invalid type combination: there is no forward transform from {given} to {made}")
        half = (*self.shape[:-1], self.shape[-1] // 2 + 1)
        wanted = half if given.kind == "c" and made.kind == "f" else self.shape
        shape = wanted if self.batch == 1 and len(shape_of(ary)) == len(wanted) else (self.batch, *wanted)
        if tuple(shape_of(ary)) != shape or dtype_of(ary) != given:
            raise ValueError(
                f"the plan is for arrays of shape {shape} and type {given}, not of {tuple(shape_of(ary))} and "
                f"{dtype_of(ary)}"
            )
        stream = self.stream if stream is None else stream
        rank, last = len(self.shape), self.shape[-1]
        key, found = _as_before(("plan", made, rank, direction, last), ary, out, stream)
        if found is not None:
            return found
        return _transform(key, ary, out, made, rank, direction, None, stream, last)


# ---------------------------------------------------------------- transforms


def fft(ary: Any, out: Any = None, stream: Any = None, *, axes: Any = None, norm: str | None = None) -> Any:
    """Returns the Fourier transform of ``ary``, an array of real or complex numbers on the host or on a device, over 1
    to 3 axes.

    ``axes`` names the last axes, as an int or a tuple of ints; the axes before them number independent transforms.
    Without ``axes`` all axes are transformed. The result is an array of complex64 for complex64, float32 and float16,
    and of complex128 otherwise, in the shape of ``ary`` and from the same library. ``out`` is an array for the result.
    If ``ary`` is real and ``out`` has ``n // 2 + 1`` elements along the last axis of size n, the result is that of
    ``rfft``. ``norm`` is None for no scaling, or ``'backward'``, ``'ortho'`` or ``'forward'`` as in ``numpy.fft``.
    ``stream`` is the stream of the work on a GPU.

    The method is that of cuFFT on a GPU and of pocketfft (``numpy.fft.fftn``) elsewhere. Raises ValueError for arrays
    of no elements, other axes and types, and an ``out`` of another shape or type.
    """
    key, found = _as_before(("fft", axes, norm), ary, out, stream)
    if found is not None:
        return found
    ary = as_operand(ary)
    if out is not None and dtype_of(ary).kind == "f" and tuple(shape_of(out)) == _half(shape_of(ary)):
        return rfft(ary, out, stream, axes=axes, norm=norm)
    return _complex(key, ary, out, stream, axes, norm, _FORWARD)


def ifft(ary: Any, out: Any = None, stream: Any = None, *, axes: Any = None, norm: str | None = None) -> Any:
    """Returns the inverse Fourier transform of ``ary`` over 1 to 3 axes, without scaling: ``ifft(fft(x))`` is ``x``
    times the number of transformed elements. ``norm='backward'`` divides by that number, as ``numpy.fft.ifft`` does.

    The arguments, types and errors are those of ``fft``. If ``out`` is an array of real numbers, the result is that of
    ``irfft``.
    """
    key, found = _as_before(("ifft", axes, norm), ary, out, stream)
    if found is not None:
        return found
    ary = as_operand(ary)
    if out is not None and dtype_of(out).kind == "f":
        return irfft(ary, out, stream, n=shape_of(out)[-1], axes=axes, norm=norm)
    return _complex(key, ary, out, stream, axes, norm, _INVERSE)


def rfft(ary: Any, out: Any = None, stream: Any = None, *, axes: Any = None, norm: str | None = None) -> Any:
    """Returns the Fourier transform of an array of real numbers over 1 to 3 axes: the ``n // 2 + 1`` elements along the
    last axis of size n that determine the others.

    The result has complex64 for float32 and float16, and complex128 otherwise. The arguments are those of ``fft``, and
    the method is that of cuFFT or of ``numpy.fft.rfftn``. Raises ValueError for arrays of complex numbers, and as
    ``fft`` does.
    """
    key, found = _as_before(("rfft", axes, norm), ary, out, stream)
    if found is not None:
        return found
    ary = as_operand(ary)
    if dtype_of(ary).kind == "c":
        raise ValueError("rfft takes real numbers; fft takes complex ones")
    rank, made = _rank(ary, axes), _complex_of(dtype_of(ary))
    given = _as(ary, _real_of(dtype_of(ary)), stream)
    return _transform(key if given is ary else None, given, out, made, rank, _FORWARD, norm, stream)


def irfft(
    ary: Any, out: Any = None, stream: Any = None, *, n: int | None = None, axes: Any = None, norm: str | None = None
) -> Any:
    """Returns the array of real numbers whose ``rfft`` is ``ary``, times the number of its transformed elements.

    ``n`` is the size of the last axis of the result, which is ``2 * (m - 1)`` by default for m elements of ``ary``. The
    result has float32 for complex64, and float64 otherwise. The other arguments are those of ``fft``, and the method is
    that of cuFFT or of ``numpy.fft.irfftn``. Raises ValueError if ``n // 2 + 1`` is not m, and as ``fft`` does.
    """
    key, found = _as_before(("irfft", axes, norm, n), ary, out, stream)
    if found is not None:
        return found
    ary = as_operand(ary)
    rank = _rank(ary, axes)
    wanted = _complex_of(dtype_of(ary))
    size = 2 * (shape_of(ary)[-1] - 1) if n is None else n
    if size < 1 or size // 2 + 1 != shape_of(ary)[-1]:
        raise ValueError(f"an inverse transform of size {size} needs {size // 2 + 1} elements, not {shape_of(ary)[-1]}")
    given = _as(ary, wanted, stream)
    return _transform(key if given is ary else None, given, out, _real_of(wanted), rank, _INVERSE, norm, stream, size)


def fft_inplace(ary: Any, stream: Any = None, *, axes: Any = None, norm: str | None = None) -> Any:
    """Replaces the elements of ``ary``, an array of complex64 or complex128 in C order, by its Fourier transform, and
    returns the array. ``axes``, ``norm`` and ``stream`` are those of ``fft``. Raises TypeError for objects that are no
    arrays, and ValueError for other types and orders, read-only arrays, and as ``fft`` does."""
    return _in_place(ary, stream, axes, norm, _FORWARD)


def ifft_inplace(ary: Any, stream: Any = None, *, axes: Any = None, norm: str | None = None) -> Any:
    """Replaces the elements of ``ary``, an array of complex64 or complex128 in C order, by its inverse Fourier
    transform without scaling, and returns the array. The arguments and errors are those of ``fft_inplace``."""
    return _in_place(ary, stream, axes, norm, _INVERSE)


def _in_place(ary: Any, stream: Any, axes: Any, norm: str | None, direction: int) -> Any:
    key, found = _as_before((direction, axes, norm), ary, ary, stream)
    if found is not None:
        return found
    if library_of(ary) is None:
        raise TypeError(f"an array is transformed in place, not an object of type {type(ary).__name__}")
    if dtype_of(ary) not in (np.complex64, np.complex128):
        raise ValueError(f"arrays of complex numbers are transformed in place, not those of {dtype_of(ary)}")
    return _transform(key, ary, ary, dtype_of(ary), _rank(ary, axes), direction, norm, stream)


def _complex(key: Any, ary: Any, out: Any, stream: Any, axes: Any, norm: str | None, direction: int) -> Any:
    wanted = _complex_of(dtype_of(ary))
    if dtype_of(ary) != wanted:
        given = with_type(ary, wanted, stream)
        return (fft if direction == _FORWARD else ifft)(given, out, stream, axes=axes, norm=norm)
    return _transform(key, ary, out, wanted, _rank(ary, axes), direction, norm, stream)


def _as(ary: Any, wanted: np.dtype[Any], stream: Any) -> Any:
    return ary if dtype_of(ary) == wanted else with_type(ary, wanted, stream)


def _half(shape: Any) -> tuple[int, ...]:
    return (*shape[:-1], shape[-1] // 2 + 1)


def _rank(ary: Any, axes: Any) -> int:
    """The number of transformed axes. Raises ValueError unless these are the last axes."""
    dimensions = len(shape_of(ary))
    if axes is None:
        count = dimensions
    else:
        named = (axes,) if isinstance(axes, int) else tuple(axes)
        found = sorted(np.lib.array_utils.normalize_axis_tuple(named, dimensions))
        count = len(found)
        if found != list(range(dimensions - count, dimensions)):
            raise ValueError(f"the axes of a transform are the last ones, in their order, not {axes!r}")
    if not 1 <= count <= 3:
        raise ValueError(f"1 to 3 axes are transformed, not {count}; name the last ones with axes=(-2, -1)")
    return count


def _factor(norm: str | None, direction: int, count: int) -> float:
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f"'norm' is None (not scaled), 'backward', 'ortho' or 'forward', not {norm!r}")
    if norm == "ortho":
        return 1 / math.sqrt(count)
    scaled = (norm == "backward" and direction == _INVERSE) or (norm == "forward" and direction == _FORWARD)
    return 1 / count if scaled else 1.0


def _as_before(call: tuple[Any, ...], ary: Any, out: Any, stream: Any) -> tuple[Any, Any]:
    """The key of a call, and its result if an earlier call had this key; None and None for calls that have no key. The
    key contains the layouts of the arrays, so that a call whose key is known needs no checks."""
    first = how_of(ary)
    if first is None:
        return None, None
    second: Any = out is ary
    made = first[1]
    if out is not None and out is not ary:
        found = how_of(out)
        if found is None:
            return None, None
        second, made = found
    key = call, first[0], second
    try:
        known = _transforms.get(key)
    except TypeError:  # a list of axes
        return None, None
    if second.__class__ is tuple and not are_apart(out, (ary,)) and overlap(out, ary):
        return None, None
    if known is None:
        return key, None
    return key, known.run(ary, out, first[1], made, stream_of((ary,), stream), stream)


def _transform(
    key: Any,
    ary: Any,
    out: Any,
    made: np.dtype[Any],
    rank: int,
    direction: int,
    norm: str | None,
    stream: Any,
    last: int | None = None,
) -> Any:
    """The transform over the last ``rank`` axes. ``last`` is the size of the last axis of a real result. ``key`` is the
    key for later calls with arrays like these, or None."""
    given = dtype_of(ary)
    kind = _kind(given, made)
    shape = tuple(shape_of(ary))
    if 0 in shape:
        raise ValueError(f"an array of shape {shape} has no transform")
    size = shape[-1] if last is None else last
    sizes = (*shape[len(shape) - rank : -1], size)
    result = _half(shape) if given.kind == "f" else (*shape[:-1], size)
    factor = _factor(norm, direction, math.prod(sizes))
    if out is not None:
        if tuple(shape_of(out)) != result or dtype_of(out) != made:
            raise ValueError(
                f"'out' is an array of shape {result} and type {made}, not of {tuple(shape_of(out))} and "
                f"{dtype_of(out)}"
            )
        require_writable(out)
    if not runs_on_gpu(ary, *(() if out is None else (out,))):
        return _on_host(ary, out, kind, rank, sizes, direction, factor)
    handle = stream_of((ary,) if out is None else (ary, out), stream)
    there = on_the_gpu(ary, handle)
    same = out is ary
    if same and there is ary and not is_c_contiguous(ary):
        raise ValueError("arrays that are transformed in place have elements that follow each other in C order")
    target = there if same else None
    if target is None and out is not None and library_of(out) is not HOST and is_c_contiguous(out):
        target = out
    there = contiguous(there, handle)
    library = library_of(there)
    assert library is not None
    if target is None:
        target = library.empty(result, made, there, stream)
    if not same and overlap(target, there):
        there = copied(there, library, handle)
    batch, keep = math.prod(shape[: len(shape) - rank]), there is ary
    transform = _Transform(kind, sizes, batch, direction, factor, result, made, library, keep)
    if key is not None and there is ary and (out is None or target is out):
        _transforms.keep(key, transform)
    transform.run(there, target, address_of(there), address_of(target), handle, None)
    return _returned(ary, out, target, handle)


class _Transform:
    """A transform of arrays with equal layouts, in place or to another array."""

    __slots__ = ("_batch", "_copies", "_direction", "_factor", "_kind", "_library", "_made", "_result", "_sizes")

    def __init__(
        self,
        kind: _Kind,
        sizes: tuple[int, ...],
        batch: int,
        direction: int,
        factor: float,
        result: tuple[int, ...],
        made: np.dtype[Any],
        library: Library,
        keep: bool,
    ) -> None:
        # cuFFT overwrites the input of transforms to real numbers, so an array that the caller keeps is copied.
        self._copies = keep and kind.given[0] == "c" and kind.made[0] == "f"
        self._kind, self._sizes, self._batch, self._factor = kind, sizes, batch, factor
        self._direction = (direction,) if kind.given[0] == kind.made[0] else ()
        self._result, self._made, self._library = result, made, library

    def run(self, ary: Any, out: Any, given: int, made: int, handle: int, stream: Any) -> Any:
        """``given`` and ``made`` are the addresses of ``ary`` and ``out``, and ``handle`` is the stream of the work. A
        result that is made here belongs to ``stream``; None is that of ``ary``."""
        if out is None:
            out = self._library.empty(self._result, self._made, ary, stream)
            made = address_of(out)
        if self._copies:
            ary = copied(ary, self._library, handle)
            given = address_of(ary)
        if has_several_devices():
            device = device_of_all((given, made))
            with on_device(device):
                plan = _plan_for(self._sizes, self._batch, self._kind, device, handle)
                plan.run(handle, given, made, *self._direction)
        else:
            plan = _plan_for(self._sizes, self._batch, self._kind, 0, handle)
            plan.run(handle, given, made, *self._direction)
        if self._factor != 1:
            scale(out, self._factor, handle)
        return out


_transforms = Plans()


def _returned(ary: Any, out: Any, target: Any, stream: int) -> Any:
    """The result for the caller: a host array if ``ary`` is one."""
    if out is target:
        return out
    if library_of(ary) in (None, HOST) and isinstance(target, DeviceNDArray):
        host = target.copy_to_host(stream=external_stream(stream))
        if out is None:
            return host
        out[...] = host
        return out
    if out is None:
        return target
    if isinstance(out, DeviceNDArray):
        out.setitem(..., target, external_stream(stream))
    else:
        out[...] = target
    return out


def _on_host(ary: Any, out: Any, kind: _Kind, rank: int, sizes: tuple[int, ...], direction: int, factor: float) -> Any:
    axes = tuple(range(-rank, 0))
    values = host_view(ary)
    norm: Any = "backward" if direction == _FORWARD else "forward"  # NumPy's norm that does not scale this direction
    found: Any
    if kind.given[0] == "f":
        found = np.fft.rfftn(values, axes=axes, norm=norm)
    elif kind.made[0] == "f":
        found = np.fft.irfftn(values, s=sizes, axes=axes, norm=norm)
    else:
        found = (np.fft.fftn if direction == _FORWARD else np.fft.ifftn)(values, axes=axes, norm=norm)
    found = np.asarray(found).astype(np.dtype(kind.made), copy=False)
    if factor != 1:
        found *= np.asarray(factor, found.real.dtype)
    if out is None:
        return like(ary, found)
    host_view(out)[...] = found
    return out
