"""Functions in which pragmas mark parts: Python runs the rest, with any content."""

# ruff: noqa: E501
from __future__ import annotations

import numpy as np
import pytest

import parpy
import parpy.appy as appy

REGION = """
    #pragma parallel for simd
    for i in range(n):
        a[i] += 1
"""
# The code before the region, and the function's result.
OTHERS = {
    "class": ("class P:\n        x = 1\n    p = P()", "p.x"),
    "generator": ("t = tuple(x * x for x in range(3))", "t"),
    "dict": ("d = {k: v for k, v in zip('ab', (1, 2))}", "d"),
    "lambda": ("f = lambda x: x + 1", "f(3)"),
    "function": ("def g(z):\n        return [z]", "g(2)"),
    "f_string": ("s = f'{n:03d}'", "s"),
    "library": ("import json\n    s = json.dumps({'n': n})", "json.loads(s)"),
    "match": ("match n:\n        case 5: r = 'five'\n        case _: r = 'other'", "r"),
    "global": ("global COUNTER\n    COUNTER = n", "COUNTER"),
    "stack": ("q, out = [n], []\n    while q:\n        k = q.pop()\n        out.append(k)\n        if k > 0: q.append(k - 2)", "out"),
    "linear_algebra": ("w = np.linalg.eigvalsh(np.diag(np.arange(3.0)))", "w.tolist()"),
    "text": ("s = 'a' * n\n    t = s.upper().split('A')", "len(t)"),
    "set": ("s = {1, 2} | {n}", "sorted(s)"),
    "starred": ("x, *y = [1, 2, 3]", "y"),
    "try": ("try:\n        r = int('x')\n    except ValueError as e:\n        r = str(e)\n    finally:\n        z = 1", "(r, z)"),
    "isinstance": ("assert isinstance(a, np.ndarray), 'no array'", "n"),
    "random": ("import random\n    random.seed(3)\n    r = random.random()", "r"),
    "logging": ("import logging\n    logging.getLogger('x').debug('n %d', n)", "0"),
}  # fmt: skip


def function(before, result, options=""):
    source = f"@appy.jit({options})\ndef f(a, n):\n    {before}\n{REGION}\n    return {result}\n"
    return appy.compile_from_src(source)


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("options", ["", "auto=False"])
@pytest.mark.parametrize("name", OTHERS)
def test_python_runs_the_rest(name, options):
    f = function(*OTHERS[name], options)
    got, want = np.arange(5.0), np.arange(5.0)
    assert f(got, 5) == f.py_func(want, 5)
    assert (got == want).all()


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("name", ["class", "text"])
def test_the_region_is_compiled(name):
    f = function(*OTHERS[name])
    text = parpy.print_compiled(f, (np.arange(5.0), 5), parpy.auto(backend=parpy.CompileBackend.Cuda))
    assert "__global__" in text


def test_only_what_has_a_pragma_is_compiled():
    source = """
    @appy.jit(auto=False)
    def f(a, b, n):
        for i in range(n):
            b[i] = a[i]
        #pragma parallel for
        for i in range(n):
            a[i] += 1
        #pragma :n=>parallel
        b[:n] += a[:n]
    """
    f = appy.compile_from_src(source)
    a, b = np.arange(5.0), np.zeros(5)
    text = parpy.print_compiled(f, (a, b, 5), parpy.auto(backend=parpy.CompileBackend.Cuda))
    assert "__global__" in text and "b[i] = a[i]" not in text
    f(a, b, 5)
    assert (a == [1, 2, 3, 4, 5]).all() and (b == [1, 3, 5, 7, 9]).all()


def test_exceptions_pass_and_regions_before_them_have_run():
    source = """
    @appy.jit
    def f(a, n):
        #pragma parallel for
        for i in range(n):
            a[i] += 1
        raise KeyError(f"no {n}")
    """
    a = np.zeros(3)
    with pytest.raises(KeyError, match="no 3"):
        appy.compile_from_src(source)(a, 3)
    assert (a == 1).all()


def test_what_is_wrong_in_a_region_is_told():
    source = """
    @appy.jit
    def f(a, n):
        s = f"{n}"
        #pragma parallel for
        for i in range(n):
            a[i] = undefined_name
        return s
    """
    with pytest.raises(parpy.CompileError, match="undefined_name"):
        appy.compile_from_src(source)(np.zeros(3), 3)


def test_false_pragmas_are_refused_in_regions_too():
    source = """
    @appy.jit(auto=False)
    def f(a, n, log):
        log.append("before")
        #pragma parallel for
        for i in range(1, n):
            a[i] = a[i - 1]
    """
    with pytest.raises(parpy.ParallelError, match="cannot run in parallel"):
        appy.compile_from_src(source)(np.zeros(3), 3, [])


def test_swaps_between_regions():
    source = """
    @appy.jit(auto=False)
    def f(u, v, n, steps):
        for t in range(steps):
            #pragma parallel for simd
            for i in range(1, n - 1):
                v[i] = 0.5 * (u[i - 1] + u[i + 1])
            u, v = v, u
        return u
    """
    f = appy.compile_from_src(source)
    u = np.random.default_rng(0).random(50)
    got, want = [u.copy(), u.copy()], [u.copy(), u.copy()]
    np.testing.assert_allclose(f(*got, 50, 3), f.py_func(*want, 50, 3), rtol=1e-12)
    np.testing.assert_allclose(got, want, rtol=1e-12)
