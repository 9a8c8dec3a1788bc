"""Nests of the kinds that passes recognise: products, stencils, sums of rows, recurrences, accumulators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .data import Array
from .numbers import Number

if TYPE_CHECKING:
    from .writer import Writer


class IdiomWriter:
    def __init__(self, writer: Writer) -> None:
        self.w = writer
        self.random = writer.random

    def statement(self, depth: int) -> bool:
        """A nest of a kind that passes recognise: a product, a stencil, sums of rows, a recurrence."""
        matrices = [a for a in self.w.arrays if len(a.extents) == 2 and a.kind == "f"]
        vectors = [a for a in self.w.arrays if len(a.extents) == 1 and a.kind == "f"]
        kind = self.random.randrange(8)
        if kind == 4:
            return self._accumulators(depth)
        if kind == 5:
            return self._blocks(depth)
        if kind == 6:
            return self._waves(depth)
        if kind == 7:
            return self._scan(depth)
        if kind == 0 and matrices:
            return self._product(depth, matrices)
        if kind == 1 and matrices and vectors:
            return self._rows(depth, self.random.choice(matrices), self.random.choice(vectors))
        if kind == 2 and vectors:
            return self._repeated(depth, vectors)
        if kind == 3 and matrices:
            return self._stencil(depth, matrices)
        return False

    def _extent(self, array: Array, axis: int) -> Number:
        text = self.w.pick(array.extents[axis].text, f"{self.w.name(array)}.shape[{axis}]")
        return Number(text, array.extents[axis].bounds)

    def _product(self, depth: int, matrices: list[Array]) -> bool:
        c, a, b = (self.random.choice(matrices) for _ in "cab")
        i, j, k = (f"{name}{self.w.fresh}" for name in "ijk")
        rows, columns = self._extent(c, 0), self._extent(c, 1)
        inner = self._extent(a, 1)
        for first, second in ((a.extents[0], c.extents[0]), (b.extents[0], a.extents[1]), (b.extents[1], c.extents[1])):
            if first.bounds != second.bounds:
                return False
        self.w.signature.written.add(c.name)
        one, zero = self.w.constant(1), self.w.constant(0)
        inner_bounds = self.random.choice(
            [(inner.text, zero, inner, 1)] * 4
            + [
                (f"{i} + 1", zero, inner, 1),
                (f"{i}, {inner.text}", zero, inner, 1),
                (f"1, {inner.text}", one, inner, 1),
            ]
        )
        self.w.open_loop(depth, (rows.text, zero, rows, 1), i)
        self.w.open_loop(depth + 1, (columns.text, zero, columns, 1), j)
        place, product = f"{self.w.name(c)}[{i}, {j}]", f"{self.w.name(a)}[{i}, {k}] * {self.w.name(b)}[{k}, {j}]"
        form = self.random.randrange(4)
        if form == 0:
            self.w.emit(depth + 2, "s = 0.0")
        elif form == 1:
            self.w.emit(depth + 2, f"{place} = {self.w.pick('0.0', f'{place} * 0.5', 'r')}")
        self.w.open_loop(depth + 2, inner_bounds, k)
        target = "s" if form == 0 else place
        self.w.emit(depth + 3, f"{target} {self.w.pick('+', '+', '-')}= {self.w.pick('', 'r * ', '0.5 * ')}{product}")
        if form == 0:
            self.w.emit(depth + 2, f"{place} = {self.w.pick('s', f'{place} * 0.5 + s', 's + r')}")
        self.w.fresh += 1
        return True

    def _rows(self, depth: int, matrix: Array, vector: Array) -> bool:
        if matrix.extents[0].bounds != vector.extents[0].bounds:
            return False
        i, j = f"i{self.w.fresh}", f"j{self.w.fresh}"
        self.w.fresh += 1
        rows, columns = self._extent(matrix, 0), self._extent(matrix, 1)
        zero = self.w.constant(0)
        self.w.signature.written.add(vector.name)
        self.w.open_loop(depth, (rows.text, zero, rows, 1), i)
        local = self.w.chance(0.5)
        if local:
            self.w.emit(depth + 1, f"s = {self.w.pick('0.0', f'{self.w.name(vector)}[{i}]')}")
        self.w.open_loop(depth + 1, (columns.text, zero, columns, 1), j)
        place = "s" if local else f"{self.w.name(vector)}[{i}]"
        element = f"{self.w.name(matrix)}[{i}, {j}]"
        value = self.w.pick(element, element, f"{element} * {element}", f"abs({element})")
        form = self.w.pick("+=", "+=", "max", "np.minimum", "-=")
        self.w.emit(depth + 2, f"{place} {form} {value}" if form[-1] == "=" else f"{place} = {form}({place}, {value})")
        if local:
            self.w.emit(depth + 1, f"{self.w.name(vector)}[{i}] = s")
        return True

    def _accumulators(self, depth: int) -> bool:
        """A loop that updates elements whose subscripts do not change in it, and may read them under other names."""
        variable = self.w.open_loop(depth, self.w.range_(), self.w.free_counter())
        if not variable.reached:
            self.w.emit(depth + 1, "pass")
            return True
        places = []
        for _ in range(self.random.choice((2, 2, 3))):
            array = self.random.choice(self.w.arrays)
            place = self.w.element(array)  # omits the counter of this loop
            if place is not None and array.kind not in "cb":
                places.append((array, place))
        self.w.counters.append(variable)
        self.w.integers.append(variable)
        if not places:
            self.w.emit(depth + 1, "pass")
        for array, place in places:
            self.w.signature.written.add(array.name)
            value = self.w.value_for(array, 2) if self.w.chance(0.7) else self.random.choice(places)[1]
            if array.kind in "iu":
                value = self.w.pick("1", "2", place, self.w.element(array) or "1")
            form = self.w.pick("+=", "+=", "+=", "-=", "max", "np.minimum")
            self.w.emit(
                depth + 1, f"{place} {form} {value}" if form[-1] == "=" else f"{place} = {form}({place}, {value})"
            )
            if self.w.chance(0.2):
                self.w.store(depth + 1)
        self.w.integers.pop()
        self.w.counters.pop()
        return True

    def _repeated(self, depth: int, vectors: list[Array]) -> bool:
        """Sweeps over vectors, one after the other, in a loop over time."""
        source, target = self.random.choice(vectors), self.random.choice(vectors)
        if source.extents[0].bounds != target.extents[0].bounds:
            return False
        t = self.w.open_loop(
            depth, self.random.choice((("3", self.w.constant(0), self.w.constant(3), 1),)), self.w.free_counter()
        )
        self.w.counters.append(t)
        i = self.w.free_counter()
        n, one = self._extent(source, 0), self.w.constant(1)
        for a, b in ((target, source), (source, target)):
            self.w.signature.written.add(a.name)
            end = n.minus(one)
            self.w.open_loop(depth + 1, (f"1, {n.text} - 1", one, end, 1), i)
            x, y = self.w.name(a), self.w.name(b)
            self.w.emit(depth + 2, f"{x}[{i}] = 0.5 * ({y}[{i} - 1] + {y}[{i} {self.w.pick('+ 1', '', '+ 1')}])")
        self.w.counters.pop()
        return True

    def _blocks(self, depth: int) -> bool:
        """Blocks of a vector, whose size changes at run time: the subscripts multiply by it. Some blocks overlap."""
        vectors = [a for a in self.w.arrays if len(a.extents) == 1 and a.kind not in "cb"]
        if depth > 1 or not vectors:
            return False
        target = self.random.choice(vectors)
        source = self.random.choice([a for a in vectors if a.extents[0].bounds == target.extents[0].bounds])
        self.w.signature.written.add(target.name)
        n, x, y = f"{self.w.name(target)}.shape[0]", self.w.name(target), self.w.name(source)
        s, h, c, j, k = (f"{letter}{self.w.fresh}" for letter in ("s", "h", "c", "j", "k"))
        self.w.fresh += 1
        if self.w.chance(0.3):
            self.w.emit(depth, f"{h} = 1")
            self.w.emit(depth, f"while {h} < {n}:")
        else:
            self.w.emit(depth, f"for {s} in range({self.w.pick('2', '3')}):")
            self.w.emit(depth + 1, f"{h} = {self.w.pick(f'2**{s}', f'{s} + 1', f'2 * {s} + 1', f'3 - {s}')}")
        size = f"(2 * {h})"
        blocks = f"{n} // {size}{self.w.pick('', '', ' - 1')}"
        first = self.w.pick(f"{c} * {size}", f"{k}")
        if self.w.chance(0.7):
            self.w.label(depth + 1)
        if first == k:
            self.w.emit(depth + 1, f"for {k} in range(0, ({blocks}) * {size}, {size}):")
        else:
            self.w.emit(depth + 1, f"for {c} in range({blocks}):")
        if self.w.chance(0.7):
            self.w.label(depth + 2)
        self.w.emit(depth + 2, f"for {j} in range({self.w.pick(h, h, size, f'{h} + 1' if blocks[-1] == '1' else h)}):")
        lower, upper = f"{first} + {j}", f"{first} + {j} + {h}"
        if blocks[-1] != "1":
            upper = f"min({upper}, {n} - 1)" if self.w.chance(0.2) else lower
        to, of = self.w.pick((lower, upper), (upper, lower), (lower, lower), (f"{first} + {h} - 1", upper))
        value = self.w.pick(f"{y}[{of}]", f"{y}[{of}] + {x}[{to}]", "1")
        self.w.emit(depth + 3, f"{x}[{to}] {self.w.pick('=', '=', '+=')} {value}")
        self.w.emit(depth + 1, f"{h} *= 2" if self.w.chance(0.5) else f"{h} += 1")
        return True

    def _waves(self, depth: int) -> bool:
        """A nest in which each iteration reads elements that its neighbours in both loops store."""
        matrices = [a for a in self.w.arrays if len(a.extents) == 2 and a.kind not in "cb"]
        if depth > 2 or not matrices:
            return False
        target = self.random.choice(matrices)
        alike = [a for a in matrices if a.extents == target.extents and a.kind == target.kind]
        i, j, p, k = (f"{letter}{self.w.fresh}" for letter in "ijpk")
        self.w.fresh += 1
        self.w.signature.written.add(target.name)
        one = self.w.constant(1)
        if self.w.chance(0.3):
            self.w.open_loop(depth, ("3", self.w.constant(0), self.w.constant(3), 1), f"t{i}")
            depth += 1
        for place, name in enumerate((i, j)):
            end = self._extent(target, place)
            begin = self.w.pick("1", "1", i if name == j else "2")
            last = f"{end.text} - 1"
            if name == j and self.w.chance(0.2):
                last = f"min({last}, {i} + 1)"
            up, down = f"{begin}, {last}", f"{last} - 1, {begin} - 1, -1"
            self.w.open_loop(depth + place, (self.w.pick(up, up, down), one, end, 1), name)
        reads = []
        for source in (target, target, target, self.random.choice(alike)):
            row, column = (f"{name}{self.w.pick(' - 1', ' - 1', ' + 1', '')}" for name in (i, j))
            reads.append(f"{self.w.name(source)}[{row}, {column}]")
        reads = reads[self.random.randrange(3) :]
        whole = target.kind in "iu"
        if whole or self.w.chance(0.3):
            value = f"{self.w.pick('min', 'max')}({', '.join([*reads, '1'])})"
        else:
            value = f"({' + '.join(reads)}) * 0.25"
        depth += 2
        element = f"{self.w.name(target)}[{i}, {j}]"
        form = self.random.randrange(5)
        if form == 0:
            self.w.emit(depth, f"if {self.w.pick(f'{i} != {j}', f'{j} % 2 == 0', f'{i} + {j} > 4')}:")
            depth += 1
        elif form == 1:
            self.w.emit(depth, f"{p} = {value}")
            value = p
        elif form == 2:
            self.w.open_loop(depth, (f"1, {j}", one, self._extent(target, 1), 1), k)
            depth += 1
            value = f"max({element}, {self.w.name(target)}[{i}, {k}])"
        self.w.emit(depth, f"{element} = {value}")
        return True

    def _scan(self, depth: int) -> bool:
        """A loop that passes on a sum, an extremum or a count, to which it stores; some are no scans after all."""
        vectors = [a for a in self.w.arrays if len(a.extents) == 1 and a.kind not in "cb"]
        if depth > 1 or not vectors:
            return False
        target = self.random.choice(vectors)
        source = self.random.choice(
            [a for a in vectors if a.extents[0].bounds == target.extents[0].bounds and a.kind == target.kind]
        )
        i, s = f"i{self.w.fresh}", f"s{self.w.fresh}"
        self.w.fresh += 1
        self.w.signature.written.add(target.name)
        n, x, y = self._extent(target, 0), self.w.name(source), self.w.name(target)
        counts = self.w.chance(0.5)
        zero = "0" if counts or target.kind in "iu" else "0.0"
        self.w.emit(depth, f"{s} = {self.w.pick(zero, zero, '-2' if counts else zero)}")
        self.w.open_loop(depth, (n.text, self.w.constant(0), n, 1), i)
        condition = self.w.pick(f"{x}[{i}] > 1", f"{x}[{i}] > {x}[0]", f"{i} % 3 != 0", f"{i} > {s}", f"{s} < 5")
        inner = depth + 1
        if self.w.chance(0.7):
            self.w.emit(inner, f"if {condition}:")
            inner += 1
        if counts:
            lines = [f"{y}[{s}] = {x}[{i}]", f"{s} += 1"]
            if self.w.chance(0.1):
                lines.append(f"{x}[{i}] = {y}[0]")
                self.w.signature.written.add(source.name)
        else:
            form = self.w.pick("{0} += {1}", "{0} += {1}", "{0} = max({0}, {1})", "{0} = {0} + {1}", "{0} = {1} - {0}")
            lines = [form.format(s, f"{x}[{i}]"), f"{y}[{i}] = {s}"]
            if self.w.chance(0.3):
                lines.reverse()
        for line in lines:
            self.w.emit(inner, line)
        self.w.open_loop(depth, (n.text, self.w.constant(0), n, 1), i)
        self.w.emit(depth + 1, f"{y}[{i}] += {s} % 3" if counts else f"{y}[{i}] += 1")
        return True

    def _stencil(self, depth: int, matrices: list[Array]) -> bool:
        source, target = self.random.choice(matrices), self.random.choice(matrices)
        if any(a.bounds != b.bounds for a, b in zip(source.extents, target.extents, strict=True)):
            return False
        i, j = f"i{self.w.fresh}", f"j{self.w.fresh}"
        self.w.fresh += 1
        self.w.signature.written.add(target.name)
        one = self.w.constant(1)
        rows, columns = self._extent(source, 0), self._extent(source, 1)
        self.w.open_loop(depth, (f"1, {rows.text} - 1", one, rows, 1), i)
        self.w.open_loop(depth + 1, (f"1, {columns.text} - 1", one, columns, 1), j)
        x = self.w.name(source)
        terms = [f"{x}[{i} {self.w.pick('- 1', '+ 1', '')}, {j} {self.w.pick('- 1', '+ 1', '')}]" for _ in range(3)]
        self.w.emit(depth + 2, f"{self.w.name(target)}[{i}, {j}] = {' + '.join(terms)}")
        return True
