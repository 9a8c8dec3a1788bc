"""Host code of a GPU program: it reads scalars that kernels computed, and returns early."""

from __future__ import annotations

import re

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, copies, options, run

MAPPING = {"i": parpy.threads(256), "j": parpy.threads(64)}
AUTO = parpy.auto(backend=parpy.CompileBackend.Sim)


@parpy.jit
def solve(a, b, out, tol, most):
    n = len(a)
    err = tol + 1.0
    steps = 0
    while err > tol and steps < most:
        err = 0.0
        parpy.label("i")
        for i in range(1, n - 1):
            b[i] = (a[i - 1] + a[i + 1]) / 2
            err = max(err, abs(b[i] - a[i]))
        parpy.label("j")
        for j in range(1, n - 1):
            a[j] = b[j]
        steps += 1
    with parpy.gpu:
        out[0] = err
        out[1] = steps


@parpy.jit
def threshold(x, y, limit):
    s = 0.0
    parpy.label("i")
    for i in range(len(x)):
        s += x[i]
    if s > limit:
        parpy.label("j")
        for j in range(len(x)):
            y[j] = s
    elif s > limit / 2:
        parpy.label("j")
        for j in range(len(x)):
            y[j] = -1.0


@parpy.jit
def counted(x, y):
    last = 0
    parpy.label("i")
    for i in range(len(x)):
        last = max(last, x[i])
    for t in range(last):
        parpy.label("j")
        for j in range(len(y)):
            y[j] += t


@parpy.jit
def either(x, y, n, limit):
    s = 0.5
    for t in range(3):
        if t < n:
            parpy.label("i")
            for i in range(len(x)):
                s += x[i]
        if s > limit:
            s = s - limit
        s *= 2
        parpy.label("j")
        for j in range(len(x)):
            y[j] += s


@parpy.jit
def leave(x, y, n):
    if n == 0:
        return
    with parpy.gpu:
        if x[0] < 0:
            return
        y[0] = 1
    for t in range(n):
        with parpy.gpu:
            if x[t] > 8:
                return
        parpy.label("i")
        for i in range(len(x)):
            y[i] += x[i]


def arguments(function):
    rng = np.random.default_rng(3)
    x, y = rng.random(300), np.zeros(300)
    if function is solve:
        a = rng.random(40)
        return [(a, np.zeros(40), np.zeros(2), tol, most) for tol, most in ((0.01, 1000), (1e-9, 7), (5.0, 3))]
    if function is counted:
        return [(np.arange(10), y), (np.zeros(10, np.int64), y)]
    if function is either:
        return [(x, y, n, limit) for n in range(4) for limit in (10.0, 1e9, -1.0)]
    if function is leave:
        return [(x + k * (np.arange(300) == t), y, n) for k, t, n in ((0, 0, 0), (0, 0, 5), (-9, 0, 3), (9, 2, 5))]
    return [(x, y, limit) for limit in (10.0, 1000.0, 200.0)]


FUNCTIONS = [solve, threshold, counted, either, leave]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_by_hand(function, backend):
    mapping = {label: n for label, n in MAPPING.items() if label == "i" or function is not leave}
    for given in arguments(function):
        want, got = copies(given), copies(given)
        function(*want, seq=True)
        run(backend, function, got, mapping)
        for expected, found in zip(want, got, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_automatic(function, backend):
    for given in arguments(function):
        want, got = copies(given), copies(given)
        function(*want, seq=True)
        function(*got, opts=parpy.auto(backend=parpy.CompileBackend(backend)))
        for expected, found in zip(want, got, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_loops_of_a_solver_run_in_parallel():
    large = (np.zeros(200_000), np.zeros(200_000), np.zeros(2), 0.01, 1000)
    text = parpy.print_compiled(solve, large, AUTO)
    launches = re.findall(r"parpy_launch\w*\(context, \d+, (\d+), 1, 1, (\d+)", text)
    assert sum(int(blocks) * int(threads) >= 199_998 for blocks, threads in launches) == 2
    assert text.count("parpy_fetch(context, ") == 1


def test_conditions_that_read_arrays():
    @parpy.jit
    def relax(a, err, n):
        while err[0] > 0.5:
            err[0] *= 0.5
            for i in range(len(a)):
                a[i] *= 0.5
            if a[0] < 0.2:
                break
        for _ in range(n[0]):
            for j in range(len(a)):
                a[j] += 1
        if a[1] > 3:
            for k in range(len(a)):
                a[k] = -a[k]

    for err, n in ((40.0, 2), (0.1, 5), (1.5, 0)):
        want = (np.ones(1_000_000), np.array([err]), np.array([n]))
        got = copies(want)
        relax(*want, seq=True)
        relax(*got, opts=AUTO)
        for expected, found in zip(want, got, strict=True):
            np.testing.assert_array_equal(found, expected)
        assert parpy.print_compiled(relax, got, AUTO).count("parpy_fetch") >= 4


def test_explain_tells_that_the_host_waits():
    found = " ".join(str(parpy.explain(threshold, *arguments(threshold)[0], opts=options("cuda", MAPPING))).split())
    assert "note[P307]" in found or "P307" in found
    assert "host code reads 's', which the GPU computes: it waits for the GPU" in found


def test_functions_without_a_mapping_return_early():
    @parpy.jit
    def first(x, y, limit):
        """Stores the place where x exceeds the limit, everywhere 1 if it never does."""
        if limit < 0:
            return
        for i in range(len(x)):
            for j in range(2):
                if x[i] * (j + 1) > limit:
                    y[0] = i
                    return
            y[i] = -1
        for k in range(len(y)):
            y[k] = 1

    for opts in (AUTO, parpy.CompileOptions(backend=parpy.CompileBackend.Sim)):
        for limit in (-1.0, 0.5, 1.2, 9.0):
            x = np.random.default_rng(0).random(500) * 0.7
            x[300] = 1.1
            want, got = np.zeros(500), np.zeros(500)
            first(x, want, limit, seq=True)
            first(x, got, limit, opts=opts)
            np.testing.assert_array_equal(got, want)
