"""Loops in which lists of numbers grow are compiled. If elements are no numbers, Python runs the loop."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

import parpy
from backends import TARGETS, compiled_throughout, options
from results import same

X = np.array([0.5, 2.0, -1.0, 3.5, 0.25, 3.5, -2.0, 1.0])
K = np.array([3, 1, 4, 1, 5, 9, 2, 6])
GRAPH = np.array([[0, 1, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 1, 1], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]], bool)


def filtered(x):
    out = []
    for i in range(x.size):
        if x[i] > 0.4:
            out.append(x[i] * 2)
    return out, np.array(out), len(out), sum(out)


def places(x):
    out = []
    for i, v in enumerate(x):
        if v > 1:
            out.append(i)
    return out


def flags(x):
    out = [True]
    for v in x:
        out.append(v > 1)
    return out


def mixed(x):
    out = []
    for i in range(x.size):
        if i % 2 == 0:
            out.append(i)
        else:
            out.append(x[i])
    return out


def logistic(x):
    xs = [0.3]
    for _ in range(20):
        xs.append(3.5 * xs[-1] * (1 - xs[-1]))
    return xs


def primes(n):
    found = []
    for i in range(2, n):
        is_prime = True
        for p in found:
            if p * p > i:
                break
            if i % p == 0:
                is_prime = False
                break
        if is_prime:
            found.append(i)
    return found


def until(t):
    ts, ys = [0.0], [1.0]
    while ts[-1] < t:
        ys.append(ys[-1] - 0.25 * ys[-1])
        ts.append(ts[-1] + 0.25)
    return np.array(ts), ys


def depth_first(graph):
    seen = np.zeros(len(graph), bool)
    stack, order = [0], []
    while stack:
        u = stack.pop()
        if seen[u]:
            continue
        seen[u] = True
        order.append(u)
        for w in range(len(graph)):
            if graph[u, w] and not seen[w]:
                stack.append(w)
    return order, stack


def breadth_first(graph):
    level = np.full(len(graph), -1)
    level[0] = 0
    queue = [0]
    while len(queue) > 0:
        u = queue.pop(0)
        for w in range(len(graph)):
            if graph[u, w] and level[w] < 0:
                level[w] = level[u] + 1
                queue.append(w)
    return level


def frontiers(graph):
    level, frontier, d = np.full(len(graph), -1), [0], 0
    level[0] = 0
    while frontier:
        d += 1
        following = []
        for u in frontier:
            for w in range(len(graph)):
                if graph[u, w] and level[w] < 0:
                    level[w] = d
                    following.append(w)
        frontier = following
    return level, frontier


def regions(x):
    mask = x.reshape(2, 4) > 0.3
    label, n = np.zeros(mask.shape, int), 0
    for i in range(mask.shape[0]):
        for j in range(mask.shape[1]):
            if mask[i, j] and label[i, j] == 0:
                n += 1
                stack = [(i, j)]
                label[i, j] = n
                while stack:
                    a, b = stack.pop()
                    for p, q in ((a + 1, b), (a - 1, b), (a, b + 1), (a, b - 1)):
                        if 0 <= p < mask.shape[0] and 0 <= q < mask.shape[1] and mask[p, q] and label[p, q] == 0:
                            label[p, q] = n
                            stack.append((p, q))
    return label, n


def pairs(x):
    found = []
    for i in range(x.size):
        for j in range(i + 1, x.size):
            if x[i] < x[j]:
                found.append((i, x[j]))
    return found


def changed(k):
    tails, counts = [], [0] * 10
    for v in k:
        counts[v] += 1
        low, high = 0, len(tails)
        while low < high:
            middle = (low + high) // 2
            if tails[middle] < v:
                low = middle + 1
            else:
                high = middle
        if low == len(tails):
            tails.append(v)
        else:
            tails[low] = v
    return tails, counts


def distance(k):
    other = k[::-1]
    before = list(range(len(other) + 1))
    for i in range(1, len(k) + 1):
        row = [i]
        for j in range(1, len(other) + 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (k[i - 1] != other[j - 1])))
        before = row
    return before[-1], before


def shuffled(k):
    order, chosen, seed = list(range(len(k))), [], 12345
    for i in range(len(k) - 1, 0, -1):
        seed = (seed * 1103515245 + 12345) % 2147483648
        j = seed % (i + 1)
        order[i], order[j] = order[j], order[i]
        chosen.append(j)
    return order, chosen


def bisected(x):
    a, b, middles = 0.0, float(x.max()), []
    while b - a > 0.01:
        m = 0.5 * (a + b)
        middles.append(m)
        if m * m > 2:
            b = m
        else:
            a = m
    return m, middles


def twice(x):
    out = []
    for v in x:
        out.append(v)
    for v in x:
        out.append(len(out) + v)
    return out


COMPILED = [
    (filtered, X), (places, X), (flags, X), (mixed, X), (logistic, X), (primes, 60), (until, 1.0), (depth_first, GRAPH),
    (breadth_first, GRAPH), (frontiers, GRAPH), (regions, X), (pairs, X), (changed, K), (distance, K), (twice, X),
    (shuffled, K), (bisected, X), (filtered, X[:0]), (twice, K), (primes, 1),
]  # fmt: skip


def check(backend, function, given):
    with compiled_throughout():
        compiled = parpy.jit(function)
        for _ in range(2):  # the memory is used again
            assert same(compiled(copy.copy(given), opts=options(backend, {})), function(given))


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(("function", "given"), COMPILED)
def test_compiled(backend, function, given):
    check(backend, function, given)


def test_one_list():
    """The list is changed in place, also by a loop that ends with an exception."""

    @parpy.jit
    def fails(x, keep):
        out = []
        keep(out)
        for v in x:
            if v > 3:
                raise ValueError("too large")
            out.append(v)
        return out

    kept = []
    with pytest.raises(ValueError, match="too large"):
        fails(X, parpy.callback(kept.append))
    assert kept == [[0.5, 2.0, -1.0]]


def rows(x):
    out = []
    for i in range(2):
        out.append(x.reshape(2, 4)[i])
    return np.array(out)


def texts(x):
    out = []
    for v in x:
        out.append("a" if v > 1 else "b")
    return out


def singles(x):
    out = []
    for v in x.astype(np.float32):
        out.append(v)
    return np.array(out)


def contained(k):
    out = []
    for v in k:
        if v not in out:
            out.append(v)
    return out


def old_list(x):
    out = []
    first = out
    for v in x:
        if len(out) == 3:
            out = []
        out.append(v)
    return first, out


def no_iterations(n):
    for i in range(n):
        made = []
        made.append(i)
    return made if n > 0 else 0


@pytest.mark.parametrize(
    ("function", "given"), [(rows, X), (texts, X), (singles, X), (contained, K), (old_list, X), (no_iterations, 2)]
)
@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
def test_run_by_python(function, given):
    assert same(parpy.jit(function)(given), function(given))


def test_large_numbers():
    """Integers beyond 64 bits in the list are Python's."""

    def grow(first, n):
        out = [first]
        for _ in range(n):
            out.append(out[-1])
        return out

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", parpy.PerformanceWarning)
        assert parpy.jit(grow)(2**70, 2) == [2**70] * 3
        assert parpy.jit(grow)(2, 2) == [2] * 3


def test_errors_of_subscripts():
    @parpy.jit
    def read(n):
        out = [1.0]
        for i in range(n):
            out.append(out[i + 1])
        return out

    @parpy.jit
    def popped(n):
        out = [1.0]
        for _ in range(n):
            out.append(out.pop() + out.pop())
        return out

    with pytest.raises(IndexError, match="list index out of range"):
        read(2)
    with pytest.raises(IndexError, match="pop from empty list"):
        popped(1)


def counted(k):
    first, second = {}, {}
    for i in range(k.size):
        if k[i] in first:
            first[k[i]] += 1
        else:
            first[k[i]] = 1
        second[k[i]] = second.get(k[i], 0.0) + 0.5
    return first, second, len(first)


def distinct(k):
    seen, out = set(), []
    for v in k:
        if v not in seen:
            seen.add(v)
            out.append(v)
    return out, sorted(seen)


def in_rows(k):
    total = 0
    for i in range(2):
        seen = set()
        for j in range(4):
            seen.add(k.reshape(2, 4)[i, j] % 3)
        total += len(seen)
    return total


def collatz(n):
    steps = {1: 0}
    for i in range(2, n):
        x, count = i, 0
        while x not in steps:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            count += 1
        steps[i] = count + steps[x]
    return steps


def sparse(n):
    found = {}
    for i in range(n):
        found[i * 7919 - 2**40] = i * 0.5
    return found


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(
    ("function", "given"), [(counted, K), (distinct, K), (in_rows, K), (collatz, 40), (sparse, 3000), (counted, K[:0])]
)
def test_dicts_and_sets(backend, function, given):
    check(backend, function, given)


def missing(k):
    names = {3: 1.0}
    total = 0.0
    for v in k:
        total += names[v]
    return total


def by_floats(x):
    seen = set()
    for v in x:
        seen.add(v)
    return len(seen)


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
def test_keys():
    with pytest.raises(KeyError):
        parpy.jit(missing)(K)
    assert parpy.jit(missing)(K[:1]) == 1.0
    assert parpy.jit(by_floats)(X) == by_floats(X)


def paths(n):
    ways = {(0, 0): 1}
    for i in range(n):
        for j in range(n):
            if (i, j) not in ways:
                ways[i, j] = ways.get((i - 1, j), 0) + ways.get((i, j - 1), 0)
    return ways


def triples(n):
    found, seen = {}, set()
    for i in range(n):
        key = (i % 7 - 2**40, i % 5, -i % 3)
        if key in found:
            found[key] += i
        else:
            found[key] = i
        seen.add((i * 7919 % 101, -i))
    best = 0
    for key in found:
        a, b, _ = key
        best = max(best, found[key] * b - a)
    return best, found, seen, (0, 0) in seen


def degrees(k):
    found = {}
    for i in range(k.size):
        found[k[i]] = found.get(k[i], 0) + 1
        best = -100
        for each in found:
            if best == -100 or found[each] > found[best]:
                best = each
    return best, found


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(("function", "given"), [(paths, 6), (triples, 2000), (degrees, K), (paths, 0)])
def test_keys_that_are_tuples(backend, function, given):
    check(backend, function, given)


def behind_the_last(n):
    found = {}
    for i in range(n):
        found[i, i] = i
    total = 0
    for i in range(n + 1):
        total += found[i, i]
    return total


def over_a_set(k):
    seen, total = set(), 0
    for v in k:
        seen.add(v)
        for each in seen:
            total = 2 * total + each
    return total


def one_list(n):
    first = []
    second = first
    for i in range(n):
        first.append(i)
        second.append(-i)
    return first


def two_arguments(first, second, n):
    for i in range(n):
        first[i] = first.get(i, 0) + 1
        second[i] = second.get(i, 0) + 10


def memo(known, n):
    if n in known:
        return known[n]
    known[n] = n if n < 2 else memo(known, n - 1) + memo(known, n - 2)
    return known[n]


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
def test_what_python_runs():
    with pytest.raises(KeyError, match=r"\(3, 3\)"):
        parpy.jit(behind_the_last)(3)
    assert parpy.jit(over_a_set)(K) == over_a_set(K)
    assert parpy.jit(one_list)(3) == one_list(3)
    kept = {}
    parpy.jit(two_arguments)(kept, kept, 3)
    assert kept == {0: 11, 1: 11, 2: 11}
    known = {(1, 2): 3}
    assert parpy.jit(memo)(known, 9) == 34
    assert len(known) == 11


def test_a_warning_tells_of_small_floats():
    with pytest.warns(parpy.PerformanceWarning, match="beside numbers of type float32"):
        parpy.jit(added_up)(X.astype(np.float32))


def added_up(x):
    out = [0.0]
    for v in x:
        out.append(out[-1] + v)
    return out


def states(n):
    state = (0.0, 1.0)
    found = []
    for i in range(n):
        a, b = state
        state = (b, a + b * i)
        found.append(state)
    return state, found


def best_so_far(x):
    best = (0, 0.0)
    found = []
    for i in range(len(x)):
        if x[i] > best[1]:
            best = (i, x[i])
        found.append(best)
        found.append((i, x[i]))
    return found, best


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(("function", "given"), [(states, 5), (states, 0), (best_so_far, X)])
def test_tuples_with_names(backend, function, given):
    check(backend, function, given)


def test_arrays_in_tuples_with_names():
    """Python runs the loop, and the message speaks of the elements."""

    def kept(x):
        found = []
        for pair in ((1, 2), (3, 4)):
            found.append(pair)
        return found

    with pytest.warns(parpy.PerformanceWarning, match="numbers, or tuples that are written out, as elements"):
        assert parpy.jit(kept)(X) == kept(X)
