"""Statements over slices: elementwise, with broadcasting and overlap, reductions, masks, exchanges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .data import Array
from .numbers import Number

if TYPE_CHECKING:
    from .writer import Writer


@dataclass(frozen=True)
class Part:
    """A slice of one dimension. `sizes`: its length under each argument set; None if that is not known: then only an
    equal part of an equal dimension has this length."""

    text: str
    sizes: tuple[int, ...] | None
    extent: tuple[tuple[int, int] | None, ...] = ()

    def fits(self, other: Part) -> bool:
        if self.sizes is None or other.sizes is None:
            return self.text == other.text and self.extent == other.extent
        return self.sizes == other.sizes

    @property
    def stretches(self) -> bool:
        return self.sizes is not None and all(size == 1 for size in self.sizes)


FIXED = (
    ":", ":", ":", "1:", ":-1", "1:-1", "2:", ":-2", "::2", "1::2", "::-1", "::-1", "-2::-1", "::3", "-1:0:-1", "0:1",
    ":4", "-3:", "1:9:2", "5:1:-1",
)  # fmt: skip


class SliceWriter:
    def __init__(self, writer: Writer) -> None:
        self.w = writer
        self.random = writer.random

    # ---- parts

    def part(self, extent: Number) -> Part:
        if not self.w.chance(0.25):
            text = self.random.choice(FIXED)
            return Part(text, self._sizes(text, extent), extent.bounds)
        bound = self.random.choice([self.w.k, self.w.n, self.w.n.halved(), *self.w.counters])
        text = self.w.pick(
            f"{bound.text}:", f":{bound.text}", f"{bound.text} + 1:", f"{bound.text}::-1", f":{bound.text}:2"
        )
        return Part(text, self._sizes(text, extent), extent.bounds)

    def _sizes(self, text: str, extent: Number) -> tuple[int, ...] | None:
        names = {number.text for number in self.w.integers} - {"n", "m", "k"}
        if any(name in text for name in names):
            return None
        sizes = []
        for number in range(self.w.sets):
            values = {name: getattr(self.w, name).bounds[number][0] for name in ("n", "m", "k")}
            bounds = [eval(bound, values) if bound.strip() else None for bound in text.split(":")]
            size = extent.bounds[number]
            assert size is not None
            sizes.append(len(range(*slice(*bounds).indices(max(size[0], 0)))))
        return tuple(sizes)

    def operand(self, array: Array, target: list[Part]) -> str | None:
        """A part of the array that broadcasts to `target`, as text."""
        rank = len(array.extents)
        for _ in range(12):
            dimensions = self.random.randint(1, rank) if target else 0
            if dimensions > len(target):
                continue
            wanted = target[len(target) - dimensions :]
            sliced = sorted(self.random.sample(range(rank), dimensions))
            texts: list[str | None] = []
            for axis in range(rank):
                extent = array.extents[axis]
                if axis not in sliced:
                    texts.append(self.w.subscript(extent))
                    continue
                goal = wanted[sliced.index(axis)]
                part = goal if goal.sizes is None and goal.extent == extent.bounds else self.part(extent)
                texts.append(part.text if part.fits(goal) or part.stretches else None)
            if None not in texts:
                name = self.w.name(array)
                if dimensions == rank and texts == [":"] * rank and self.w.chance(0.1):
                    return f"{name}[...]"
                return f"{name}[{', '.join(map(str, texts))}]"
        return None

    def place(self, array: Array) -> tuple[str, list[Part]] | None:
        rank = len(array.extents)
        sliced = set(self.random.sample(range(rank), self.random.randint(1, rank)))
        texts: list[str | None] = []
        parts = []
        for axis, extent in enumerate(array.extents):
            if axis in sliced:
                part = self.part(extent)
                parts.append(part)
                texts.append(part.text)
            else:
                texts.append(self.w.subscript(extent))
        if None in texts:
            return None
        return f"{self.w.name(array)}[{', '.join(map(str, texts))}]", parts

    # ---- values

    def alike(self, array: Array) -> list[Array]:
        if array.kind == "f":
            return [other for other in self.w.arrays if other.kind in "fiu"]
        return [other for other in self.w.arrays if other.dtype == array.dtype]

    def value(self, array: Array, parts: list[Part], terms: int) -> str | None:
        texts = []
        for _ in range(terms):
            operand = self.operand(self.random.choice(self.alike(array)), parts)
            if operand is None or self.w.chance(0.1):
                operand = self.w.pick("1", "2", "3") if array.kind in "iub" else self.w.pick("0.5", "r", self.w.leaf())
            texts.append(operand)
        if array.kind == "b":
            return f"({' & '.join(texts)})" if all("[" in text for text in texts) else None
        if len(texts) == 1:
            return self.w.pick(texts[0], texts[0], f"{texts[0]} + 1")
        value = f"{texts[0]} {self.w.pick('+', '+', '-')} {texts[1]}"
        if len(texts) > 2:
            value = self.w.pick(
                f"({value}) + {texts[2]}", f"np.maximum({value}, {texts[2]})", f"{texts[2]} - ({value})"
            )
        if array.kind == "f" and self.w.chance(0.2):
            value = f"({value}) * 0.5"
        return value

    # ---- statements

    def statement(self, depth: int) -> bool:
        chance = self.random.random()
        if chance < 0.15:
            return self.naming(depth)
        if chance < 0.55:
            return self.store(depth)
        if chance < 0.8:
            return self.reduction(depth)
        if chance < 0.88:
            return self.mask(depth)
        return self.exchange(depth)

    def labels(self, depth: int, count: int) -> None:
        for _ in range(count):
            self.w.label(depth)

    def store(self, depth: int) -> bool:
        array = self.random.choice(self.w.arrays)
        place = self.place(array)
        if place is None:
            return False
        text, parts = place
        value = self.value(array, parts, self.random.choice((1, 1, 2, 2, 3)))
        if value is None:
            return False
        self.w.signature.written.add(array.name)
        self.labels(depth, len(parts))
        operator = "=" if array.kind == "b" else self.w.pick("=", "=", "=", "+=", "-=")
        self.w.emit(depth, f"{text} {operator} {value}")
        return True

    def naming(self, depth: int) -> bool:
        """A name for a part of an array, or for an expression's result, which the rest of the block uses."""
        array = self.random.choice(self.w.arrays)
        place = self.place(array)
        if place is None or any(part.sizes is None for part in place[1]) or array.kind in "cb":
            return False
        text, parts = place
        name = self.w.new_name("v")
        given = [a for a in self.w.signature.arrays if a.kind in "fiu" and a.name not in self.w.dict_arrays]
        if self.w.counters and given and self.w.chance(0.3):  # outside of loops Python makes these arrays
            like = self.random.choice(given)
            self.w.emit(depth, f"{name} = np.{self.w.pick('zeros', 'ones')}_like({like.name})")
            self.w.arrays.append(Array(name, like.dtype, like.extents))
            return True
        if self.w.chance(0.5):
            other = self.operand(self.random.choice([a for a in self.w.arrays if a.dtype == array.dtype]), parts)
            text = f"{text} {self.w.pick('+', '-', '*')} {other if other is not None and self.w.chance(0.6) else '1'}"
        else:
            self.w.signature.written.add(array.name)
        self.w.emit(depth, f"{name} = {text}")
        if self.w.chance(0.25):
            self.w.emit(depth, f"{name} {self.w.pick('+', '-')}= {self.w.pick('1', '2')}")
        extents = [
            Number(f"{name}.shape[{axis}]", tuple((size, size) for size in part.sizes or ()))
            for axis, part in enumerate(parts)
        ]
        self.w.arrays.append(Array(name, array.dtype, tuple(extents)))
        return True

    def reduction(self, depth: int) -> bool:
        array = self.random.choice([a for a in self.w.arrays if a.kind in "fiu"] or self.w.arrays)
        place = self.place(array)
        if place is None or array.kind not in "fiu":
            return False
        text, parts = place
        function = self.w.pick("np.sum", "np.sum", "np.max", "np.min", "np.any", "np.all", "parpy.sum", "parpy.max")
        if self.w.chance(0.25):
            other = self.operand(self.random.choice(self.alike(array)), parts)
            if other is not None:
                text = f"{text} {self.w.pick('+', '-', '*')} {other}"
        if len(parts) == 2 and self.w.chance(0.5):
            return self._along_axis(depth, function, text, parts)
        if self.w.chance(0.5):
            name = self.w.pick("s", "t")
            self.w.emit(depth, f"{name} = {function}({text}){self.w.pick('', '', ' + 1')}")
            if name not in self.w.floats:
                self.w.floats.append(name)
            return True
        target = self.random.choice([a for a in self.w.arrays if a.kind == "f"] or [array])
        element = self.w.element(target)
        if element is None or target.kind != "f":
            return False
        self.w.signature.written.add(target.name)
        self.w.emit(depth, f"{element} {self.w.pick('=', '=', '+=')} {function}({text})")
        return True

    def _along_axis(self, depth: int, function: str, text: str, parts: list[Part]) -> bool:
        axis = self.random.choice((0, 1))
        kept = parts[1 - axis]
        vectors = [a for a in self.w.arrays if len(a.extents) == 1 and a.kind == "f"]
        if not vectors:
            return False
        target = self.random.choice(vectors)
        part = self.part(target.extents[0])
        if not part.fits(kept):
            return False
        self.w.signature.written.add(target.name)
        self.labels(depth, 1)
        operator = self.w.pick("=", "=", "+=")
        self.w.emit(
            depth,
            f"{self.w.name(target)}[{part.text}] {operator} "
            f"{function}({text}, axis={axis - 2 if self.w.chance(0.3) else axis})",
        )
        return True

    def mask(self, depth: int) -> bool:
        array = self.random.choice(self.w.arrays)
        if array.kind in "cb":
            return False
        name = self.w.name(array)
        axes = ", ".join(":" for _ in array.extents)
        self.w.signature.written.add(array.name)
        limit = self.w.pick("1", "2", "3")
        operator = self.w.pick("=", "=", "+=")
        self.w.emit(
            depth,
            f"{name}[{name}[{axes}] {self.w.pick('>', '<', '==')} {limit}] {operator} {self.w.pick('1', '2', '0')}",
        )
        return True

    def exchange(self, depth: int) -> bool:
        array = self.random.choice(self.w.arrays)
        alike = [a for a in self.w.arrays if a.dtype == array.dtype]
        place = self.place(array)
        if place is None:
            return False
        other = self.operand(self.random.choice(alike), place[1])
        if other is None or "..." in other:
            return False
        self.w.signature.written.update(a.name for a in alike)
        self.w.emit(depth, f"{place[0]}, {other} = {other}, {place[0]}")
        return True
