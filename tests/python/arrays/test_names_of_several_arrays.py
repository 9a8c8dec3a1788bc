"""Names that mean one array or another, or an array that each iteration makes, against Python."""

from __future__ import annotations

import linecache
import random

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, copies, options, run

rng = np.random.default_rng(19)


def rebound(x, y, z, n):
    t = x * 1.0
    for _ in range(n):
        t = t * 0.5 + y
    return t


def argument_rebound(x, y, z, n):
    for _ in range(n):
        x = x * 0.5 + y
    return x + 0


def handed_on(x, y, z, n):
    t = x.copy()
    change = 1.0
    while change > 0.01:
        new = t * 0.5 + y * 0.1
        change = np.abs(new - t).max()
        t = new
    return t


def conjugate_gradients(x, y, z, n):
    a = np.zeros((x.shape[0], x.shape[0]))
    a += 0.1
    for i in range(x.shape[0]):
        a[i, i] = 2 + i
    r = y - a @ x
    p = r
    rr = np.dot(r, r)
    for _ in range(n):
        ap = a @ p
        alpha = rr / np.dot(p, ap)
        x = x + alpha * p
        r = r - alpha * ap
        new = np.dot(r, r)
        p = r + new / rr * p
        rr = new
    return x * 1, rr


def one_or_the_other(x, y, z, n):
    t = x
    if y[0] > n / 4:
        t = y
    return t[0] + t[-1], t * 2


def parts(x, y, z, n):
    t = x[1:] + 0
    for i in range(n + 1):
        t = t[::-1] + i
    return t


def left_early(x, y, z, n):
    t = x
    for i in range(n):
        if i == 2:
            break
        if y[i] > 0.5:
            continue
        t = t + y
    z[:] = t
    return t.sum()


FUNCTIONS = [rebound, argument_rebound, handed_on, conjugate_gradients, one_or_the_other, parts, left_early]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", TARGETS)
def test_as_python(backend, function):
    compiled = parpy.jit(function)
    for size, n in ((6, 3), (6, 0), (5, 1), (4, 2), (7, 4), (300, 3)):
        given = rng.random(size), rng.random(size), rng.random(size)
        want, got = copies(given), copies(given)
        results = compiled(*got, n, opts=options(backend, {})), function(*want, n)
        for a, b in zip(*(r if isinstance(r, tuple) else (r,) for r in results), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10)
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10)


def swapped(a, b, out):
    parpy.label("N")
    for i in range(a.shape[0]):
        s, d = a[i], b[i]
        for _ in range(3):
            s, d = d, s
            s = s + 1
        out[i] = s[1] + 10 * d[2]


def kept(a, b, out):
    parpy.label("N")
    for i in range(a.shape[0]):
        best = a[0]
        for k in range(a.shape[1]):
            t = b[i] * a[k % a.shape[0], k]
            if t[0] > best[0]:
                best = t
        out[i] = best[1]


def chosen(a, b, out):
    parpy.label("N")
    for i in range(a.shape[0]):
        row = a[i] if b[i, 0] > 0.5 else b[i]
        out[i] = row[1] + row[2]


@pytest.mark.parametrize("mapping", [{}, {"N": 5}], ids=["host", "parallel"])
@pytest.mark.parametrize("function", [swapped, kept, chosen], ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", BACKENDS)
def test_in_loops(backend, function, mapping):
    given = rng.random((5, 6)), rng.random((5, 6)), np.zeros(5)
    want, got = copies(given), copies(given)
    function(*want)
    run(backend, parpy.jit(function), got, mapping)
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def updated_source(x, y):
    t = x
    for _ in range(3):
        x += 1
        y[:] = t
        t = t * 2


def updated_name(x, y):
    t = x
    for _ in range(3):
        t += 1
        y[0] += x[0]
        t = t * 2


def updated_behind(x, y):
    t = x
    if y[0] > 0:
        t = t * 2
    x[0] = 5
    y[1] = t[0]


def updated_other_argument(x, y):
    t = x
    if y[0] > 0:
        t = t * 2
    y[0] = 5
    y[1] = t[0]


def updated_by_python(x, y):
    t = x[:]
    if y[0] > 0:
        t = y * 2
    t[0] = y[1]
    return t[0]


def test_copies_that_would_be_told_are_refused():
    with pytest.raises(parpy.CompileError, match=r"P217.*the name 't' refers to several arrays"):
        memory = np.ones(6)
        parpy.jit(updated_source)(memory[1:], memory[:5], opts=parpy.par({}))
    want, got = np.arange(6.0), np.arange(6.0)
    updated_source(want[1:], want[:5])
    parpy.jit(updated_source)(got[1:], got[:5])
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("function", [updated_name, updated_behind, updated_other_argument, updated_by_python])
def test_python_runs_such_statements_between_others(function):
    want, got = np.ones(6), np.ones(6)
    expected = function(want[1:], want[:5])
    with pytest.warns(parpy.PerformanceWarning, match="P315.*'t' refers to several arrays"):
        result = parpy.jit(function)(got[1:], got[:5])
    assert result == expected
    np.testing.assert_array_equal(got, want)


def random_program(seed: int) -> str:
    """Statements that assign arrays to three names and store under them, in branches and loops."""
    dice = random.Random(seed)
    lines = ["def f(x, y, n):", "    t = x * 1.0", "    u = y", "    w = x[:]"]

    def block(indent: int, depth: int) -> None:
        for _ in range(dice.randint(1, 4)):
            name, other = dice.choice("tuw"), dice.choice("tuwxy")
            statement = dice.choice([
                f"{name} = {other}", f"{name} = {other} + 1", f"{name} = {other} * {dice.choice('tuw')}",
                f"{name} = {other}[::-1]", f"{name}[0] = {other}[1]", f"{name} = {other}.copy()", f"{name} += 1",
                f"y[2] = {other}[0]", "for", "if", "if",
            ])  # fmt: skip
            if statement in ("for", "if"):
                if depth == 3:
                    continue
                lines.append("    " * indent + ("for i in range(n):" if statement == "for" else f"if {other}[0] > 1:"))
                lines.append("    " * (indent + 1) + "t[0] *= 1")
                block(indent + 1, depth + 1)
            else:
                lines.append("    " * indent + statement)

    block(1, 0)
    lines.append("    return (t % 7).sum(), (u % 7).sum(), (w % 7).sum()")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_random_programs(first):
    accepted = 0
    for seed in range(first, first + 50):
        text, file = random_program(seed), f"<names {seed}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        space: dict = {}
        exec(compile(text, file, "exec"), space)
        compiled = parpy.jit(space["f"])
        for n in (0, 1, 3):
            given = np.array([1.0, 2, 0, 3]), np.array([2.0, 0, 1, 5])
            want, got = copies(given), copies(given)
            try:
                result = compiled(*got, n)
            except parpy.CompileError:
                break  # refused
            accepted += 1
            with np.errstate(all="ignore"):
                np.testing.assert_array_equal(result, space["f"](*want, n), err_msg=text)
            for a, b in zip(got, want, strict=True):
                np.testing.assert_array_equal(a, b, err_msg=text)
    assert accepted > 40
