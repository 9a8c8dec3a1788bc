"""Statements over values: results of functions that return several, functions as arguments, transposes, selections
by masks, names that mean one array and then another, functions of the library."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .data import Array
from .objects import ObjectWriter
from .tuples import TupleWriter

if TYPE_CHECKING:
    from .writer import Writer

_PAIRS = (
    "    return x[i] + s, x[i] * 0.5",
    "    x[i] += 1\n    return x[i], s",
    "    if s > 0:\n        return x[i], s\n    return s, x[i]",
    "    for q in range(len(x)):\n        if x[q] > s:\n            return x[q], s\n    return x[i], s",
)
_SCALED = (
    "    return x * 0.5, s",
    "    y = x + 1\n    x[:] = y - s\n    return y, s",
    "    return x[::-1] + s, x[0:].sum()",
)
_CHOSEN = (
    "    if mode == 'twice':\n        return f(f(x[i]))\n    if mode in ('once', 'one'):\n        return f(x[i])\n"
    "    return x[i]"
)
_SAME_SIZE = (
    "np.sort({x})",
    "np.flip({x}) + 0",
    "np.roll({x}, k)",
    "np.cumsum({x})",
    "{x}[::-1] * 1",
    "abs({x}).copy()",
)
_NUMBERS = (
    "np.max(np.concatenate(({x}, {y})))", "np.sum(np.concatenate(({x}, {y}, {x})))", "np.argmax({x})", "np.median({x})",
    "np.diff({x}).sum()", "np.searchsorted(np.sort({x}), 1)", "np.hstack(({x}, {y}))[-1]", "np.outer({x}, {y}).sum()",
)  # fmt: skip

# Programs with functions that return arrays, of the library or for selections by masks: the interpreter can run them
# only after their calls are replaced by loops.
RETURNS_ARRAYS = re.compile(r"\bm\d+ = |np\.(sort|flip|roll|cumsum|concatenate|hstack|median|diff|outer|searchsorted)")


class ValueWriter:
    def __init__(self, writer: Writer) -> None:
        self.w = writer
        self.random = writer.random
        self._made: set[str] = set()
        self.tuples = TupleWriter(self)
        self.objects = ObjectWriter(self)

    def statement(self, depth: int) -> bool:
        if self.w.boxes and self.w.chance(0.4):
            return self.objects.of_boxes(depth)
        if self.w.chance(0.3):
            return self.tuples.statement(depth)
        if self.w.chance(0.15):
            return self.objects.statement(depth)
        kinds = (self.pair, self.scaled, self.applied, self.transpose, self.selected, self.rebound, self.library)
        return self.random.choice(kinds)(depth)

    def vectors(self) -> list[Array]:
        return [a for a in self.w.arrays if len(a.extents) == 1 and a.kind == "f" and a.limit is None]

    def helper(self, name: str, head: str, body: str) -> None:
        """Adds the helper if it is new: its first body stays. Half of the helpers are plain functions."""
        if name not in self._made:
            self._made.add(name)
            decorator = ["@parpy.jit"] if self.w.chance(0.5) else []
            self.w.helpers += [*decorator, head, *body.split("\n"), "", ""]

    def _stored(self, array: Array) -> str:
        self.w.signature.written.add(array.name)
        return self.w.name(array)

    def pair(self, depth: int) -> bool:
        vectors = self.vectors()
        if not vectors:
            return False
        x = self.random.choice(vectors)
        place = self.w.subscript(x.extents[0], negative=False)
        if place is None:
            return False
        self.helper("pair", "def pair(x, i, s):", self.random.choice(_PAIRS))
        first, second = self.w.new_name("e"), self.w.new_name("e")
        self.w.emit(depth, f"{first}, {second} = pair({self._stored(x)}, {place}, {self.w.real(2)} + 0.5)")
        self.w.floats += [first, second]
        return True

    def scaled(self, depth: int) -> bool:
        vectors = self.vectors()
        if not vectors:
            return False
        x = self.random.choice(vectors)
        self.helper("scaled", "def scaled(x, s):", self.random.choice(_SCALED))
        array, number = self.w.new_name("v"), self.w.new_name("e")
        self.w.emit(depth, f"{array}, {number} = scaled({self._stored(x)}, {self.w.pick('r', '0.5')})")
        self.w.floats.append(number)
        self.w.arrays.append(Array(array, x.dtype, x.extents))
        return True

    def applied(self, depth: int) -> bool:
        vectors = self.vectors()
        if not vectors:
            return False
        x, y = self.random.choice(vectors), self.random.choice(vectors)
        i, j = self.w.subscript(x.extents[0]), self.w.subscript(y.extents[0])
        if i is None or j is None:
            return False
        self.helper("half", "def half(z):", "    return z * 0.5")
        self.helper("applied", "def applied(f, x, i):", self.w.pick("    return f(x[i])", "    return f(f(x[i])) + 1"))
        self.helper("through", "def through(f, x, i, c=1.0):", "    return applied(f, x, i) + f(c)")
        self.helper("chosen", "def chosen(f, x, i, mode='twice'):", _CHOSEN)
        self.helper("scaling", "def scaling(s):", "    return lambda z: z * s")
        function = self.w.pick(
            "half", "abs", "np.floor", "half", "lambda z: z * r", "lambda z, q=k: z - q", "scaling(r)"
        )
        if self.w.chance(0.4):
            name = self.w.new_name("g")
            form = self.random.randrange(3)
            if form == 0:
                self.w.emit(depth, f"{name} = {function}")
            elif form == 1:
                self.w.emit(depth, f"def {name}(z):")
                self.w.emit(depth + 1, self.w.pick("return z * r + k", "return half(z) - r", "return abs(z)"))
            else:
                self.w.emit(depth, f"{name} = ({function}, half)")
                name = f"{name}[{self.w.pick('0', '1', '-1')}]"
            function = name
        mode = self.w.pick("", ", 'once'", ", mode='none'")
        call = self.w.pick(
            f"applied({function}, {self.w.name(x)}, {i})",
            f"through({function}, {self.w.name(x)}, {i}, c={self.w.pick('r', '2.0', 'k')})",
            f"chosen({function}, {self.w.name(x)}, {i}{mode})",
        )
        self.w.emit(depth, f"{self._stored(y)}[{j}] = {call}")
        return True

    def transpose(self, depth: int) -> bool:
        matrices = [a for a in self.w.arrays if len(a.extents) == 2 and a.kind in "fiu"]
        pairs = [
            (a, b)
            for a in matrices
            for b in matrices
            if a.dtype == b.dtype
            and [e.bounds for e in a.extents] == [e.bounds for e in reversed(b.extents)]
        ]  # fmt: skip
        if not pairs:
            return False
        a, b = self.random.choice(pairs)
        operator, x = self.w.pick("=", "=", "+="), self.w.name(b)
        value = self.w.pick(f"{x}.T", f"{x}.T + 1", f"np.transpose({x})", f"({x} - 1).T", f"{x}.T.T.T", f"{x}.T.copy()")
        self.w.emit(depth, f"{self._stored(a)}[:] {operator} {value}")
        return True

    def selected(self, depth: int) -> bool:
        vectors = self.vectors()
        if not vectors:
            return False
        x, target = self.random.choice(vectors), self.random.choice(vectors)
        place = self.w.element(target)
        if place is None:
            return False
        name, shown = self.w.new_name("m"), self.w.name(x)
        self.w.emit(depth, f"{name} = {shown}[{shown} {self.w.pick('>', '<', '==')} {self.w.pick('1', '0', 'r')}]")
        value = self.w.pick(f"np.sum({name})", f"{name}.shape[0]", f"{name}.shape[0] * 0.5", f"np.sum({name} * 2)")
        self._stored(target)
        self.w.emit(depth, f"{place} = {value}")
        return True

    def rebound(self, depth: int) -> bool:
        vectors = self.vectors()
        alike = [
            (x, y)
            for x in vectors
            for y in vectors
            if x.dtype == y.dtype and x.extents[0].bounds == y.extents[0].bounds
        ]
        if not alike:
            return False
        x, y = self.random.choice(alike)
        name = self.w.new_name("v")
        self.w.emit(depth, f"{name} = {self.w.name(x)} {self.w.pick('* 0.5', '+ 1', '* 1')}")
        form = self.random.randrange(3)
        value = f"{name} {self.w.pick('+', '-')} {self.w.name(y)}"
        if form == 0:
            self.w.emit(depth, f"for {name}i in range({self.w.pick('2', 'k')}):")
            self.w.emit(depth + 1, f"{name} = {value}")
        elif form == 1:
            self.w.emit(depth, f"if {self.w.condition()}:")
            self.w.emit(depth + 1, f"{name} = {value}")
        else:
            self.w.emit(depth, f"{name} = {value}")
        self.w.label(depth)
        self.w.emit(depth, f"{self._stored(self.random.choice((x, y)))}[:] = {name}")
        return True

    def library(self, depth: int) -> bool:
        vectors = self.vectors()
        if not vectors:
            return False
        x = self.random.choice(vectors)
        if self.w.chance(0.5):
            shown = self._stored(x)
            self.w.emit(depth, f"{shown}[:] = {self.random.choice(_SAME_SIZE).format(x=shown)}")
            return True
        alike = [y for y in vectors if y.dtype == x.dtype]
        place = self.w.element(x)
        if place is None:
            return False
        self._stored(x)
        value = self.random.choice(_NUMBERS).format(x=self.w.name(x), y=self.w.name(self.random.choice(alike)))
        self.w.emit(depth, f"{place} = {value}")
        return True
