"""Small statements between those that Python runs: Python runs them too, with compiled code's results."""

from __future__ import annotations

import copy
import heapq
import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import parpy
from parpy.host import driver, small_regions

pytestmark = pytest.mark.filterwarnings("ignore:.*P315:parpy.PerformanceWarning")


@pytest.fixture(autouse=True)
def compiled(monkeypatch) -> Iterator[list[str]]:
    """The executed parts of compiled code: regions, and single statements."""
    ran: list[str] = []

    def noted(kind, function):
        def run(*given):
            ran.append(kind)
            return function(*given)

        return run

    monkeypatch.setattr(driver, "run_region", noted("region", driver.run_region))
    monkeypatch.setattr(small_regions, "run_region", noted("statement", small_regions.run_region))
    return ran


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype, value.tolist()
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return plain(vars(value)) if hasattr(value, "__dict__") and not isinstance(value, type) else value


class Sim:
    def __init__(self, rate: float) -> None:
        self.time, self.events, self.rate, self.log = 0.0, 0, rate, []


def simulates(sim, n):
    for i in range(n):
        dt = sim.rate * (i % 7)
        sim.time += dt
        if i % 3 == 0:
            sim.log.append(sim.time)
        sim.events += 1
    return sim.time


def counts(n):
    found = {}
    i = s = 0
    while i < n:
        k = (i * 7919) % 13
        found[k] = found.get(k, 0) + i
        s += k
        i += 1
    return s, found


def relaxes(x):
    heap = []
    t = 0.0
    for i in range(len(x)):
        heapq.heappush(heap, (x[i], i))
    while len(heap) > 0:
        v, i = heapq.heappop(heap)
        t = t * 0.5 + v
        if i % 2 == 0:
            x[i] = t
            heapq.heappush(heap, (t + v, i + 1))
        elif i > 2 and not v < 0:
            x[i - 1] += v / 2
    return t


class Stack:
    def __init__(self) -> None:
        self.items, self.total, self.depth = [], 0.0, 0

    def push(self, value, weight=1):
        self.items.append(value)
        self.total += value * weight
        self.depth = self.depth + 1

    def pop(self):
        value = self.items.pop()
        self.total -= value
        self.depth -= 1
        return value


def stacks(stack, x):
    best = 0.0
    for i in range(len(x)):
        stack.push(x[i])
        if stack.depth > 3:
            v = stack.pop()
            stack.push(v, weight=2)
            if v > best:
                best = v
    return best


def visits(node, seen, depth):
    if depth < 5:
        seen.append(node)
        half = node * 2 + 1
        visits(half, seen, depth + 1)
        visits(half + 1, seen, depth + 1)


def walks(n):
    seen = []
    visits(n, seen, 0)
    return seen


def waits(x, rate):
    times = []
    t = 0.0
    for i in range(len(x)):
        t += -np.log(x[i] ** 2 + 0.5) / rate
        t = max(t, math.exp(-t) * rate, 0.0)
        k = min(math.floor(t), 10**2) ** 3
        times.append(np.hypot(t, k))
    return times


X = np.array([3.0, -1.0, 2.0, 5.0, 4.0, 2.5])


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (simulates, (Sim(0.5), 9)),
        (counts, (40,)),
        (relaxes, (X,)),
        (stacks, (Stack(), X)),
        (walks, (1,)),
        (waits, (X, 2.0)),
    ],
)
def test_python_runs_small_statements(function, arguments, compiled):
    want, got = copy.deepcopy(arguments), copy.deepcopy(arguments)
    made = parpy.jit(function)
    for _ in range(2):
        expected = function(*want)
        assert plain(made(*got)) == plain(expected)
        assert plain(got) == plain(want)
    assert compiled == []


def wraps_around(n):
    out = []
    h = 1
    for i in range(n):
        h = h * 6364136223846793005 + i
        out.append(h)
    return out


def wraps_in_the_middle(n):
    out = []
    h = 2**62
    for i in range(n):
        k = (h * 3 + i) // 4
        less = h * 4 + i < 5
        out.append((k, less))
    return out


def wraps_in_calls(n, v):
    out = []
    h = -(2**63)
    for i in range(n):
        out.append(i)
        k = abs(h) // 4
        m = h // (i - 1) % 5
        less = int(v) % 7
        out.append((k, m, less))
    return out


def wraps_in_a_condition(n):
    out = []
    h = 2**62
    for i in range(n):
        if (h + h) % 5 == 2:
            out.append(i)
    return out


def test_integers_wrap_around(compiled):
    got = parpy.jit(wraps_around)(5)
    h, want = 1, []
    for i in range(5):
        h = (h * 6364136223846793005 + i + 2**63) % 2**64 - 2**63
        want.append(h)
    assert got == want
    assert parpy.jit(wraps_in_the_middle)(2) == [((3 * 2**62 - 2**64 + i) // 4, True) for i in range(2)]
    assert parpy.jit(wraps_in_a_condition)(2) == [0, 1]
    assert parpy.jit(wraps_in_calls)(1, 1e30) == [0, (-(2**61), -(2**63) % 5, -(2**63) % 7)]
    assert "statement" in compiled


def divides(z, f, n):
    out = []
    for i in range(n):
        out.append(i)
        a, b, c = i // z, i % z, (i + 1) / f
        out.append((a, b, c))
    return out


def test_divisions_by_zero():
    assert parpy.jit(divides)(0, 0.0, 2) == [0, (0, 0, np.inf), 1, (0, 0, np.inf)]


def zeros(n, z):
    out = []
    for i in range(n):
        out.extend((i,))
        q = abs(i) // z
        out.append(q)
    return out


def test_many_failures_make_a_group_a_region(compiled):
    assert parpy.jit(zeros)(100, 0)[1::2] == [0] * 100
    assert compiled.count("statement") == 16 and compiled.count("region") == 84


def stores(x, z, n):
    out = []
    for i in range(n):
        out.extend((i,))
        x[i] += i
        z[i % 2, 1] = x[i] * 2
        x[-1] = x[i]
    return out


def test_subscripts_out_of_bounds_are_located():
    x, z = np.zeros(3), np.zeros((2, 2))
    with pytest.raises(IndexError, match=r"(?s)P405.*x\[i\] \+= i") as caught:
        parpy.jit(stores)(x, z, 5)
    assert caught.value.__suppress_context__
    want, other = np.zeros(3), np.zeros((2, 2))
    with pytest.raises(IndexError):
        stores(want, other, 5)
    assert plain((x, z)) == plain((want, other))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.float32, np.complex128])
def test_elements_of_every_type(dtype, compiled):
    x, z = np.arange(4).astype(dtype), np.zeros((2, 2), dtype)
    want, other = x.copy(), z.copy()
    assert parpy.jit(stores)(x, z, 4) == stores(want, other, 4)
    assert plain((x, z)) == plain((want, other)) and compiled == []


def adds(a, b, n):
    out = []
    for i in range(n):
        out.append(i)
        a += b
        c = a + b
        out.append(c)
    return out, c


def test_whole_arrays_are_compiled(compiled):
    a, b = np.arange(3.0), np.ones(3)
    want = a.copy()
    got = parpy.jit(adds)(a, b, 4)
    assert plain(got) == plain(adds(want, b, 4)) and plain(a) == plain(want)
    assert compiled == ["statement", "statement", *["region"] * 3]  # Python runs it once, as a trial


def steps(p, x):
    out = []
    for i in range(len(x)):
        out.append(i)
        p.a += x[i]
        p.b = p.b + i
    return out


@pytest.mark.parametrize(
    ("a", "b"), [(0.5, 1), (np.float64(0.5), np.int64(1)), (0.5, 1.5), (1j, np.float32(2)), (0.5, np.int16(3))]
)
def test_attributes_keep_their_types(a, b, compiled):
    p = SimpleNamespace(a=a, b=b)
    parpy.jit(steps)(p, X)
    want = SimpleNamespace(a=a, b=b)
    steps(want, X)
    assert (p.a, p.b) == (want.a, want.b)
    assert (type(p.a), type(p.b)) == (type(a), type(b)) and (compiled == [] or isinstance(a, complex))


def test_attributes_of_other_types():
    p, want = SimpleNamespace(a=1, b=2), SimpleNamespace(a=1, b=2)
    parpy.jit(steps)(p, X)
    steps(want, X)
    assert (p.a, p.b, type(p.a)) == (want.a, want.b, float)
    p, want = SimpleNamespace(a=np.int64(1), b=2), SimpleNamespace(a=np.int64(1), b=2)
    parpy.jit(steps)(p, X)
    steps(want, X)
    assert (p.a, p.b) == (want.a, want.b)


class Keeps:
    def __init__(self, best: Any) -> None:
        self.best, self.log = best, []

    def take(self, value):
        self.log.append(value)
        self.best = value + 1


def takes(keeps, x):
    for each in keeps:
        for i in range(len(x)):
            each.take(x[i])


def test_attributes_that_are_no_numbers_are_pythons():
    want, got = ([Keeps(0.0), Keeps(None), Keeps("text"), Keeps(1.5)] for _ in range(2))
    takes(want, X)
    parpy.jit(takes)(got, X)
    assert plain(got) == plain(want)


def takes_first(queue, k, found):
    found.append(k)
    return queue[k] + 1


def asks_lists(queues):
    found = []
    for k in range(3):
        found.append(takes_first(queues[0], k, found))
        if queues[1][k] > 2 * k:
            found.append(-1)
    return found


def test_lists_are_pythons():
    assert parpy.jit(asks_lists)([[4, 5, 6], [1, 1, 1]]) == asks_lists([[4, 5, 6], [1, 1, 1]])
    for short in ([[4, 5], [1, 1, 1]], [[4, 5, 6], [1, 1]]):
        with pytest.raises(IndexError, match="list index out of range"):
            parpy.jit(asks_lists)(short)


def keeps_last(o, values):
    for i in range(2):
        o.seen.append(i)
        o.last = values[i]


def halves(d):
    for k, v in list(d.items()):
        d[k] = v / 2


def flags(o, v):
    for i in range(2):
        o.seen.append(i)
        o.count += v


@pytest.mark.parametrize(
    ("function", "make"),
    [
        *((keeps_last, lambda pair=pair: (SimpleNamespace(seen=[], last=0), pair))
          for pair in (["x", "y"], [1, None], [None, 1], [(1,), (2,)], [3, "x"])),
        (halves, lambda: ({"a": 1, "b": 2.5, 3: 4},)),
        (flags, lambda: (SimpleNamespace(seen=[], count=True), True)),
        (flags, lambda: (SimpleNamespace(seen=[], count=True), False)),
    ],
)  # fmt: skip
def test_what_python_assigns(function, make):
    compiled = parpy.jit(function)
    for _ in range(2):
        want, got = make(), make()
        function(*want)
        compiled(*got)
        assert repr(plain(got)) == repr(plain(want))


@pytest.mark.parametrize("values", [[1j, 2], [np.float32(2), 1.5], [2**70, 1]])
def test_python_runs_statements_that_give_attributes_another_type(values):
    want, got = SimpleNamespace(seen=[], last=0), SimpleNamespace(seen=[], last=0)
    keeps_last(want, values)
    parpy.jit(keeps_last)(got, values)
    assert plain(got) == plain(want)


def test_python_computes_with_arrays_in_dicts():
    want, got = {"a": np.ones(2)}, {"a": np.ones(2)}
    halves(want)
    parpy.jit(halves)(got)
    assert repr(plain(got)) == repr(plain(want))
