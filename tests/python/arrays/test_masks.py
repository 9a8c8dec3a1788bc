"""Boolean arrays as subscripts, chained assignments to slices, and sizes that are equal because they have the same
origin."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, copies, run

rng = np.random.default_rng(21)


def stores(x, y, m, k):
    x[m] = 1
    x[x > 0.5] *= 2
    y[m] = y[m] ** 2 + x[m]
    k[x > 1] += 3
    x[x[::-1] > 0.7] = 0.125
    y[np.logical_and(y > 0.2, m)] -= 0.5


def rows(x, y, m, k):
    parpy.label("N")
    for i in range(x.shape[0]):
        r = x[i]
        r[r < 0.3] = 0.25
        t = y[i] * 2
        t[m[i]] = -1
        y[i] = t


def chained(x, y, m, k):
    x[1:, 0] = x[0, :3] = y[1, 1:4] * 2
    k[:, 1] = k[:, 2] = 7
    for i in range(3):
        y[i, :] = x[i, :] = y[i + 1] + x[i]


def equal_sizes(x, y, m, k):
    for i in range(3):
        a = x[0, k[0, i] : k[0, i + 1]]
        b = y[1, k[0, i] : k[0, i + 1]]
        c = a * b
        x[3, i] = parpy.sum(c) + a @ b


@pytest.mark.parametrize("mapping", [{}, {"N": 4}], ids=["host", "mapped"])
@pytest.mark.parametrize("function", [stores, rows, chained, equal_sizes], ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", BACKENDS)
def test_as_python(backend, function, mapping):
    if mapping and function is not rows:
        pytest.skip("has no label")
    given = rng.random((4, 5)), rng.random((4, 5)), rng.random((4, 5)) > 0.5, np.tile(np.arange(5), (4, 1))
    want, got = copies(given), copies(given)
    function(*want)
    run(backend, parpy.jit(function), got, mapping)
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def averages(x, m, y):
    y[0] = np.sum(x[m])
    y[1] = x[m].mean()
    y[2] = np.mean(x[np.abs(x) > 0.5] * 2)
    for i in range(x.shape[0]):
        y[3] += np.sum(x[i] * 0) + (x[m] + 1).sum()


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "c16"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_sums_and_means(backend, dtype):
    x, m = (rng.random((4, 5)) * 9).astype(dtype), rng.random((4, 5)) > 0.5
    want, got = np.zeros(4, dtype), np.zeros(4, dtype)
    averages(x, m, want)
    run(backend, parpy.jit(averages), (x, m, got), {})
    np.testing.assert_allclose(want, got, rtol=1e-5)


def test_a_mask_that_selects_nothing():
    y = np.zeros(4)
    parpy.jit(averages)(np.ones((2, 2)), np.zeros((2, 2), bool), y)
    assert y[0] == 0 and np.isnan(y[1]) and y[2] == 2


def selected(x, y, k, out):
    """Selections by masks are arrays: masks of one or all dimensions, of rows, and masks that a loop computes."""
    kept = x[x > 0.5]
    out[0] = kept.sum() + len(kept)
    out[1] = np.max(y[y < 0.9])
    rows = x[k > 1]
    out[2] = rows.shape[0]
    for i in range(rows.shape[0]):
        out[3] += rows[i, 1] * (i + 1)
    for i in range(x.shape[0]):
        low = x[i][x[i] < y[i]]
        out[4 + i] = len(low)
        for j in range(len(low)):
            out[4 + i] += low[j] * y[i, j]


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_masks_select(backend):
    given = rng.random((6, 5)), rng.random((6, 5)), np.arange(6) % 3, np.zeros(10)
    want, got = copies(given), copies(given)
    selected(*want)
    run(backend, parpy.jit(selected), got, {})
    np.testing.assert_allclose(got[3], want[3], rtol=1e-12)


@parpy.jit
def both(x, m):
    positive = x[m]
    return positive, positive * 2, x[x < 0].sum()


@pytest.mark.parametrize("n", [0, 1, 7, 3000])
@pytest.mark.parametrize("share", [-1.0, 0.5, 2.0])
def test_what_masks_select_is_returned(n, share):
    for _ in range(3):  # the sizes change
        x = rng.random(n) - 0.5
        m = rng.random(n) < share
        got, want = both(x, m), both(x, m, seq=True)
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
            assert np.shape(a) == np.shape(b)


@pytest.mark.parametrize("n", [3, 5])
def test_masks_of_another_size(n):
    @parpy.jit
    def f(x, m):
        t = x[m]
        return t.sum() + t[0]

    x = np.ones(4)
    with pytest.raises(IndexError):
        f(x, np.ones(n, bool), seq=True)
    with pytest.raises(IndexError):
        f(x, np.ones(n, bool))
