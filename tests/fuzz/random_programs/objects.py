"""Statements over objects outside of the function: their attributes, methods and properties, objects in objects, names
of objects, and functions that get them. Objects that are arguments: programs and methods assign to their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .values import ValueWriter

_CLASSES = """class Spring:
    strength = 0.5

    def __init__(self, k, rest, inner=None):
        self.k, self.rest, self.inner, self.bounds = k, rest, inner, (0.25, (k, 2))

    def force(self, x, damping=0.0):
        return -self.k * (x - self.rest) * self.strength - damping

    def bounded(self, x):
        low, (high, n) = self.bounds
        if self.inner is not None:
            x = x - self.inner.force(x, damping=n)
        return min(max(x, low), high)

    def moved(self, x, s):
        for q in range(len(x)):
            x[q] = x[q] * 0.5 + self.force(s)
        return x[0] if len(x) > 0 else s

    @property
    def period(self):
        return 6.5 / self.k + self.doubled(self.rest)

    @staticmethod
    def doubled(x):
        return 2 * x


SOFT = Spring(1.5, 0.25)
HARD = Spring(3, 0.5, SOFT)


def pushed(spring, v, s):
    return spring.force(v, s) + spring.k * spring.period


def integrated(f, y):
    return f(f(y) * 0.25)"""


class ObjectWriter:
    def __init__(self, values: ValueWriter) -> None:
        self.values = values
        self.w = values.w
        self._made = False

    def of_boxes(self, depth: int) -> bool:
        """A statement over the objects that are arguments (data.py, Box)."""
        box, other = self.w.random.choice(self.w.boxes), self.w.random.choice(self.w.boxes)
        vectors = [a for a in self.values.vectors() if a.name in self.w.dict_arrays]
        forms = [
            "{p}.push({v})", "{p}.total, {o}.last = {o}.last, {p}.total", "{p}.last = {o}.push({v}) + {p}.total",
            "{p}.total += {o}.push({v})", "{p}.bounded({v})", "{p}.last = {p}.last * 0.5 + {o}.both",
            "{e} = {p}.push({v})", "{e} = {p}.both + {o}.bounded(r)",
        ]  # fmt: skip
        form = self.w.random.choice(forms)
        if vectors and depth > 1 and self.w.chance(0.3):  # the loop reads elements
            x = self.w.random.choice(vectors)
            self.w.signature.written.add(x.name)
            form = "{e} = {p}.moved(" + self.w.name(x) + ", {v})"
        name = self.w.new_name("e")
        self.w.emit(depth, form.format(p=box, o=other, v=self._value(), e=name))
        if "{e}" in form:
            self.w.floats.append(name)
        return True

    def statement(self, depth: int) -> bool:
        if not self._made:
            self._made = True
            self.w.helpers += [*_CLASSES.split("\n"), "", ""]
        return self.w.random.choice((self.called, self.called, self.named, self.stored))(depth)

    def _value(self) -> str:
        return f"{self.w.real(1)} + 0.5"

    def _call(self, spring: str) -> str:
        forms = (
            "{p}.force({v})", "{p}.force({v}, damping=r)", "{p}.bounded({v})", "pushed({p}, {v}, 0.5)",
            "integrated({p}.force, {v})", "{p}.period * {v}", "{p}.doubled({v}) + {p}.bounds[0]",
        )  # fmt: skip
        return self.w.pick(*forms).format(p=spring, v=self._value())

    def _result(self, depth: int, value: str) -> bool:
        name = self.w.new_name("e")
        self.w.emit(depth, f"{name} = {value}")
        self.w.floats.append(name)
        return True

    def called(self, depth: int) -> bool:
        return self._result(depth, self._call(self.w.pick("SOFT", "HARD", "HARD.inner")))

    def named(self, depth: int) -> bool:
        spring = self.w.new_name("p")
        self.w.emit(depth, f"{spring} = {self.w.pick('SOFT', 'HARD', 'HARD.inner')}")
        if self.w.chance(0.3):
            pair = self.w.new_name("p")
            self.w.emit(depth, f"{pair} = ({spring}, k)")
            spring = f"{pair}[0]"
        return self._result(depth, self._call(spring))

    def stored(self, depth: int) -> bool:
        vectors = self.values.vectors()
        if not vectors or depth == 1:  # the loop reads elements, which mappings by hand refuse on the host
            return False
        x = self.w.random.choice(vectors)
        self.w.signature.written.add(x.name)
        return self._result(depth, f"{self.w.pick('SOFT', 'HARD')}.moved({self.w.name(x)}, {self._value()})")
