"""The compiler's facts about the nests of a call, which `parpy.halo` and the engines read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["block", "periodic", "all", "irregular"]
_WORST: tuple[Kind, ...] = ("block", "periodic", "all", "irregular")


def span(low: int, high: int) -> str:
    """Two offsets as a text."""
    first, last = (f"{each:+d}" if each else "0" for each in (low, high))
    return first if low == high else f"{first} … {last}"


@dataclass(frozen=True)
class Access:
    """A place of the program that touches an array."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"'{self.text}' in line {self.line}"


@dataclass(frozen=True)
class Reach:
    """How the elements that a block of iterations touches along one axis lie to the rows ``first … last`` of the block.

    ``kind``: ``'block'``, it touches ``first + low … last + high`` at most; ``'periodic'``, the same, counted modulo
    the extent; ``'all'``, any block may touch elements all along the axis, or all blocks the same ones;
    ``'irregular'``, which elements it touches depends on data, or the array shares memory with another one. ``low`` and
    ``high`` are exact: for each there is an iteration that touches such an element, unless data decide whether it does.
    They are None where the kind is ``'all'`` or ``'irregular'``. ``access`` decides the kind, ``lowest`` and
    ``highest`` decide the offsets.
    """

    kind: Kind
    low: int | None
    high: int | None
    access: Access
    lowest: Access
    highest: Access

    @property
    def bounded(self) -> bool:
        """Whether there are offsets."""
        return self.low is not None and self.high is not None

    def __str__(self) -> str:
        if not self.bounded:
            return self.kind
        offsets = span(self.low or 0, self.high or 0)
        return f"periodic {offsets}" if self.kind == "periodic" else offsets


@dataclass(frozen=True)
class Touched:
    """One axis of one array, as the blocks of one loop touch it.

    ``reads`` and ``writes`` are None where there are none. ``argument`` is the number of the parameter, or None for an
    array that the function makes. ``scalar`` is the type of the elements, as IR text spells it.
    ``accesses`` counts the different accesses to the array.
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
        """The reach that stands most in the way of a partition."""
        return max(self.reaches, key=lambda each: _WORST.index(each.kind))


@dataclass(frozen=True)
class Reduced:
    """The iterations of a loop reduce this together: a number, or (``array``) elements of an array, which parts combine
    by the operator ``op``. ``scattered``: data say which elements. ``alone``: the loop touches the array by these
    updates alone."""

    name: str
    op: str
    scalar: str
    array: bool
    scattered: bool
    alone: bool


@dataclass(frozen=True)
class LoopHalo:
    """A loop that may run in parallel, and the elements that blocks of its iterations touch.

    The row of an iteration is ``scale * counter + shift``, a subscript that it writes, or reads where it writes
    nothing; 0 stands for a scale where no subscript moves with the loop. ``proved`` is False of a reduction. ``key``
    names the loop as `parpy.explain` does, ``depth`` counts the loops of its nest around it; ``trips`` is None where
    the number of iterations is not constant. ``arrays`` are all that it touches, those without axes as well.
    ``first`` is the row of the first iteration, None where that is not constant. ``position`` is the first line that
    depends on the number of the row otherwise than by subscripts that move with it, None where there is none.
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
        """Those of an array, in their order; nothing if the loop does not touch it."""
        return tuple(each for each in self.touched if each.array == array)


@dataclass(frozen=True)
class Step:
    """A part of the call, in the order of the text.

    ``kind``: ``'nest'``, whose ``loops`` begin with its outermost loop that may run in parallel, followed by proved
    ones inside of it; ``'repeat'``, ``inside`` runs ``trips`` times, None where that is not known; ``'branch'``,
    ``inside`` or ``otherwise`` runs; ``'serial'``, statements that touch the arrays of ``touched`` where nothing may
    run in parallel, as ``why`` says. ``arrays`` are all of these; ``repeated`` is True of the condition of a while
    loop, ``calls`` where functions are called that may touch other arrays. ``overlaps``, of ``'repeat'``: steps of a
    stencil that cannot fail, so that a block may compute rows of its neighbours too, some of them wrong: its own rows
    come out right as long as what is wrong has not reached them.
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

    @property
    def outermost(self) -> LoopHalo:
        """Of a nest: the loop that is partitioned."""
        return self.loops[0]


def flat(steps: tuple[Step, ...]) -> Iterator[Step]:
    """The nests and serial statements, in the order of the text."""
    for step in steps:
        if step.kind in ("nest", "serial"):
            yield step
        yield from flat(step.inside)
        yield from flat(step.otherwise)


# ---------------------------------------------------------------- from what the core returns


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
    """The steps of what the core returns."""
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
        )
        for node in nodes
    )
