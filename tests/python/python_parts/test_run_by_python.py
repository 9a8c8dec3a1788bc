"""Python runs code between compiled parts, because compiled code has no such statement, function or value."""

from __future__ import annotations

import copy
import heapq
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parpy
from parpy import _native
from parpy.calls import performance
from parpy.calls.interface import source_text

pytestmark = pytest.mark.filterwarnings("ignore:.*P315:parpy.PerformanceWarning")
BACKENDS = [parpy.CompileBackend.Cpu, parpy.CompileBackend.Sim]
WEIGHTS = [1, 2, 4]


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype, value.tolist()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | deque):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        return value.item()
    return plain(vars(value)) if hasattr(value, "__dict__") else value


def check(function: Callable[..., Any], *arguments: Any) -> None:
    """The compiled function returns Python's result, and changes its arguments alike, also the second time."""
    for backend in BACKENDS:
        compiled = parpy.jit(function)
        want, got = copy.deepcopy(arguments), copy.deepcopy(arguments)
        for _ in range(2):
            expected = function(*want)
            assert plain(compiled(*got, opts=parpy.auto(backend=backend))) == plain(expected)
            assert plain(got) == plain(want)


X = np.array([3.0, 1.0, 2.0, 5.0])


def sorts(x):
    order = sorted(range(len(x)), key=lambda i: x[i])
    s = 0.0
    for i in range(len(x)):
        s += x[i] * (i + 1)
    return order, s


def queues(x):
    q = deque()
    for i in range(len(x)):
        q.append(x[i] * 2)
    first = q.popleft()
    return first, q


def counts(x):
    found = defaultdict(int)
    for i in range(len(x)):
        found[int(x[i]) % 2] += 1
    return found[0], found[1]


def heaps(x):
    h = [(x[0], 0)]
    for i in range(1, len(x)):
        heapq.heappush(h, (x[i], i))
    value, place = heapq.heappop(h)
    x[place] = 0.0
    return value


def quiet(x):
    with np.errstate(divide="ignore"):
        y = 1.0 / (x - x[0])
    y[0] = 0.0
    return y


def tries(x):
    n = 0
    for i in range(len(x)):
        try:
            if x[i] > 2:
                raise ValueError("large")
            n += 1
        except ValueError:
            n += 10
    return n


def matches(x, kind):
    match kind:
        case "double":
            x *= 2
        case _:
            x += 1
    return x.sum()


def added(a, b, c):
    return a + b * c


def hands_on(x, *, args=(1.0, 2.0)):
    return added(x[0], *args)


def of_lists(x):
    s = 0.0
    for i in range(3):
        s += x[i] * WEIGHTS[i]
    return s


def lists_as_arguments(x):
    return np.quantile(x, [0.25, 0.5]), np.prod([v + 1 for v in x]), np.clip(x, 2.0, None)


def rows_are_lists(x):
    y = np.zeros((len(x), 2))
    for i in range(len(x)):
        y[i] = [x[i], -x[i]]
    return y


def where_true(x):
    places = np.where(x > 1.5)[0]
    return places.min(), places.max(), len(places)


def any_axis(x, axis=0, keep=False):
    y = x[:, None] * x
    return y.max(axis=axis, keepdims=True).sum(), np.mean(y, axis=axis), y.std(axis=axis, ddof=1)


def pops(n):
    stack = [n]
    c = 0
    while stack:
        k = stack.pop()
        c += k
        if k > 1:
            stack.extend((k - 1,))
        if c > 100:
            break
    else:
        c = -c
    return c


def solves(a):
    for it in range(9):
        a = np.linalg.solve(a + np.eye(2), a)
        if np.abs(a).max() < 1e-3:
            break
    else:
        it = -1
    return a, it


def joins(edges, n):
    parent = list(range(n))

    def find(i):
        while parent[i] != i:
            i = parent[i]
        return i

    m = 0
    for e in range(edges.shape[0]):
        a, b = find(edges[e, 0]), find(edges[e, 1])
        if a != b:
            parent[a] = b
            m += 1
    return m


def smallest(values):
    m = values[0]
    for v in values:
        if v < m:
            m = v
    return m


def batches(x, n):
    found = []
    for k in range(0, len(x), n):
        part = x[k : k + n]
        pair = part[0], part[-1]
        total = 0.0
        for i in range(len(part)):
            total += part[i]
        found.append((total, pair))
    return found


def haar(a, n):
    out = []
    for _ in range(n):
        even, odd = a[0::2], a[1::2]
        out.append(even - odd)
        a = even + odd
    return out


def triangle(x, n):
    for _ in range(n):
        x = 0.5 * (x[1:] + x[:-1])
    return x


def steepest(x):
    found = []
    for i in range(1, len(x)):
        slope, place = 0.0, None
        for j in range(i):
            if x[i] - x[j] > slope:
                slope, place = x[i] - x[j], (i, j)
        found.append(place)
        if place is not None:
            x[place[0]] += 1.0
    return found


CASES = [
    (sorts, X), (queues, X), (counts, X), (heaps, X), (quiet, X), (tries, X), (matches, X, "double"),
    (matches, X, "other"), (hands_on, X), (of_lists, X), (lists_as_arguments, X),
    (rows_are_lists, X), (where_true, X), (any_axis, X), (triangle, X, 3), (steepest, X),
    (pops, 4), (pops, 40), (solves, np.array([[0.5, 0.1], [0.1, 0.4]])), (solves, np.array([[1e9, 0.0], [0.0, 0.5]])),
    (joins, np.array([[0, 1], [1, 2], [0, 2], [3, 4]]), 5), (smallest, [float(i % 37) for i in range(100)]),
    (batches, X, 2), (haar, np.arange(8.0), 2),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_functions(case):
    check(*case)


class Filter:
    def __init__(self) -> None:
        self.x, self.p, self.f = np.array([1.0, 2.0]), np.eye(2), np.array([[1.0, 0.1], [0.0, 1.0]])
        self.n, self.log, self.last = 0, [], None

    def predict(self):
        self.x = self.f @ self.x
        self.p = self.f @ self.p @ self.f.T

    def swap(self):
        self.x, self.p[0] = self.p[0] * 2, self.x


def predicts(f, n):
    for _ in range(n):
        f.predict()
        f.n += 1
    return f.x.sum()


def swaps(f):
    f.swap()
    f.x[0] += 1
    return f.p[0, 0]


def differs(f, value):
    d = 0.0 if f.last is None else value - f.last
    f.last = value
    f.n += 1
    return d


def logs(f, x):
    for i in range(len(x)):
        if x[i] > 1.5:
            f.log.append(x[i])
        f.n += 1
    return len(f.log)


def starts_anew(f, n):
    f.log = []
    f.fresh = np.zeros(n)
    for i in range(n):
        f.fresh[i] = i * 2.0
    return f.fresh


@pytest.mark.parametrize("function", [predicts, swaps, differs, logs, starts_anew])
def test_attributes(function):
    more = {predicts: (3,), swaps: (), differs: (2.5,), logs: (X,), starts_anew: (4,)}[function]
    check(function, Filter(), *more)


class Drag:
    def __init__(self, k: float) -> None:
        self.k, self.calls = k, 0

    def __call__(self, t, y):
        self.calls += 1
        return -self.k * y * t


def integrates(f, y, n):
    for i in range(n):
        y += 0.1 * f(i * 0.1, y)
    return y


def test_callable_objects():
    check(integrates, Drag(0.5), 2.0, 5)


def replaced_where_others_see_it(f, old):
    f.predict()
    return old[0] - f.x[0]


def test_the_old_array_stays_what_it_was():
    want, got = Filter(), Filter()
    expected = replaced_where_others_see_it(want, want.x)
    assert parpy.jit(replaced_where_others_see_it)(got, got.x) == expected
    assert plain(got) == plain(want)


class Controlled:
    def __init__(self) -> None:
        self.control, self.y = Control(), 1.0


class Control:
    def __init__(self) -> None:
        self.last, self.total = None, 0

    def __call__(self, error):
        d = 0.0 if self.last is None else error - self.last
        self.last = error
        self.total += error * 0.5
        return d


def controls(loop, n):
    for i in range(n):
        loop.y += loop.control(i * 0.25)
    return loop.y


def test_objects_that_are_called_and_keep_what_is_no_number():
    check(controls, Controlled(), 4)


class Learner:
    def __init__(self) -> None:
        self.w, self.b = None, 0.0

    @parpy.jit
    def fit(self, x):
        self.w = np.zeros(x.shape[1])
        self.errors = []
        for k in range(3):
            for row in x:
                self.w += row * 0.5
                self.b += 0.25
            self.errors.append(k)
        return self


def test_methods_that_begin_anew_for_each_object():
    for dtype in (np.float64, np.float32, np.float64):
        want, got = Learner(), Learner()
        x = np.arange(6.0).reshape(3, 2).astype(dtype)
        Learner.fit.__wrapped__(want, x)
        assert got.fit(x) is got
        assert plain(got) == plain(want)


def raises_printf(x, n):
    if n < 0:
        raise ValueError("n is %d, x[0] is %.2f (%5d|%-4d|%s), 100%%" % (n, x[0], n, n, n))  # noqa: UP031
    return n


def test_texts_in_the_style_of_printf():
    compiled = parpy.jit(raises_printf)
    assert compiled(X, 1) == 1
    for function in (raises_printf, compiled):
        with pytest.raises(ValueError, match=r"^n is -2, x\[0\] is 3\.00 \(   -2\|-2  \|-2\), 100%"):
            function(X, -2)


def sums_until(total, x):
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError("negative")
        total[0] += x[i]


@pytest.mark.parametrize("backend", BACKENDS)
def test_sums_before_an_exception_stay(backend):
    total = np.array([10.0])
    with pytest.raises(ValueError, match="negative"):
        parpy.jit(sums_until)(total, np.array([1.0, 2.0, -1.0, 5.0]), opts=parpy.auto(backend=backend))
    assert total[0] == 13


@parpy.jit
def twice(x, labels, k):
    for j in range(k):
        x[j] += 1.0
    return sum(np.sum(x[labels == j] ** 2) for j in range(k))


def test_generator_expressions_are_compiled_again():
    x, labels = np.arange(4.0), np.array([0, 1, 0, 1])
    for kind in (np.float64, np.float32, np.int64):
        assert twice(x.astype(kind), labels, 2) == twice.py_func(x.astype(kind), labels, 2)
    _native.clear_cache(on_disk=False)
    assert twice(x.copy(), labels, 2) == twice.py_func(x.copy(), labels, 2)


def runs_steps(f, n):
    for _ in range(n):
        f.predict()


@pytest.mark.filterwarnings("default:.*P315:parpy.PerformanceWarning")
@pytest.mark.parametrize(
    ("function", "arguments", "reason"),
    [
        (tries, (X,), "compiled code has no 'try'"),
        (of_lists, (X,), "'WEIGHTS' is a list outside of the function"),
        (triangle, (X, 2), "'x' gets another size"),
        (runs_steps, (Filter(), 2), "Python runs parts of 'f.predict'"),
        (steepest, (X,), "'place' is a list, dict or set|'found' is a list, dict or set"),
        (pops, (3,), "'stack' is a list, dict or set"),
    ],
)
def test_loops_that_python_runs_are_told(function, arguments, reason, monkeypatch):
    monkeypatch.setattr(performance, "_told", set())  # warns once for each place
    text = reason.replace("(", ".").replace(")", ".")
    with pytest.warns(parpy.PerformanceWarning, match=rf"P315.*Python runs this loop: ({text})"):
        parpy.jit(function)(*copy.deepcopy(arguments))


@parpy.jit
def backward(x, n):
    found = np.empty(len(x))
    k = 0
    for i in range(n):
        if x[i] > 0.5:
            found[k] = x[i]
            k += 1
    return found[:k][::-1]


@pytest.mark.filterwarnings("error::parpy.PerformanceWarning")
def test_a_part_of_a_part_is_returned():
    x = np.random.default_rng(1).random(20)
    np.testing.assert_array_equal(backward(x, 20), backward.__wrapped__(x, 20))


@parpy.jit
def sorted_planes(x):
    return np.sort(x)


@parpy.jit
def with_static_fail(x):
    parpy.builtin.static_fail("not like this")


@parpy.jit
def text_as_number(x):
    return x + "a"


def test_a_refusal_says_whether_python_may_make_the_calls():
    """What Python then does follows from that alone."""
    x = np.random.default_rng(1).random((2, 3, 4))
    np.testing.assert_array_equal(sorted_planes(x), np.sort(x))
    for function, may in ((sorted_planes, True), (with_static_fail, False), (text_as_number, False)):
        with pytest.raises(parpy.CompileError) as refused:
            source_text(parpy.jit(function.__wrapped__), (x,), None, function.__wrapped__)
        assert refused.value.python_may_call is may
        assert refused.value.says("run") is False


def test_a_refusal_says_what_a_caller_may_do():
    with pytest.raises(parpy.CompileError) as refused:
        parpy.print_compiled(parpy.jit(text_as_number.__wrapped__), (X,))
    assert refused.value.says_only("statement", "text")
    with pytest.raises(parpy.CompileError) as refused:
        parpy.print_compiled(parpy.jit(text_as_number.__wrapped__), (object(),))
    assert refused.value.says("apart", "argument")
