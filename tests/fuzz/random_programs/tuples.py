"""Statements over tuples, None and generator expressions: names and exchanges, arguments and results of functions,
values that may be None, loops over tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .data import Array

if TYPE_CHECKING:
    from .values import ValueWriter

_BOTH = (
    "    return t[0] * s + t[1][0]",
    "    a, (b, c) = t\n    return a * b - s + c",
    "    return sum(t[1]) + t[0] if s > 0 else max(t[1])",
    "    u = t[1] + (t[0],)\n    return u[2] * 2 - u[len(u) - 3]",
)
_PLACE = "    for q in range(len(x)):\n        if x[q] > s:\n            return q\n    return None"
_TURNED = ("    return t[1], t[0]", "    return (*t[1:], t[0])", "    return t if s > 0 else (t[1], t[0])")
_MOVED = (
    "    a, (b, n) = t\n    m = min(len(a), len(b))\n    for q in range(m):\n        a[q] = b[m - 1 - q] * s - n",
    "    for q in range(min(len(t[0]), len(t[1][0]))):\n        t[0][q] = t[1][0][q] + s",
    "    u = t[1] + (t[0],)\n    u[0][: len(u[2]) // 2] += s\n    t[0][:] = t[0] * 0.5",
)
_SUMS = (
    "sum({x}[q] * 0.5 for q in range(len({x})))",
    "sum(v for v in {x} if v > 0)",
    "1.0 if any(v > 1 for v in {x}) else 0.25",
    "0.5 if all(v < r for v in {x}) else -1.0",
    "max(abs(v) for v in {x}) if len({x}) > 0 else 0.5",
)


class TupleWriter:
    def __init__(self, values: ValueWriter) -> None:
        self.values = values
        self.w = values.w
        self.random = values.w.random

    def statement(self, depth: int) -> bool:
        numbers = (
            self.names,
            self.argument,
            self.turned,
            self.found,
            self.best,
            self.generated,
            self.looped,
            self.shape,
        )
        arrays = (self.arrays, self.moved, self.array_of, self.exchanged, self.chained)
        kinds = arrays if self.w.chance(0.25) else numbers
        return self.random.choice(kinds)(depth)

    def _vector(self) -> Array | None:
        vectors = self.values.vectors()
        return self.random.choice(vectors) if vectors else None

    def _result(self, depth: int, value: str) -> bool:
        name = self.w.new_name("e")
        self.w.emit(depth, f"{name} = {value}")
        self.w.floats.append(name)
        return True

    def names(self, depth: int) -> bool:
        t = self.w.new_name("t")
        self.w.emit(depth, f"{t} = ({self.w.real(1)} + 0.5, (r, k), 0.25)")
        if self.w.chance(0.4):
            self.w.emit(depth, f"if {self.w.condition()}:")
            self.w.emit(depth + 1, f"{t} = ({t}[2], ({t}[0], k + 1), {t}[1][0])")
        if self.w.chance(0.4):
            self.w.emit(depth, f"for {t}i in range({self.w.pick('2', 'k')}):")
            self.w.emit(depth + 1, f"{t} = ({t}[2], {t}[1], {t}[0])")
        return self._result(depth, f"{t}[0] * {t}[1][0] + {t}[1][1] - {t}[2]")

    def argument(self, depth: int) -> bool:
        self.values.helper("both", "def both(t, s):", self.random.choice(_BOTH))
        return self._result(depth, f"both(({self.w.real(1)} + 0.5, (r, k)), {self.w.pick('0.5', 'k', '-1.5')})")

    def turned(self, depth: int) -> bool:
        self.values.helper("turned", "def turned(t, s):", self.random.choice(_TURNED))
        first, second = self.w.new_name("e"), self.w.new_name("e")
        self.w.emit(depth, f"{first}, {second} = turned(turned(({self.w.real(1)} + 0.5, r), r), 0.5)")
        self.w.floats += [first, second]
        return True

    def _two_arrays(self) -> tuple[str, str] | None:
        """Two vectors to which a statement stores; they may be the same or share memory."""
        x, y = self._vector(), self._vector()
        if x is None or y is None:
            return None
        self.w.signature.written.update((x.name, y.name))
        return self.w.name(x), self.w.name(y)

    def arrays(self, depth: int) -> bool:
        pair = self._two_arrays()
        if pair is None:
            return False
        x, y = pair
        t = self.w.new_name("t")
        self.w.emit(depth, f"{t} = ({x}, ({y}, r))")
        self.w.emit(depth, f"{t}m = min(len({x}), len({t}[1][0]))")
        first, second = self.w.random.choice(((f"{t}[0]", f"{t}[1][0]"), (f"{t}[1][0]", f"{t}[0]")))
        if self.w.chance(0.5):
            self.w.emit(depth, f"{first}[:{t}m] {self.w.pick('=', '+=')} {second}[:{t}m] * 0.5 + {t}[1][1]")
        else:
            self.w.label(depth)
            self.w.emit(depth, f"for {t}i in range({t}m):")
            place = self.w.pick(f"{t}i", f"{t}m - 1 - {t}i")
            self.w.emit(depth + 1, f"{first}[{t}i] = {second}[{place}] + {self.w.pick('r', '0.5')}")
        return True

    def array_of(self, depth: int) -> bool:
        v = self.w.new_name("v")
        form = self.w.pick("[{a}, r, k]", "[[r, {a}], [k, 0.5], [{a}, r]]", "[k, r]", "(({a}, k), (r, r))")
        self.w.emit(depth, f"{v} = np.array({form.format(a=self.w.real(1) + ' + 0.5')})")
        return self._result(depth, f"{v}[k % 2].sum() + {v}.sum() * {v}.size")

    def exchanged(self, depth: int) -> bool:
        x = self._vector()
        i, j = (None, None) if x is None else (self.w.subscript(x.extents[0]), self.w.subscript(x.extents[0]))
        if x is None or i is None or j is None:
            return False
        self.w.signature.written.add(x.name)
        name = self.w.name(x)
        self.w.emit(depth, self.w.pick(f"{name}[[{i}, {j}]] = {name}[[{j}, {i}]]", f"{name}[[{i}, {j}]] += r"))
        return True

    def chained(self, depth: int) -> bool:
        x = self._vector()
        k = next((each for each in self.w.indices if x is not None and each.limit is x.extents[0]), None)
        i = None if x is None or k is None else self.w.subscript(k.extents[0])
        if x is None or k is None or i is None:
            return False
        if self.w.chance(0.3):
            self.w.emit(depth, f"{self.w.name(x)}[{k.name}][{i}] = r")
            return True
        return self._result(depth, f"{self.w.name(x)}[{k.name}][{i}] * 0.5 + {self.w.name(x)}[{k.name}][::-1][{i}]")

    def moved(self, depth: int) -> bool:
        pair = self._two_arrays()
        if pair is None:
            return False
        self.values.helper("moved", "def moved(t, s):", self.random.choice(_MOVED))
        self.w.emit(depth, f"moved(({pair[0]}, ({pair[1]}, 0.5)), {self.w.pick('r', 'k', '-1.5')})")
        return True

    def found(self, depth: int) -> bool:
        x = self._vector()
        if x is None:
            return False
        self.values.helper("place", "def place(x, s):", _PLACE)
        q = self.w.new_name("q")
        self.w.emit(depth, f"{q} = place({self.w.name(x)}, {self.w.real(1)} + 0.5)")
        return self._result(depth, f"0.5 if {q} is None else {self.w.name(x)}[{q}] * 0.5")

    def best(self, depth: int) -> bool:
        x = self._vector()
        if x is None:
            return False
        b = self.w.new_name("b")
        self.w.emit(depth, f"{b} = None")
        self.w.emit(depth, f"for {b}v in {self.w.name(x)}:")
        self.w.emit(depth + 1, f"if {b} is None or {b}v {self.w.pick('<', '>')} {b}:")
        self.w.emit(depth + 2, f"{b} = {b}v")
        return self._result(depth, f"r if {b} is None else {b} + 0.5")

    def generated(self, depth: int) -> bool:
        x = self._vector()
        return x is not None and self._result(depth, self.random.choice(_SUMS).format(x=self.w.name(x)))

    def looped(self, depth: int) -> bool:
        total, t = self.w.new_name("s"), self.w.new_name("t")
        self.w.emit(depth, f"{total} = 0.0")
        self.w.emit(depth, f"{t} = ((1, r), (k, 0.5), (2, {self.w.real(1)} + 0.5))")
        self.w.emit(depth, f"for {t}a, {t}b in {t}:")
        self.w.emit(depth + 1, f"{total} += {t}a * {t}b")
        return self._result(depth, f"{total} + {t}[k % 3][1]")

    def shape(self, depth: int) -> bool:
        x = self._vector()
        if x is None:
            return False
        t = self.w.new_name("t")
        self.w.emit(depth, f"{t} = ({self.w.name(x)}.shape[0], *{self.w.name(x)}.shape)")
        return self._result(depth, f"{t}[1] * 0.5 + ({t}[:1] == {self.w.name(x)}.shape) + (k in {t})")
