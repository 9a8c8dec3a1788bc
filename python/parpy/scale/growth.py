"""Computes the rows beyond its own that a block needs for a sequence of nests.

Growths are matrices over the max-plus algebra: a sequence of steps is a product, and a repetition a power.
"""

from __future__ import annotations

from collections.abc import Mapping

from .facts import LoopHalo, Step

NONE = -(2**62)  # minus infinity: one array does not depend on the other


class Growth:
    """``rows[w][r]`` is the number of further rows of array r that are needed before a step for the rows of array w
    after it. The last index is that of the results of reductions, which never need further rows."""

    def __init__(self, rows: list[list[int]]) -> None:
        self.rows = rows

    @classmethod
    def nothing(cls, count: int) -> Growth:
        return cls([[0 if i == j else NONE for j in range(count)] for i in range(count)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Growth) and self.rows == other.rows

    __hash__ = None  # type: ignore[assignment]

    def then(self, later: Growth) -> Growth:
        """The growth of this step followed by a later one."""
        count = range(len(self.rows))
        made = [[NONE] * len(self.rows) for _ in count]
        for i in count:
            for j in count:
                best = max(later.rows[i][k] + self.rows[k][j] for k in count)
                made[i][j] = best if best > NONE // 2 else NONE
        return Growth(made)

    def either(self, other: Growth) -> Growth:
        return Growth(
            [[max(a, b) for a, b in zip(one, two, strict=True)] for one, two in zip(self.rows, other.rows, strict=True)]
        )

    def times(self, number: int) -> Growth:
        result, factor = Growth.nothing(len(self.rows)), self
        while number:
            if number & 1:
                result = result.then(factor)
            factor = factor.then(factor)
            number >>= 1
        return result

    def needed(self) -> list[int]:
        """The number of further rows of each array with which all arrays have their own rows after the step."""
        return [max(0, *(row[j] for row in self.rows)) for j in range(len(self.rows) - 1)]


def _of_nest(loop: LoopHalo, axes: Mapping[str, int], below: bool) -> Growth:
    names = list(axes)
    made = Growth.nothing(len(names) + 1)
    of = {each.array: each for each in loop.touched if axes.get(each.array) == each.axis}
    written: list[tuple[int, int]] = [(len(names), 0)]  # the index of an array, and the offset of its write
    for name, each in of.items():
        if each.writes is not None and each.writes.low is not None and each.writes.high is not None:
            written.append((names.index(name), each.writes.high if below else -each.writes.low))
    for name, each in of.items():
        if each.reads is None or each.reads.low is None or each.reads.high is None:
            continue
        for place, off in written:
            distance = off + (-each.reads.low if below else each.reads.high)
            row = made.rows[place]
            row[names.index(name)] = max(row[names.index(name)], distance)
    return made


def growth(
    steps: tuple[Step, ...], axes: Mapping[str, int], loops: Mapping[int, list[LoopHalo]], below: bool
) -> Growth | None:
    """The growth of steps whose arrays are partitioned along the given axes, and whose nests (by the ``id`` of their
    steps) along the given loops. ``below`` selects rows before a block, otherwise after it. None if it is unbounded.
    """
    total = Growth.nothing(len(axes) + 1)
    for step in steps:
        if step.kind == "nest":
            for loop in loops.get(id(step), ()):
                total = total.then(_of_nest(loop, axes, below))
            continue
        inside = growth(step.inside, axes, loops, below)
        otherwise = growth(step.otherwise, axes, loops, below)
        if inside is None or otherwise is None:
            return None
        if step.kind == "branch":
            inside = inside.either(otherwise)
        elif step.kind == "repeat" and step.trips is not None:
            inside = inside.times(step.trips)
        elif step.kind == "repeat" and inside.then(inside) != inside:
            return None
        total = total.then(inside)
    return total
