"""Numbers of objects and of dicts that are arguments, which compiled code assigns to."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import parpy
from backends import BACKENDS
from states import state

EVAL = "eval"


def run(backend: str, function: Callable[..., Any], *arguments: Any, **fields: Any) -> None:
    if backend == EVAL:
        parpy.calls.jit.interpret(function, arguments, parpy.CompileOptions(backend=parpy.CompileBackend.Cpu, **fields))
    else:
        function(*arguments, opts=parpy.auto(backend=parpy.CompileBackend(backend), **fields))


class Clock:
    def __init__(self) -> None:
        self.time, self.steps, self.running = 0.25, 0, False

    def tick(self, dt):
        self.time += dt
        self.steps += 1
        self.running = True
        return self.time

    def is_late(self):
        return self.time > 1.5


class Rod:
    def __init__(self, n: int) -> None:
        self.u, self.heat, self.clock = np.linspace(0.0, 1.0, n), 0.0, Clock()

    def step(self, dt):
        for i in range(1, self.u.shape[0] - 1):
            self.u[i] += dt * (self.u[i - 1] - 2 * self.u[i] + self.u[i + 1])
        self.heat = self.u[1]
        self.clock.tick(dt)

    def measure(self):
        self.heat = 0.0
        for i in range(self.u.shape[0]):
            self.heat += self.u[i]


def steps(rod, dt, n):
    for _ in range(n):
        rod.step(dt)


def until_late(rod, dt):
    while not rod.clock.is_late():
        rod.step(dt)
        if rod.clock.steps > 40:
            break


def measured(rod, out):
    rod.measure()
    out[0] = rod.heat
    rod.heat *= 2


def nested(rod, dt):
    rod.clock.time = dt
    rod.clock.steps -= 3
    rod.clock.running = rod.clock.time > 0.3 and not rod.clock.running


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("function", "more"), [(steps, (0.1, 5)), (until_late, (0.3,)), (measured, (np.zeros(1),)), (nested, (0.5,))]
)
def test_objects(backend, function, more):
    want, got = (Rod(7), *copy.deepcopy(more)), (Rod(7), *copy.deepcopy(more))
    compiled = parpy.jit(function)
    for _ in range(2):
        function(*want)
        run(backend, compiled, *got)
        assert state(got) == state(want)


def counts(d, x):
    d["n"] = 0
    for i in range(x.shape[0]):
        if x[i] > d["limit"]:
            d["n"] += 1
            d["last"] = x[i]
    d["values"] += 1.0


@pytest.mark.parametrize("backend", BACKENDS)
def test_dicts(backend):
    compiled = parpy.jit(counts)
    x = np.array([0.5, 3.0, 1.5, 0.0])
    want, got = ({"n": 7, "limit": 1.0, "last": -1.0, "values": np.zeros(3)} for _ in range(2))
    counts(want, x)
    run(backend, compiled, got, x)
    assert state(got) == state(want)


class Walker:
    def __init__(self, x, v):
        self.x, self.v = x, v

    def turn(self):
        self.v, self.x = self.x, self.v
        return 1.0


def walk(walkers, dt):
    for w in walkers:
        w.x += w.v * dt
        if w.x > 2.0:
            w.v = -w.v


def walk_both(a, b, dt):
    a.x += dt
    b.x += dt
    a.v = b.x - a.x


def old_values_first(a, dt):
    a.x += a.turn() + a.x
    a.v = a.x * 10 + a.turn() + a.v
    a.x, a.v = a.v, a.x


@pytest.mark.parametrize("backend", BACKENDS)
def test_several_objects(backend):
    want, got = ([Walker(1.0 * i, 0.5 * i) for i in range(4)] for _ in range(2))
    walk(want, 0.5)
    run(backend, parpy.jit(walk), got, 0.5)
    assert state(got) == state(want)


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_object_under_two_names(backend):
    compiled = parpy.jit(walk_both)
    for same in (True, False, True):
        want, got = ([Walker(1.0, 0.5), Walker(2.0, 0.25)] for _ in range(2))
        walk_both(want[0], want[0 if same else 1], 0.5)
        run(backend, compiled, got[0], got[0 if same else 1], 0.5)
        assert state(got) == state(want)


@pytest.mark.parametrize("backend", BACKENDS)
def test_values_are_read_before_calls_change_them(backend):
    want, got = Walker(1.0, 3.0), Walker(1.0, 3.0)
    old_values_first(want, 0.5)
    run(backend, parpy.jit(old_values_first), got, 0.5)
    assert state(got) == state(want)


def add_to(p, y):
    p.x += y
    p.y = p.x


@pytest.mark.parametrize(
    "values",
    [
        (1, 2, 3), (1.5, 0.0, 3), (1.5, 0.25, 0.5), (1 + 2j, 0j, 0.5), (np.float32(1.5), np.float32(0), 2.0),
        (np.int16(5), np.int16(0), 3), (np.float64(2.0), np.float64(1.0), 1), (np.uint8(250), np.uint8(0), 3),
    ],
)  # fmt: skip
def test_types_stay(values):
    x, y, more = values
    want, got = SimpleNamespace(x=x, y=y), SimpleNamespace(x=x, y=y)
    add_to(want, more)
    parpy.jit(add_to)(got, more)
    assert state(got) == state(want)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((np.int64(1), 2.0, 0.5), r"'p\['x'\]' is an int64, and cannot become a float64"),
        ((2**60, 2.0, 0.5), r"'p\['x'\]' is an int64, and cannot become a float64"),
        ((1.0, 2.0, 1j), "cannot become a complex128"),
        ((np.float32(1), np.float32(1), np.float64(1)), "is a float32, and cannot become a float64"),
    ],
)
def test_numbers_keep_their_type(values, text):
    x, y, more = values
    p = SimpleNamespace(x=x, y=y)
    with pytest.raises(parpy.CompileError, match=rf"(?s)P233.*{text}.*before the call"):
        parpy.jit(add_to)(p, more, opts=parpy.par({}))
    assert state(p) == state(SimpleNamespace(x=x, y=y))
    parpy.jit(add_to)(p, more)  # Python assigns the numbers, if the caller maps no loops
    want = SimpleNamespace(x=x, y=y)
    add_to(want, more)
    assert state(p) == state(want)


@pytest.mark.parametrize("values", [(1, 2, 0.5), (1.0, 2, 0.5), (3, 2, 1.5)])
def test_integers_become_floats(values):
    x, y, more = values
    compiled = parpy.jit(add_to)
    for _ in range(2):
        want, got = SimpleNamespace(x=x, y=y), SimpleNamespace(x=x, y=y)
        add_to(want, more)
        compiled(got, more)
        assert state(got) == state(want)


class Stopwatch:
    def __init__(self) -> None:
        self.time = self.ticks = 0

    @parpy.jit
    def run(self, n, dt, seen):
        for i in range(n):
            self.time += dt
            self.ticks += 1
            seen[i] = self.time


def test_integers_that_no_iteration_makes_floats_stay():
    clock, seen = Stopwatch(), np.zeros(4)
    clock.run(0, 0.5, seen)
    assert (clock.time, type(clock.time)) == (0, int)
    clock.run(4, 0.5, seen)
    assert (clock.time, clock.ticks, type(clock.ticks)) == (2.0, 4, int)
    np.testing.assert_array_equal(seen, [0.5, 1, 1.5, 2])


def two_of_a_name(o, dt):
    o.a.t += dt
    o.b.t += 1
    return o.b.t


def pair(a, b):
    return SimpleNamespace(a=SimpleNamespace(t=a), b=SimpleNamespace(t=b))


def test_only_the_integer_that_is_meant_becomes_a_float():
    compiled = parpy.jit(two_of_a_name)
    for a, b, dt in ((1, 1.0, 0.5), (1.0, 1, 0.5), (1, 1, 1), (1, 1.0, 1), (1, 2.0, 0.5), (1, 1, 1)):
        want, got = pair(a, b), pair(a, b)
        expected = two_of_a_name(want, dt)
        assert state(compiled(got, dt)) == state(expected)
        assert state(got) == state(want)
    for _ in range(2):
        want, got = pair(1, 1), pair(1, 1)
        expected = two_of_a_name(want, 0.5)
        assert state(compiled(got, 0.5)) == state(expected)
        assert state(got) == state(want)


@dataclass
class Point:
    x: float
    y: float = 0.0


def changes_its_own(out):
    p = Point(1.0)
    p.x = 2.0
    out[0] = p.x


def test_python_runs_assignments_to_new_objects():
    out = np.zeros(1)
    parpy.jit(changes_its_own)(out)
    assert out == 2.0


def sums(box, x):
    for i in range(x.shape[0]):
        box.total += x[i]
        box.largest = max(box.largest, x[i])


@pytest.mark.parametrize("backend", BACKENDS)
def test_reductions(backend):
    x = np.arange(1000.0)
    box = SimpleNamespace(total=0.5, largest=-1.0)
    run(backend, parpy.jit(sums), box, x)
    assert (box.total, box.largest) == (499500.5, 999.0)


def last_one(box, x):
    for i in range(x.shape[0]):
        box.total = x[i]


def test_loops_that_overwrite_a_number_are_not_parallel():
    x = np.arange(3000.0)
    box = SimpleNamespace(total=0.5)
    loops = parpy.par({"i": parpy.threads(64)})

    @parpy.jit
    def labelled(box, x):
        parpy.label("i")
        for i in range(x.shape[0]):
            box.total = x[i]

    parpy.jit(last_one)(box, x)
    assert box.total == 2999
    with pytest.raises(parpy.ParallelError):
        labelled(box, x, opts=loops)


class Meter:
    def __init__(self) -> None:
        self.y, self.n, self.a, self.p = 1.0, 3, np.arange(3.0), 2 * np.eye(3)

    def doubled(self):
        return self.a[1] * 2 + self.y

    @parpy.jit
    def add(self, u):
        self.y += u
        return self.y

    @parpy.jit
    def whole(self):
        return self.a

    @parpy.jit
    def several(self):
        return self.y, self.a, self.n

    @parpy.jit
    def early(self, k):
        if k > 2:
            return self.a
        return self.a * k

    @parpy.jit
    def filled(self):
        z = np.zeros(self.n)
        like = np.zeros_like(self.a)
        for i in range(self.n):
            z[i] = self.a[i] * 2
            like[i] = self.doubled()
        return z, like

    @parpy.jit
    def solved(self, k):
        x = np.linalg.solve(self.p, self.a)
        self.y = x[1] + k
        self.n -= 1
        return x, self.n

    @parpy.jit
    def listed(self, k):
        found = []
        for i in range(self.n):
            found.append(self.y * i + k)
        self.y = 0.5
        return found


@pytest.mark.filterwarnings("ignore:.*P315:parpy.PerformanceWarning")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [("add", (2.0,)), ("whole", ()), ("several", ()), ("early", (3,)), ("early", (1,)), ("filled", ()),
     ("solved", (0.5,)), ("listed", (1.0,))],
)  # fmt: skip
def test_methods_of_which_python_runs_a_part(name, arguments):
    want, got = Meter(), Meter()
    for _ in range(2):
        expected = getattr(Meter, name).__wrapped__(want, *arguments)
        assert state(getattr(got, name)(*arguments)) == state(expected)
        assert state(got) == state(want)


SHARED = SimpleNamespace(t=0.0)
NESTED = {"b": SimpleNamespace(z=2.0)}
ROUND: dict[str, Any] = {"z": 1.0}
ROUND["self"] = ROUND


def also_outside(p, x):
    for i in range(len(x)):
        p.t += x[i]
        x[i] = SHARED.t
    return SHARED.t


def also_in_a_function(p, f, x):
    for i in range(len(x)):
        p.t += 1
        x[i] = f(x[i])


def also_in_its_dict(p, d, x):
    for i in range(len(x)):
        p.t += x[i]
        x[i] = d["t"]
        d["t"] += 1


@pytest.mark.filterwarnings("ignore:.*P315:parpy.PerformanceWarning")
def test_numbers_that_are_read_under_another_name():
    compiled = parpy.jit(also_outside)
    for p in (SHARED, SimpleNamespace(t=1.0), SHARED):
        SHARED.t, x, y = 0.0, np.ones(3), np.ones(3)
        want = also_outside(p, x), p.t
        SHARED.t = 0.0
        if p is not SHARED:
            p.t = 1.0
        assert (compiled(p, y), p.t) == want
        assert y.tolist() == x.tolist()
    results = []
    for function in (also_in_a_function, parpy.jit(also_in_a_function)):
        p, y = SimpleNamespace(t=0.0), np.ones(3)
        function(p, lambda v: p.t * v, y)  # noqa: B023
        results.append(y.tolist())
    assert results[0] == results[1]
    results = []
    for function in (also_in_its_dict, parpy.jit(also_in_its_dict)):
        p, x = SimpleNamespace(t=0.0), np.ones(3)
        function(p, vars(p), x)
        results.append((p.t, x.tolist()))
    assert results[0] == results[1]


def of_objects_in_dicts(x):
    for i in range(len(x)):
        x[i] += NESTED["b"].z + ROUND["z"]


def test_objects_in_dicts_outside_of_functions():
    x = np.ones(3)
    parpy.jit(of_objects_in_dicts)(x)
    assert x.tolist() == [4.0] * 3


class Bounded:
    def __init__(self) -> None:
        self._v, self.m = 1.0, None

    @property
    def v(self):
        return self._v

    @v.setter
    def v(self, value):
        self._v = min(value, 2.0)

    def toggle(self):
        self.m = 1.0 if self.m is None else None


def sets_a_property(p, x):
    for i in range(len(x)):
        p.v += x[i]
    return p.v


def toggles(p, n):
    for _ in range(n):
        p.toggle()


def replaces_one(p, q, x):
    p.m = x * 2
    s = 0.0
    for i in range(len(x)):
        s += q.m * x[i]
    return s


def last_below(p, x):
    for i in range(len(x)):
        if x[i] > 2:
            return i
        p.last = i
    return -1


@pytest.mark.filterwarnings("ignore:.*P315:parpy.PerformanceWarning")
@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (sets_a_property, [lambda: (Bounded(), np.ones(3))]),
        (toggles, [lambda: (Bounded(), 2), lambda: (Bounded(), 3)]),
        (replaces_one, [lambda: (SimpleNamespace(m=None), SimpleNamespace(m=1.0), np.ones(3))]),
        (
            last_below,
            [
                lambda: (SimpleNamespace(last=0), np.arange(4.0)),
                lambda: (SimpleNamespace(last=None), np.arange(4.0)),
                lambda: (SimpleNamespace(last=0), np.arange(4.0)),
            ],
        ),
    ],
)
def test_kinds_that_change(function, calls):
    compiled = parpy.jit(function)
    for make in calls:
        want, got = make(), make()
        expected = function(*want)
        assert state(compiled(*got)) == state(expected)
        assert state(got) == state(want)
