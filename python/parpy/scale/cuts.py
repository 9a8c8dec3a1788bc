"""Arrays in blocks of rows, one block for each part, and the rows that parts need from each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple


class Transfer(NamedTuple):
    """The rows ``first … last - 1`` that the part ``source`` owns and another part needs."""

    source: int
    first: int
    last: int


@dataclass(frozen=True)
class Cut:
    """An array in blocks: part p owns the rows ``cuts[p] … cuts[p + 1] - 1`` along the axis that the array has. ``low``
    and ``high`` are the farthest offsets beyond its rows that a nest touches, or 0. ``row`` is the number of elements
    of a row."""

    axis: int
    extent: int
    cuts: tuple[int, ...]
    low: int = 0
    high: int = 0
    periodic: bool = False
    row: int = 1

    def own(self, part: int) -> tuple[int, int]:
        first, last = (min(each, self.extent) for each in self.cuts[part : part + 2])
        return first, last

    def missing(self, part: int, low: int, high: int, periodic: bool) -> Iterator[Transfer]:
        """The rows of ``first + low … last + high`` that the part does not own, by the parts that own them."""
        first, last = self.own(part)
        if first == last:
            return
        spans = [(first + min(low, 0), first), (last, last + max(high, 0))]
        for begin, end in spans:
            shifts = range(begin // self.extent, (end - 1) // self.extent + 1) if begin < end else range(0)
            for shift in shifts if periodic else (0,):
                at = shift * self.extent
                yield from self._owned_by_others(part, max(begin - at, 0), min(end - at, self.extent))

    def _owned_by_others(self, part: int, begin: int, end: int) -> Iterator[Transfer]:
        for source in range(len(self.cuts) - 1):
            first, last = self.own(source)
            if source != part and max(begin, first) < min(end, last):
                yield Transfer(source, max(begin, first), min(end, last))

    def others(self, part: int) -> Iterator[Transfer]:
        """All rows that the part does not own."""
        yield from self._owned_by_others(part, 0, self.extent)
