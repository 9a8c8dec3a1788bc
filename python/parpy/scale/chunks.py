"""Chunks: blocks along several axes, each of which the function computes from its rows and the rows of a halo.

A chunk with its halo is a smaller array. A call on such arrays computes the same rows as the call on the whole arrays
if both have the same form (`Halo.forms`), and if the rows that only one of the two calls computes are far enough from
the rows of the chunk. This module decides both conditions before anything runs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .facts import LoopHalo, Step, flat
from .groups import loops_along, touched_by
from .halo import Halo

Shapes = tuple[tuple[int, ...] | None, ...]
"""The extents of the arguments by their numbers; None for arguments other than arrays."""


class Refused(Exception):
    """The reason why a call cannot run on chunks."""


@dataclass(frozen=True)
class Direction:
    """Axes that are cut alike, by array. ``cuts`` are the first rows of the chunks, and the end of the shortest array.
    A chunk gets ``before`` rows before its own rows and ``behind`` rows after them, as far as the array has such rows;
    a ``periodic`` direction wraps around. A chunk with its halo has at least ``least`` rows if the array has them."""

    axes: Mapping[str, int]
    cuts: tuple[int, ...]
    periodic: bool
    before: int = 0
    behind: int = 0
    least: int = 1

    @property
    def count(self) -> int:
        return len(self.cuts) - 1

    def own(self, chunk: int, extent: int) -> tuple[int, int]:
        """The first row and the end of a chunk in an array of this extent; the last chunk has all remaining rows."""
        return self.cuts[chunk], extent if chunk == self.count - 1 else self.cuts[chunk + 1]

    def held(self, chunk: int, extent: int) -> tuple[int, int]:
        """The first row and the end of a chunk with its halo. In a periodic direction rows beyond the array are counted
        modulo the extent. For an array longer than the shortest one, the chunk has as many more rows."""
        first, last = self.cuts[chunk] - self.before, self.cuts[chunk + 1] + self.behind
        if self.periodic:
            more = max(self.least - (last - first) + 1, 0) // 2
            return first - more, last + more
        shortest = self.cuts[-1]
        last = min(max(last, max(first, 0) + self.least), shortest)
        first = max(min(first, last - self.least), 0)
        return first, last + extent - shortest

    def runs(self, chunk: int, extent: int) -> Iterator[tuple[int, int, int, int]]:
        """The origins of the rows that a chunk holds: the number of a chunk, the first row and the end of the rows
        counted from its own first row, and the place of these rows among the held rows."""
        first, last = self.held(chunk, extent)
        at = first
        while at < last:
            row = at % extent
            source = next(i for i in range(self.count) if row < self.own(i, extent)[1])
            begin, end = self.own(source, extent)
            count = min(end - row, last - at)
            yield source, row - begin, row - begin + count, at - first
            at += count


def directions_of(whole: Halo, chunked: Mapping[tuple[str, int], tuple[int, ...]]) -> list[Direction]:
    """The directions of a call, from the cuts of some axes. Axes that are cut together get the same chunks."""
    if not whole.complete:
        raise Refused("Python runs a part of it, as parpy.explain shows")
    extents = {(each.array, each.axis): each.extent for each in whole.axes}
    found: dict[frozenset[tuple[str, int]], Direction] = {}
    for (array, axis), cuts in chunked.items():
        if (array, axis) not in extents:
            raise Refused(f"it does not touch '{array}', which is cut into chunks")
        facts = whole.of(array, axis)
        if not facts.partitionable:
            keep = f"keep axis {axis} in one chunk: rechunk({{{axis}: -1}})"
            raise Refused(f"'{array}' is in chunks along axis {axis}, but {facts.why}; {keep}")
        key = frozenset(facts.along.items())
        shortest = min(extents[each] for each in key)
        before = found.get(key)
        if before is not None and len(before.cuts) >= len(cuts):
            continue
        periodic = any(whole.of(*each).periodic for each in key)
        if periodic and any(extents[each] != shortest for each in key):
            raise Refused(f"{_listed(facts.along)} are cut alike and periodic, but their extents differ")
        found[key] = Direction(facts.along, (*(each for each in cuts if each < shortest), shortest), periodic)
    _check_reductions(whole, found.values())
    return list(found.values())


def _listed(axes: Mapping[str, int]) -> str:
    return ", ".join(f"'{array}' along axis {axis}" for array, axis in axes.items())


def _check_reductions(whole: Halo, directions: Iterable[Direction]) -> None:
    cut = {array for direction in directions for array in direction.axes}
    for step in whole.nests:
        touched = {each.array for each in touched_by(step)}
        for loop in step.loops:
            if loop.reduced and touched & cut:
                each = loop.reduced[0]
                raise Refused(f"loop '{loop.variable}' in line {loop.line} reduces '{each.name}' over all chunks")


# ---------------------------------------------------------------- the correct rows


@dataclass
class _Rows:
    """For each array, the first and the last correct row of a chunk with its halo; None if there is no limit."""

    first: dict[str, int | None]
    last: dict[str, int | None]

    def copy(self) -> _Rows:
        return _Rows(dict(self.first), dict(self.last))

    def beyond(self, limit: int) -> bool:
        """Whether an array has no correct row left."""
        late = any(row is not None and row > limit for row in self.first.values())
        return late or any(row is not None and row < -limit for row in self.last.values())

    def join(self, other: _Rows) -> None:
        """Keeps the rows that are correct in both."""
        for name, row in other.first.items():
            self.first[name] = _most(self.first[name], row)
        for name, row in other.last.items():
            self.last[name] = _least(self.last[name], row)


def _most(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else max(a, b)


def _least(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else min(a, b)


def _range(loop: LoopHalo) -> range:
    """The rows of a loop's iterations, in increasing order."""
    if loop.trips is None or loop.first is None:
        raise Refused(f"loop '{loop.variable}' in line {loop.line} has no constant bounds")
    rows = range(loop.first, loop.first + loop.trips * loop.scale, loop.scale)
    return rows if loop.scale > 0 else rows[::-1]


class _Chunk:
    """One chunk along one direction: the loops of the whole call, the loops of the call on the chunk, and the number of
    rows of the whole array before the rows of the chunk."""

    def __init__(
        self, direction: Direction, whole: Mapping[int, LoopHalo], own: Mapping[int, LoopHalo], offset: int, edges: int
    ) -> None:
        """``edges`` is the extent of the whole array along the direction."""
        self._direction, self._whole, self._own = direction, whole, own
        self._offset, self._extent = offset, edges

    def loop(self, number: int, rows: _Rows) -> None:
        """Restricts the rows to those that are correct after a loop."""
        loop, whole = self._own[number], self._whole[number]
        mine, all_ = _range(loop), _range(whole)
        if not all_:
            return
        first, last = self._limits(loop, mine, all_)
        axes = self._direction.axes
        touched = [each for each in loop.touched if axes.get(each.array) == each.axis]
        if not all(each.moves for each in touched):
            raise Refused(f"line {loop.line} behaves differently on chunks of this size: use larger chunks")
        for each in touched:
            if each.reads is None or each.reads.low is None or each.reads.high is None:
                continue
            begin, end = rows.first[each.array], rows.last[each.array]
            first = _most(first, None if begin is None else begin - each.reads.low)
            last = _least(last, None if end is None else end - each.reads.high)
        for each in touched:
            if each.writes is None or each.writes.low is None or each.writes.high is None:
                continue
            if first is not None:
                rows.first[each.array] = _most(rows.first[each.array], first + each.writes.high)
            if last is not None:
                rows.last[each.array] = _least(rows.last[each.array], last + each.writes.low)

    def _limits(self, loop: LoopHalo, mine: range, whole: range) -> tuple[int | None, int | None]:
        """The first and the last row that both loops compute; None at an end beyond which neither computes rows."""
        if not mine:
            return 2**62, -(2**62)
        if self._direction.periodic:
            if (whole[0], whole[-1], whole.step) != (0, self._extent - 1, 1):
                raise Refused(
                    f"loop '{loop.variable}' in line {loop.line} does not run over all rows, where they are periodic"
                )
            return mine[0], mine[-1]
        begin, end = whole[0] - self._offset, whole[-1] - self._offset
        if (mine[0] - begin) % whole.step:
            raise Refused(
                f"loop '{loop.variable}' in line {loop.line} runs over each {whole.step}th row, and a chunk begins "
                f"between two of them: chunks must begin at multiples of {whole.step} rows"
            )
        return (
            None if begin == mine[0] else max(begin, mine[0]),
            None if end == mine[-1] else min(end, mine[-1]),
        )


def _after(steps: tuple[Step, ...], chunk: _Chunk, numbers: Mapping[int, list[int]], rows: _Rows, limit: int) -> None:
    """Restricts the rows to those that are correct after these steps, and stops if none are. ``numbers`` has the
    numbers of the loops of each nest."""
    for step in steps:
        if step.kind == "nest":
            for number in numbers.get(id(step), ()):
                chunk.loop(number, rows)
        elif step.kind == "branch":
            other = rows.copy()
            _after(step.inside, chunk, numbers, rows, limit)
            _after(step.otherwise, chunk, numbers, other, limit)
            rows.join(other)
        elif step.kind == "repeat":
            for _ in itertools.repeat(None) if step.trips is None else itertools.repeat(None, step.trips):
                before = rows.copy()
                _after(step.inside, chunk, numbers, rows, limit)
                if rows == before or rows.beyond(limit):
                    break


# ---------------------------------------------------------------- all chunks of a call


class Chunks:
    """The chunks of a call. ``facts(shapes)`` is the halo of a call with arrays of these shapes. ``names`` are the
    names of arrays by the numbers of their arguments."""

    def __init__(
        self,
        whole: Halo,
        directions: list[Direction],
        names: Mapping[int, str],
        shapes: Shapes,
        facts: Callable[[Shapes], Halo],
    ) -> None:
        self._whole, self._facts, self._names, self.shapes = whole, facts, names, shapes
        self._known: dict[Shapes, Halo] = {shapes: whole}
        self.extents = {(each.array, each.axis): each.extent for each in whole.axes}
        self.directions = directions
        self.directions = [self._deep_enough(place, each) for place, each in enumerate(directions)]
        self._check_forms()

    def grid(self) -> Iterator[tuple[int, ...]]:
        """The numbers of all chunks, one along each direction."""
        return itertools.product(*(range(each.count) for each in self.directions))

    def along(self, array: str, axis: int) -> int | None:
        """The number of the direction along which an axis is cut; None if it is not cut."""
        for number, each in enumerate(self.directions):
            if each.axes.get(array) == axis:
                return number
        return None

    def _shapes_of(self, chunk: Sequence[int | None], directions: Sequence[Direction]) -> Shapes:
        """The shapes of the arrays of a chunk; None in place of a number means all rows along that direction."""
        found: list[tuple[int, ...] | None] = []
        for number, shape in enumerate(self.shapes):
            name = self._names.get(number)
            if shape is None or name is None:
                found.append(shape)
                continue
            extents = list(shape)
            for place, direction in zip(chunk, directions, strict=True):
                axis = direction.axes.get(name)
                if axis is not None and place is not None:
                    first, last = direction.held(place, shape[axis])
                    extents[axis] = last - first
            found.append(tuple(extents))
        return tuple(found)

    def _of(self, shapes: Shapes) -> Halo:
        if shapes not in self._known:
            self._known[shapes] = self._facts(shapes)
        return self._known[shapes]

    def _loops(self, direction: Direction) -> list[LoopHalo]:
        return [loop for each in loops_along(self._whole.steps, direction.axes).values() for loop in each]

    def _deep_enough(self, place: int, direction: Direction) -> Direction:
        """The direction with the halo that its chunks need: the depths of parpy.halo, and more if loops omit rows."""
        depths = [self._whole.depth(array).get(axis) for array, axis in direction.axes.items()]
        if None in depths:
            raise Refused("a loop runs an unknown number of times, so no depth of a halo is known")
        step = math.lcm(*(abs(loop.scale) or 1 for loop in self._loops(direction)))
        before, behind = (max(each[side] for each in depths if each is not None) for side in (0, 1))
        most = max(self.extents[each] for each in direction.axes.items())
        direction = replace(direction, least=self._least(direction))
        while True:
            before = -(-before // step) * step
            if direction.periodic:
                before = behind = max(before, behind)
            made = replace(direction, before=before, behind=behind)
            needed = [self._needed(made, place, chunk) for chunk in range(made.count)]
            more = max(each[0] for each in needed), max(each[1] for each in needed)
            if more == (0, 0):
                return made
            if max(before, behind) >= most:
                raise Refused(f"chunks need all rows of {_listed(direction.axes)}")
            before, behind = max(before, min(more[0], most)), max(behind, min(more[1], most))
            if (before, behind) == (made.before, made.behind):
                raise Refused(f"chunks need more than a halo of {_listed(direction.axes)}")

    def _least(self, direction: Direction) -> int:
        """The least number of rows with which each loop omits the same rows at the ends and still has iterations."""
        loops = self._loops(direction)
        ends = [(rows[0], direction.cuts[-1] - 1 - rows[-1]) for rows in map(_range, loops) if rows]
        reaches = [reach for loop in loops for each in loop.touched for reach in each.reaches if reach.bounded]
        reach = max((abs(each) for one in reaches for each in (one.low or 0, one.high or 0)), default=0)
        return max((each[0] for each in ends), default=0) + max((each[1] for each in ends), default=0) + 4 * reach + 4

    def _needed(self, direction: Direction, place: int, chunk: int) -> tuple[int, int]:
        """The numbers of incorrect rows of a chunk at its start and its end after the call; 0 if its own rows are
        correct."""
        own = self._alone(direction, place, chunk)
        self._check_form(own)
        numbers, whole, mine = self._paired(direction, own)
        array, axis = next(iter(direction.axes.items()))
        extent = self.extents[array, axis]
        offset = direction.held(chunk, extent)[0]
        rows = self._given(direction, chunk)
        limit = max(self.extents[each] for each in direction.axes.items()) + 2 * (direction.before + direction.behind)
        _after(self._whole.steps, _Chunk(direction, whole, mine, offset, extent), numbers, rows, limit)
        before = behind = 0
        for name, number in direction.axes.items():
            extent = self.extents[name, number]
            (first, last), (begin, end) = direction.held(chunk, extent), direction.own(chunk, extent)
            right, left = rows.first[name], rows.last[name]
            if right is not None and right > begin - first:
                before = max(before, right)
            if left is not None and left < end - 1 - first:
                behind = max(behind, last - 1 - first - left)
        return before, behind

    def _alone(self, direction: Direction, place: int, chunk: int) -> Halo:
        """The halo of the call on the rows of a chunk along one direction and all rows along the others."""
        directions = [direction if i == place else each for i, each in enumerate(self.directions)]
        return self._of(self._shapes_of([chunk if i == place else None for i in range(len(directions))], directions))

    def _given(self, direction: Direction, chunk: int) -> _Rows:
        """The correct rows before the call: those that the chunk holds, without a limit at the ends of the array."""
        first: dict[str, int | None] = {}
        last: dict[str, int | None] = {}
        for array, axis in direction.axes.items():
            extent = self.extents[array, axis]
            begin, end = direction.held(chunk, extent)
            first[array] = 0 if begin > 0 or direction.periodic else None
            last[array] = end - begin - 1 if end < extent or direction.periodic else None
        return _Rows(first, last)

    def _paired(
        self, direction: Direction, own: Halo
    ) -> tuple[dict[int, list[int]], dict[int, LoopHalo], dict[int, LoopHalo]]:
        """The loops of both calls that move along the direction, by number; the first dict has each nest's numbers."""
        numbers: dict[int, list[int]] = {}
        found: tuple[dict[int, LoopHalo], dict[int, LoopHalo]] = {}, {}
        ours, theirs = (loops_along(each.steps, direction.axes) for each in (self._whole, own))
        pairs = zip(flat(self._whole.steps), flat(own.steps), strict=True)
        for step, other in pairs:
            mine, its = ours.get(id(step), []), theirs.get(id(other), [])
            if len(mine) != len(its):
                raise Refused(f"line {step.line} behaves differently on chunks of this size: use larger chunks")
            for loop, twin in zip(mine, its, strict=True):
                if loop.position is not None:
                    raise Refused(
                        f"line {loop.position} depends on the number of the row, '{loop.variable}', which "
                        "differs in a chunk: pass an array with the values for each row"
                    )
                number = len(found[0])
                numbers.setdefault(id(step), []).append(number)
                found[0][number], found[1][number] = loop, twin
        return numbers, *found

    def _check_form(self, own: Halo) -> None:
        if len(self._whole.forms) != len(own.forms) or len(self._whole.nests) != len(own.nests):
            raise Refused("it behaves differently on chunks of this size: use larger chunks")
        for ours, theirs in zip(self._whole.forms, own.forms, strict=True):
            if ours == theirs:
                continue
            lines = zip(ours.splitlines(), theirs.splitlines(), strict=False)
            one = next((one for one, other in lines if one != other), "")
            line = one.rsplit("@", 1)[-1].split(":")[0]
            where = f"line {line}" if line.isdigit() else "it"
            raise Refused(f"{where} depends on the extents of the arrays, which differ in a chunk")

    def _check_forms(self) -> None:
        """Checks the forms of all chunks, which `_needed` has checked only along one direction at a time."""
        for chunk in self.grid():
            shapes = self._shapes_of(chunk, self.directions)
            if shapes in self._known:
                continue
            own = self._of(shapes)
            self._check_form(own)
            for place, direction in enumerate(self.directions):
                _, _, mine = self._paired(direction, own)
                _, _, theirs = self._paired(direction, self._alone(direction, place, chunk[place]))
                for number, loop in mine.items():
                    if _facts_along(loop, direction) != _facts_along(theirs[number], direction):
                        raise Refused(f"line {loop.line} behaves differently on chunks of this size: use larger chunks")


def _facts_along(loop: LoopHalo, direction: Direction) -> tuple[object, ...]:
    reaches = [
        tuple((reach.low, reach.high) for reach in each.reaches)
        for each in loop.touched
        if direction.axes.get(each.array) == each.axis
    ]
    return loop.trips, loop.scale, loop.shift, reaches
