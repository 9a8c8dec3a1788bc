"""The methods of universal functions on a device that combine elements of one array."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays.libraries import (
    HOST,
    as_operand,
    copied,
    dtype_of,
    is_c_contiguous,
    is_number,
    is_read_only,
    library_of,
    overlap,
    reshaped,
    shape_of,
)
from ..syntax.source import FunctionSource
from .element_kernels import compiled, conversion, ir_name
from .updates import combined, update_of

if TYPE_CHECKING:
    from .device import DeviceUfunc

_NO_VALUE: Any = np._NoValue
_CHUNKS = 1024  # the number of threads per result if the compiler does not know the function as a reduction
_LEAST_CHUNKED = 8192  # the least number of elements that threads share


def reduce(
    ufunc: DeviceUfunc,
    array: Any,
    axis: Any,
    dtype: Any,
    out: Any,
    keepdims: bool,
    initial: Any,
    where: Any,
    stream: Any,
) -> Any:
    """Reduces an array along axes, as ``numpy.ufunc.reduce`` does."""
    out = _only(out)
    array = _binary(ufunc, array, "reduce")
    shape = shape_of(array)
    axes = _axes(axis, len(shape))
    kind = _type(ufunc, array, out, dtype)
    reorderable = ufunc._scalars.identity is not None
    if len(axes) > 1 and not reorderable:
        raise ValueError(
            f"reduction operation '{ufunc.__name__}' is not reorderable, so at most one axis may be specified"
        )
    begin = ufunc.identity if initial is _NO_VALUE or (initial is None and not reorderable) else initial
    empty = any(shape[d] == 0 for d in axes)
    if begin is None and empty:
        raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
    masked = where is not True
    if begin is None and masked:
        raise ValueError(
            f"reduction operation '{ufunc.__name__}' does not have an identity, so to use a where mask one has to "
            "specify 'initial'"
        )
    kept = tuple(n for d, n in enumerate(shape) if d not in axes)
    shown = tuple(1 if d in axes else n for d, n in enumerate(shape)) if keepdims else kept
    result = _result(ufunc, array, out, kind, shown, stream)
    array = _apart(array, result, stream)
    if 0 not in kept:
        mask = _spread_mask(where, shape) if masked else None
        if not axes:  # a new axis of size 1 is reduced
            axes, array = [len(shape)], reshaped(array, (*shape, 1))
            mask = None if mask is None else reshaped(mask, (*shape, 1))
        _fold(ufunc, array, axes, kind, begin, mask, result, kept, stream)
    return _given(result, out, array, shown)


def _fold(
    ufunc: DeviceUfunc,
    array: Any,
    axes: Sequence[int],
    kind: np.dtype[Any],
    begin: Any,
    mask: Any,
    result: Any,
    kept: tuple[int, ...],
    stream: Any,
) -> None:
    if len(axes) > 1 and begin is None:
        # Without a start value, the axes are reduced one after the other.
        rest = [each - (each > axes[-1]) for each in axes[:-1]]
        shape = tuple(n for d, n in enumerate(shape_of(array)) if d != axes[-1])
        library = library_of(array) or HOST
        between = library.empty(shape, kind, array, stream)
        _fold(ufunc, array, axes[-1:], kind, None, None, between, shape, stream)
        _fold(ufunc, between, rest, kind, None, None, result, kept, stream)
        return
    source = ufunc._scalars.source
    stored = reshaped(result, kept or (1,))
    count = int(np.prod([shape_of(array)[d] for d in axes], dtype=np.int64))
    options = ufunc._options.on(stream)
    first = () if begin is None else (_number(begin, kind),)
    chunked = (
        len(axes) == 1
        and mask is None
        and ufunc._scalars.identity is not None
        and count >= _LEAST_CHUNKED
        and int(np.prod(kept, dtype=np.int64)) < _CHUNKS
        and update_of(source) is None
    )
    given = conversion(dtype_of(array), kind)
    if chunked:
        library = library_of(array) or HOST
        partial = library.empty((*kept, _CHUNKS), kind, array, stream)
        key = ("chunks", len(shape_of(array)), axes[0], given, str(kind))
        function = ufunc._function(key, lambda: _chunks(source, len(shape_of(array)), axes[0], given, ir_name(kind)))
        function(array, partial, -(-count // _CHUNKS), opts=options)
        array, axes, given = partial, (len(kept),), ""
        # Chunks that begin after the end have no result.
        full = -(-count // -(-count // _CHUNKS))
        if full < _CHUNKS:
            array = partial[..., :full]
    folded = ("fold", len(shape_of(array)), tuple(axes), given, str(kind), begin is None, mask is not None)
    function = ufunc._function(
        folded,
        lambda: _folding(source, len(shape_of(array)), axes, given, ir_name(kind), begin is None, mask is not None),
    )
    function(array, *first, stored, *(() if mask is None else (mask,)), opts=options)


# ---------------------------------------------------------------- texts


class _Indices:
    """The subscripts of an array of which some dimensions are reduced."""

    def __init__(self, rank: int, axes: Sequence[int]) -> None:
        self.axes = list(axes)
        self.kept = [d for d in range(rank) if d not in self.axes]
        self.rank = rank

    def at(self, inner: Sequence[str]) -> str:
        names = {d: f"i{k}" for k, d in enumerate(self.kept)} | dict(zip(self.axes, inner, strict=True))
        return ", ".join(names[d] for d in range(self.rank))

    def result(self, *more: str) -> str:
        return ", ".join([f"i{k}" for k in range(len(self.kept))] + list(more)) or "0"

    def loops(self) -> list[str]:
        if not self.kept:
            return ["    for i0 in range(1):"]
        return [f"{'    ' * (1 + k)}for i{k} in range(x.shape[{d}]):" for k, d in enumerate(self.kept)]

    @property
    def depth(self) -> str:
        return "    " * (1 + max(len(self.kept), 1))


def _element(given: str, index: str) -> str:
    return f"{given.upper()}(x[{index}])" if given else f"x[{index}]"


def _folding(
    source: FunctionSource, rank: int, axes: Sequence[int], given: str, kind: str, from_first: bool, masked: bool
) -> Any:
    places = _Indices(rank, axes)
    names = [f"r{k}" for k in range(len(axes))]
    begin = _element(given, places.at(["0"] * len(axes))) if from_first else "start"
    parameters = ["x", *([] if from_first else ["start"]), "y", *(["w"] if masked else [])]
    lines = [f"def ufunc_reduce({', '.join(parameters)}):", *places.loops()]
    depth = places.depth
    lines.append(f"{depth}found = {kind.upper()}({begin})")
    inner = depth
    for name, axis in zip(names, axes, strict=True):
        lines.append(f"{inner}for {name} in range({1 if from_first else 0}, x.shape[{axis}]):")
        inner += "    "
    if masked:
        lines.append(f"{inner}if w[{places.at(names)}]:")
        inner += "    "
    lines.append(f"{inner}found = {combined(source, kind, 'found', _element(given, places.at(names)))}")
    lines.append(f"{depth}y[{places.result()}] = found")
    return compiled("\n".join(lines) + "\n", "ufunc_reduce", source)


def _chunks(source: FunctionSource, rank: int, axis: int, given: str, kind: str) -> Any:
    """The function in which many threads each reduce their chunk of an axis."""
    places = _Indices(rank, [axis])
    depth = places.depth
    lines = [
        "def ufunc_chunks(x, y, size):",
        *places.loops(),
        f"{depth}for c in range(y.shape[{len(places.kept)}]):",
        f"{depth}    if c * size < x.shape[{axis}]:",
        f"{depth}        found = {kind.upper()}({_element(given, places.at(['c * size']))})",
        f"{depth}        for r in range(c * size + 1, min(c * size + size, x.shape[{axis}])):",
        f"{depth}            found = {combined(source, kind, 'found', _element(given, places.at(['r'])))}",
        f"{depth}        y[{', '.join([f'i{k}' for k in range(len(places.kept))] + ['c'])}] = found",
    ]
    return compiled("\n".join(lines) + "\n", "ufunc_chunks", source)


def _accumulating(source: FunctionSource, rank: int, axis: int, given: str, kind: str) -> Any:
    places = _Indices(rank, [axis])
    depth = places.depth
    lines = [
        "def ufunc_accumulate(x, y):",
        *places.loops(),
        f"{depth}found = {kind.upper()}({_element(given, places.at(['0']))})",
        f"{depth}y[{places.at(['0'])}] = found",
        f"{depth}for r in range(1, x.shape[{axis}]):",
        f"{depth}    found = {combined(source, kind, 'found', _element(given, places.at(['r'])))}",
        f"{depth}    y[{places.at(['r'])}] = found",
    ]
    return compiled("\n".join(lines) + "\n", "ufunc_accumulate", source)


def _reducing_at(source: FunctionSource, rank: int, axis: int, given: str, kind: str) -> Any:
    places = _Indices(rank, [axis])
    depth = places.depth
    lines = [
        "def ufunc_reduceat(x, begins, ends, y):",
        *places.loops(),
        f"{depth}for k in range(begins.shape[0]):",
        f"{depth}    found = {kind.upper()}({_element(given, places.at(['begins[k]']))})",
        f"{depth}    for r in range(begins[k] + 1, ends[k]):",
        f"{depth}        found = {combined(source, kind, 'found', _element(given, places.at(['r'])))}",
        f"{depth}    y[{places.at(['k'])}] = found",
    ]
    return compiled("\n".join(lines) + "\n", "ufunc_reduceat", source)


def _updating(source: FunctionSource, rank: int, converted: Sequence[str], stored: str, operands: int) -> Any:
    """The function that updates elements. Its second operands are ``b``, or elements of ``b`` at the places ``m``."""
    indices = [f"j{d}" for d in range(rank)]
    place = ", ".join(f"{name}[k]" for name in indices)
    values = [f"{converted[0].upper()}(x[{place}])" if converted[0] else f"x[{place}]"]
    if operands:
        second = "b[k]" if operands == 1 else "b[m[k]]"
        values.append(f"{converted[1].upper()}({second})" if converted[1] else second)
    lines = [
        f"def ufunc_at({', '.join(['x', *indices, *['b', 'm'][:operands]])}):",
        f"    for k in range({indices[0]}.shape[0]):",
        f"        x[{place}] = {stored.upper()}(function({', '.join(values)}))",
    ]
    return compiled("\n".join(lines) + "\n", "ufunc_at", source)


# ---------------------------------------------------------------- the other methods


def accumulate(ufunc: DeviceUfunc, array: Any, axis: int, dtype: Any, out: Any, stream: Any) -> Any:
    """Accumulates sequentially along the axis and in parallel over other axes, as ``numpy.ufunc.accumulate``."""
    out = _only(out)
    array = _binary(ufunc, array, "accumulate")
    if not shape_of(array):
        raise TypeError("cannot accumulate on a scalar")
    (place,) = _axes(axis, len(shape_of(array)))
    kind = _type(ufunc, array, out, dtype)
    result = _result(ufunc, array, out, kind, shape_of(array), stream)
    array = _apart(array, result, stream)
    if 0 not in shape_of(array):
        rank, given = len(shape_of(array)), conversion(dtype_of(array), kind)
        key = ("accumulate", rank, place, given, str(kind))
        make = lambda: _accumulating(ufunc._scalars.source, rank, place, given, ir_name(kind))  # noqa: E731
        ufunc._function(key, make)(array, result, opts=ufunc._options.on(stream))
    return result


def reduceat(ufunc: DeviceUfunc, array: Any, indices: Any, axis: int, dtype: Any, out: Any, stream: Any) -> Any:
    """Reduces the slices between indices, as ``numpy.ufunc.reduceat`` does."""
    out = _only(out)
    array = _binary(ufunc, array, "reduceat")
    if not shape_of(array):
        raise TypeError("cannot reduceat on a scalar")
    (place,) = _axes(axis, len(shape_of(array)))
    count = shape_of(array)[place]
    begins = _host_indices(indices)
    if begins.ndim != 1:
        raise ValueError("the indices of reduceat have one dimension")
    for each in begins:
        if not 0 <= each < count:
            raise IndexError(f"index {each} out-of-bounds in {ufunc.__name__}.reduceat [0, {count})")
    kind = _type(ufunc, array, out, dtype)
    shape = (*shape_of(array)[:place], len(begins), *shape_of(array)[place + 1 :])
    result = _result(ufunc, array, out, kind, shape, stream)
    array = _apart(array, result, stream)
    if 0 not in shape:
        ends = np.append(begins[1:], count)
        rank, given = len(shape), conversion(dtype_of(array), kind)
        key = ("reduceat", rank, place, given, str(kind))
        make = lambda: _reducing_at(ufunc._scalars.source, rank, place, given, ir_name(kind))  # noqa: E731
        ufunc._function(key, make)(array, begins, ends, result, opts=ufunc._options.on(stream))
    return result


def at(ufunc: DeviceUfunc, array: Any, indices: Any, b: Any, stream: Any) -> None:
    """Updates the elements at the indices in place and in order, as ``numpy.ufunc.at`` does."""
    scalars = ufunc._scalars
    if scalars.outputs != 1 or scalars.inputs > 2:
        raise ValueError("Only two operands are supported by the method 'at', one input and one output at least")
    if (b is None) == (scalars.inputs == 2):
        raise ValueError(
            "second operand needed for ufunc" if b is None else "second operand provided when ufunc is unary"
        )
    if is_read_only(array):
        raise ValueError("output array is read-only")
    shape = shape_of(array)
    if not shape:
        raise TypeError(f"'{ufunc.__name__}.at' takes an array with dimensions on a device")
    places, chosen = _places(indices, tuple(shape))
    flat = [each.ravel() for each in places]
    given: list[Any] = [dtype_of(array)]
    operands: list[Any] = []
    if b is not None:
        b = as_operand(b)
        given.append(type(b) if type(b) in (int, float, complex) else dtype_of(np.asarray(b) if is_number(b) else b))
    types = ufunc.resolve_dtypes((*given, given[0]))
    if b is not None:
        operands = _values(b, chosen, types[1], stream)
    if flat[0].size == 0:
        return
    converted = [conversion(dtype_of(array), types[0])]
    converted += [conversion(dtype_of(each), types[1]) for each in operands[:1]]
    key = ("at", len(shape), tuple(converted), len(operands), str(types))
    stored = ir_name(dtype_of(array))
    make = lambda: _updating(scalars.source, len(shape), converted, stored, len(operands))  # noqa: E731
    ufunc._function(key, make)(array, *flat, *operands, opts=ufunc._options.on(stream))


def _values(b: Any, chosen: tuple[int, ...], kind: np.dtype[Any], stream: Any) -> list[Any]:
    """The second operands for the selected elements, as an array of one dimension. Where arrays on a device are
    broadcast, the place of each operand in that array follows."""
    if library_of(b) in (None, HOST):
        whole = np.broadcast_to(np.asarray(b, kind if is_number(b) else None), chosen)
        return [np.ascontiguousarray(whole).ravel()]
    given = shape_of(b)
    count = math.prod(given)
    places = np.broadcast_to(np.arange(count).reshape(given), chosen).ravel()
    if len(given) != 1:
        b = reshaped(b if is_c_contiguous(b) else copied(b, library_of(b) or HOST, stream), (count,))
    return [b] if tuple(given) == chosen else [b, places]


# ---------------------------------------------------------------- common parts


def _binary(ufunc: DeviceUfunc, array: Any, method: str) -> Any:
    if ufunc._scalars.outputs != 1:
        raise ValueError(f"{method} only supported for functions returning a single value")
    if ufunc._scalars.inputs != 2:
        raise ValueError(f"{method} only supported for binary functions")
    return np.asarray(array) if is_number(array) else array


def _axes(axis: Any, rank: int) -> list[int]:
    """The axes as sorted numbers from 0. Raises an error for axes that do not exist or appear twice."""
    if axis is None:
        return list(range(rank))
    given = axis if isinstance(axis, tuple) else (axis,)
    if rank == 0 and given in ((0,), (-1,)):
        return []
    return sorted(np.lib.array_utils.normalize_axis_tuple(given, rank))


def _type(ufunc: DeviceUfunc, array: Any, out: Any, dtype: Any) -> np.dtype[Any]:
    """The type of the loop, which both inputs and the result have."""
    stored = None if out is None else dtype_of(out)
    wanted = None if dtype is None else np.dtype(dtype)
    given = dtype_of(array)
    more = {} if wanted is None else {"signature": (wanted, None, None)}
    try:
        types = ufunc.resolve_dtypes((stored, given, None), reduction=True, **more)
    except TypeError:
        # NumPy widens integers in reductions of every ufunc with the name 'add' or 'multiply'.
        if stored is not None or wanted is not None or ufunc.__name__ not in ("add", "multiply"):
            raise
        types = ufunc.resolve_dtypes((given, given, None))
        if not types[0] == types[1] == types[2]:
            raise
    found: np.dtype[Any] = types[0]
    return found


def _result(ufunc: DeviceUfunc, array: Any, out: Any, kind: np.dtype[Any], shape: tuple[int, ...], stream: Any) -> Any:
    if out is None:
        return (library_of(array) or HOST).empty(shape, kind, array, stream)
    if library_of(out) is None:
        raise TypeError("return arrays must be of ArrayType")
    if tuple(shape_of(out)) != tuple(shape):
        raise ValueError(
            f"output parameter for reduction operation {ufunc.__name__} has the wrong shape: {tuple(shape_of(out))}, "
            f"not {tuple(shape)}"
        )
    if is_read_only(out):
        raise ValueError("output array is read-only")
    return out


def _apart(array: Any, result: Any, stream: Any) -> Any:
    return copied(array, library_of(array) or HOST, stream) if overlap(result, array) or array is result else array


def _given(result: Any, out: Any, array: Any, shape: tuple[int, ...]) -> Any:
    return result[()] if out is None and not shape and library_of(array) is HOST else result


def _only(out: Any) -> Any:
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError("The 'out' tuple must have exactly one entry")
        return out[0]
    return out


def _number(value: Any, kind: np.dtype[Any]) -> Any:
    return np.asarray(value).astype(kind)[()]


def _spread_mask(where: Any, shape: tuple[int, ...]) -> Any:
    if library_of(where) not in (None, HOST):
        return where
    return np.ascontiguousarray(np.broadcast_to(np.asarray(where, np.bool_), shape))


def _host_indices(given: Any) -> Any:
    """A copy of the indices on the host, where they are checked."""
    found = np.asarray(_on_host(given))
    if found.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer type")
    return found.astype(np.int64)


def _places(indices: Any, shape: tuple[int, ...]) -> tuple[list[Any], tuple[int, ...]]:
    """The places of the elements that an index of an array selects, an array of integers for each dimension, and the
    shape of what it selects. Raises IndexError as NumPy does."""
    given = [_on_host(each) for each in (indices if isinstance(indices, tuple) else (indices,))]
    arrays = [np.asarray(each) for each in given if not (isinstance(each, slice) or each is None or each is ...)]
    if len(arrays) == len(given) == len(shape) and all(each.dtype.kind in "iu" for each in arrays):
        hosts = np.broadcast_arrays(*(np.atleast_1d(each.astype(np.int64)) for each in arrays))
        for axis, (each, size) in enumerate(zip(hosts, shape, strict=True)):
            for bad in each[(each < -size) | (each >= size)][:1]:
                raise IndexError(f"index {bad} is out of bounds for axis {axis} with size {size}")
        return [np.where(each < 0, each + size, each) for each, size in zip(hosts, shape, strict=True)], hosts[0].shape
    selected = np.asarray(np.arange(math.prod(shape)).reshape(shape)[tuple(given)])
    return [each.astype(np.int64) for each in np.unravel_index(selected, shape)], selected.shape


def _on_host(index: Any) -> Any:
    """A part of an index, copied to the host if it is an array elsewhere."""
    for name in ("copy_to_host", "get", "cpu", "numpy"):
        if library_of(index) not in (None, HOST) and hasattr(index, name):
            return getattr(index, name)()
    return index
