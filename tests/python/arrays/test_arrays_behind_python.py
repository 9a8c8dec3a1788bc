"""Arrays that compiled loops name, and that are read after a statement that Python runs."""

from __future__ import annotations

import numpy as np
import pytest

import parpy

pytestmark = pytest.mark.filterwarnings("ignore:.*P315:parpy.PerformanceWarning")
BACKENDS = [parpy.CompileBackend.Cpu, parpy.CompileBackend.Sim]


log: list[float] = []


@parpy.callback
def told(value):
    log.append(float(value))


def replaced(x, n):
    for i in range(n):
        t = x * i
    told(n)
    s = 0.0
    for j in range(len(t)):
        s += t[j]
    return s


def read_at_times(x, n):
    for i in range(n):
        t = x * i
        u = t[0] + x
    told(n)
    told(n + 1)
    s = 0.0
    if n > 0:
        for j in range(len(t)):
            s += t[j] - u[j]
    return s


def made_on_some_paths(x, n):
    k = 0
    for i in range(n):
        k += i
        if x[i] > 1:
            t = x * i
    told(k)
    s = 0.0
    if n > 2:
        s = t[1]
    return s


def copied(x, n):
    for i in range(n):
        t = x.copy()
        t[0] = i
    told(n)
    return t[0] + t[1]


def in_an_inner_loop(x, n):
    for i in range(n):
        t = x - i
        for k in range(n):
            u = t * 2 + k
        told(u[0])
        told(t[1])
    return u[2] - t[0]


def rows(x, n):
    y = np.stack((x, x + 1, x + 2, x + 3))
    for i in range(n):
        row = y[i]
        last = y[i, 1:]
    told(n)
    row[0] = 7.0
    last[0] += row[0]
    return y.sum()


def used_by_functions_of_numpy_alone(x, n):
    w = np.zeros(4)
    for i in range(n):
        p = 1 / (1 + np.exp(-(x * w)))
        w -= 0.1 * (p - x)
    return np.mean(p) + w[1]


FUNCTIONS = [
    replaced,
    read_at_times,
    made_on_some_paths,
    copied,
    in_an_inner_loop,
    rows,
    used_by_functions_of_numpy_alone,
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_python(function, backend):
    log.clear()
    x = np.arange(4.0)
    made = parpy.jit(function)
    for n in (3, 4, 0, 2, 0, 1, 3):
        try:
            expected = function(x, n)
        except UnboundLocalError:
            expected = None
        want = log.copy()
        log.clear()
        if expected is None:
            with pytest.raises(UnboundLocalError):
                made(x, n, opts=parpy.auto(backend=backend))
        else:
            assert made(x, n, opts=parpy.auto(backend=backend)) == expected
        assert log == want
        log.clear()
