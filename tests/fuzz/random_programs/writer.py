"""The text of a random program: one function of arrays and numbers, and the helpers that it calls.

The text is valid Python that stays in bounds and, as far as possible, exact: elements are small multiples of one
half, and arithmetic keeps them so, because a sum must not depend on its order. `exact=False` writes the same programs
for data of any value, for comparisons of bits under `deterministic=True`.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from .data import Array, Scalar, Signature
from .idioms import IdiomWriter
from .numbers import Number, counter
from .slices import SliceWriter
from .values import ValueWriter

FLOATS = ("float64", "float64", "float64", "float32", "float32", "float16")
INTEGERS = ("int64", "int32", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64")
SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 11)
MOST_LINES = 28


class Program:
    """The result of one seed: `text`, whose function is `kernel`, its `signature`, and the number of argument sets."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(f"program {seed}")
        chance = self.random.random()
        self.sets = self.random.choice((1, 1, 2, 2, 3, 4)) if chance < 0.85 else self.random.randint(9, 14)
        writer = Writer(self.random, self.sets)
        writer.write()
        self.signature = writer.signature
        self.labels = writer.labels
        self.text = writer.text


class Writer:
    def __init__(self, rng: random.Random, sets: int) -> None:
        self.random = rng
        self.sets = sets
        self.lines: list[str] = []
        self.helpers: list[str] = []
        self.labels: list[str] = []
        self.integers: list[Number] = []  # in scope: arguments, counters, names with known bounds
        self.counters: list[Number] = []  # of the loops around the current statement
        self.steps: list[str] = []  # variables of while loops and other ints that are not subscripts
        self.floats: list[str] = []
        self.fresh = 0
        self.text = ""
        self._make_signature()
        self.slices = SliceWriter(self)
        self.idioms = IdiomWriter(self)
        self.values = ValueWriter(self)

    # ---- the parameters

    def _sizes(self) -> list[int]:
        if self.random.random() < 0.25:
            return [self.random.choice(SIZES[3:])] * self.sets
        return [self.random.choice(SIZES) for _ in range(self.sets)]

    def _make_signature(self) -> None:
        n, m = self._sizes(), self._sizes()
        k = [self.random.choice((0, 1, 1, 2, 3)) for _ in range(self.sets)]
        self.n, self.m, self.k = (Number.argument(name, values) for name, values in (("n", n), ("m", m), ("k", k)))
        two = self.constant(2)
        extents = [self.n, self.n, self.n, self.m, self.n.plus(two), self.n.times(2), self.constant(6)]
        arrays = []
        dtypes = [self.random.choice(FLOATS), self.random.choice(FLOATS), self.random.choice(INTEGERS)]
        if self.random.random() < 0.06:
            dtypes.append(self.random.choice(("complex64", "complex128", "bool")))
        alike = self.chance(0.35)  # the arrays may overlap element by element
        usual = self.random.choice((1, 1, 2))
        for name in "abcxy"[: self.random.choice((2, 3, 3, 4, 5))]:
            rank = self.random.choice((1, 1, 1, 2, 2, 2, 3) if self.random.random() < 0.5 else (1, 1, 2))
            rank = usual if alike and self.chance(0.8) else rank
            square = alike or self.random.random() < 0.5
            axes = [self.n] * rank if square else [self.random.choice(extents) for _ in range(rank)]
            dtype = self.random.choice(dtypes[:1] if alike else dtypes[:1] * 3 + dtypes)
            arrays.append(Array(name, dtype, tuple(axes)))
        if self.random.random() < 0.3:
            arrays.append(Array("p", self.random.choice(("int64", "int32")), (self.n,), self.n))
        self.dict_arrays: set[str] = set()
        parameters: list[Array | Scalar | tuple[Array, ...]] = list(arrays)
        boxes = 0
        if len(arrays) > 2 and self.random.random() < 0.2:
            small = any(array.dtype in ("float16", "float32", "complex64") for array in arrays)
            # Their numbers are float64 beside smaller floats; Python would keep the type of the smaller ones.
            boxes = 0 if small else self.random.choice((0, 1, 1, 2))
            inside = tuple(array for array in arrays[:2] if array.limit is None)
            parameters = [inside, *[array for array in arrays if array not in inside]]
            self.dict_arrays = {array.name for array in inside}
        self.scalars = [
            Scalar("n", tuple(n)),
            Scalar("m", tuple(m)),
            Scalar("k", tuple(k)),
            Scalar("r", tuple(self.random.choice((0.5, 1.0, -1.5, 2.0)) for _ in range(self.sets))),
        ]
        self.signature = Signature([*parameters, *self.scalars], sharing=0.9 if alike else 0.4, boxes=boxes)
        self.boxes = [f"d{number}" for number in range(boxes)]
        self.arrays = [array for array in arrays if array.limit is None]
        self.indices = [array for array in arrays if array.limit is not None]
        self.integers = [self.n, self.m, self.k]
        self.floats = ["r", *[f"{box}.{name}" for box in self.boxes for name in ("total", "last")]]

    def name(self, array: Array) -> str:
        if array.name not in self.dict_arrays:
            return array.name
        return f"{self.random.choice(self.boxes)}.{array.name}" if self.boxes else f"d['{array.name}']"

    # ---- the whole program

    def write(self) -> None:
        self._write_helpers()
        self.block(1, self.random.randint(1, 4))
        names = [", ".join(self.boxes or ["d"]) if isinstance(p, tuple) else p.name for p in self.signature.parameters]
        head = ["import math", "", "import numpy as np", "import parpy", "", ""]
        body = ["@parpy.jit", f"def kernel({', '.join(names)}):", *(self.lines or ["    pass"])]
        self.text = "\n".join([*head, *self.helpers, *body]) + "\n"

    def emit(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def constant(self, value: int) -> Number:
        return Number.constant(value, self.sets)

    def new_name(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def label(self, depth: int) -> None:
        name = f"L{len(self.labels)}"
        self.labels.append(name)
        self.emit(depth, f"parpy.label('{name}')")

    # ---- statements

    def block(self, depth: int, statements: int) -> None:
        before, arrays = len(self.lines), list(self.arrays)
        for _ in range(statements):
            if len(self.lines) < MOST_LINES:
                self.statement(depth)
        if len(self.lines) == before:
            self.emit(depth, "pass")
        self.arrays = arrays  # drops the arrays that the block made

    def scoped(self, depth: int, statements: int) -> None:
        """A block that may not run: variables that it assigns first are unset after it."""
        integers, floats, steps = list(self.integers), list(self.floats), list(self.steps)
        self.block(depth, statements)
        self.integers, self.floats, self.steps = integers, floats, steps

    def statement(self, depth: int) -> None:
        simple: list[Callable[[int], bool]] = [self.store, self.store, self.update, self.update, self.assign]
        simple += [self.exchange, self.extreme, self.scalar_update, self.call, self.whole_number]
        nested: list[Callable[[int], bool]] = [self.loop, self.loop, self.loop, self.branch, self.while_loop]
        if depth == 1:
            choices = [
                *nested[:3],
                *nested[:3],
                *simple,
                self.idioms.statement,
                self.idioms.statement,
                *[self.slices.statement] * 3,
                *[self.values.statement] * 4,
            ]
        elif depth == 2:
            choices = [*nested, *simple, *simple, *[self.slices.statement] * 2, *[self.values.statement] * 2]
        elif depth <= 4:
            choices = [*nested[:1], self.branch, *simple, *simple, self.slices.statement]
        else:
            choices = simple
        if self.counters:
            choices = [*choices, self.leave] if self.chance(0.3) else choices
        for _ in range(4):
            if self.random.choice(choices)(depth):
                return

    def store(self, depth: int) -> bool:
        array = self.random.choice(self.arrays)
        place = self.element(array)
        if place is None:
            return False
        self.signature.written.add(array.name)
        self.emit(depth, f"{place} = {self.value_for(array)}")
        return True

    def update(self, depth: int) -> bool:
        array = self.random.choice(self.arrays)
        place = self.element(array)
        if place is None:
            return False
        self.signature.written.add(array.name)
        if array.kind == "b":
            self.emit(depth, f"{place} {self.pick('|', '&', '^')}= {self.condition()}")
        elif array.kind in "iu":
            operator = self.pick("+", "+", "+", "-", "*", "|", "&", "^")
            operand = self.pick("1", "2", "3") if operator == "*" else self.value_for(array, 2)
            self.emit(depth, f"{place} {operator}= {operand}")
        else:
            operator = self.pick("+", "+", "+", "-", "*")
            operand = self.pick("0.5", "-1", "2") if operator == "*" else self.value_for(array, 1)
            self.emit(depth, f"{place} {operator}= {operand}")
        return True

    def extreme(self, depth: int) -> bool:
        """A minimum or maximum, in one of its spellings."""
        array = self.random.choice(self.arrays)
        place = self.element(array)
        if place is None or array.kind in "cb":
            return False
        self.signature.written.add(array.name)
        value = self.element(array) or place
        function = self.pick("min", "max", "np.minimum", "np.maximum")
        if self.chance(0.3):
            self.emit(depth, f"if {value} {self.pick('<', '>')} {place}:")
            self.emit(depth + 1, f"{place} = {value}")
        else:
            self.emit(depth, f"{place} = {function}({place}, {value})")
        return True

    def assign(self, depth: int) -> bool:
        known = [name for name in self.floats if name != "r"]
        name = self.random.choice(known) if known and self.chance(0.4) else self.pick("s", "t", "u")
        self.emit(depth, f"{name} = {self.pick('0.0', '1.0', self.real(), self.real())}")
        if name not in self.floats:
            self.floats.append(name)
        return True

    def scalar_update(self, depth: int) -> bool:
        known = [name for name in self.floats if name != "r"]
        if not known:
            return False
        name = self.random.choice(known)
        form = self.random.randrange(6)
        value = self.real(2)
        if form < 3:
            self.emit(depth, f"{name} {self.pick('+', '+', '-')}= {value}")
        elif form == 3:
            self.emit(depth, f"{name} = {self.pick('min', 'max')}({name}, {value})")
        elif form == 4:
            self.emit(depth, f"if {value} {self.pick('<', '>')} {name}:")
            self.emit(depth + 1, f"{name} = {value}")
        else:
            self.emit(depth, f"{name} = {name} * 0.5 + {value}")
        return True

    def whole_number(self, depth: int) -> bool:
        """A name for an integer whose bounds are known."""
        value = self.number()
        if not value.below(40):
            return False
        name = self.new_name("q")
        self.emit(depth, f"{name} = {value.text}")
        self.integers.append(Number(name, value.bounds))
        return True

    def exchange(self, depth: int) -> bool:
        array = self.random.choice(self.arrays)
        alike = [other for other in self.arrays if other.dtype == array.dtype]
        places = [self.element(self.random.choice(alike)) for _ in range(self.random.choice((2, 2, 2, 3)))]
        if None in places:
            return False
        self.signature.written.update(other.name for other in alike)
        right = places[1:] + places[:1]
        self.emit(depth, f"{', '.join(map(str, places))} = {', '.join(map(str, right))}")
        return True

    def call(self, depth: int) -> bool:
        vectors = [array for array in self.arrays if len(array.extents) == 1 and array.kind == "f"]
        if not vectors or not self.helpers_made:
            return False
        a, b = self.random.choice(vectors), self.random.choice(vectors)
        helper = self.random.choice(self.helpers_made)
        i, j = self.subscript(a.extents[0], negative=False), self.subscript(b.extents[0], negative=False)
        if i is None or j is None:
            return False
        if helper.startswith("put"):
            self.signature.written.add(a.name)
            self.emit(depth, f"{helper}({self.name(a)}, {self.name(b)}, {i}, {j})")
            return True
        if helper.startswith("row"):
            rows = [array for array in self.arrays if len(array.extents) == 2 and array.kind == "f"]
            row = self.random.choice(rows) if rows else None
            place = self.subscript(row.extents[0], negative=False) if row is not None else None
            argument = f"{self.name(row)}[{place}]" if row is not None and place is not None else self.name(b)
            self.signature.written.add(a.name)
            self.emit(depth, f"{self.name(a)}[{i}] = {helper}({argument}, r)")
            return True
        self.signature.written.add(a.name)
        operator = self.pick("=", "=", "+=")
        self.emit(depth, f"{self.name(a)}[{i}] {operator} {helper}({self.name(b)}, {j}, {self.real(2)})")
        return True

    def leave(self, depth: int) -> bool:
        self.emit(depth, f"if {self.condition()}:")
        self.emit(depth + 1, self.pick("break", "continue", "continue"))
        return True

    def branch(self, depth: int) -> bool:
        if self.counters and self.chance(0.5):
            i = self.random.choice(self.counters).text
            other = self.random.choice([number.text for number in self.integers])
            condition = self.pick(f"{i} % 2 == 0", f"{i} < {other}", f"{i} != {other}", f"{i} == 0", f"{i} > 1")
        else:
            condition = self.condition()
        self.emit(depth, f"if {condition}:")
        self.scoped(depth + 1, self.random.randint(1, 2))
        if self.chance(0.35):
            self.emit(depth, "else:")
            self.scoped(depth + 1, self.random.randint(1, 2))
        return True

    def while_loop(self, depth: int) -> bool:
        name = self.new_name("w")
        self.emit(depth, f"{name} = 0")
        condition = f" and {self.condition()}" if self.chance(0.5) else ""
        self.emit(depth, f"while {name} < {self.pick('2', '3', 'k')}{condition}:")
        self.emit(depth + 1, f"{name} += 1")
        self.steps.append(name)
        self.scoped(depth + 1, 2)
        return True

    # ---- loops

    def range_(self) -> tuple[str, Number, Number, int]:
        """The bounds of a loop as text, and as numbers."""
        sizes = [self.n, self.n, self.m, self.n.minus(self.constant(1)), self.n.minus(self.constant(2))]
        ends = [*sizes, self.constant(3), self.n.halved(), self.k.plus(self.constant(2)), *self.counters]
        end = self.random.choice(ends)
        begins = [self.constant(0)] * 5 + [self.constant(1), self.constant(2), self.k, *self.counters]
        begin = self.random.choice(begins)
        if self.counters and self.chance(0.1):
            begin, end = self.constant(0), self.counters[-1].plus(self.constant(1))
        step = self.random.choice((1, 1, 1, 1, 1, 1, 2, 3, -1, -2))
        if step < 0:
            begin, end = end.minus(self.constant(1)), begin.minus(self.constant(1))
        if begin.text == "0" and step == 1:
            return end.text, begin, end, step
        if step == 1:
            return f"{begin.text}, {end.text}", begin, end, step
        return f"{begin.text}, {end.text}, {step}", begin, end, step

    def open_loop(self, depth: int, bounds: tuple[str, Number, Number, int], name: str) -> Number:
        self.label(depth)
        text, begin, end, step = bounds
        self.emit(depth, f"for {name} in range({text}):")
        return counter(name, begin, end, step)

    def free_counter(self) -> str:
        used = {number.text for number in self.counters}
        return next(name for name in ("i", "j", "l", "g", "h", "o", "v") if name not in used)

    def loop(self, depth: int) -> bool:
        if len(self.counters) >= 3:
            return False
        bounds = self.range_()
        for _ in range(self.random.choice((1, 1, 1, 1, 2))):  # siblings over the same iterations
            variable = self.open_loop(depth, bounds, self.free_counter())
            if not variable.reached:
                self.emit(depth + 1, "pass")
                return True
            self.counters.append(variable)
            integers, floats, steps = list(self.integers), list(self.floats), list(self.steps)
            self.integers = [*self.integers, variable, variable, variable]
            self.block(depth + 1, self.random.randint(1, 3))
            self.integers, self.floats, self.steps = integers, floats, steps
            self.counters.pop()
        return True

    # ---- integers

    def number(self) -> Number:
        """An integer expression over the variables in scope."""
        a = self.random.choice(self.integers)
        b = self.random.choice(self.integers)
        c = self.constant(self.random.randint(1, 3))
        choices = [a, a, a, a.plus(c), a.minus(c), a.plus(b), a.minus(b), a.halved(), a.times(2), self.n.minus(a)]
        choices += [a.least(b), c, a.times(-1).plus(self.n), a.times(2).minus(b), a.times(3).plus(c)]
        return self.random.choice(choices)

    def subscript(self, extent: Number, negative: bool = True, direct: bool = False) -> str | None:
        if self.indices and not direct and extent.bounds == self.n.bounds and self.chance(0.3):
            inner = self.subscript(self.indices[0].extents[0], negative, direct=True)
            if inner is not None:
                return f"p[{inner}]"
        for _ in range(7):
            value = self.number() if self.chance(0.6) else self.random.choice(self.counters or [self.constant(0)])
            if value.within(extent, negative):
                return value.text
        if extent.positive and self.chance(0.5):
            value = self.number()
            if value.below(1 << 30):
                return f"({value.text}) % {extent.text}"
        constant = self.constant(self.random.choice((0, 0, -1)))
        return constant.text if constant.within(extent, negative) else None

    # ---- elements and values

    def element(self, array: Array) -> str | None:
        places = [self.subscript(extent) for extent in array.extents]
        if None in places:
            return None
        return f"{self.name(array)}[{', '.join(map(str, places))}]"

    def leaf(self) -> str:
        """A real number: an element, a name, a constant."""
        choices = ["0.5", "1", "2", "-1", self.random.choice(self.floats), self.random.choice(self.integers).text]
        arrays = [array for array in self.arrays if array.kind != "c"]
        if arrays:
            elements = [self.element(self.random.choice(arrays)) for _ in range(3)]
            choices += [element for element in elements if element is not None] * 3
        return self.random.choice(choices)

    def real(self, depth: int = 0) -> str:
        if depth > 2 or self.chance(0.35):
            return self.leaf()
        a, b = self.real(depth + 1), self.real(depth + 1)
        array = self.random.choice(self.arrays)
        x, y = self.element(array), self.element(array)
        choices = [f"({a} + {b})", f"({a} - {b})", f"{self.leaf()} * {self.pick('0.5', '2', '-1', 'r')}", f"{a} / 4"]
        choices += [f"np.maximum({a}, {b})", f"abs({a})", f"({a} < {b})", f"(-{a})"]
        if self.chance(0.2):
            choices.append(f"{self.leaf()} * {self.leaf()}")
        if x is not None and y is not None and array.kind != "c":
            choices += [f"min({x}, {y})", f"max({x}, {y})", f"({x} if {self.condition()} else {y})"]
        return self.random.choice(choices)

    def whole(self, array: Array, depth: int = 0) -> str:
        """An integer that elements of the array can hold."""
        x, y = self.element(array), self.element(array)
        if x is None or y is None or depth > 1 or self.chance(0.2):
            return x or self.pick("1", "3")
        a = self.whole(array, depth + 1)
        choices = [f"({a} + {y}) % 5", f"{x} // 2", f"min({x}, {y})", f"(({a} & {y}) | 1)", f"({x} ^ {y})", "3"]
        choices += [f"({x} if {self.condition()} else 2)", f"(({a} << 1) % 7)", f"(({a} > {y}) + {x} % 2)"]
        choices += [f"abs({x}) % 9", f"max({x}, 2)"]
        small = [number.text for number in self.integers if number.nonnegative and number.below(40)]
        if small:
            choices.append(f"({x} + {self.random.choice(small)}) % 6")
        return self.random.choice(choices)

    def value_for(self, array: Array, depth: int = 0) -> str:
        if array.kind == "b":
            return self.condition()
        if array.kind in "iu":
            return self.whole(array)
        if array.kind == "c":
            other = self.element(array)
            return self.pick(f"{other} * 0.5", f"({other} + {self.leaf()})", f"-{other}") if other else "1.5"
        return self.real(depth)

    def condition(self) -> str:
        a, b = self.leaf(), self.leaf()
        if self.counters and self.chance(0.3):
            a = self.random.choice(self.counters).text
        return self.pick(
            f"{a} < {b}", f"{a} >= {b}", f"{a} == {b}", f"not {a} != {b}", f"({a} > 1 or {b} < 2)",
            f"({a} > 0 and {b} > 0)", f"0 <= {a} < 3", f"{a} > 0",
        )  # fmt: skip

    # ---- helpers

    def _write_helpers(self) -> None:
        self.helpers_made: list[str] = []
        if self.chance(0.7):
            return
        kinds = {
            "get": [
                "def get(x, i, s):",
                self.pick("    return x[i] + s", "    if s > 0:\n        return x[i] * 0.5\n    return x[i] - s"),
            ],
            "put": [
                "def put(x, y, i, j):",
                self.pick(
                    "    x[i] = y[j] + 1",
                    "    x[i] += y[j]",
                    "    t = y[j]\n    x[i] = 2\n    y[j] = t * 0.5",
                    "    x[i], y[j] = y[j], x[i]",
                ),
            ],
            "row": [
                "def row(x, s):",
                self.pick(
                    "    for q in range(len(x)):\n        s += x[q]\n    return s",
                    "    return s + np.sum(x[1:])",
                    "    for q in range(1, len(x)):\n        s = max(s, x[q - 1])\n    return s",
                ),
            ],
        }
        for name in self.random.sample(sorted(kinds), self.random.choice((1, 2))):
            self.helpers_made.append(name)
            if name == "put":
                for array in self.arrays:  # the helper may write to both of its arrays
                    self.signature.written.add(array.name)
            self.helpers += ["@parpy.jit", *kinds[name], "", ""]
