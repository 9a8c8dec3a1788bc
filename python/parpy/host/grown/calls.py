"""Calls of loops in which lists, dicts and sets grow, with memory for the numbers. Python runs a loop that cannot be
compiled, for example because the elements are arrays."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ...calls import performance
from ...calls.errors import CompileError
from ...calls.options import CompileOptions
from ...library.lists import MIXED, SMALL
from ..regions import Region
from ..returns import Early
from .loops import PARTS, SERIES
from .mixing import mixing
from .reads import GrownList

_MOST = 2**26  # the most numbers of a list; memory that is not used is never touched
_SOME = 2**18  # memory for more numbers is not kept


class _Memory(NamedTuple):
    """Memory for a list. `keys`, `table` and `sizes` are for a dict or set."""

    floats: np.ndarray
    wholes: np.ndarray
    kinds: np.ndarray
    ends: np.ndarray
    keys: np.ndarray
    table: np.ndarray
    sizes: np.ndarray


_free: list[_Memory] = []


def _take() -> _Memory:
    try:
        return _free.pop()
    except IndexError:
        types = (np.float64, np.int64, np.uint8)
        numbers = [np.empty(_MOST, each) for each in types]
        hashed = np.empty(_MOST, np.int64), np.empty(2 * _MOST, np.int32), np.zeros(2, np.int64)
        return _Memory(numbers[0], numbers[1], numbers[2], np.zeros(2, np.int64), *hashed)


_WHOLE = np.int64(0)
_OTHERS: dict[str, Any] = {"floats": np.float64(0), "bools": False, "truths": np.bool_(0)}
_OTHERS |= {name: getattr(np, name)(0) for name in SMALL}
_HAS_OTHERS = re.compile(rf"list (\d+) has ({'|'.join(_OTHERS)})")
_SMALL = {*map(np.dtype, (np.float16, np.float32, np.complex64)), np.float16, np.float32, np.complex64}
_OTHER_INTEGERS = (np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32, np.uint64)
_NARROW = {*map(np.dtype, _OTHER_INTEGERS), *_OTHER_INTEGERS}
_SMALL_CLASSES = {getattr(np, name) for name in SMALL}
_KINDS = {bool: 0, int: 1, float: 2, np.bool_: 4, np.int64: 1, np.float64: 2}


class ListRegion:
    """A loop in which lists grow, as a region that gets memory for them behind its other inputs."""

    def __init__(self, region: Region, grown: list[GrownList], place: str, written: ast.stmt) -> None:
        """`written`: the loop with the lists."""
        self.region, self.grown = region, grown
        self._place = place
        self._refused = False
        self._mixing = mixing(written, {each.name for each in grown if each.kind is not str})
        # By the types of inputs, the lists of floats and bools, each with such a number.
        self._others: dict[tuple[Any, ...], dict[int, Any]] = {}

    def run(self, given: tuple[Any, ...], inputs: tuple[Any, ...], opts: CompileOptions | None, debug: bool) -> Any:
        """The lists and the outputs; None if Python must run the loop."""
        pairs = zip(self.grown, given, strict=True)
        own = [id(value) for each, value in pairs if not each.is_made and each.kind is not str]
        if self._refused:
            return None
        if not self.region.may_run(inputs):
            return None
        if len({*own}) < len(own):
            return self._leave("two names refer to one list, dict or set")
        try:
            memory = [[_take() for _ in range(max(each.width, 1))] for each in self.grown]
        except MemoryError:  # for addresses alone
            return None
        try:
            mixed = self._mixed(inputs)
            if any(each in _NARROW for each in mixed):
                return self._leave(
                    "it computes with elements of a list, dict or set, which may be Python's integers, and with "
                    "NumPy's integers of another type than int64"
                )
            other = next((each for each in zip(self.grown, given, strict=True) if _is_other(*each)), None)
            if other is not None:
                return self._leave(f"'{other[0].name}' is of type '{type(other[1]).__name__}'")
            small = next((each for each in mixed if each in _SMALL), None)
            if small is not None:
                return self._leave(
                    f"Python's floats in a list, dict or set are weak beside numbers of type {np.dtype(small).name}"
                )
            likes = self._likes(given, inputs, memory)
            if likes is None:
                return self._leave(
                    f"a list, dict or set that grows in a compiled loop has at most {_SOME} elements before the loop, "
                    "which are bools, ints or floats, and its keys are integers"
                )
            others = self._others.setdefault((*map(_type_of, (*inputs, *likes)),), {})
            done = False
            while True:
                more = [others.get(number, like) for number, like in enumerate(likes)]
                if any(map(_differs, _columns(self.grown, memory), likes, more)):
                    return self._leave(MIXED)
                try:
                    call = self.region.call((*inputs, *_parts(self.grown, memory, more)))
                    results = self.region.run(call.function, call.arguments, opts, debug)
                    if call.kept or self.region.early:
                        results = self.region.results(call.kept, results)
                    done = True
                except CompileError as error:
                    told = sorted(_HAS_OTHERS.findall(str(error)))
                    found = {int(number): _OTHERS[what] for number, what in told}
                    if found.items() <= others.items() or any(number in others for number in found):
                        if error.says("run"):
                            raise
                        self._refuse(str(error))
                        return None
                    others |= found
                    continue
                except BaseException:
                    done = True
                    raise
                finally:
                    if done:
                        rest = iter(more)
                        classes = [[type(next(rest)) for _ in columns] for columns in memory]
                        values = [_stored(*each) for each in zip(self.grown, given, memory, classes, strict=True)]
                return results if isinstance(results, Early) else (*values, *(results or ()))
        finally:
            _free.extend(
                column for columns in memory for column in columns if max(column.ends[1], column.sizes[0]) <= _SOME
            )

    def _mixed(self, inputs: tuple[Any, ...]) -> list[Any]:
        """The types of the inputs that the loop may mix with elements."""
        named = zip(self.region.inputs, inputs, strict=False)
        return [_type_of(each) for name, each in named if self._mixing.always or name in self._mixing.before]

    def _likes(self, given: tuple[Any, ...], inputs: tuple[Any, ...], memory: list[list[_Memory]]) -> list[Any] | None:
        """A number of the type of each column of the lists, as far as that is known; None where Python runs the
        loop. Python's floats would be NumPy's in compiled code, which differ beside small floats."""
        likes = [_loaded(*each) for each in zip(self.grown, given, memory, strict=True)]
        if None in likes or not _SMALL.isdisjoint(self._mixed(inputs)):
            return None
        return [like for each in likes for like in each or ()]

    def _refuse(self, message: str) -> None:
        self._refused = True
        why = message.partition("]: ")[2].partition("\n")[0]
        if message.startswith("<list>") and why.startswith("'v' is "):  # in the functions for lists
            why = "a list that grows in a compiled loop has numbers, or tuples that are written out, as elements"
        self._leave(why)

    def _leave(self, why: str) -> None:
        performance.python_runs(self._place, "this loop", why)

    def inspect(self, given: tuple[Any, ...], inputs: tuple[Any, ...], look: Callable[..., None]) -> None:
        """Calls `look(function, arguments)` if the loop can be compiled for these inputs."""
        memory = [[_take() for _ in range(max(each.width, 1))] for each in self.grown]
        likes = self._likes(given, inputs, memory)
        floats = [] if likes is None else [*range(len(likes))]
        for more in (likes, [np.float64(0) for _ in floats]):
            with suppress(CompileError):
                if likes is not None and more is not None:
                    call = self.region.call((*inputs, *_parts(self.grown, memory, more)))
                    look(call.function, call.arguments)
                    break
        _free.extend(column for columns in memory for column in columns)


def _parts(grown: list[GrownList], memory: list[list[_Memory]], likes: list[Any]) -> list[Any]:
    return [
        part
        for (each, _, column), like in zip(_columns(grown, memory), likes, strict=True)
        for part in (*(getattr(column, name) for name in PARTS[each.kind][:-1]), like)
    ]


def _columns(grown: list[GrownList], memory: list[list[_Memory]]) -> list[tuple[GrownList, int, _Memory]]:
    """The columns of the lists: each with its list, its place there, and its memory."""
    pairs = zip(grown, memory, strict=True)
    return [(each, place, column) for each, own in pairs for place, column in enumerate(own)]


def _differs(column: tuple[GrownList, int, _Memory], like: Any, other: Any) -> bool:
    """Whether a column whose elements must have one type has elements, and not all of them have the other one."""
    each, place, memory = column
    n = memory.ends[1] if each.kind in SERIES else memory.sizes[0]
    is_strict = place in each.strict or type(other) in _SMALL_CLASSES
    if not is_strict or n == 0 or each.kind in (set, str):
        return False
    return type(like) is not type(other) or bool((memory.kinds[:n] != memory.kinds[0]).any())


def _is_other(grown: GrownList, value: Any) -> bool:
    """Whether the value is of another class than the loop expects, or a queue of limited length."""
    is_limited = getattr(value, "maxlen", None) is not None
    return not grown.is_made and (type(value) is not grown.kind or is_limited)


def _type_of(value: Any) -> Any:
    return value.dtype if isinstance(value, np.ndarray) else type(value)


def _loaded(grown: GrownList, value: Any, memory: list[_Memory]) -> list[Any] | None:
    """For each column a number of the type of its numbers, which are in the memory from now on if the loop needs them;
    None for other lists."""
    for column in memory:
        column.ends[:] = 0
        if grown.kind not in (*SERIES, str):
            _hash(column, (), max(grown.key, 1))
    if grown.is_made:
        return [_WHOLE] * len(memory)
    if type(value) is not grown.kind or len(value) > _SOME:
        return None
    if grown.kind is str:
        memory[0].wholes[: len(value)] = np.frombuffer(value.encode("utf-32-le", "surrogatepass"), np.uint32)
        memory[0].ends[1] = len(value)
        return [_WHOLE]
    if grown.kind not in SERIES:
        count = max(grown.key, 1)
        if grown.key and not all(type(each) is tuple and len(each) == count for each in value):
            return None
        wholes = [part for each in value for part in each] if grown.key else [*value]
        if not all(type(each) in (int, np.int64) and -(2**63) <= each < 2**63 for each in wholes):
            return None
        _hash(memory[0], [*map(int, wholes)], count)
        if grown.kind is not dict or not value:
            return [_WHOLE]
        like = _filled([*value.values()], memory[0], 0 in grown.strict, 0 in grown.added)
        return None if like is None else [like]
    if not value or not (grown.reads or grown.changes):
        return [_WHOLE] * len(memory)
    if grown.width == 0:
        columns: list[Any] = [value]
    elif all(type(each) is tuple and len(each) == grown.width for each in value):
        columns = [*zip(*value, strict=True)]
    else:
        return None
    likes = [
        _filled(*each, place in grown.strict, place in grown.added)
        for place, each in enumerate(zip(columns, memory, strict=True))
    ]
    return None if None in likes else likes


def _filled(values: Sequence[Any], memory: _Memory, is_strict: bool, is_added: bool) -> Any:
    kinds = [_KINDS.get(type(each), -1) for each in values]
    if min(kinds) < 0:
        return None
    n = len(values)
    try:
        memory.wholes[:n] = [0 if kind == 2 else each for each, kind in zip(values, kinds, strict=True)]
    except OverflowError:
        return None
    memory.floats[:n] = values
    memory.kinds[:n] = kinds
    memory.ends[1] = n
    if is_strict or is_added:
        if min(kinds) == max(kinds) and kinds[0] in (0, 4):
            return np.bool_(0) if kinds[0] else False
        if not is_strict and not {0, 4}.isdisjoint(kinds):
            return None
    return np.float64(0) if 2 in kinds else _WHOLE


def _hash(memory: _Memory, wholes: Sequence[int], count: int) -> None:
    """Fills the table for keys of so many integers each, as hash_tables.py does."""
    size, keys = 64, len(wholes) // count
    while size <= 2 * keys:
        size *= 2
    memory.sizes[:] = keys, size
    memory.table[:size] = 0
    memory.keys[: len(wholes)] = wholes
    for number in range(1, keys + 1):
        mixed = 0
        for whole in wholes[(number - 1) * count : number * count]:
            mixed = (mixed ^ whole ^ (whole >> 32)) * 0x45D9F3B
        place = (mixed ^ (mixed >> 16)) & (size - 1)
        while memory.table[place] != 0:
            place = (place + 1) & (size - 1)
        memory.table[place] = number


def _stored(grown: GrownList, value: Any, memory: list[_Memory], classes: Sequence[Any]) -> Any:
    """The list, dict or set after the loop."""
    if grown.kind is str:
        return value
    if grown.kind not in SERIES:
        made: Any = grown.kind() if grown.is_assigned else value
        count = int(memory[0].sizes[0])
        keys: Any = memory[0].keys[: count * max(grown.key, 1)].tolist()
        if grown.key:
            keys = [*zip(*[iter(keys)] * grown.key, strict=True)]
        values = _numbers(memory[0], 0, count, classes[0]) if grown.kind is dict else []
        made.update(zip(keys, values, strict=True) if grown.kind is dict else keys)
        return made
    first, last = memory[0].ends.tolist()
    last = min(last, *(int(column.ends[1]) for column in memory))
    has_old = not grown.is_made and (grown.reads or grown.changes)
    kept = has_old and not (grown.changes or grown.is_assigned)
    begin = len(value) if kept else first
    columns = [_numbers(column, begin, last, each) for column, each in zip(memory, classes, strict=True)]
    numbers = [*zip(*columns, strict=True)] if grown.width else columns[0]
    if grown.is_assigned:
        return grown.kind(numbers)
    if not grown.changes:
        value += numbers
    elif grown.kind is list:
        value[:] = numbers
    else:
        value.clear()
        value.extend(numbers)
    return value


def _numbers(memory: _Memory, first: int, last: int, of_class: Any) -> list[Any]:
    """The elements in these places; those of NumPy's small types have the class `of_class`."""
    kinds = memory.kinds[first:last]
    if last == first:
        return []
    if kinds[0] == 3:
        return [*(memory.floats if of_class is np.float32 else memory.wholes)[first:last].astype(of_class)]
    if kinds.min() != kinds.max():
        wholes, floats = memory.wholes[first:last].tolist(), memory.floats[first:last].tolist()
        given = zip(kinds.tolist(), floats, wholes, strict=True)
        of_bool = {0: bool, 4: np.bool_}
        return [a if kind == 2 else of_bool[kind](b) if kind in of_bool else b for kind, a, b in given]
    if kinds[0] == 4:
        return [*(memory.wholes[first:last] != 0)]
    kind = kinds[0]
    values = memory.floats if kind == 2 else memory.wholes
    made: list[Any] = (values[first:last] != 0 if kind == 0 else values[first:last]).tolist()
    return made
