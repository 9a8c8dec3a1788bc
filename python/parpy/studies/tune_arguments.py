"""The arguments that candidates of parpy.tune run on: copies of the arrays that a call may write.

A copy has the layout of the original and the same offset within a cache line; copies of arrays that share memory share
memory in the same way. Arrays that are only read are not copied.
"""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import signature
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from .. import _native
from ..arrays.device_arrays import described, pointer_of
from ..buffer import Buffer, from_raw
from ..calls.objects import is_object
from ..calls.options import CompileBackend, CompileOptions
from ..vocabulary.sizes import SIZES

_LINE = 64  # bytes of a cache line
_Key = tuple[Any, ...]  # the index of an argument, and the keys and places of the entry in dicts, lists and tuples


class _Array:
    """An array among the arguments and the addresses of its elements. ``device`` is None on the host."""

    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value = name, value
        self.given = value
        if isinstance(value, np.ndarray):
            self.view = value
            self.device: int | None = None
            self.stream: int | None = None
        else:
            facts = _native.array_view(value)
            if facts is None:
                raise TypeError(f"argument {name} cannot be copied: it is not an array")
            dtype = SIZES[facts["scalar"]].dtype
            self.view = described(facts["pointer"], tuple(facts["shape"]), dtype, tuple(facts["strides"]), value)
            self.device, self.stream = facts["device"], facts["stream"]
        self.low, self.high = np.lib.array_utils.byte_bounds(self.view)
        if self.view.size == 0:
            self.high = self.low


def _is_array(value: Any) -> bool:
    if isinstance(value, np.ndarray | Buffer):
        return True
    return not isinstance(value, int | float | complex | np.generic | str | None) and (
        _native.array_view(value) is not None
    )


class _Copy(NamedTuple):
    """The array that candidates get in place of an argument; ``restore`` copies the contents of the original."""

    name: str
    given: Any
    contents: Any
    """The elements, as an argument of `fetched`."""
    restore: Callable[[], None]


def _copy_on_host(array: _Array, memory: Any, offset: int) -> _Copy:
    view, value = array.view, array.value
    copy = np.ndarray(view.shape, view.dtype, memory, offset, view.strides)
    given: Any = copy.view()
    given.flags.writeable = view.flags.writeable
    if isinstance(value, Buffer):
        given = Buffer(given, value.dtype, value.backend)
    return _Copy(array.name, given, copy, lambda: np.copyto(copy, view))


def _copy_on_device(array: _Array, memory: _native.DeviceMemory, shift: int) -> _Copy:
    """A copy that lies `shift` bytes after the original, in memory that is restored as a whole."""
    view = array.view
    buffer = from_raw(pointer_of(view) + shift, view.shape, view.dtype, CompileBackend.Cuda, view.strides, memory)
    given = buffer if isinstance(array.value, Buffer) else _OnStream(buffer, array.stream)
    return _Copy(array.name, given, buffer, lambda: None)


class _OnStream:
    """A copy of another library's array on a GPU, which exports the stream of the original."""

    def __init__(self, buffer: Buffer, stream: int | None) -> None:
        self._buffer = buffer
        self.__cuda_array_interface__ = {**buffer.__cuda_array_interface__, "stream": stream or None}
        self.shape, self.dtype = buffer.shape, buffer._view.dtype


def _copy_of_tensor(array: _Array) -> _Copy:
    """The copy of a tensor whose memory no other argument shares."""
    tensor, torch = array.value, importlib.import_module("torch")
    made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    return _Copy(array.name, made, made, lambda: made.copy_(tensor))


def _captured(value: Any) -> _Copy:
    """An array that the function captures: candidates write to it in place, and ``restore`` puts its contents back."""
    array = _Array("of a global or closure variable", value)
    if array.device is not None:
        raise TypeError("the function writes to a captured array on a GPU: pass it as an argument to tune it")
    saved = array.view.copy()
    return _Copy("a captured array", value, array.view, lambda: np.copyto(array.view, saved))


def fetched(value: Any) -> Any:
    """An array or number as a NumPy array on the host."""
    if isinstance(value, Buffer):
        return value.numpy()
    if type(value).__module__.partition(".")[0] == "torch":
        host = value.detach().cpu()
        return host.float().numpy() if host.dtype is importlib.import_module("torch").bfloat16 else host.numpy()
    return np.asarray(value)


class Copies:
    """Arguments for candidates: ``given`` is passed to them; call `restore` before each run."""

    def __init__(
        self,
        values: Sequence[Any],
        names: Sequence[str],
        written: set[tuple[int, Any]] | None,
        captured: Sequence[Any],
    ) -> None:
        """``written`` has the arguments that may be written, each with the key of an entry or None; None if all may be.
        Raises TypeError for objects of users' classes."""
        arrays = _arrays_of(values, names)
        self.on_device = bool(arrays) and all(array.device is not None for array in arrays.values())
        self.streams = [array.stream for array in arrays.values() if array.stream is not None]
        self._captured = [_captured(value) for value in captured]
        self._parts = list(self._captured)
        self._restores = [part.restore for part in self._captured]
        replaced: dict[_Key, Any] = {}
        for group in _sharing(arrays):
            if written is not None and not any(_covers(written, key) for key in group):
                continue
            members = [arrays[key] for key in group]
            copies = self._copied(members)
            self._parts += copies
            self._restores += [copy.restore for copy in copies]
            replaced |= {key: copy.given for key, copy in zip(group, copies, strict=True)}
        self.given = tuple(self._given(value, (index,), replaced) for index, value in enumerate(values))

    def _given(self, value: Any, key: _Key, replaced: Mapping[_Key, Any]) -> Any:
        """The value with copies in place of arrays. Dicts and lists are copies, too, whose entries `restore` sets."""
        if key in replaced:
            return replaced[key]
        if isinstance(value, Mapping):
            entries = {name: self._given(entry, (*key, name), replaced) for name, entry in value.items()}
            table = dict(entries)
            self._restores += [table.clear, lambda: table.update(entries)]
            return table
        if not isinstance(value, list | tuple):
            return value
        elements = [self._given(entry, (*key, place), replaced) for place, entry in enumerate(value)]
        if isinstance(value, list):
            made = list(elements)
            self._restores.append(lambda: made.__setitem__(slice(None), elements))
            return made
        return type(value)(*elements) if hasattr(value, "_fields") else tuple(elements)

    def _copied(self, members: list[_Array]) -> list[_Copy]:
        low, high = min(each.low for each in members), max(each.high for each in members)
        device = members[0].device
        if len(members) == 1 and type(members[0].value).__module__.partition(".")[0] == "torch":
            return [_copy_of_tensor(members[0])]
        if device is None:
            room = np.empty(high - low + _LINE, np.uint8)
            begin = (low - room.__array_interface__["data"][0]) % _LINE
            return [_copy_on_host(each, room, begin + pointer_of(each.view) - low) for each in members]
        stream = next((each.stream for each in members if each.stream is not None), 0)
        memory, size = _native.DeviceMemory(high - low, stream, device), high - low
        self._restores.append(lambda: _native.copy_on_device(memory.pointer, low, size, stream, device))
        return [_copy_on_device(each, memory, memory.pointer - low) for each in members]

    def restore(self) -> None:
        """Restores all contents to those that the caller passed."""
        for restore in self._restores:
            restore()

    def close(self) -> None:
        """Restores the captured arrays."""
        for part in self._captured:
            part.restore()

    def contents(self) -> list[tuple[str, Any]]:
        """The contents of the arrays that a run may write, with their names."""
        return [(part.name, fetched(part.contents)) for part in self._parts]


def _covers(written: set[tuple[int, Any]], key: _Key) -> bool:
    # Writes to a field of records have a key like those to an entry of a dict, but change memory of the parameter.
    if len(key) == 1:
        return any(index == key[0] for index, _ in written)
    return len(key) > 2 or isinstance(key[1], int) or (key[0], key[1]) in written


def _arrays_of(values: Sequence[Any], names: Sequence[str]) -> dict[_Key, _Array]:
    found: dict[_Key, _Array] = {}
    for index, (name, value) in enumerate(zip(names, values, strict=True)):
        found.update(_arrays_in(value, name, (index,)))
    return found


def _arrays_in(value: Any, name: str, key: _Key) -> Iterator[tuple[_Key, _Array]]:
    if isinstance(value, Mapping | list | tuple):
        entries = value.items() if isinstance(value, Mapping) else enumerate(value)
        for place, entry in entries:
            yield from _arrays_in(entry, f"{name}[{place!r}]", (*key, place))
    elif is_object(value):
        raise TypeError(f"argument '{name}' cannot be copied: it is an object that the function may change")
    elif _is_array(value):
        yield key, _Array(f"'{name}'", value)


def _sharing(arrays: Mapping[_Key, _Array]) -> list[list[_Key]]:
    """The arrays in groups; arrays of different groups share no memory."""
    groups: list[list[_Key]] = []
    place, end = None, 0
    on_host_first = sorted(arrays.items(), key=lambda each: (each[1].device is not None, each[1].device, each[1].low))
    for key, array in on_host_first:
        if array.device == place and groups and array.low < end:
            groups[-1].append(key)
            end = max(end, array.high)
        else:
            groups.append([key])
            place, end = array.device, array.high
    return groups


# ---------------------------------------------------------------- comparing results


def difference(expected: Sequence[tuple[str, Any]], found: Sequence[tuple[str, Any]], exact: bool) -> str:
    """The first place where two runs differ by more than the rounding of reordered reductions; '' if there is none."""
    for (name, want), (_, have) in zip(expected, found, strict=True):
        if want.dtype.names is not None:
            fields = [(f"{name}[{field!r}]", want[field], have[field]) for field in want.dtype.names]
        else:
            fields = [(name, want, have)]
        for field, a, b in fields:
            if a.shape != b.shape:
                return f"{field} has shape {b.shape} instead of {a.shape}"
            same = _agree(a, b, exact)
            if not same.all():
                at = np.unravel_index(int(np.argmin(same)), same.shape)
                where = f"[{', '.join(str(i) for i in at)}]" if at else ""
                return f"{field}{where} is {b[at]} instead of {a[at]}"
    return ""


def _agree(a: Any, b: Any, exact: bool) -> Any:
    if a.dtype.kind not in "fcV" or exact:
        with np.errstate(invalid="ignore"):
            return np.asarray((a == b) | ((a != a) & (b != b)))
    if a.dtype.kind == "V":  # bfloat16
        a, b = a.astype(np.float32), b.astype(np.float32)
        epsilon = 2.0**-7
    else:
        epsilon = float(np.finfo(a.dtype).eps)
    tolerance = epsilon**0.5
    with np.errstate(invalid="ignore", over="ignore"):
        finite = np.abs(a[np.isfinite(a)])
        largest = float(finite.max()) if finite.size else 0.0
        return np.asarray(np.isclose(a, b, rtol=tolerance, atol=tolerance * largest, equal_nan=True))


def snapshot(contents: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """A copy of the contents."""
    return [(name, np.array(value)) for name, value in contents]


def returned(result: Any) -> list[tuple[str, Any]]:
    """The results of a function in the form of contents."""
    values: Sequence[Any] = result if isinstance(result, tuple) else () if result is None else (result,)
    return [(f"result {index}", fetched(value)) for index, value in enumerate(values)]


def positional(function: FunctionType, args: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """The positional arguments of a call, defaults included, and a name for each."""
    bound = signature(function).bind(*args)
    bound.apply_defaults()
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    rest = range(len(bound.args) - len(names))
    return bound.args, (*names, *(f"*{place}" for place in rest))


_TIME = 0.3  # seconds for the runs of one call
_RUNS = 3, 30  # minimum and maximum


def time_of_call(
    function: _native.JitFunction, args: tuple[Any, ...], opts: CompileOptions | None
) -> tuple[float, int]:
    """The median time of a call in seconds and the number of timed runs, which follow one run that compiles. All runs
    use copies of the arrays. Raises TypeError for arguments that cannot be copied."""
    copies = Copies(*positional(function.__parpy_source__.function, args), None, [])
    on_gpu = opts is None or opts.backend in (CompileBackend.Auto, CompileBackend.Cuda)
    times: list[float] = []
    while len(times) <= _RUNS[0] or (len(times) <= _RUNS[1] and sum(times) < _TIME):
        copies.restore()
        if on_gpu:
            _native.synchronize()
        begin = time.perf_counter()
        function(*copies.given, opts=opts)
        if on_gpu:
            _native.synchronize()
        times.append(time.perf_counter() - begin)
    return statistics.median(times[1:]), len(times) - 1
