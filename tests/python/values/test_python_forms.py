"""Forms of Python that compiled code rewrites, against Python: constants of texts, imports,
loops over comprehensions and the entries of dicts."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import parpy
from backends import TARGETS, compiled_throughout, options
from results import same


def of_texts(x, mode):
    n = 0
    for i in range(x.shape[0]):
        if x[i] == ord("A") or x[i] == b"abC"[2]:
            n += 1
        if mode == "abc":
            n += len("abc") * len(b"ab")
        if mode != "x" and mode in ("abc", "d"):
            x[i] += 1
    return n


def of_imports(x, n):
    import math
    from math import pi as p
    from math import sqrt

    import numpy as numpy_of_its_own

    if n > 2:
        from itertools import product

        for i, j in product(range(n), range(2)):
            x[i] += j
    for i in range(x.shape[0]):
        x[i] += math.sin(x[i]) + sqrt(x[i]) + p + of_helper(x[i])
    return numpy_of_its_own.sum(x)


def of_helper(v):
    from math import exp

    def root(v):
        return exp(v) / 2

    return root(v) + exp(-v)


def imported_by_python(x, n):
    from collections import deque
    from math import floor

    last = deque(maxlen=n)
    y = np.zeros(n)
    y += floor(x[0] + 2.5)
    last.append(y[0])
    return y, len(last)


def of_a_variable(x, n):
    import math

    math = n  # noqa: F811
    return x * math


def over_comprehensions(x, n):
    s = 0.0
    for i, j in [(i, j) for i in range(n) for j in range(n) if i < j]:
        x[i] += j
    for v in [i * i for i in range(n)]:
        s += v
    for v in (w * 2 for w in x if w > 1):
        s += v
    for i, j in [(i, j) for i in range(n) for j in range(n)]:
        if i * j > 1:
            break
        if j == 0:
            continue
        s += 10
    else:
        s += 1000
    for i, j in [(a, b) for a in range(n) if a > 1 for b in range(a)]:
        if i * j > 9:
            break
    else:
        s += 100
    return s, i, j


def over_entries(d, n):
    s = 0.0
    for k, v in d.items():
        if k == "skip":
            continue
        if k == "end":
            break
        for i in range(n):
            d["out"][i] += v[i]
    else:
        s += 100
    for k in d:
        if k != "skip" and k != "end":
            s += d[k][0]
    for k in d.keys():  # noqa: SIM118
        if k == "out":
            d[k][1] -= 1
    return s


def over_numbers(d, n):
    s = 0.0
    for _ in range(n):
        for k, v in d.items():
            s += v if k == "a" else 2 * v
            v += 1
            s -= v
    for v in d.values():
        s *= v
    for k, (i, v) in zip(range(2), enumerate(d.values()), strict=False):
        s += k * i * v
    return s + sum(v for v in d.values()) + sum(d[k] for k in d) + sum(d.values()) + max(d.values()), v


GIVEN = {
    over_entries: ({"a": np.ones(3), "skip": 1.0, "out": np.zeros(3)}, 3),
    over_numbers: ({"b": 2.0, "a": 1.5, "c": 3}, 3),
    over_comprehensions: (np.arange(4.0), 3),
    of_texts: (np.array([65, 66, 67], np.uint8), "abc"),
    of_imports: (np.arange(4.0), 3),
    imported_by_python: (np.arange(4.0), 3),
    of_a_variable: (np.arange(4.0), 3),
}


@pytest.mark.parametrize("function", GIVEN, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", TARGETS)
def test_as_python(backend, function):
    want, got = copy.deepcopy(GIVEN[function]), copy.deepcopy(GIVEN[function])
    expected = function(*want)
    with compiled_throughout():
        result = parpy.jit(function)(*got, opts=options(backend, {}))
    assert same(result, expected) or np.allclose(result, expected, rtol=1e-13)
    np.testing.assert_equal(got[0], want[0])


def test_a_name_that_hides_pythons_function():
    def ord(text):
        return 7.0

    def own():
        return ord("A")

    assert parpy.jit(own)() == 7


def test_modules_that_there_are_not():
    def absent(x):
        import no_such_module

        return no_such_module.f(x)

    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        parpy.jit(absent)(np.ones(3))


def test_a_list_that_the_loop_changes_is_not_made_meanwhile():
    def doubled(x):
        for v in [x[i] for i in range(x.size)]:
            x[0] += v

    with pytest.raises(parpy.CompileError, match=r"P011.*a list comprehension cannot be compiled"):
        parpy.jit(doubled)(np.ones(3))

    def cleared(x):
        s = 0.0
        for v in [v for v in x if v > 1]:
            s += v
            x[:] = 0
        return s

    def summed(x):
        s = 0.0
        for v in [v for v in x if v > 1]:
            s += abs(v)
        return s

    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(parpy.CompileError, match=r"P011.*a list comprehension cannot be compiled"):
        parpy.jit(cleared)(x)
    assert parpy.jit(summed)(x) == summed(x)


def test_entries_of_other_calls():
    def total(d):
        s = 0.0
        for v in d.values():
            s += v
        return s

    jitted = parpy.jit(total)
    for d in ({"a": 1.0}, {"b": 1.0, "a": 2.0}, {"a": 2.0, "b": 5}, {}, {"a": 1.0}):
        assert jitted(d) == total(d)
    with pytest.raises(parpy.CompileError, match="P024"):
        jitted({"a": 1.0, 3: 2.0}, opts=parpy.par({}))
