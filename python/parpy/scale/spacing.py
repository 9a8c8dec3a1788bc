"""Chooses the number of steps of a loop over time between two exchanges.

A part may also compute rows of its neighbours. The rows at the edge become incorrect, and each nest spreads incorrect
rows; the part's own rows are correct until incorrect rows reach them. So rows for several steps may be exchanged at
once, which saves exchanges but makes two parts compute the same rows.

The first nest after an exchange may compute the interior rows, which need no rows of other parts, while rows travel.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ..vocabulary.sizes import SIZES
from .cuts import Cut
from .facts import Step, Touched

_MOST_BESIDE = 8  # the most arrays whose rows travel at once


@dataclass(frozen=True)
class Spacing:
    """A spacing of ``steps`` between two exchanges. Each nest computes ``below`` and ``above`` rows beyond those that
    the part owns. ``reach`` has the rows of each array beyond the part's own that the nests access. ``exchanged`` has
    the arrays whose rows are exchanged, with the first nest that touches each. ``edges`` are the numbers of rows at
    both ends of a block that the nest ``first`` computes after the rows of other parts have come; it computes the rows
    between them before. They are None if it computes no rows before."""

    steps: int
    below: int
    above: int
    reach: Mapping[str, tuple[int, int]]
    exchanged: Mapping[str, Step]
    edges: tuple[int, int] | None = None
    first: Step | None = None


@dataclass(frozen=True)
class Speed:
    """The costs of exchanges and rows: the seconds of an exchange, and the bytes that a part moves in a second.

    If several steps on arrays with up to two dimensions run in time tiles, each row costs ``gain`` times less, and each
    group of steps costs an additional ``restart`` steps of the plain loops. The last step of a group has no tiles;
    the number of the others is a multiple of ``whole`` if they are so many, since tiles have that number of steps or a
    divisor of it, and a tile of fewer steps costs nearly as much. Without time tiles, ``beside`` are the
    seconds of an exchange while a nest computes its interior rows.
    """

    exchange: float
    bytes: float
    gain: float = 1.0
    restart: float = 0.0
    beside: float = 0.0
    whole: int = 1

    def repeats(self, steps: tuple[Step, ...]) -> Iterator[Step]:
        """The loops over time whose blocks may overlap."""
        for step in steps:
            nests = all(each.kind == "nest" and not each.outermost.reduced for each in step.inside)
            if step.kind == "repeat" and step.overlaps and nests:
                yield step
            else:
                yield from self.repeats(step.inside)
                yield from self.repeats(step.otherwise)

    def spacing(self, repeat: Step, cuts: Mapping[str, Cut], written: set[str], elsewhere: set[str]) -> Spacing | None:
        """The spacing of a loop over time; None if its nests exchange one by one. ``written`` are the arrays that the
        call stores to, and ``elsewhere`` those that it stores to outside of the loop."""
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
        # What no step of the loop writes has been the same in all parts since the call began.
        kept = set(repeat.renewed) - elsewhere
        exchanged = {name: step for name, step in first.items() if name in written and name not in kept}
        if not exchanged:
            return None
        most = max(min(blocks) // max(below, above), 0)
        tiles = all(len(each) <= 2 for each in ranks.values()) and os.environ.get("PARPY_TIME_TILES") != "0"
        beside = not tiles and self.beside > 0 and len(exchanged) <= _MOST_BESIDE
        group = self.beside if beside else self.exchange + (self.restart * seconds * max(blocks) if tiles else 0.0)
        wanted = round((group / max(seconds / (self.gain if tiles else 1.0) * grown, 1e-15)) ** 0.5)
        if tiles and wanted > self.whole:
            wanted = round((wanted - 1) / self.whole) * self.whole + 1
        steps = min(most, max(wanted, 1), repeat.trips if repeat.trips is not None else most)

        def spaced(steps: int) -> Spacing:
            down, up = steps * below - right[0], steps * above - right[1]
            reached = {name: (low - down, high + up) for name, (low, high) in reach.items()}
            return Spacing(steps, down, up, reached, exchanged)

        for fewer in range(steps if beside else 0, 0, -1):
            found = spaced(fewer)
            edges = self._edges(found, touched[id(repeat.inside[0])] or [], right)
            if 2 * sum(edges) <= min(blocks):
                return replace(found, edges=edges, first=repeat.inside[0])
        return spaced(steps) if steps > 1 else None

    @staticmethod
    def _edges(spacing: Spacing, nest: list[Touched], reads: tuple[int, int]) -> tuple[int, int]:
        """The rows at both ends of a block for which the first nest needs rows of other parts, or that it writes and
        other parts need."""
        low, high = reads
        for each in nest:
            if each.writes is not None and each.array in spacing.exchanged:
                below, above = spacing.reach[each.array]
                low, high = max(low, above), max(high, -below)
        return low, high

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
