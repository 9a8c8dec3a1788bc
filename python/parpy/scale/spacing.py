"""Chooses the number of steps of a loop over time between two exchanges.

A part may also compute rows of its neighbours. The rows at the edge become incorrect, and each nest spreads incorrect
rows; the part's own rows are correct until incorrect rows reach them. So rows for several steps may be exchanged at
once, which saves exchanges but makes two parts compute the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..vocabulary.sizes import SIZES
from .cuts import Cut
from .facts import Step, Touched


@dataclass(frozen=True)
class Spacing:
    """A spacing of ``steps`` between two exchanges. Each nest computes ``below`` and ``above`` rows beyond those that
    the part owns. ``reach`` has the rows of each array beyond the part's own that the nests access. ``exchanged`` has
    the arrays whose rows are exchanged, with the first nest that touches each."""

    steps: int
    below: int
    above: int
    reach: Mapping[str, tuple[int, int]]
    exchanged: Mapping[str, Step]


@dataclass(frozen=True)
class Speed:
    """The costs of exchanges and rows: the seconds of an exchange, and the bytes that a part moves in a second.

    If several steps on arrays with up to two dimensions run in time tiles, each row costs ``gain`` times less, and each
    group of steps costs an additional ``restart`` steps of the plain loops.
    """

    exchange: float
    bytes: float
    gain: float = 1.0
    restart: float = 0.0

    def repeats(self, steps: tuple[Step, ...]) -> Iterator[Step]:
        """The loops over time whose blocks may overlap."""
        for step in steps:
            nests = all(each.kind == "nest" and not each.outermost.reduced for each in step.inside)
            if step.kind == "repeat" and step.overlaps and nests:
                yield step
            else:
                yield from self.repeats(step.inside)
                yield from self.repeats(step.otherwise)

    def spacing(self, repeat: Step, cuts: Mapping[str, Cut], written: set[str]) -> Spacing | None:
        """The spacing of a loop over time; None if its nests exchange one by one."""
        touched = {id(step): self._of_cut(step, cuts) for step in repeat.inside}
        if any(found is None for found in touched.values()):
            return None
        below = above = 0
        right, seconds = (0, 0), 0.0
        reach: dict[str, tuple[int, int]] = {}
        first: dict[str, Step] = {}
        ranks: dict[str, tuple[Touched, ...]] = {}
        for step in repeat.inside:
            own = touched[id(step)] or []
            lows = [each.reads.low or 0 for each in own if each.reads is not None]
            highs = [each.reads.high or 0 for each in own if each.reads is not None]
            reached = (max(0, -min(lows, default=0)), max(0, max(highs, default=0)))
            below, above = below + reached[0], above + reached[1]
            if step is repeat.inside[0]:
                right = reached  # the rows beyond the part's own that it reads have been exchanged
            for each in own:
                low, high = reach.get(each.array, (0, 0))
                if each.reads is not None:
                    low, high = min(low, each.reads.low or 0), max(high, each.reads.high or 0)
                reach[each.array] = low, high
                first.setdefault(each.array, step)
                seconds += self._row(each, cuts[each.array])
                ranks[each.array] = step.outermost.axes(each.array)
        blocks = [b - a for name in reach for a, b in zip(cuts[name].cuts, cuts[name].cuts[1:], strict=False)]
        grown = below + above
        if not grown or not blocks or not self.exchange:
            return None
        most = max(min(blocks) // max(below, above), 0)
        tiles = all(len(each) <= 2 for each in ranks.values())
        group = self.exchange + (self.restart * seconds * max(blocks) if tiles else 0.0)
        wanted = round((group / max(seconds / (self.gain if tiles else 1.0) * grown, 1e-15)) ** 0.5)
        steps = min(most, max(wanted, 1), repeat.trips if repeat.trips is not None else most)
        if steps < 2:
            return None
        down, up = steps * below - right[0], steps * above - right[1]
        return Spacing(
            steps,
            down,
            up,
            {name: (low - down, high + up) for name, (low, high) in reach.items()},
            {name: step for name, step in first.items() if name in written},
        )

    def _of_cut(self, step: Step, cuts: Mapping[str, Cut]) -> list[Touched] | None:
        """The cut arrays that a nest touches, along the axes of the cuts; None if it accesses one at other than fixed
        offsets, or stores to another row than its own."""
        loop, found = step.outermost, []
        for name in loop.arrays:
            if name not in cuts:
                continue
            each = loop.axes(name)[cuts[name].axis]
            if any(reach.kind != "block" for reach in each.reaches):
                return None
            if each.writes is not None and (each.writes.low, each.writes.high) != (0, 0):
                return None
            found.append(each)
        return found

    def _row(self, each: Touched, cut: Cut) -> float:
        """The seconds for moving the elements of one row of an array."""
        return cut.row * SIZES[each.scalar].size() * len(each.reaches) / self.bytes
