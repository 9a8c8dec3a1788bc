"""Objects whose methods are called, that are handed on, and that have objects in them: as arguments of loops."""

from __future__ import annotations

import math
import warnings
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import parpy
from backends import BACKENDS, run

GRAVITY = 9.81


@dataclass
class Spring:
    k: float
    rest: float = 0.25
    name: str = "spring"
    tags: set[str] = field(default_factory=set)
    strength = 0.5

    def force(self, x, damping=0.0):
        return -self.k * (x - self.rest) * self.strength - damping

    def energy(self, x):
        if self.name == "none":
            return 0.0
        f = self.force(x) + self.force(x, damping=GRAVITY)
        return 0.5 * f * f / self.k

    @property
    def period(self):
        return 6.5 / self.k + self.doubled(self.rest)

    @staticmethod
    def doubled(x):
        return 2 * x


class Grid:
    def __init__(self, values: np.ndarray, dx: float) -> None:
        self.values, self.dx, self.T = values, dx, 5.0
        self.spring = Spring(3.0, 0.125)
        self.bounds = 0.5, 7.5
        self.limit: float | None = None
        self.itself = self

    def normal(self, i):
        return (self.values[i - 1] - 2 * self.values[i] + self.values[i + 1]) / self.dx**2

    def clipped(self, v):
        low, high = self.bounds
        if self.limit is not None:
            high = self.limit
        return min(max(v, low), high)

    def mean(self):
        return self.values.mean() + self.T

    def at(self, i):
        return self.normal(i) + self.spring.force(self.values[i]) + self.clipped(self.values[i])

    @parpy.jit
    def step(self, out):
        for i in range(1, self.values.shape[0] - 1):
            out[i] = self.at(i) + self.mean() + self.spring.period

    @parpy.jit
    def smooth(self, n):
        for _ in range(n):
            self.values[1:-1] = 0.5 * (self.values[2:] + self.values[:-2])


class Vector(NamedTuple):
    x: float
    y: np.ndarray


def pushed(spring, v):
    return spring.force(v) + spring.k + spring.period


def integrated(f, y, n):
    for _ in range(n):
        y = y + 0.125 * f(y)
    return y


def total(spring, x, out):
    for i in range(x.shape[0]):
        out[i] = spring.energy(x[i]) + pushed(spring, x[i])


def with_method(spring, x, out):
    push = spring.force
    for i in range(x.shape[0]):
        out[i] = integrated(push, x[i], 3) + integrated(spring.energy, x[i], 2)


def several(springs, x, out):
    for i in range(x.shape[0]):
        for spring in springs:
            out[i] += spring.force(x[i])
        out[i] += springs[0].period


def chosen(spring, x, out):
    soft, hard = spring
    for i in range(x.shape[0]):
        one = soft if x[i] < 0.5 else hard
        out[i] = one.force(x[i])


def of_a_dict(p, x, out):
    for i in range(x.shape[0]):
        out[i] = of_entry(p, x[i]) + p["inner"]["b"]


def of_entry(p, v):
    return p["a"] * v + p["inner"]["b"]


def of_a_named_tuple(v, x, out):
    first, second = v
    for i in range(x.shape[0]):
        out[i] = x[i] * scaled(v, i) + v[0] + first + second[i] + len(v)


def scaled(v, i):
    return v.x * v.y[i]


State = namedtuple("State", "x v", defaults=(0.5,))


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 2.0

    def turned(self):
        return Point(-self.y, self.x)

    def norm(self):
        return math.sqrt(self.x**2 + self.y**2)


SETTINGS = {"a": 1.5, "inner": {"b": 3}, "name": "plain"}


def of_settings(v):
    return of_entry(SETTINGS, v) * 1.5 if SETTINGS["name"] == "plain" else 0.0


def made(scale, x, out):
    state = State(scale)
    for i in range(x.shape[0]):
        p = Point(x[i]).turned() if x[i] < 0.5 else Point(y=x[i], x=scale)
        state = State(state.x + 0.5 * state.v, state.v - state.x * p.norm())
        out[i] = state.x + state[1] + p.x


def by_object(grid, x, out):
    for i in range(1, x.shape[0] - 1):
        out[i] = grid.at(i) + x[i] * grid.mean()


OUTSIDE = Spring(2.0, 0.125)
BOX = Grid(np.linspace(0, 4, 9) ** 2, 0.5)


def outside(unit, x, out):
    push, box = BOX.spring.force, BOX
    for i in range(1, x.shape[0] - 1):
        out[i] = OUTSIDE.force(x[i]) + OUTSIDE.period * unit + pushed(OUTSIDE, x[i]) + BOX.at(i) + push(x[i]) + box.T


CASES: dict[str, tuple[Callable[..., Any], Callable[[], Any]]] = {
    "methods": (total, lambda: Spring(2.0)),
    "methods as values": (with_method, lambda: Spring(0.5, 0.125)),
    "tuple of objects": (several, lambda: (Spring(2.0), Spring(1.0, 0.5))),
    "chosen by data": (chosen, lambda: (Spring(2.0), Spring(1.0, 0.5))),
    "dict": (of_a_dict, lambda: {"a": 2.0, "inner": {"b": 3}, "unused": "text"}),
    "namespace": (total, lambda: SimpleNamespace(**vars(Spring(1.5)), **_methods(Spring(1.5)))),
    "named tuple": (of_a_named_tuple, lambda: Vector(2.0, np.linspace(1, 2, 9))),
    "made": (made, lambda: 0.5),
    "outside": (outside, lambda: 0.5),
    "object in object": (by_object, lambda: Grid(np.linspace(0, 4, 9) ** 2, 0.5)),
}


def _methods(spring: Spring) -> dict[str, Any]:
    k, rest = spring.k, spring.rest
    return {"force": lambda x: -k * (x - rest), "energy": lambda x: k * x, "period": 1.5}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", CASES)
def test_as_in_python(case: str, backend: str) -> None:
    function, make = CASES[case]
    x, want, got = np.linspace(0, 1, 9), np.zeros(9), np.zeros(9)
    function(make(), x, want)
    compiled = parpy.jit(function)
    run(backend, compiled, (make(), x, got), {"gpu": 1} if backend in ("sim", "cuda") else {})
    np.testing.assert_allclose(got, want, rtol=1e-13)


def test_a_method_that_is_compiled() -> None:
    def made() -> Grid:
        return Grid(np.linspace(0, 4, 9) ** 2, 0.5)

    grid, out, want = made(), np.zeros(9), np.zeros(9)
    grid.step(out)
    Grid.step.__wrapped__(made(), want)
    np.testing.assert_allclose(out, want, rtol=1e-13)
    grid.smooth(3)
    other = made()
    Grid.smooth.__wrapped__(other, 3)
    np.testing.assert_array_equal(grid.values, other.values)


def test_attributes_are_read_at_each_call() -> None:
    compiled, spring = parpy.jit(total), Spring(2.0)
    for change in ({}, {"k": 3.0}, {"rest": 1}, {"name": "none"}, {"name": "other"}, {"strength": 2.0}):
        vars(spring).update(change)
        x, want, got = np.linspace(0, 1, 9), np.zeros(9), np.zeros(9)
        total(spring, x, want)
        compiled(spring, x, got)
        np.testing.assert_allclose(got, want, rtol=1e-13)


def test_objects_outside_are_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = parpy.jit(outside)
    for owner, name, value in (
        (OUTSIDE, "k", 3.0),
        (BOX, "T", 1),
        (BOX, "limit", 0.5),
        (BOX, "values", np.ones(12)),
        (OUTSIDE, "strength", 2),
    ):
        monkeypatch.setattr(owner, name, value)
        x, want, got = np.linspace(0, 1, 9), np.zeros(9), np.zeros(9)
        outside(0.5, x, want)
        compiled(0.5, x, got)
        np.testing.assert_allclose(got, want, rtol=1e-13)


def test_objects_of_other_classes() -> None:
    class Stiff(Spring):
        def force(self, x, damping=0.0):
            return -self.k * x**3 - self.extra - damping

        extra = 0.5

    compiled = parpy.jit(total)
    for spring in (Spring(2.0), Stiff(2.0), Spring(1.0), Stiff(3.0)):
        x, want, got = np.linspace(0, 1, 9), np.zeros(9), np.zeros(9)
        total(spring, x, want)
        compiled(spring, x, got)
        np.testing.assert_allclose(got, want, rtol=1e-13)


def test_attributes_that_overlap_with_arguments() -> None:
    def moved(grid, x):
        for i in range(1, x.shape[0]):
            x[i] = grid.values[i - 1] + grid.T

    memory, plain = np.arange(9.0), np.arange(9.0)
    parpy.jit(moved)(Grid(memory[1:], 1.0), memory[:8])
    moved(Grid(plain[1:], 1.0), plain[:8])
    np.testing.assert_array_equal(memory, plain)


def test_named_tuples_that_are_returned() -> None:
    @parpy.jit
    def f(state, n):
        for _ in range(n):
            state = State(state.x + state.v, v=-state.x)
        return state, (Vector(state.v, np.array([state.x, 1.0])), n)

    given = State(1.0, 0.5)
    got, (vector, n) = f(given, 3)
    want, (expected, _) = f.__wrapped__(given, 3)
    assert type(got) is State
    assert got == want
    assert type(vector) is Vector
    assert (vector.x, n) == (expected.x, 3)
    np.testing.assert_array_equal(vector.y, expected.y)


def test_arrays_of_objects_are_changed_in_place() -> None:
    class Body:
        def __init__(self) -> None:
            self.position, self.velocity = np.zeros(3), np.arange(3.0)

        def drift(self, dt):
            self.position += dt * self.velocity

    @parpy.jit
    def f(bodies, n):
        for body in bodies:
            for _ in range(n):
                body.drift(0.5)
            body.velocity *= 2

    bodies = [Body(), Body()]
    positions = [body.position for body in bodies]
    f(bodies, 4)
    for body, position in zip(bodies, positions, strict=True):
        assert body.position is position
        np.testing.assert_array_equal(position, 2 * np.arange(3.0))
        np.testing.assert_array_equal(body.velocity, 2 * np.arange(3.0))


def test_methods_that_are_replaced() -> None:
    class Law:
        def rate(self, v):
            return 2 * v

        @property
        def scale(self):
            return 0.5

    class Special(Law):
        pass

    law = Special()

    @parpy.jit
    def given(law, v):
        return law.rate(v) * law.scale

    @parpy.jit
    def outside(v):
        return law.rate(v) * law.scale

    def check() -> None:
        assert given(law, 3.0) == outside(3.0) == law.rate(3.0) * law.scale

    check()
    Law.rate = lambda self, v: v + 1
    check()
    Special.rate = lambda self, v: v - 1
    check()
    law.rate = lambda v: v * 10
    check()
    del law.rate
    check()


def test_dicts_outside_are_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = parpy.jit(of_settings)
    assert compiled(2.0) == of_settings(2.0) == 9.0
    monkeypatch.setitem(SETTINGS, "a", 3)
    assert compiled(2.0) == of_settings(2.0) == 13.5


def test_slots() -> None:
    class Point:
        __slots__ = ("x", "y")

        def __init__(self, x: float) -> None:
            self.x = x

        def norm(self):
            return self.x * self.x

    @parpy.jit
    def f(p, v):
        v[0] = p.norm() + p.x

    v = np.zeros(1)
    f(Point(3.0), v)
    assert v[0] == 12


def test_a_method_hides_that_of_generators() -> None:
    grid, x, out, want = Grid(np.linspace(0, 4, 9) ** 2, 0.5), np.zeros(9), np.zeros(9), np.zeros(9)

    def f(grid, x, out):
        for i in range(1, x.shape[0] - 1):
            out[i] = grid.normal(i) + grid.mean()

    parpy.jit(f)(grid, x, out)
    f(grid, x, want)
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("x[0] = p.missing(1.0)", "without 'missing'"),
        ("x[0] = p.force(1.0) + p.tags", "without 'tags'"),
        ("x[0] = p.force(1.0, 2.0, 3.0)", r"'force' takes 2 arguments, not 3"),
        ("x[0] = p.force(1.0) + p", "is an object of the class 'Spring', but is used as a number"),
        ("x[0] = x.turned(1.0)", "the method 'turned' cannot be compiled"),
        ("x[0] = (p if p.force(1.0) > 0 else p) + 1.0", "is used as a number"),
    ],
)
def test_mistakes(statement: str, message: str, tmp_path: Any) -> None:
    path = tmp_path / "mistaken.py"
    path.write_text(f"def f(p, x):\n    {statement}\n")
    space: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    x = np.ones(3)
    with pytest.raises(parpy.CompileError, match=message):
        parpy.jit(space["f"])(Spring(2.0), x)
    np.testing.assert_array_equal(x, 1)


class Field:
    """Its methods have the names of those of generators and arrays."""

    def __init__(self):
        self.k = 2.0

    def laplace(self, v):
        return self.k * v

    def gamma(self, v):
        return v + 2

    def sort(self, v):
        return v * v

    @parpy.jit
    def run(self, x, n):
        y = np.zeros(n)
        print(end="")
        for i in range(n):
            y[i] = self.laplace(x[i]) + self.gamma(x[i]) + self.sort(x[i])
        return y


def through_a_helper(field, v):
    return field.gamma(v) + field.k


def of_names_of_draws(field, x):
    s = 0.0
    for i in range(x.size):
        s += field.laplace(x[i]) + field.sort(x[i]) + through_a_helper(field, x[i])
    return s + field.k


def test_methods_with_names_of_draws_are_compiled():
    x = np.arange(4.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", parpy.PerformanceWarning)  # Python runs no loop
        assert parpy.jit(of_names_of_draws)(Field(), x) == of_names_of_draws(Field(), x)
        np.testing.assert_array_equal(Field().run(x, 4), Field.run.py_func(Field(), x, 4))


def test_a_loop_that_python_runs_for_the_sake_of_such_a_name_is_told_of():
    def only_one(field, x):
        s = 0.0
        for i in range(x.size):
            s += field.laplace(x[i])
        return s

    with pytest.warns(parpy.PerformanceWarning, match=r"P315.*'field.laplace'"):
        assert parpy.jit(only_one)(Field(), np.arange(4.0)) == 12


def test_draws_that_compiled_code_has_not_are_made_by_python():
    def counts(x):
        np.random.seed(3)
        for i in range(x.size):
            x[i] = np.random.poisson(2.0)
        return np.random.binomial(3, 0.4)

    want, got = np.zeros(5), np.zeros(5)
    expected = counts(want)
    with pytest.warns(parpy.PerformanceWarning, match=r"P315.*'np.random.poisson'"):
        assert parpy.jit(counts)(got) == expected
    np.testing.assert_array_equal(got, want)
