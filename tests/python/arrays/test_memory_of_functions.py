"""Functions that return numbers and allocate arrays, and arrays that conditions of loops compute."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS

rng = np.random.default_rng(8)


def automatic(backend: str) -> parpy.CompileOptions:
    return parpy.CompileOptions(automatic=True, backend=parpy.CompileBackend(backend))


@parpy.jit
def spread(v):
    s = np.sort(v)
    return s[-1] - s[0] + s[len(s) // 2]


@parpy.jit
def statistics(x, k, out):
    for j in range(x.shape[1]):
        out[j] = np.median(x[:, j]) + np.percentile(x[:, j], 30) * 2
    for i in range(k.shape[0]):
        out[i] += np.median(x[k[i], 0]) + (spread(x[:, i]) if i > 0 else 0.5)
    out[0] += spread(x[:, 0]) + spread(x[3])


@pytest.mark.parametrize("backend", TARGETS)
def test_more_elements_than_a_thread_holds(backend):
    x, k = rng.random((400, 5)), rng.integers(0, 400, (3, 300))
    got, want = np.zeros(5), np.zeros(5)
    statistics(x, k, got, opts=automatic(backend))
    statistics.__wrapped__(x, k, want)
    np.testing.assert_allclose(got, want, rtol=1e-12)


@parpy.jit
def cost(x):
    return (x * x).sum()


@parpy.jit
def line_search(f, x, d):
    step, tries = 1.0, 0
    while f(x - step * d) > f(x) * 0.9 and tries < 30:
        step /= 2
        tries += 1
        if tries == 29:
            continue
    return step


def test_conditions_of_loops_compute_arrays():
    for seed in range(5):
        x = np.random.default_rng(seed).standard_normal(50)
        assert line_search(cost, x, 9 * x) == line_search.__wrapped__(cost.__wrapped__, x, 9 * x)


@parpy.jit
def chosen(x, m):
    kept = 1 - x[m]
    return np.where(kept > 0.5, kept, x[m])


def test_choices_among_what_masks_select():
    x = rng.random(40)
    for m in (x > 0.4, x > 2, x < 2):
        np.testing.assert_array_equal(chosen(x, m), chosen.__wrapped__(x, m))


@parpy.jit
def taken_out(z, k, table):
    outside = abs(z) > 1
    table[k[outside]] += z[outside] * 2
    z[outside] = 0
    return z[~outside]


@pytest.mark.parametrize("backend", TARGETS)
def test_selected_elements_of_arrays_whose_sizes_change(backend):
    """After a few sizes there is one program for all of them, whose memory follows the size of the call."""
    for size in (40_000, 30_000, 20_000, 10_000, 777, 50_001, 5, 1, 0, 25_000):
        z = rng.integers(-3, 4, size) + 1j * rng.integers(-3, 4, size)
        got, want = [(z.copy(), np.arange(size), np.zeros(size, complex)) for _ in range(2)]
        found, expected = taken_out(*got, opts=automatic(backend)), taken_out.__wrapped__(*want)
        np.testing.assert_array_equal(found, expected)
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a, b)
