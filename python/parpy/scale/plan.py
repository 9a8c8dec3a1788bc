"""Plans the sharing of a call by parts: the rows that each part computes, and the exchanges, for any engine.

A part is a device, a rank or another unit with separate memory. All parts run the same program, each with the
iterations of its own rows. At each exchange of rows or numbers (src/passes/parts), the core calls a hook with the
number of an `Action`. An engine carries out the actions; `Action.transfers` has the rows and the parts that they come
from.

An array is *cut*, so that each part owns a block of rows and has memory for the rows of a halo, or *everywhere*, with
all elements in every part. Arrays that loops reduce, and unwritten arrays that blocks read as a whole, are everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any, Literal, NamedTuple

from ..vocabulary.sizes import SIZES
from .cuts import Cut, Transfer
from .facts import LoopHalo, Step, Touched, flat
from .groups import group_of, touched_by
from .spacing import Spacing, Speed

_NO_COPY = ("min", "max", "minimum", "maximum", "fmin", "fmax", "and", "or", "&", "|")
"""Idempotent operators: all parts may begin with the present value, because repeating it has no effect."""


class Refused(Exception):
    """The reason why parts cannot share the call."""


@dataclass(frozen=True)
class Action:
    """One collective operation of all parts at one place of the program.

    ``'halo'``: each part gets the rows of a cut array that it touches beyond its own. ``'gather'``: each gets all rows.
    ``'post'`` and ``'await'`` are the begin and the end of a ``'halo'``, with work on other rows between them.
    ``'return'``: each gets back its rows that others have written, at the offset ``low``. ``'start'`` and ``'combine'``
    precede and follow a loop that reduces a number or an array that is everywhere. If they are ``ordered``, a part
    begins with the result of the previous part, and all get the result of the last part, so that the bits are those of
    a single part. Such a part passes on its own result (``'pass'``) before it waits for the last one; ``'keep'`` has no
    effect. If not, each part begins with the identity, and the results are combined in the order of the parts.
    """

    kind: Literal["halo", "gather", "return", "post", "await", "start", "pass", "keep", "combine"]
    name: str
    cut: Cut | None = None
    low: int = 0
    high: int = 0
    periodic: bool = False
    op: str = ""
    scalar: str = ""
    array: bool = True
    ordered: bool = False
    begun: int = -1  # of 'await': the number of the action 'post'

    def transfers(self, part: int) -> list[Transfer]:
        """The rows along ``cut.axis`` that this part gets; it sends the rows that other parts get from it."""
        if self.cut is None:
            return []
        if self.kind == "gather":
            return list(self.cut.others(part))
        if self.kind == "return":
            return list(self._written_by_others(part, self.cut))
        return list(self.cut.missing(part, self.low, self.high, self.periodic))

    def _written_by_others(self, part: int, cut: Cut) -> Iterator[Transfer]:
        begin, end = cut.own(part)
        for source in range(len(cut.cuts) - 1):
            first, last = (each + self.low for each in cut.cuts[source : source + 2])
            if source != part and max(begin, first) < min(end, last):
                yield Transfer(source, max(begin, first), min(end, last))

    @property
    def identity(self) -> int | None:
        """The value that all parts except the first begin with; None if each keeps its present value."""
        return None if self.op in _NO_COPY else 1 if self.op == "*" else 0


Copy = tuple[int, int, int, Sequence[Sequence[tuple[int, int, int]]], int]
"""The number of runs of rows, the bytes of a row, the distance of two runs in bytes, for each part the `Transfer`
objects, and -1 for the whole copy, -2 for its begin, or the number of the action that has begun it for its end."""


class _Rows(NamedTuple):
    """The work of a part in a step: its rows, the numbers of further rows before and after them, exchanges, and the
    rows at both ends that it computes last (`Spacing.edges`)."""

    cuts: tuple[int, ...] | None
    below: int
    above: int
    words: list[str]
    edges: tuple[int, int] | None = None


@dataclass
class Plan:
    """The plan by which parts share a call.

    ``cut`` and ``everywhere`` are the arrays by name. ``arguments`` has the numbers of the arrays that are parameters,
    ``written`` the arrays that the call stores to, and ``shapes`` the extents and the type of the elements.
    """

    parts: int
    actions: list[Action] = field(default_factory=list)
    cut: dict[str, Cut] = field(default_factory=dict)
    everywhere: set[str] = field(default_factory=set)
    arguments: dict[str, int] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    shapes: dict[str, tuple[tuple[int, ...], str]] = field(default_factory=dict)
    _steps: list[_Rows] = field(default_factory=list)

    def text(self, part: int) -> str:
        """The text from which the core makes the program of this part (src/passes/parts/part_text.h)."""
        made = []
        for cuts, below, above, words, edges in self._steps:
            interior = [] if edges is None else [f"~{self._rows(part, cuts, -edges[0], -edges[1])}"]
            made.append(" ".join([self._rows(part, cuts, below, above), *words, *interior]))
        return ";".join(made)

    def _rows(self, part: int, cuts: tuple[int, ...] | None, below: int, above: int) -> str:
        """The text of the rows of a part, and so many rows before and after them."""
        low = "" if cuts is None or part == 0 else max(cuts[part] - below, 0)
        high = "" if cuts is None or part == self.parts - 1 else cuts[part + 1] + above
        return f"{low}:{high}"

    @cached_property
    def copies(self) -> list[Copy | None]:
        """For each action, the layout of rows in C order and the rows that each part gets; None for
        reductions."""
        return [self.copy(action) for action in self.actions]

    def copy(self, action: Action) -> Copy | None:
        """The copy for an action, which need not belong to the plan; None for a reduction."""
        if action.cut is None or action.kind not in ("halo", "gather", "return", "post", "await"):
            return None
        shape, scalar = self.shapes[action.name]
        axis = action.cut.axis
        row = prod(shape[axis + 1 :]) * SIZES[scalar].size()
        wanted = [action.transfers(part) for part in range(self.parts)]
        begun = -2 if action.kind == "post" else action.begun
        return prod(shape[:axis]), row, row * shape[axis], wanted, begun


def _moving(loop: LoopHalo) -> list[Touched]:
    reduced = {each.name for each in loop.reduced if each.array}
    return [each for each in loop.touched if each.moves and each.array not in reduced]


def _written_by(step: Step) -> set[str]:
    """The arrays that a step stores to, except by reductions."""
    reduced = {each.name for each in step.outermost.reduced if each.array} if step.kind == "nest" else set()
    return {each.array for each in touched_by(step) if each.writes is not None} - reduced


class _Planner:
    def __init__(
        self, steps: tuple[Step, ...], parts: int, gather: bool, deterministic: bool, speed: Speed | None
    ) -> None:
        self._all, self._speed = steps, speed
        self._leaves = list(flat(steps))
        self._gather, self._deterministic = gather, deterministic
        self.plan = Plan(parts)
        touched = [each for step in self._leaves for each in touched_by(step)]
        self.plan.written = {each.array for each in touched if each.writes is not None}
        self.plan.arguments = {each.array: each.argument for each in touched if each.argument is not None}
        for each in touched:
            extents, _ = self.plan.shapes.get(each.array, ((), ""))
            if each.axis == len(extents):
                self.plan.shapes[each.array] = ((*extents, each.extent), each.scalar)

    def make(self) -> Plan:
        alone = self._run_by_all()
        nests = [step for step in self._leaves if id(step) not in alone]
        loops = self._aligned({id(step): self._narrowed(step.outermost) for step in nests})
        narrowed = {key: replace(step, loops=(loops[key],)) for key, step in ((id(each), each) for each in nests)}
        cuts: dict[int, tuple[int, ...]] = {}
        for step in nests:
            moving = _moving(loops[id(step)])
            for each in moving:
                if each.array not in self.plan.cut:
                    self._cut(tuple(narrowed.values()), each)
            cuts[id(step)] = self._cuts_of(moving)
        spacings = self._spaced(alone)
        for step in self._leaves:
            words: list[str] = []
            spacing = spacings.get(id(step))
            if spacing is not None:
                self._in_front_of_several(step, spacing, words)
            elif id(step) in alone:
                self._before_all(step, words)
            else:
                self._around(step, words)
            below, above = (spacing.below, spacing.above) if spacing else (0, 0)
            edges = spacing.edges if spacing and spacing.first is step else None
            self.plan._steps.append(_Rows(cuts.get(id(step)), below, above, words, edges))
        names = {name for step in self._leaves for name in _names(step)}
        self.plan.everywhere |= names - self.plan.cut.keys()
        return self.plan

    def _spaced(self, alone: set[int]) -> dict[int, Spacing]:
        """The nests in loops over time that exchange once for several time steps, by the ``id`` of their steps."""
        found: dict[int, Spacing] = {}
        for repeat in self._speed.repeats(self._all) if self._speed is not None else ():
            if alone & {id(step) for step in repeat.inside}:
                continue
            others = [step for step in self._leaves if not any(step is each for each in repeat.inside)]
            elsewhere = {each.array for step in others for each in touched_by(step) if each.writes is not None}
            spacing = self._speed.spacing(repeat, self.plan.cut, self.plan.written, elsewhere) if self._speed else None
            if spacing is not None:
                found.update({id(step): spacing for step in repeat.inside})
        return found

    def _in_front_of_several(self, step: Step, spacing: Spacing, words: list[str]) -> None:
        for place, name in enumerate(step.outermost.arrays):
            cut = self.plan.cut.get(name)
            if cut is None:
                continue
            low, high = spacing.reach[name]
            self.plan.cut[name] = replace(cut, low=min(cut.low, low), high=max(cut.high, high))
            if spacing.exchanged.get(name) is not step:
                continue
            first = self._act("halo" if spacing.edges is None else "post", name, cut, low, high)
            words.append(f"*{place}:{first}:{spacing.steps}")
            if spacing.edges is not None:
                words.append(f"={place}:{self._act('await', name, cut, low, high, begun=first)}")

    def _run_by_all(self) -> set[int]:
        """The steps that every part runs as a whole: serial ones, nests in which no array moves with the loop, and
        nests that store to arrays that are everywhere. Those are arrays that loops reduce, or that such nests store to.
        """
        nests = [step for step in self._leaves if step.kind == "nest"]
        everywhere = {each.name for step in nests for each in step.outermost.reduced if each.array}
        whole = {
            each.array
            for step in nests
            for name in step.outermost.arrays
            if name not in self.plan.written and not any(axis.moves for axis in step.outermost.axes(name))
            for each in step.outermost.axes(name)[:1]
        }
        alone = {id(step) for step in self._leaves if step.kind == "serial"}
        while True:
            self.plan.everywhere = everywhere | whole
            more = [
                step
                for step in nests
                if id(step) not in alone
                and (not _moving(self._narrowed(step.outermost)) or _written_by(step) & everywhere)
            ]
            if not more:
                return alone
            alone |= {id(step) for step in more}
            everywhere |= {name for step in more for name in _written_by(step)}

    def _narrowed(self, loop: LoopHalo) -> LoopHalo:
        """The loop without arrays that are everywhere."""
        touched = tuple(each for each in loop.touched if each.array not in self.plan.everywhere)
        names = tuple(name for name in loop.arrays if name not in self.plan.everywhere)
        return replace(loop, touched=touched, arrays=names)

    def _aligned(self, loops: dict[int, LoopHalo]) -> dict[int, LoopHalo]:
        """The loops. If arrays may be gathered, they are without the arrays that they read along another axis than that
        of the stores to the array."""
        if not self._gather:
            return loops
        axes: dict[str, int] = {}
        for loop in loops.values():
            for each in _moving(loop):
                if each.writes is not None:
                    axes.setdefault(each.array, each.axis)
        made = {}
        for key, loop in loops.items():
            written = {each.array for each in loop.touched if each.writes is not None}
            across = {each.array for each in _moving(loop) if axes.get(each.array, each.axis) != each.axis} - written
            names = tuple(name for name in loop.arrays if name not in across)
            made[key] = replace(loop, arrays=names, touched=tuple(t for t in loop.touched if t.array in names))
        return made

    def _cuts_of(self, moving: list[Touched]) -> tuple[int, ...]:
        """The cuts for the rows of a nest: those of the arrays that it touches blockwise, or, without any, its own."""
        for each in moving:
            cut = self.plan.cut[each.array]
            if cut.axis == each.axis:
                return cut.cuts
        return self._even(moving[0].extent)

    def _even(self, extent: int) -> tuple[int, ...]:
        return tuple(part * extent // self.plan.parts for part in range(self.plan.parts + 1))

    def _cut(self, nests: tuple[Step, ...], first: Touched) -> None:
        """Cuts an array and all arrays that are cut together with it."""
        group = group_of(nests, first.array, first.axis, gather=self._gather)
        if group.why:
            raise Refused(group.why)
        extents = {name: self.plan.shapes[name][0][axis] for name, axis in group.axes.items()}
        cuts = self._even(max(extents.values()))
        for name, axis in group.axes.items():
            shape = self.plan.shapes[name][0]
            self.plan.cut[name] = Cut(axis, extents[name], cuts, row=prod(shape[:axis] + shape[axis + 1 :]))

    def _act(self, *args: Any, **keywords: Any) -> int:
        self.plan.actions.append(Action(*args, **keywords))
        return len(self.plan.actions) - 1

    def _before_all(self, step: Step, words: list[str]) -> None:
        """Adds the gathering of the arrays that a step reads, for a step that every part runs as a whole."""
        if step.calls:
            raise Refused(f"line {step.line} calls a function, whose loops are not partitioned")
        names = step.arrays if step.kind == "serial" else step.outermost.arrays
        for number, name in enumerate(names):
            cut = self.plan.cut.get(name)
            reads = [each.reads for each in touched_by(step) if each.array == name and each.reads is not None]
            if cut is None or not reads:
                continue
            why = f": {step.why}" if step.why else ""
            if not self._gather or step.repeated:
                raise Refused(f"every part needs all of '{name}', because of {reads[0].access}{why}")
            words.append(f"+{number}:{self._act('gather', name, cut)}")

    def _around(self, step: Step, words: list[str]) -> None:
        # An ordered sum waits for that of the part before: rows are exchanged in front of it, and all other actions
        # behind the loop follow those of kind 'pass'.
        loop = step.outermost
        rows: list[str] = []
        for place, name in enumerate(loop.arrays):
            cut = self.plan.cut.get(name)
            if cut is not None:
                self._rows(name, place, cut, loop.axes(name)[cut.axis], rows)
        words += [word for word in rows if not word.startswith("-")]
        unordered: list[str] = []
        last: list[str] = []
        for number, each in enumerate(loop.reduced):
            if each.array and not each.alone:
                raise Refused(f"loop '{loop.variable}' in line {loop.line} reduces '{each.name}', which it also uses")
            if each.scalar in ("u64", "c64", "c128"):
                raise Refused(f"loop '{loop.variable}' in line {loop.line} reduces '{each.name}' of type {each.scalar}")
            ordered = self._deterministic and each.scalar in ("f16", "bf16", "f32", "f64")
            kind = {"op": each.op, "scalar": each.scalar, "array": each.array, "ordered": ordered}
            kinds = ("start", "pass", "keep", "combine") if ordered else ("start", "combine")
            start, *passed, combine = (self._act(name, each.name, **kind) for name in kinds)
            place = loop.arrays.index(each.name) if each.array else number
            if each.array and ordered and any(not other.array for other in loop.reduced):
                raise Refused(
                    f"loop '{loop.variable}' in line {loop.line} reduces numbers and the array '{each.name}', which "
                    "deterministic=True allows in loops of their own"
                )
            if each.array:
                (words if ordered else unordered).append(f"+{place}:{start}")
                words += [f"-{place}:{one}" for one in passed[:1]]
                last.append(f"-{place}:{combine}")
            elif ordered:
                words.append(f"#{place}:{start}:{passed[0]}")
                last.append(f"#{place}:{passed[1]}:{combine}")
            else:
                unordered.append(f"#{place}:{start}:{combine}")
        words += [*unordered, *last, *(word for word in rows if word.startswith("-"))]

    def _rows(self, name: str, place: int, cut: Cut, each: Touched, words: list[str]) -> None:
        """Adds the exchanges of rows of a cut array before and after a nest."""
        written = 0
        if each.writes is not None:
            if each.writes.low != each.writes.high or each.writes.kind != "block":
                places = f"{each.writes.lowest} and {each.writes.highest}"
                raise Refused(f"blocks write rows of '{name}' at several offsets: {places}")
            written = each.writes.low or 0
        if each.reads is not None and not each.reads.bounded:
            words.append(f"+{place}:{self._act('gather', name, cut)}")
            return
        low, high, periodic = min(written, 0), max(written, 0), False
        if each.reads is not None:
            low, high = min(low, each.reads.low or 0), max(high, each.reads.high or 0)
            periodic = each.reads.kind == "periodic"
        cut = self.plan.cut[name]
        self.plan.cut[name] = replace(
            cut, low=min(cut.low, low), high=max(cut.high, high), periodic=cut.periodic or periodic
        )
        if (low or high) and name in self.plan.written:
            words.append(f"+{place}:{self._act('halo', name, cut, low, high, periodic)}")
        if written:
            words.append(f"-{place}:{self._act('return', name, cut, written)}")


def _names(step: Step) -> tuple[str, ...]:
    return step.arrays if step.kind == "serial" else step.outermost.arrays


def make_plan(
    steps: tuple[Step, ...],
    parts: int,
    gather: bool = False,
    deterministic: bool = False,
    speed: Speed | None = None,
) -> Plan:
    """Plans a call for this number of parts. ``gather`` allows gathering arrays that a nest reads as a whole. ``speed``
    has the cost of exchanges, by which loops over time exchange once for several steps if it is faster. Raises
    Refused."""
    return _Planner(steps, parts, gather, deterministic, speed).make()
