"""Functions, types and texts as values of compiled code: names, elements of tuples, arguments, results."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, options, run
from parpy import cuda
from parpy.calls import compiling


def half(v):
    return v / 2


def weighted(a, b, c=0):
    return a + 2 * b + 3 * c


def times(k):
    return lambda v: v * k


def composed(f, g):
    return lambda v: f(g(v))


@parpy.jit
def twice(f, v):
    return f(f(v))


@parpy.jit
def total(f, x):
    found = 0.0
    for i in range(x.size):
        found += f(x[i])
    return found


@parpy.jit
def everywhere(x, k):
    g = half
    h = g
    x[0] = h(x[0])
    functions = (half, lambda v: v * k, math.sqrt, (abs, weighted))
    x[1] = functions[1](x[1]) + functions[2](x[1]) + functions[3][0](-x[1]) + functions[3][1](1, c=2, b=3)
    k = 3.0  # which the lambdas see, but for a default
    x[2] = functions[1](x[2]) + total(lambda v: v * k, x) + total(lambda v, q=k: v * q, x)
    scaled = times(5)
    k = 1.0
    x[3] = scaled(x[3]) + twice(scaled, 1.0) + composed(half, math.sqrt)(4.0)
    for i in range(3):
        f = lambda v: v + i  # noqa: B023, E731
        x[4] += f(x[4]) + twice(f, i)
    x[5] = weighted(1, 2) + (lambda a, b=2: a * b)(x[5])
    T = np.float32
    x[6] = T(x[6]) + (float if np.float32 == T else int)(7) / 2
    greatest = max
    x[7] = greatest(x[0], 2.0) + greatest(x[1], 3.0)


@parpy.jit
def functions_in_functions(x):
    k = 1.0

    def outer(v):
        def inner(w):
            return w * k + factor

        factor = 3.0
        return inner(v) + (lambda q: q * k * factor)(v) + twice(inner, v)

    def fact(n):
        return 1 if n < 2 else n * fact(n - 1)

    k = 2.0
    f = fact
    x[0] = outer(1.0) + f(5)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [everywhere, functions_in_functions], ids=lambda f: f.__name__)
def test_values(function, backend):
    more = (2.0,) if function is everywhere else ()
    got, want = np.arange(1.0, 9), np.arange(1.0, 9)
    run(backend, function, (got, *more), {"gpu": 1} if backend in ("sim", "cuda") else {})
    function(want, *more, seq=True)
    np.testing.assert_allclose(got, want, rtol=1e-12)


@parpy.jit
def given(x, f, mode, T=np.float64, *, scale=None):
    y = np.zeros(x.size, dtype=T)
    for i in range(x.size):
        part = np.full(2, x[i], dtype=T)
        y[i] = f(part[0], b=2) if mode == "a" else f(part[1], 1, c=3)
        if scale is not None:
            y[i] *= scale
    return y


@pytest.mark.parametrize("backend", TARGETS)
def test_arguments(backend):
    x = np.arange(1.0, 5)
    for f in (weighted, parpy.jit(weighted), lambda a, b, c=1: a * b - c):
        for mode in ("a", "b"):
            for more in ({}, {"T": np.float32}, {"T": "f4", "scale": 2}, {"T": None}):
                got = given(x, f, mode, **more, opts=options(backend, {}))
                want = given(x, f, mode, **more, seq=True)
                assert got.dtype == want.dtype
                np.testing.assert_allclose(got, want, rtol=1e-6)


@parpy.jit
def reduced(f, x):
    return f(x)


def test_functions_of_numpy():
    x = np.array([3.0, 1, 2])
    for f in (np.sort, np.sum, np.sqrt, sum, len, np.cumsum):
        np.testing.assert_array_equal(reduced(f, x), f(x))


@parpy.jit
def of_a_tuple(t, x):
    for i in range(x.size):
        x[i] = t[0](x[i]) + t[1][1](2.0)


def test_in_tuples():
    for k in (3.0, 4):
        x = np.ones(2)
        of_a_tuple((half, (1, times(k))), x)
        assert x.tolist() == [0.5 + 2 * k] * 2


def test_numbers_and_arrays_that_a_lambda_reads_are_arguments(monkeypatch):
    parsed = []
    monkeypatch.setattr(compiling, "parse", lambda *arguments: parsed.append(1) or parse(*arguments))
    shift = np.zeros(1)

    def made(k):
        return lambda v: v * k + shift[0]

    x = np.ones(3)
    for k in (2.0, 3.0, 4.0):
        twice_over(made(k), x)
    assert x.tolist() == [24**2] * 3
    twice_over(made(2.0), x)
    assert x[0] == 4 * 24**2
    first = len(parsed)
    shift = np.ones(1)
    twice_over(made(0.0), x)
    assert x.tolist() == [1] * 3
    assert len(parsed) == first  # the function, and its parse for such a lambda


parse = compiling.parse


@parpy.jit
def twice_over(f, x):
    for i in range(x.size):
        x[i] = f(f(x[i]))


@parpy.jit
def with_parts_of_python(x, k):
    def g(v):
        return v * k + c

    c = 1.0
    y = np.empty_like(x)
    for i in range(x.size):
        y[i] = g(x[i])
    k = 10.0
    z = y[::-1].copy()
    for i in range(x.size):
        z[i] += g(x[i])
    return y, z, total(g, x)


def test_nested_functions_between_what_python_runs():
    got, want = with_parts_of_python(np.arange(3.0), 2.0), with_parts_of_python(np.arange(3.0), 2.0, seq=True)
    for ours, theirs in zip(got, want, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@parpy.jit
def drawn(x, rng):
    def one():
        return rng.random()

    def scaled(s):
        return one() * s

    for i in range(x.size):
        x[i] = one() + scaled(2.0)


def test_nested_functions_draw():
    x = np.zeros(1000)
    drawn(x, np.random.default_rng(0))
    assert len(np.unique(x)) == 1000
    assert 1.4 < x.mean() < 1.6


class Decay(NamedTuple):
    rate: float
    weights: np.ndarray


@parpy.jit
def of_an_object(p, d, x):
    def rate(v):
        def inner(w):
            return w * p.weights[1] + d["shift"]

        return inner(-p.rate * v)

    for i in range(x.size):
        x[i] = rate(x[i]) + p.rate


@pytest.mark.parametrize("backend", BACKENDS)
def test_nested_functions_read_entries_of_dicts_and_attributes(backend):
    got, want = np.arange(3.0), np.arange(3.0)
    more = Decay(2.0, np.array([0.0, 3.0])), {"shift": 0.5}
    run(backend, of_an_object, (*more, got), {"gpu": 1} if backend in ("sim", "cuda") else {})
    of_an_object(*more, want, seq=True)
    np.testing.assert_array_equal(got, want)


@cuda.jit
def applied(x, f, mode):
    def shifted(v):
        return f(v) + k

    i = cuda.grid(1)
    k = i
    if i < x.size:
        if mode == "shifted":
            x[i] = shifted(x[i])
        else:
            x[i] = f(x[i])


@pytest.mark.skipif("sim" not in TARGETS, reason="needs the simulator")
def test_kernels():
    x = np.ones(4)
    applied[1, 4](x, half, "shifted")
    assert x.tolist() == [0.5, 1.5, 2.5, 3.5]
    applied[1, 4](x, cuda.jit(device=True)(half), "plain")
    assert x.tolist() == [0.25, 0.75, 1.25, 1.75]


@parpy.jit
def stale(x):
    k = 1.0

    def get():
        return lambda v: v * k

    g = get()
    k = 5.0
    x[0] = g(1.0)


@parpy.jit
def without_a_value(x):
    if x[0] > 0:
        f = half
    x[0] = f(x[0])


@parpy.jit
def either(x, n):
    f = half if n > 2 else math.sqrt
    x[0] = f(x[0])


@parpy.jit
def returned(x):
    return half


@parpy.jit
def of_itself(x):
    f = half
    f = lambda v: f(v)  # noqa: E731
    x[0] = f(1)


@pytest.mark.parametrize(
    ("function", "more", "message"),
    [
        (stale, (), r"P022\]: 'get' returns a lambda, which reads variables of a function that has not ended"),
        (without_a_value, (), r"P217\]: 'f' is the function 'half' or something else"),
        (returned, (), r"P103\]: this is the function 'half', not a value"),
        (of_itself, (), r"P022\]: 'f' is a function that refers to itself"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_refused(function, more, message):
    with pytest.raises(parpy.CompileError, match=message):
        function(np.ones(3), *more, opts=parpy.par({}))


@pytest.mark.parametrize("n", [2, 3])
def test_choices_between_functions_are_pythons(n):
    x = np.full(3, 9.0)
    either(x, n)
    np.testing.assert_array_equal(x, [4.5 if n > 2 else 3.0, 9.0, 9.0])


def test_text_of_a_program_for_a_lambda():
    for k in (2.0, 3.0):
        text = parpy.print_compiled(total, [times(k), np.ones(3)])
        assert parpy.compile_string("total", text)(times(k), np.ones(3)) == 3 * k
