"""Scalars that the host would compute from values of the GPU: in automatic mode the GPU computes them if only kernels
read them, and the host waits only for values that decide its branches."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, copies
from parpy import CompileBackend


@parpy.jit
def durbin(r, y, z):
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        total = r[k]
        for i in range(k):
            total += r[k - 1 - i] * y[i]
        alpha = -total / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - 1 - i]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha


@parpy.jit
def conjugate_gradient(A, b, x, tolerance):
    n = b.shape[0]
    r = np.zeros(n)
    p = np.zeros(n)
    q = np.zeros(n)
    square = 0.0
    for i in range(n):
        r[i] = b[i]
        p[i] = b[i]
        square += b[i] * b[i]
    steps = 0
    while square > tolerance and steps < 200:
        curvature = 0.0
        for i in range(n):
            q[i] = 0.0
            for j in range(n):
                q[i] += A[i, j] * p[j]
            curvature += p[i] * q[i]
        alpha = square / curvature
        old = square
        square = 0.0
        for i in range(n):
            x[i] += alpha * p[i]
            r[i] -= alpha * q[i]
            square += r[i] * r[i]
        beta = square / old
        for i in range(n):
            p[i] = r[i] + beta * p[i]
        steps += 1
    return steps


@parpy.jit
def scaled_by_range(x, y, limit):
    for step in range(3):
        least = x[0]
        for i in range(x.shape[0]):
            least = min(least, x[i])
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i]
        if total > limit:
            scale = 1.0 / total
            shift = -least
        elif total < -limit:
            scale = -1.0 / total
            shift = least
        else:
            scale = 1.0
            shift = 0.0
        for i in range(x.shape[0]):
            y[i] += (x[i] + shift) * scale * (step + 1)
    return scale


@parpy.jit
def mean_of_integers(x, y, rounds):
    for _ in range(rounds):
        total = 0
        count = 0
        for i in range(x.shape[0]):
            total += x[i]
            if x[i] > 0:
                count += 1
        mean = total // count
        for i in range(x.shape[0]):
            y[i] += x[i] - mean


@parpy.jit
def rotated(z, out):
    for _ in range(4):
        total = 0j
        for i in range(z.shape[0]):
            total += z[i]
        phase = total / abs(total)
        for i in range(z.shape[0]):
            out[i] += z[i] * phase.conjugate()


def conjugate_gradient_data(rng, n=40):
    A = rng.normal(size=(n, n))
    return A @ A.T + n * np.eye(n), rng.normal(size=n), np.zeros(n), 1e-20


def cases():
    rng = np.random.default_rng(5)
    r = rng.uniform(-0.1, 0.1, 90)
    x = rng.normal(size=700)
    integers = rng.integers(1, 50, 600)
    z = rng.normal(size=500) + 1j * rng.normal(size=500)
    return {
        "durbin": (durbin, (r, np.zeros(90), np.zeros(90))),
        "conjugate gradient": (conjugate_gradient, conjugate_gradient_data(rng)),
        "condition of the GPU, first": (scaled_by_range, (x + 1, np.zeros(700), 1.0)),
        "condition of the GPU, second": (scaled_by_range, (x - 1, np.zeros(700), 1.0)),
        "condition of the GPU, last": (scaled_by_range, (x - x.mean(), np.zeros(700), 1.0)),
        "integers": (mean_of_integers, (integers, np.zeros(600, np.int64), 3)),
        "complex": (rotated, (z, np.zeros(500, complex))),
    }


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("name", cases())
def test_values_are_those_of_python(name, backend, deterministic):
    function, given = cases()[name]
    want, got = copies(given), copies(given)
    value = function.py_func(*want)
    opts = parpy.auto(backend=CompileBackend(backend), deterministic=deterministic)
    result = function(*got, opts=opts)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)
    assert result == (None if value is None else pytest.approx(value, rel=1e-9))


def fetches(name, args=None):
    function, small = cases()[name]
    args = args or small
    text = parpy.print_compiled(function, list(args), parpy.auto(backend=CompileBackend.Cuda))
    return text.count("parpy_fetch(context")


@pytest.mark.parametrize("name", ["durbin", "integers", "complex"])
def test_nothing_waits_for_what_kernels_alone_read(name):
    assert fetches(name) == 0


def test_the_host_waits_for_its_own_condition_alone():
    wide = conjugate_gradient_data(np.random.default_rng(6), n=1500)  # one block would take too long for these
    assert fetches("conjugate gradient", wide) == 1  # square: decides whether to continue


def test_one_block_decides_about_short_loops_itself():
    assert fetches("conjugate gradient") == 0


def test_a_condition_moves_with_what_it_decides():
    assert fetches("condition of the GPU, first") == 0


def test_scalars_stay_on_the_host_beside_a_mapping_by_hand():
    @parpy.jit
    def normalized(x, y):
        total = 0.0
        parpy.label("i")
        for i in range(x.shape[0]):
            total += x[i]
        scale = 1.0 / total
        parpy.label("j")
        for i in range(x.shape[0]):
            y[i] = x[i] * scale

    threads = {"i": parpy.threads(256).reduce(), "j": parpy.threads(256)}
    text = parpy.print_compiled(
        normalized, [np.ones(500), np.ones(500)], parpy.par(threads, backend=CompileBackend.Cuda)
    )
    assert text.count("parpy_fetch(context") == 1


@parpy.jit
def kept_and_summed(x):
    first = x[::-1][x > 1]
    return np.sum(x[1:][x[1:] > 1]), first, x[::-1][x > 1].sum()


@pytest.mark.parametrize("backend", TARGETS)
def test_the_host_reads_sizes_of_results(backend):
    for x in ([0.0, 1, 3, 2, 5], [0, 2, 0, 4, 1], [0, 0, 0, 1, 0]):
        got = kept_and_summed(np.array(x), opts=parpy.auto(backend=CompileBackend(backend)))
        for a, b in zip(got, kept_and_summed(np.array(x), seq=True), strict=True):
            np.testing.assert_array_equal(a, b)
