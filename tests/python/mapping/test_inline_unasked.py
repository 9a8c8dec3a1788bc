"""Helpers that are inlined without a request: those that update elements, in loops that may
run in parallel."""

from __future__ import annotations

import numpy as np
import pytest

import backends
import parpy
from backends import options
from fresh_functions import fresh
from parpy.builtin import inline
from parpy.types import F32, I64, buffer, symbol, type_var

N, T = symbol("N"), type_var("T")
chosen = np.array([1, 0, 1, 0, 1, 1, 0, 1])


@parpy.jit
def add_two(a, i, c):
    if c > 0:
        t = 2.0
    a[i] += t


@parpy.jit
def add_last(a, i, c):
    for k in range(c):
        a[i] += 0
    a[i] += k


@parpy.jit
def add_where(a, i, c):
    if c > 0:
        t = 2.0
    if c > 0:
        a[i] += t


@parpy.jit
def without_value(a, c, n):
    parpy.label("N")
    for i in range(n):
        add_two(a, i, c[i])


@parpy.jit
def without_iterations(a, c, n):
    parpy.label("N")
    for i in range(n):
        add_last(a, i, c[i])


@parpy.jit
def with_value(a, c, n):
    parpy.label("N")
    for i in range(n):
        add_where(a, i, c[i])


@pytest.mark.parametrize("mapping", [None, {}, {"N": 8}], ids=["auto", "none", "mapped"])
@pytest.mark.parametrize("function", [without_value, without_iterations])
def test_variables_have_no_value_from_the_call_before(function, mapping):
    how = {} if mapping is None else {"opts": options("cpu", mapping)}
    with pytest.raises(UnboundLocalError):
        function(np.zeros(8), chosen, 8, **how)


@pytest.mark.parametrize("backend", backends.BACKENDS)
def test_variables_that_some_calls_assign_carry_nothing(backend):
    a = np.zeros(8)
    backends.run(backend, with_value, (a, chosen, 8), {"N": 8})
    np.testing.assert_array_equal(a, 2.0 * chosen)


@pytest.mark.parametrize("depth", [2, 10])
def test_helpers_of_helpers_take_the_place_of_their_calls_while_they_are_few(depth, tmp_path):
    text = "@parpy.jit\ndef h0(a, i, v):\n    a[i] += v\n    return v\n"
    for d in range(1, depth + 1):
        text += f"@parpy.jit\ndef h{d}(a, i, v):\n    w = h{d - 1}(a, i, v)\n    return h{d - 1}(a, i, w)\n"
    text += f"@parpy.jit\ndef f(a, n):\n    for i in range(n):\n        h{depth}(a, i, 1.0)\n"
    code = parpy.print_compiled(fresh(text, tmp_path), (np.zeros(4), 4), parpy.auto(backend=parpy.CompileBackend.Cpu))
    assert ("double h0(" in code) == (depth == 10)


@parpy.jit
def add_single(a, i, v: F32):
    a[i] += v


@parpy.jit
def add_alike(a: buffer(T, [N]), i: I64, v: T):
    a[i] += v


@parpy.jit
def add_halves(a, i, v: I64):
    for _ in range(2):
        a[i] += v
        v = v * 0.5


@parpy.jit
def single(a, x, n):
    parpy.label("N")
    for i in range(n):
        add_single(a, i, x[i])


@parpy.jit
def single_asked(a, x, n):
    parpy.label("N")
    for i in range(n):
        inline(add_single(a, i, x[i]))


@parpy.jit
def alike(a, x, n):
    parpy.label("N")
    for i in range(n):
        add_alike(a, i, x[i])


@parpy.jit
def at_floats(a, x, n):
    parpy.label("N")
    for i in range(n):
        add_alike(a, x[i], 1)


@parpy.jit
def literals(a, x, n):
    parpy.label("N")
    for i in range(n):
        s = 2.5
        add_single(a, i, 1)
        add_single(a, i, 1.5)
        add_single(a, i, s)
        add_alike(a, i, s)


@parpy.jit
def halves(a, x, n):
    parpy.label("N")
    for i in range(n):
        add_halves(a, i, 3)
        add_halves(a, i, i)


@pytest.mark.parametrize("mapping", [None, {}, {"N": 8}], ids=["auto", "none", "mapped"])
@pytest.mark.parametrize(
    ("function", "dtype", "problem"),
    [
        (single, "d", "float64, not float32"),
        (single_asked, "d", "float64, not float32"),
        (alike, "f", "float32, not float64"),
        (at_floats, "d", "float64, not int64"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_annotations_of_numbers_hold(function, dtype, problem, mapping):
    how = {} if mapping is None else {"opts": options("cpu", mapping)}
    with pytest.raises(parpy.CompileError, match=rf"P231[\s\S]*{problem}[\s\S]*the annotation says"):
        function(np.zeros(8), np.ones(8, dtype), 8, **how)


@pytest.mark.parametrize("mapping", [{}, {"N": 8}], ids=["none", "mapped"])
@pytest.mark.parametrize(
    ("function", "dtype"), [(single, "f"), (single_asked, "f"), (alike, "d"), (literals, "d"), (halves, "d")]
)
def test_numbers_that_are_what_annotations_say(function, dtype, mapping):
    got, want = np.zeros(8), np.zeros(8)
    function(want, np.ones(8, dtype), 8, seq=True)
    function(got, np.ones(8, dtype), 8, opts=options("cpu", mapping))
    np.testing.assert_array_equal(got, want)
