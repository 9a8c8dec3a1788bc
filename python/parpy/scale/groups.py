"""Finds the axes of arrays that are cut together, and the obstacles.

Two arrays whose rows one loop touches are cut alike, since a block owns the same rows of both. This defines groups of
axes with at most one axis of each array. A group can be cut if every nest that touches one of its arrays has a loop
whose blocks own parts of these arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .facts import LoopHalo, Reach, Step, Touched, flat


@dataclass
class Group:
    """Axes that are cut together, by array. ``whole`` are arrays that are never written and that each block reads as a
    whole. ``gathered`` are arrays of the group that the blocks of some nests read as a whole. ``why`` is the obstacle
    to the cut, or empty."""

    axes: dict[str, int]
    why: str = ""
    whole: tuple[str, ...] = ()
    gathered: dict[str, Reach] = field(default_factory=dict)


def loops_in(step: Step, axes: Mapping[str, int]) -> list[LoopHalo]:
    """The loops of a nest whose blocks own parts of these arrays along these axes, in order; among nested loops only
    the outermost."""
    found: list[LoopHalo] = []
    for loop in step.loops:
        inside = found and found[-1].depth < loop.depth
        if not inside and any(axes.get(each.array) == each.axis and each.moves for each in loop.touched):
            found.append(loop)
    return found


def loops_along(steps: tuple[Step, ...], axes: Mapping[str, int]) -> dict[int, list[LoopHalo]]:
    """For each nest, by the ``id`` of its step, the loops that are partitioned."""
    return {id(step): loops_in(step, axes) for step in flat(steps) if step.kind == "nest"}


def touched_by(step: Step) -> tuple[Touched, ...]:
    """The axes that a nest or a serial statement touches."""
    return step.touched or tuple(each for loop in step.loops[:1] for each in loop.touched)


def _touches(step: Step, axes: Mapping[str, int]) -> bool:
    return any(each.array in axes for each in touched_by(step))


def _moving(loop: LoopHalo, array: str) -> Touched | None:
    """The axis along which blocks of the loop own parts of an array; None if there is none."""
    moving = [each for each in loop.axes(array) if each.moves]
    return moving[0] if moving else None


def _worst(touched: tuple[Touched, ...]) -> Reach:
    """The worst reach of axes that do not move with a loop: a write, if there is one."""
    writes = [each.writes for each in touched if each.writes is not None]
    return next((each for each in writes if not each.bounded), touched[0].worst)


def _stands_in_the_way(array: str, reach: Reach) -> str:
    if reach.kind == "irregular":
        return f"data, or another array in the same memory, decide which elements of '{array}' {reach.access} touches"
    return f"each block needs all of '{array}', because of {reach.access}"


class _Growing:
    """A group during its construction from the nests."""

    def __init__(self, steps: tuple[Step, ...], group: Group, gather: bool) -> None:
        self._nests = list(flat(steps))
        self._group, self._gather = group, gather
        self._reasons: dict[str, Touched] = {}  # by array, the access that added it to the group
        self._whole: dict[str, Reach] = {}

    def grow(self) -> None:
        """Adds axes by all nests that touch the group, until it grows no more."""
        known = -1
        while known != (known := len(self._group.axes)):
            for step in self._near():
                for loop in loops_in(step, self._group.axes):
                    self._look_at(loop)
                    if self._group.why:
                        return
        for step in self._near():
            self._settle(step)
            if self._group.why:
                return
        self._settle_whole()

    def _near(self) -> list[Step]:
        return [step for step in self._nests if _touches(step, self._group.axes)]

    def _settle(self, step: Step) -> None:
        """Refuses accesses outside of the loops that are partitioned."""
        axes = self._group.axes
        if step.kind == "serial":
            at = next(each for each in step.touched if each.array in axes)
            self._group.why = f"{at.worst.access} touches '{at.array}' where nothing runs in parallel: {step.why}"
            return
        loops = loops_in(step, axes)
        if not loops:
            self._without_loop(step)
            return
        for each in step.outermost.touched:
            if axes.get(each.array) != each.axis:
                continue
            inside = sum(mine.accesses for loop in loops for mine in loop.axes(each.array)[:1])
            if inside != each.accesses:
                self._group.why = (
                    f"loop '{step.outermost.variable}' in line {step.outermost.line} touches '{each.array}' outside of "
                    f"the loops that move along axis {each.axis}"
                )

    def _look_at(self, loop: LoopHalo) -> None:
        axes = self._group.axes
        reduced = {each.name for each in loop.reduced if each.array}
        for name in loop.arrays:
            if name in reduced:
                if name in axes:
                    self._group.why = _reduces(loop, name)
            elif name in axes:
                self._known(loop, name)
            else:
                self._new(loop, name)

    def _new(self, loop: LoopHalo, name: str) -> None:
        moving = _moving(loop, name)
        if moving is None:
            self._whole.setdefault(name, _worst(loop.axes(name)))
        else:
            self._group.axes[name] = moving.axis
            self._reasons[name] = moving

    def _known(self, loop: LoopHalo, name: str) -> None:
        axis = self._group.axes[name]
        here = loop.axes(name)[axis]
        if here.moves:
            self._reasons.setdefault(name, here)
            return
        other = _moving(loop, name)
        if self._gather and all(each.writes is None for each in loop.axes(name)):
            self._group.gathered.setdefault(name, here.worst)
        elif other is not None:
            self._group.why = self._disagree(name, other)
        else:
            self._group.why = _stands_in_the_way(name, here.worst)

    def _disagree(self, name: str, other: Touched) -> str:
        axis, before = self._group.axes[name], self._reasons.get(name)
        first = f"{before.worst.access} along axis {axis}" if before else f"axis {axis}"
        return f"'{name}' is cut by {first} and by {other.worst.access} along axis {other.axis}"

    def _without_loop(self, step: Step) -> None:
        """Handles a nest in which no array of the group moves with a loop: gathers its arrays, or refuses it."""
        loop, axes = step.outermost, self._group.axes
        mine = [each for each in loop.touched if axes.get(each.array) == each.axis]
        if self._gather and all(each.writes is None for each in loop.touched if each.array in axes):
            for each in mine:
                self._group.gathered.setdefault(each.array, each.worst)
            return
        at = mine[0]
        other = _moving(loop, at.array)
        if any(each.name == at.array for each in loop.reduced):
            self._group.why = _reduces(loop, at.array)
        elif other is not None and at.array in self._reasons:
            self._group.why = self._disagree(at.array, other)
        elif at.worst.kind == "irregular":
            self._group.why = _stands_in_the_way(at.array, at.worst)
        else:
            self._group.why = (
                f"no loop that may run in parallel moves along axis {at.axis} of '{at.array}' in {at.worst.access}"
            )

    def _settle_whole(self) -> None:
        written = {each.array for step in self._nests for each in touched_by(step) if each.writes is not None}
        for name, reach in self._whole.items():
            if name not in written:
                self._group.whole += (name,)
            elif self._gather:
                self._group.gathered.setdefault(name, reach)
            else:
                self._group.why = _stands_in_the_way(name, reach)


def _reduces(loop: LoopHalo, name: str) -> str:
    return f"the blocks of loop '{loop.variable}' in line {loop.line} reduce '{name}' together"


def group_of(steps: tuple[Step, ...], array: str, axis: int, gather: bool = False) -> Group:
    """Returns the axes that are cut together with this one, or the reason why it cannot be cut.

    With ``gather``, nests may read all of an array that is cut; it is then gathered for them.
    """
    group = Group({array: axis})
    _Growing(steps, group, gather).grow()
    return group
