"""Objects that a function makes and then changes: Python makes them, and loops that change them are compiled."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import parpy
from backends import TARGETS, compiled_throughout, options
from parpy.calls import performance
from results import same

X = np.array([0.5, 2.0, -1.0, 3.5, 0.25, 3.5, -2.0, 1.0])


class Statistics:
    def __init__(self):
        self.n = 0
        self.mean = 0.0
        self.squares = 0.0

    def push(self, v):
        self.n += 1
        d = v - self.mean
        self.mean += d / self.n
        self.squares += d * (v - self.mean)

    @property
    def var(self):
        return self.squares / (self.n - 1) if self.n > 1 else 0.0


@dataclass
class Body:
    x: float
    v: float = 1.0

    def step(self, dt):
        self.x += dt * self.v


class Grid:
    """A class whose objects only Python makes."""

    def __init__(self, n):
        self.u = np.zeros(n)
        for i in range(n):
            self.u[i] = i * i
        self.steps = 0

    def relax(self):
        self.u[1:-1] += 0.25 * (self.u[:-2] - 2 * self.u[1:-1] + self.u[2:])
        self.steps += 1


def collected(x):
    s = Statistics()
    for v in x:
        s.push(v)
    return s.mean, s.var, s.n


def directly(x):
    s = Statistics()
    for v in x:
        s.n += 1
        s.mean += v
    return s.n, s.mean


def handed_on(x):
    s = Statistics()
    push_all(s, x)
    return s.n, s.mean


def push_all(s, x):
    for v in x:
        s.push(v)
    return s.mean


def moved(x):
    body = Body(1.0)
    i = 0
    while i < len(x):
        body.step(x[i])
        body.v *= 0.5
        i += 1
    return body.x, body.v


def two(x):
    a, b = Statistics(), Statistics()
    for v in x:
        if v > 0:
            a.push(v)
        else:
            b.push(v)
    return a.n, b.n, a.mean - b.mean


def relaxed(x):
    grid = Grid(len(x))
    for _ in range(5):
        grid.relax()
    return grid.u, grid.steps


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", [collected, directly, moved, two, relaxed])
def test_compiled_loops(backend, function):
    compiled = parpy.jit(function)
    with compiled_throughout():
        for x in (X, X[:1], X[:0], X):
            assert same(compiled(x, opts=options(backend, {})), function(x))


def test_attributes_with_the_names_of_methods_of_arrays():
    """`s.mean` is the number of the object."""
    assert same(parpy.jit(handed_on)(X), handed_on(X))

    @parpy.jit
    def read(x):
        s = Body(x[0])
        mean = x.mean()
        return s.x, mean

    assert read(X) == (0.5, X.mean())


def test_returned_objects():
    def returned(n):
        body = Body(1.0)
        for _ in range(n):
            body.step(0.5)
        return body

    assert parpy.jit(returned)(4) == returned(4) == Body(3.0)


def test_none_in_an_attribute():
    """Compiled code cannot assign to it, so Python runs the loop."""

    class Controller:
        def __init__(self):
            self.last = None

        def difference(self, v):
            d = 0.0 if self.last is None else v - self.last
            self.last = v
            return d

    def controlled(x):
        controller = Controller()
        total = 0.0
        for v in x:
            total += abs(controller.difference(v))
        return total

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", parpy.PerformanceWarning)
        assert parpy.jit(controlled)(X) == controlled(X)


def test_lists_in_attributes():
    """Python makes objects of such classes."""

    class Tank:
        def __init__(self, level):
            self.level = level
            self.log = []

        def step(self, inflow):
            self.level += (inflow - 0.02 * self.level) * 0.1
            return self.level

    def filled(n):
        tank = Tank(1.0)
        levels = np.empty(n)
        for k in range(n):
            levels[k] = tank.step(0.5)
            if levels[k] > 1.3:
                break
        return levels[:k], tank.level, tank.log

    with warnings.catch_warnings():
        warnings.simplefilter("error", parpy.PerformanceWarning)
        assert same(parpy.jit(filled)(9), filled(9))


def test_variables_of_comprehensions():
    """The variable of a loop is not needed behind it if a comprehension has a variable of the same name."""

    def cascade(bodies, n):
        for _ in range(n):
            q = 0.5
            for body in bodies:
                out = body.v * 0.25
                body.step(q)
                q = out
        return [body.x for body in bodies], {body.v for body in bodies}

    def after(x, numbers):
        total = 0.0
        for t in x:
            total += t
        doubled = [t * 2 for t in numbers]
        return t, doubled, total, [t for t in numbers if t != total]

    with warnings.catch_warnings():
        warnings.simplefilter("error", parpy.PerformanceWarning)
        assert parpy.jit(cascade)([Body(1.0), Body(2.0)], 3) == cascade([Body(1.0), Body(2.0)], 3)
        assert same(parpy.jit(after)(X, [1, 2, 3]), after(X, [1, 2, 3]))


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint8, np.int32])
def test_small_types(dtype, monkeypatch):
    """Python's numbers are weak beside these, so Python runs the loop."""
    monkeypatch.setattr(performance, "_told", set())  # warns once for each place

    def totals(x):
        s = Statistics()
        for v in x:
            s.n += v
            s.mean += v
        return s.n, s.mean

    x = np.array([100, 20, 3, 4]).astype(dtype)
    with np.errstate(over="ignore"):
        want = totals(x)
        with pytest.warns(parpy.PerformanceWarning, match="are weak beside numbers of type"):
            got = parpy.jit(totals)(x)
    assert [*map(repr, got)] == [*map(repr, want)]


def test_mapped_loops_change_objects():
    @parpy.jit
    def mapped(x, y):
        s = Statistics()
        parpy.label("i")
        for i in range(len(x)):
            y[i] = x[i] * 2 + s.mean
        return s.n

    x, y = X.astype(np.float32), np.zeros(8, np.float32)
    assert mapped(x, y, opts=parpy.par({"i": parpy.threads(4)})) == 0
    np.testing.assert_array_equal(y, x * 2)
