"""Integers from which a random program computes subscripts and bounds, with the known bounds of their values.

A program is made for a few argument sets, whose sizes are known while its text is made. So each integer expression
carries its least and greatest value under each of them, and a subscript is known to be in bounds when it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Bounds = tuple[int, int] | None
"""The least and the greatest value of an expression; None where it is never evaluated."""


@dataclass(frozen=True)
class Number:
    """An integer expression: its text, and its bounds under each argument set."""

    text: str
    bounds: tuple[Bounds, ...]

    @classmethod
    def constant(cls, value: int, sets: int) -> Number:
        return cls(str(value), ((value, value),) * sets)

    @classmethod
    def argument(cls, text: str, values: Sequence[int]) -> Number:
        return cls(text, tuple((value, value) for value in values))

    def _with(self, other: Number, operation: Callable[[tuple[int, int], tuple[int, int]], tuple[int, int]]) -> tuple:
        pairs = zip(self.bounds, other.bounds, strict=True)
        return tuple(None if a is None or b is None else operation(a, b) for a, b in pairs)

    def plus(self, other: Number) -> Number:
        return Number(f"({self.text} + {other.text})", self._with(other, lambda a, b: (a[0] + b[0], a[1] + b[1])))

    def minus(self, other: Number) -> Number:
        return Number(f"({self.text} - {other.text})", self._with(other, lambda a, b: (a[0] - b[1], a[1] - b[0])))

    def times(self, factor: int) -> Number:
        def scaled(a: tuple[int, int]) -> tuple[int, int]:
            low, high = sorted((a[0] * factor, a[1] * factor))
            return low, high

        return Number(f"{self.text} * {factor}", tuple(None if a is None else scaled(a) for a in self.bounds))

    def halved(self) -> Number:
        return Number(f"{self.text} // 2", tuple(None if a is None else (a[0] // 2, a[1] // 2) for a in self.bounds))

    def modulo(self, other: Number) -> Number:
        """The remainder; `other` must be positive."""
        return Number(f"{self.text} % {other.text}", self._with(other, lambda a, b: (0, max(b[1] - 1, 0))))

    def least(self, other: Number) -> Number:
        return Number(
            f"min({self.text}, {other.text})",
            self._with(other, lambda a, b: (min(a[0], b[0]), min(a[1], b[1]))),
        )

    @property
    def reached(self) -> bool:
        return any(bounds is not None for bounds in self.bounds)

    @property
    def positive(self) -> bool:
        return all(bounds is None or bounds[0] > 0 for bounds in self.bounds)

    @property
    def nonnegative(self) -> bool:
        return all(bounds is None or bounds[0] >= 0 for bounds in self.bounds)

    def below(self, limit: int) -> bool:
        return all(bounds is None or (-limit < bounds[0] and bounds[1] < limit) for bounds in self.bounds)

    def within(self, extent: Number, negative: bool) -> bool:
        """Whether it is a valid subscript of a dimension of this extent, counting negative ones from the end."""
        for mine, size in zip(self.bounds, extent.bounds, strict=True):
            if mine is None or size is None:
                continue
            if mine[0] < (-size[0] if negative else 0) or mine[1] >= size[0]:
                return False
        return True


def counter(name: str, begin: Number, end: Number, step: int) -> Number:
    """The variable of `for name in range(begin, end, step)`, inside the loop."""

    def span(a: tuple[int, int], b: tuple[int, int]) -> Bounds:
        low, high = (a[0], b[1] - 1) if step > 0 else (b[0] + 1, a[1])
        return (low, high) if low <= high else None

    pairs = zip(begin.bounds, end.bounds, strict=True)
    return Number(name, tuple(None if a is None or b is None else span(a, b) for a, b in pairs))
