"""The arguments of a call: arrays of every layout, some of which share memory.

An argument set is made anew from its seed whenever it is needed, so that two runs begin with the same memory. The
results of a run are read from the whole memory, gaps between elements included.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .numbers import Number

LAYOUTS = ("c", "c", "c", "f", "spread", "reversed", "mixed")


@dataclass(frozen=True)
class Array:
    """An array parameter of the program. If `limit` is set, its elements are subscripts below this number."""

    name: str
    dtype: str
    extents: tuple[Number, ...]
    limit: Number | None = None

    @property
    def kind(self) -> str:
        return np.dtype(self.dtype).kind


@dataclass(frozen=True)
class Scalar:
    """A number parameter, with one value for each argument set."""

    name: str
    values: tuple[Any, ...]


class Box:
    """An argument with arrays, and with numbers to which programs assign."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self.total, self.last = 0.0, 0.5
        vars(self).update(arrays)

    def push(self, s):
        self.last = self.total
        self.total += s
        return self.last

    def moved(self, x, s):
        for q in range(len(x)):
            x[q] = x[q] * 0.5 + s
        self.total -= s
        return self.both

    def bounded(self, limit):
        if self.total > limit:
            self.total = limit
        return self.total

    @property
    def both(self):
        return self.total + self.last


@dataclass
class Signature:
    """The parameters, in order. A tuple of arrays is one dict, whose keys are their names; if `boxes` is not zero,
    it is that many objects with these arrays instead, which are the same object in some calls."""

    parameters: list[Array | Scalar | tuple[Array, ...]]
    sharing: float  # the probability that arrays share memory
    boxes: int = 0
    written: set[str] = field(default_factory=set)

    @property
    def arrays(self) -> list[Array]:
        found: list[Array] = []
        for parameter in self.parameters:
            found += [parameter] if isinstance(parameter, Array) else parameter if isinstance(parameter, tuple) else []
        return found


@dataclass(frozen=True)
class View:
    memory: int
    offset: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Arguments:
    """The memory of one argument set, and the places of the arrays in it."""

    def __init__(self, signature: Signature, number: int, seed: str, exact: bool = True) -> None:
        self._signature = signature
        self._number = number
        self._random = random.Random(seed)
        self._exact = exact
        self.memory: list[np.ndarray] = []
        self.views: dict[str, View] = {}
        self._boxes: list[Box] = []
        self._lay_out()
        self._fill()
        self._one_box = self._random.random() < 0.4
        if signature.boxes:  # the numbers of the objects, set by `settle`
            self.memory.append(np.zeros(2 * signature.boxes))

    # ---- layout

    def _lay_out(self) -> None:
        arrays = list(self._signature.arrays)
        self._random.shuffle(arrays)
        while arrays:
            group = [arrays.pop()]
            if group[0].limit is None and self._random.random() < self._signature.sharing:
                alike = [a for a in arrays if a.limit is None and self._may_share(a, group[0])]
                for other in alike[: self._random.choice((1, 1, 2))]:
                    group.append(other)
                    arrays.remove(other)
            self._place(group)

    @staticmethod
    def _may_share(a: Array, b: Array) -> bool:
        return a.dtype == b.dtype

    def _place(self, group: list[Array]) -> None:
        size = np.dtype(group[0].dtype).itemsize
        written = any(array.name in self._signature.written for array in group)
        plans = [self._strides(array, written) for array in group]
        same = self._random.random() < 0.5  # one array under several names, if the extents allow it
        if same:
            plans = [
                plans[0] if self.shape(array) == self.shape(group[0]) else plan
                for array, plan in zip(group, plans, strict=True)
            ]
        spans = []
        for array, strides in zip(group, plans, strict=True):
            shape = self.shape(array)
            reach = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
            low = sum(min(r, 0) for r in reach) if 0 not in shape else 0
            high = sum(max(r, 0) for r in reach) if 0 not in shape else 0
            spans.append((low, high))
        length = max(high - low for low, high in spans) + 1 + self._random.choice((0, 0, 1, 2, 3))
        first = None
        for array, strides, (low, high) in zip(group, plans, spans, strict=True):
            room = length - 1 - (high - low)
            start = self._random.choice((0, 0, room, self._random.randint(0, room)))
            if first is None:
                first = start
            elif same and first <= room:
                start = first
            view = View(
                len(self.memory),
                (start - low) * size,
                array.dtype,
                self.shape(array),
                tuple(stride * size for stride in strides),
            )
            self.views[array.name] = view
        self.memory.append(np.zeros(length, group[0].dtype))

    def shape(self, array: Array) -> tuple[int, ...]:
        shape = []
        for extent in array.extents:
            bounds = extent.bounds[self._number]
            assert bounds is not None and bounds[0] == bounds[1]
            shape.append(max(bounds[0], 0))
        return tuple(shape)

    def _strides(self, array: Array, written: bool) -> list[int]:
        shape = self.shape(array)
        layout = self._random.choice(LAYOUTS)
        if layout != "c" and not written and self._random.random() < 0.1:
            return [0] * len(shape)
        order = list(range(len(shape)))[::-1]
        if layout == "f" or (layout == "mixed" and self._random.random() < 0.5):
            order.reverse()
        strides = [0] * len(shape)
        step = 2 if layout == "spread" else 1
        if layout == "mixed":
            step = self._random.choice((1, 2, 3))
        for axis in order:
            strides[axis] = step
            step *= max(shape[axis], 1)
            if layout == "mixed":
                step += self._random.choice((0, 0, 1))
        if layout in ("reversed", "mixed") and shape:
            axis = self._random.randrange(len(shape))
            strides[axis] = -strides[axis]
        return strides

    # ---- values

    def _fill(self) -> None:
        values = np.random.default_rng(self._random.getrandbits(32))
        for memory in self.memory:
            memory[:] = self._values(memory.dtype, memory.shape[0], values)
        for array in self._signature.arrays:
            if array.limit is None:
                continue
            bounds = array.limit.bounds[self._number]
            limit = bounds[1] if bounds is not None else 0
            self.array(array.name)[...] = values.integers(0, max(limit, 1), self.shape(array))

    def _values(self, dtype: np.dtype[Any], length: int, values: np.random.Generator) -> Any:
        if dtype.kind == "b":
            return values.integers(0, 2, length)
        if dtype.kind == "u":
            return values.integers(0, 7, length)
        if dtype.kind == "i":
            return values.integers(-4, 6, length)
        if dtype.kind == "c":
            return self._floats(values, length) + 1j * self._floats(values, length)
        return self._floats(values, length)

    def _floats(self, values: np.random.Generator, length: int) -> Any:
        if self._exact:
            return values.integers(-6, 7, length) * 0.5
        return values.normal(size=length)

    # ---- arguments

    def array(self, name: str) -> np.ndarray:
        view = self.views[name]
        return np.ndarray(view.shape, view.dtype, self.memory[view.memory], view.offset, view.strides)

    def passed(self, wrap: Any = None) -> list[Any]:
        """The arguments, in order; arrays over this memory, or the results of `wrap(arguments, name)`."""
        of = wrap if wrap is not None else Arguments.array
        made: list[Any] = []
        for parameter in self._signature.parameters:
            if isinstance(parameter, Array):
                made.append(of(self, parameter.name))
            elif isinstance(parameter, Scalar):
                made.append(parameter.values[self._number])
            else:
                found = {array.name: of(self, array.name) for array in parameter}
                boxes = [Box(found)] * self._signature.boxes if self._one_box else []
                self._boxes = boxes or [Box(found) for _ in range(self._signature.boxes)]
                made += self._boxes or [found]
        return made

    def settle(self) -> None:
        """Copies the numbers of objects after the last call into the memory."""
        if self._boxes:
            self.memory[-1][:] = [number for box in self._boxes for number in (box.total, box.last)]
