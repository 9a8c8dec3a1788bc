"""Helpers that take the place of their calls though nobody asked for it: those that update elements, in loops that may
run in parallel."""

from __future__ import annotations

import numpy as np
import pytest

import backends
import parpy
from backends import options
from calls import fresh

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
