"""Loops over arrays, enumerate, zip and reversed, against Python."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, copies, run

rng = np.random.default_rng(22)


def rows(x, y, d):
    parpy.label("N")
    for i, r in enumerate(x):
        y[i] = r[0] + parpy.sum(r)
    parpy.label("N")
    for r in x:
        r[1] += 1


def numbers(x, y, d):
    s = 0.0
    for v in y:
        s += v
    for i, v in enumerate(y, 3):
        y[i - 3] = v * 2 + i
        i += 5
    for v in reversed(y):
        s = s * 0.5 + v
    x[0, 0] = s


def together(x, y, d):
    s = 0.0
    for a, b in zip(x[0], y, strict=False):
        s += a * b
    for i, (r, q) in enumerate(zip(x, y * 2, strict=False)):
        r[0] = q + i
    for a, b in x[:, 1:3]:
        s += a - b
    for k, a in zip(range(2, 5), y, strict=False):
        s += k * a
    for k in reversed(y[1:]):
        s -= k
    x[0, 0] = s


def left_early(x, y, d):
    c = 0
    for v in d:
        if v % 2 == 0:
            continue
        if v > 90:
            break
        c += v
    y[0] = c
    for v in d[:0]:
        c = 100
    y[1] = c


def of_a_name_that_changes(x, y, d):
    t = y * 1
    for v in t:
        t = t * 2
        y[0] += v
        y[1] = t[2]


FUNCTIONS = [rows, numbers, together, left_early, of_a_name_that_changes]


@pytest.mark.parametrize("mapping", [{}, {"N": 4}], ids=["host", "mapped"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", BACKENDS)
def test_as_python(backend, function, mapping):
    if mapping and function is not rows:
        pytest.skip("has no label")
    given = rng.random((4, 5)), rng.random(4), np.array([3, 5, 8, 7, 99, 1], np.int16)
    want, got = copies(given), copies(given)
    function(*want)
    run(backend, parpy.jit(function), got, mapping)
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_a_loop_over_rows_runs_in_parallel():
    def norms(x, out):
        for i, r in enumerate(x):
            out[i] = parpy.sum(r * r)

    x = rng.random((3000, 40))
    out = np.zeros(3000)
    assert "parpy_parallel_for" in parpy.print_compiled(parpy.jit(norms), (x, out))
    parpy.jit(norms)(x, out)
    np.testing.assert_allclose(out, (x * x).sum(axis=1))


def too_few_targets(x):
    for a, b, c in zip(x, x, strict=False):
        x[0] = a + b + c


def over_a_text(x):
    for c in "abc":
        x[0] = 1


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (too_few_targets, "P017.*an iteration gives 2 values"),
        (over_a_text, "P013.*must run over a range, an array"),
    ],
    ids=["zip", "text"],
)
def test_refused(function, message):
    with pytest.raises(parpy.CompileError, match=message):
        parpy.jit(function)(np.ones(3), opts=parpy.par({}))


def summed_list(values, x):
    total = x[0]
    for v in values:
        total = total + v
    return total


def test_sums_of_long_lists_are_compiled_at_once():
    """Each statement of the sum mentions the total twice, so that its text would double with each element."""
    values = [7 * k - 5 for k in range(40)]
    x = np.array([2**62])
    assert parpy.jit(summed_list)(values, x) == summed_list(values, x)
