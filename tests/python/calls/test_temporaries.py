"""Arrays that a function makes with np.empty and nobody else sees: compiled code allocates them where it runs."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, copies, cuda_text, options
from parpy import CompileBackend


@parpy.jit
def smoothed(x, y):
    n = x.shape[0]
    t = np.empty((n + 2,))
    t[0] = x[0]
    t[n + 1] = x[n - 1]
    t[1:-1] = x[:] * 2
    y[:] = t[2:] + t[:-2]


@parpy.jit
def in_expressions(x, y):
    t = np.empty(x.shape[0])
    t[:] = x + 1
    y[:] = -t * t[0] + (t > 1)


@parpy.jit
def in_steps(x, y, n, m):
    lap = np.empty((n + 1, m), dtype=x.dtype)
    out = np.empty_like(x)
    parpy.label("i")
    for i in range(n + 1):
        parpy.label("j")
        for j in range(m):
            lap[i, j] = x[i % n, j] - x[(i + 1) % n, j]
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(m):
            out[i, j] = lap[i, j] * lap[i + 1, j]
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(m):
            y[i, j] = out[i, m - 1 - j]


@parpy.jit
def row_of_it(x):
    t = np.empty((2, x.shape[0]))
    t[0, :] = x
    t[1, :] = 2 * x
    row = t[1]
    return row, x[0]


@parpy.jit
def with_python_between(x, y, seen):
    t = np.empty(x.shape[0])
    t[:] = x + 1
    seen.append(float(t[1]))
    y[:] = t * 2


@parpy.jit
def returned(x):
    t = np.empty(x.shape[0])
    t[:] = x + 1
    return t


def alike(function, backend, *given):
    want, got = [copies(given) for _ in range(2)]
    result = function(*got, opts=parpy.auto(backend=CompileBackend(backend)))
    expected = function(*want, seq=True)
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(b, a)
    return result, expected


RNG = np.random.default_rng(5)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("n", [1, 5, 4000])
def test_temporaries(backend, n):
    alike(smoothed, backend, RNG.random(n), np.zeros(n))
    alike(in_expressions, backend, RNG.random(n), np.zeros(n))
    alike(in_steps, backend, RNG.random((n, 7)), np.zeros((n, 7)), n, 7)


@pytest.mark.parametrize("backend", TARGETS)
def test_under_a_mapping_by_hand(backend):
    x, y, want = RNG.random((6, 40)), np.zeros((6, 40)), np.zeros((6, 40))
    in_steps(x, want, 6, 40, seq=True)
    in_steps(x, y, 6, 40, opts=options(backend, {"i": 6, "j": 64}))
    np.testing.assert_allclose(y, want)


@pytest.mark.parametrize("backend", TARGETS)
def test_what_others_see(backend):
    x = RNG.random(9)
    (row, first), (want, also) = alike(row_of_it, backend, x)
    assert np.array_equal(row, want) and first == also
    result, expected = alike(returned, backend, x)
    assert np.array_equal(result, expected) and not np.shares_memory(result, returned(x))


@parpy.jit
def of_a_stored_parameter(x, y):
    x *= 2
    t = np.ndarray((len(x), x.shape[1]), dtype=x.dtype)
    u = np.ndarray(x.shape[1])
    u[:] = x[0] + 1
    t[:] = x + u
    for i in range(x.shape[0] - 1):
        y[i] = t[i] - t[i + 1]


@parpy.jit
def of_a_counted_number(n, x):
    n += 1
    t = np.empty(n)
    t[:] = x[:n] + 1
    x[:n] = t[::-1]


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int32])
@pytest.mark.parametrize("n", [1, 2, 300])
def test_arrays_with_the_shape_of_a_parameter_that_is_stored_to(backend, kind, n):
    x = (100 * RNG.random((n, 9))).astype(kind)
    alike(of_a_stored_parameter, backend, x, np.zeros((n, 9), kind))
    alike(of_a_stored_parameter, backend, x[::-1, ::-1], np.zeros((n, 9), kind))
    alike(of_a_counted_number, backend, n, RNG.random(400))


def test_compiled_code_makes_them():
    x = RNG.random((6, 9))
    text = parpy.print_compiled(of_a_stored_parameter, (x, x.copy()), parpy.auto(backend=CompileBackend.Cpu))
    assert "t: " not in text.split("// slots")[0] and "// slots: x, y\n" in text


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("backend", TARGETS)
def test_python_between(backend):
    x, y, seen = RNG.random(9), np.zeros(9), []
    with_python_between(x, y, seen, opts=parpy.auto(backend=CompileBackend(backend)))
    assert seen == [x[1] + 1] and np.array_equal(y, (x + 1) * 2)


def test_they_stay_on_the_gpu():
    text = cuda_text(in_steps, (np.ones((6, 40)), np.ones((6, 40)), 6, 40), {"i": 6, "j": 64})
    host = text.split("// ---- host code ----")[1]
    assert host.count("(double*)parpy_scratch(") == 2
    assert "// slots: x, y\n" in text
