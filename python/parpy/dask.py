"""Jit functions on the chunks of dask arrays.

    smoothed = parpy.dask.map_overlap(smooth, x, y)
    smoothed.compute()

Dask must be installed; ``import parpy`` does not load it.
"""

from __future__ import annotations

import inspect
import itertools
import math
import mmap
import operator
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _native
from .calls.errors import CompileError, ParallelError
from .calls.jit import _as_jit
from .calls.options import CompileOptions
from .calls.tracebacks import hides_frames
from .scale.chunks import Chunks, Refused, Shapes, directions_of
from .scale.facts import Touched
from .scale.groups import touched_by
from .scale.halo import Halo, halo_found
from .scale.results import returned_names
from .vocabulary.sizes import SIZES

try:
    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph
except ModuleNotFoundError as error:
    error.msg = "parpy.dask needs Dask: pip install 'dask[array]'"
    raise

__all__ = ["map_overlap"]

_Array = np.ndarray[Any, Any]
_Slices = tuple[slice, ...]


@hides_frames
def map_overlap(function: Callable[..., Any], /, *args: Any, opts: CompileOptions | None = None) -> Any:
    """Returns the results of ``function(*args)`` as dask arrays. Dask computes them chunk by chunk when it needs them.

    ``function`` is a jit function, and the arrays among ``args`` are dask or NumPy arrays. The results are the arrays
    that the function returns or, if it returns nothing, the arrays that it stores to: one array, or a tuple in the
    order of the parameters. The arguments do not change. Each chunk is computed by a call of the function on its rows
    and the rows of a halo, whose depth and boundary (none or periodic) are those that ``parpy.halo`` finds.
    The results have the bits of one call on the whole arrays; if a chunk sums up rows, this needs
    ``deterministic=True``.

    Chunks may have different sizes. Arrays that are cut together get the chunks of the array that has the most; an
    array that each chunk reads as a whole is passed as one chunk. Nothing is computed or allocated before Dask computes
    a result. ``opts`` are the options of the calls.

    Raises ParallelError, with the access and its line, if a chunk would need more rows than those of a halo, or if the
    function would compute other values on a chunk than on the whole arrays, because it uses row numbers or extents as
    values.
    """
    compiled = _as_jit(function)
    try:
        return _Mapped(compiled, args, opts).results()
    except Refused as reason:
        raise ParallelError(f"'{compiled.__name__}' cannot run on chunks: {reason}") from None


def _is_chunked(value: Any) -> bool:
    return isinstance(value, da.Array)


def _stand_in(shape: tuple[int, ...], dtype: np.dtype[Any]) -> _Array:
    """An array with addresses but without memory: facts about a call are found without room for its arrays."""
    size = max(math.prod(shape) * dtype.itemsize, 1)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)
    memory = mmap.mmap(-1, size, flags=flags)
    return np.frombuffer(memory, dtype, math.prod(shape)).reshape(shape)


@dataclass(frozen=True)
class _Piece:
    """The place of one block of a dask array in the argument of a chunk's call."""

    place: _Slices


@dataclass(frozen=True)
class _Given:
    """An argument of a chunk's call: an array in several pieces, or a value."""

    value: Any = None
    shape: tuple[int, ...] | None = None
    dtype: Any = None
    written: bool = False
    pieces: tuple[_Piece, ...] = ()

    def of(self, pieces: Sequence[_Array]) -> Any:
        if self.shape is None:
            return self.value
        if not self.written and len(pieces) == 1 and pieces[0].shape == self.shape:
            return pieces[0]
        made = np.empty(self.shape, self.dtype)
        for piece, array in zip(self.pieces, pieces, strict=True):
            made[piece.place] = array
        return made


class _Call:
    """The call of one chunk, which Dask runs."""

    def __init__(
        self,
        function: _native.JitFunction,
        opts: CompileOptions | None,
        given: list[_Given],
        results: list[tuple[int | None, _Slices]],
    ) -> None:
        """``results``: for each result the number of the argument that holds it, or None for a returned array, and the
        chunk's own rows in it."""
        self._function, self._opts, self._given, self._results = function, opts, given, results

    def __call__(self, *pieces: _Array) -> tuple[_Array, ...]:
        rest = iter(pieces)
        arguments = [each.of(list(itertools.islice(rest, len(each.pieces)))) for each in self._given]
        returned = self._function(*arguments, opts=self._opts)
        found = iter(returned if isinstance(returned, tuple | list) else (returned,))
        return tuple((next(found) if number is None else arguments[number])[own] for number, own in self._results)


class _Mapped:
    """A call on chunks."""

    def __init__(self, function: _native.JitFunction, args: tuple[Any, ...], opts: CompileOptions | None) -> None:
        self._function, self._opts = function, opts
        self._args = [_as_argument(each) for each in args]
        names = tuple(inspect.signature(function.__parpy_source__.function).parameters)
        if len(args) > len(names):
            raise TypeError(f"{function.__name__}() takes {len(names)} arguments, not {len(args)}")
        self._shapes: Shapes = tuple(each.shape if _is_array(each) else None for each in self._args)
        whole = self._facts(self._shapes)
        self._touched = {each.array: each for step in whole.nests for each in touched_by(step)}
        given = [(number, name) for number, name in enumerate(names[: len(args)]) if name in self._touched]
        self._names = {number: name for number, name in given if _is_array(self._args[number])}
        self._numbers = {name: number for number, name in self._names.items()}
        self._written = {each.array for step in whole.nests for each in touched_by(step) if each.writes is not None}
        chunked = {
            (self._names.get(number, names[number]), axis): tuple(itertools.accumulate(sizes, initial=0))
            for number, value in enumerate(self._args)
            if _is_chunked(value)
            for axis, sizes in enumerate(value.chunks)
            if len(sizes) > 1 and not self._is_whole(whole, number, axis)
        }
        cut = [number for number, value in enumerate(self._args) if _is_chunked(value) and max(value.numblocks) > 1]
        if cut and not chunked:
            raise Refused(f"each chunk needs all of '{names[cut[0]]}': pass it in one chunk, rechunk(-1)")
        self._chunks = Chunks(whole, directions_of(whole, chunked), self._names, self._shapes, self._facts)
        self._results = self._named_results()

    def _is_whole(self, whole: Halo, number: int, axis: int) -> bool:
        """Whether chunks read all of an array along an axis and nothing stores to it: it then becomes one chunk."""
        name = self._names.get(number)
        if name is None or name in self._written:
            return False
        return not whole.of(name, axis).partitionable and any(name in each.whole for each in whole.axes)

    def _facts(self, shapes: Shapes) -> Halo:
        values = [
            value if shape is None else _stand_in(shape, value.dtype)
            for value, shape in zip(self._args, shapes, strict=True)
        ]
        try:
            return halo_found(self._function, self._opts, tuple(values))
        except CompileError as error:
            if shapes == self._shapes:
                raise
            sizes = ", ".join(str(shape) for shape in shapes if shape is not None)
            raise Refused(f"on a chunk, with arrays of shapes {sizes}, it would not run: {error}") from None

    def _named_results(self) -> list[Touched]:
        """The arrays that `map_overlap` returns: those that the function returns or, without any, stores to."""
        returned = returned_names(self._function.__parpy_source__)
        if returned is None:
            raise Refused("its source does not show which arrays it returns: end it with 'return' and their names")
        for number, name in self._names.items():
            cut = any(name in each.axes for each in self._chunks.directions)
            if name in self._written and not cut and self._chunks.directions:
                raise Refused(
                    f"'{name}', argument {number + 1}, is in one chunk, to which the calls for all chunks would store"
                )
        names = returned or [name for _, name in sorted(self._names.items()) if name in self._written]
        if not names:
            raise Refused("it neither returns an array nor stores to one")
        unknown = [name for name in names if name not in self._touched]
        if unknown:
            raise Refused(f"it returns '{unknown[0]}', which is no array that its loops store to")
        self._returns = bool(returned)
        return [self._touched[name] for name in names]

    # ------------------------------------------------------------ the graph

    def results(self) -> Any:
        """The results as dask arrays, or the only one."""
        arrays = {number: self._rechunked(number) for number, each in enumerate(self._args) if _is_array(each)}
        label = f"{self._function.__name__}-{uuid.uuid4().hex}"
        graph: dict[Any, Any] = {}
        for chunk in self._chunks.grid():
            pieces: list[Any] = []
            given = [self._given(number, chunk, arrays, label, graph, pieces) for number in range(len(self._args))]
            call = _Call(self._function, self._opts, given, [self._own(each, chunk) for each in self._results])
            graph[(label, *chunk)] = (call, *pieces)
        made = HighLevelGraph.from_collections(label, graph, dependencies=list(arrays.values()))
        found = tuple(self._result(place, each, label, made) for place, each in enumerate(self._results))
        return found[0] if len(found) == 1 else found

    def _rechunked(self, number: int) -> Any:
        """An argument as a dask array with the chunks of the directions."""
        value, name = self._args[number], self._names.get(number, "")
        sizes = tuple(self._sizes(name, axis, extent) for axis, extent in enumerate(value.shape))
        if _is_chunked(value):
            return value if value.chunks == sizes else value.rechunk(sizes)
        return da.from_array(value, chunks=sizes)  # type: ignore[no-untyped-call, unused-ignore]

    def _sizes(self, name: str, axis: int, extent: int) -> tuple[int, ...]:
        number = self._chunks.along(name, axis)
        if number is None:
            return (extent,)
        direction = self._chunks.directions[number]
        spans = (direction.own(chunk, extent) for chunk in range(direction.count))
        return tuple(last - first for first, last in spans)

    def _runs(self, name: str, axis: int, extent: int, chunk: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
        number = self._chunks.along(name, axis)
        if number is None:
            return [(0, 0, extent, 0)]
        return list(self._chunks.directions[number].runs(chunk[number], extent))

    def _given(
        self,
        number: int,
        chunk: tuple[int, ...],
        arrays: dict[int, Any],
        label: str,
        graph: dict[Any, Any],
        pieces: list[Any],
    ) -> _Given:
        """An argument of a chunk's call. Adds the keys of its pieces, and the pieces to the graph."""
        array = arrays.get(number)
        if array is None:
            return _Given(self._args[number])
        name = self._names.get(number, "")
        runs = [self._runs(name, axis, extent, chunk) for axis, extent in enumerate(array.shape)]
        shape = tuple(sum(last - first for _, first, last, _ in each) for each in runs)
        places = []
        for parts in itertools.product(*runs):
            block = tuple(part[0] for part in parts)
            rows = tuple(slice(first, last) for _, first, last, _ in parts)
            key = (array.name, *block)
            sizes = (each[at] for each, at in zip(array.chunks, block, strict=True))
            if any(last - first < size for (_, first, last, _), size in zip(parts, sizes, strict=True)):
                source, key = key, (f"rows-{label}", number, *((*part[:3],) for part in parts))
                key = (key[0], "-".join(str(each) for each in key[1:]))
                graph[key] = (operator.getitem, source, rows)
            pieces.append(key)
            places.append(_Piece(tuple(slice(at, at + last - first) for _, first, last, at in parts)))
        return _Given(None, shape, array.dtype, name in self._written, tuple(places))

    def _own(self, result: Touched, chunk: tuple[int, ...]) -> tuple[int | None, _Slices]:
        """The rows of a result that a chunk owns, in the array that its call has."""
        slices = []
        for axis, extent in enumerate(self._shape(result)):
            number = self._chunks.along(result.array, axis)
            if number is None:
                slices.append(slice(None))
                continue
            direction = self._chunks.directions[number]
            first, last = direction.own(chunk[number], extent)
            begin = direction.held(chunk[number], extent)[0]
            slices.append(slice(first - begin, last - begin))
        return None if self._returns else self._numbers[result.array], tuple(slices)

    def _shape(self, result: Touched) -> tuple[int, ...]:
        extents = self._chunks.extents
        return tuple(extent for (array, _), extent in sorted(extents.items()) if array == result.array)

    def _result(self, place: int, result: Touched, label: str, made: HighLevelGraph) -> Any:
        shape = self._shape(result)
        sizes = tuple(self._sizes(result.array, axis, extent) for axis, extent in enumerate(shape))
        directions = [self._chunks.along(result.array, axis) for axis in range(len(shape))]
        name = f"{result.array}-of-{label}"
        blocks = self._blocks(directions)
        graph = {(name, *block): (operator.getitem, (label, *chunk), place) for block, chunk in blocks}
        layers: dict[str, Any] = {**made.layers, name: graph}
        whole = HighLevelGraph(layers, {**made.dependencies, name: {label}})
        number = self._numbers.get(result.array)
        dtype = SIZES[result.scalar].dtype if number is None else self._args[number].dtype
        return da.Array(whole, name, sizes, dtype=dtype)  # type: ignore[no-untyped-call, unused-ignore]

    def _blocks(self, directions: list[int | None]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The blocks of an array that is cut along these directions, each with the first chunk that computes it."""
        for chunk in self._chunks.grid():
            others = (at for number, at in enumerate(chunk) if number not in directions)
            if not any(others):
                yield tuple(0 if number is None else chunk[number] for number in directions), chunk


def _is_array(value: Any) -> bool:
    return _is_chunked(value) or isinstance(value, np.ndarray)


def _as_argument(value: Any) -> Any:
    if _is_chunked(value) and any(math.isnan(extent) for extent in value.shape):
        raise Refused("an array of Dask has chunks of unknown sizes: call its compute_chunk_sizes() before")
    if not _is_array(value) and not isinstance(value, bool | int | float | complex | np.generic):
        raise TypeError(f"arguments are arrays of Dask or NumPy, and numbers, not {type(value).__name__}")
    return value
