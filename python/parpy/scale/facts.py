"""The compiler's facts about the nests of a call, which `parpy.halo` and the engines read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["block", "periodic", "all", "irregular"]
_WORST: tuple[Kind, ...] = ("block", "periodic", "all", "irregular")


def span(low: int, high: int) -> str:
    """The text for two offsets, or for one if they are equal."""
    first, last = (f"{each:+d}" if each else "0" for each in (low, high))
    return first if low == high else f"{first} … {last}"


@dataclass(frozen=True)
class Access:
    """An access to an array in the program."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"'{self.text}' in line {self.line}"


@dataclass(frozen=True)
class Reach:
    """The elements that a block of iterations touches along one axis, relative to the rows ``first … last`` of the
    block.

    ``kind`` is ``'block'`` if the block touches at most ``first + low … last + high``; ``'periodic'`` if these rows are
    counted modulo the extent; ``'all'`` if any block may touch elements all along the axis, or all blocks touch the
    same elements; ``'irregular'`` if the elements depend on data, or the array shares memory with another one. ``low``
    and ``high`` are exact: for each there is an iteration that touches such an element, unless a condition on data
    prevents it. They are None if the kind is ``'all'`` or ``'irregular'``. ``access`` is the access that determines the
    kind, and ``lowest`` and ``highest`` are those that determine the offsets.
    """

    kind: Kind
    low: int | None
    high: int | None
    access: Access
    lowest: Access
    highest: Access

    @property
    def bounded(self) -> bool:
        """Whether ``low`` and ``high`` are known."""
        return self.low is not None and self.high is not None

    def __str__(self) -> str:
        if not self.bounded:
            return self.kind
        offsets = span(self.low or 0, self.high or 0)
        return f"periodic {offsets}" if self.kind == "periodic" else offsets


@dataclass(frozen=True)
class Touched:
    """The accesses of the blocks of one loop along one axis of one array.

    ``reads`` and ``writes`` are None if there are none. ``argument`` is the number of the parameter, or None for an
    array that the function makes. ``scalar`` is the name of the element type in IR text.
    ``accesses`` is the number of different accesses to the array.
    """

    array: str
    argument: int | None
    axis: int
    extent: int
    reads: Reach | None
    writes: Reach | None
    scalar: str = "f64"
    accesses: int = 1

    @property
    def reaches(self) -> tuple[Reach, ...]:
        return tuple(each for each in (self.reads, self.writes) if each is not None)

    @property
    def moves(self) -> bool:
        """Whether all accesses move along this axis with the loop, so that a block owns a part of the array."""
        return all(each.bounded for each in self.reaches)

    @property
    def worst(self) -> Reach:
        """The reach that is the worst obstacle to a partition."""
        return max(self.reaches, key=lambda each: _WORST.index(each.kind))


@dataclass(frozen=True)
class Reduced:
    """A number or, if ``array``, elements of an array that the iterations of a loop reduce and parts combine by the
    operator ``op``. ``scattered`` tells that the elements depend on data, and ``alone`` that the loop touches the array
    only by these updates."""

    name: str
    op: str
    scalar: str
    array: bool
    scattered: bool
    alone: bool


@dataclass(frozen=True)
class LoopHalo:
    """A loop that may run in parallel, and the elements that blocks of its iterations touch.

    The row of an iteration is ``scale * counter + shift``, a subscript of a write or, without writes, of a read; the
    scale is 0 if no subscript moves with the loop. ``proved`` is False for a reduction. ``key`` is the name of the loop
    in `parpy.explain`, ``depth`` the number of loops of its nest around it. ``trips`` is None if the number of
    iterations is not constant. ``arrays`` are all arrays that the loop touches, including those without axes.
    ``first`` is the row of the first iteration, or None if it is not constant. ``position`` is the first line that
    depends on the number of the row in another way than by subscripts that move with it, or None.
    """

    key: str
    variable: str
    line: int
    text: str
    depth: int
    proved: bool
    trips: int | None
    scale: int
    shift: int
    reduced: tuple[Reduced, ...]
    touched: tuple[Touched, ...]
    arrays: tuple[str, ...] = ()
    first: int | None = None
    position: int | None = None

    def axes(self, array: str) -> tuple[Touched, ...]:
        """The axes of an array that the loop touches, in order; empty if it does not touch the array."""
        return tuple(each for each in self.touched if each.array == array)


@dataclass(frozen=True)
class Step:
    """A part of the call, in the order of the text.

    ``kind`` is ``'nest'`` (``loops`` begin with the outermost loop that may run in parallel, followed by proved loops
    inside of it), ``'repeat'`` (``inside`` runs ``trips`` times, None if unknown), ``'branch'`` (``inside`` or
    ``otherwise`` runs), or ``'serial'`` (statements that touch the arrays of ``touched`` and cannot run in parallel for
    the reason ``why``). ``arrays`` are all touched arrays. ``repeated`` is True for the condition of a while loop, and
    ``calls`` if called functions may touch other arrays. ``overlaps`` of a ``'repeat'`` tells that its steps are those
    of a stencil that cannot fail, so that a block may also compute rows of its neighbours, some of them incorrectly;
    its own rows are correct as long as incorrect rows have not reached them. ``renewed`` are arrays of which each such
    step reads only elements that it has written itself, or that no step writes.
    """

    kind: Literal["nest", "repeat", "branch", "serial"]
    line: int
    text: str
    loops: tuple[LoopHalo, ...] = ()
    trips: int | None = None
    inside: tuple[Step, ...] = ()
    otherwise: tuple[Step, ...] = ()
    why: str = ""
    touched: tuple[Touched, ...] = ()
    arrays: tuple[str, ...] = ()
    repeated: bool = False
    calls: bool = False
    overlaps: bool = False
    renewed: tuple[str, ...] = ()

    @property
    def outermost(self) -> LoopHalo:
        """The loop of a nest that is partitioned."""
        return self.loops[0]


def flat(steps: tuple[Step, ...]) -> Iterator[Step]:
    """The nests and serial statements, in the order of the text."""
    for step in steps:
        if step.kind in ("nest", "serial"):
            yield step
        yield from flat(step.inside)
        yield from flat(step.otherwise)


# ---------------------------------------------------------------- conversion of the core's results


def _reach(found: dict[str, Any] | None) -> Reach | None:
    if found is None:
        return None
    places = [Access(*found[name]) for name in ("access", "low_access", "high_access")]
    return Reach(found["kind"], found["low"], found["high"], *places)


def _touched(arrays: list[dict[str, Any]]) -> tuple[Touched, ...]:
    return tuple(
        Touched(
            array["name"],
            array["argument"],
            number,
            axis["extent"],
            _reach(axis["reads"]),
            _reach(axis["writes"]),
            array["scalar"],
            array["accesses"],
        )
        for array in arrays
        for number, axis in enumerate(array["axes"])
    )


def _loop(found: dict[str, Any]) -> LoopHalo:
    own = {
        name: found[name]
        for name in (
            *("key", "variable", "line", "text", "depth", "proved", "trips", "scale", "shift", "first", "position"),
        )
    }
    reduced = tuple(Reduced(*each) for each in found["reduced"])
    return LoopHalo(**own, reduced=reduced, touched=_touched(found["arrays"]), arrays=_names(found["arrays"]))


def _names(arrays: list[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(array["name"] for array in arrays)


def steps_of(nodes: list[dict[str, Any]]) -> tuple[Step, ...]:
    """The steps for the nodes that the core returns."""
    return tuple(
        Step(
            node["kind"],
            node["line"],
            node["text"],
            tuple(map(_loop, node["loops"])),
            node["trips"],
            steps_of(node["inside"]),
            steps_of(node["otherwise"]),
            node["why"],
            _touched(node["arrays"]),
            _names(node["arrays"]),
            node["repeated"],
            node["calls"],
            node["overlaps"],
            node["renewed"],
        )
        for node in nodes
    )
