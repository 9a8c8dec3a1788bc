"""Boolean arrays as subscripts, chained assignments to slices, and sizes that are equal because they have the same
origin."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, copies, options, run

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


DTYPES = ["?", "i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]


def reductions(x):
    positive = x[x > 1]
    by_masks = x[x > 1].mean(), x[x > 1].sum(), x[x > 1].prod(), x[x > 1].var(), x[x > 1].std(), np.mean(positive)
    return *by_masks, np.mean(x[x > 1] * x[x > 1]), x[1:].mean(), x[1:].sum(), x[1:].var(), x[1:].std(), x.mean()


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions_of_selections_have_the_types_of_numpy(backend, dtype):
    x = np.array([1, 2, 3, 1, 2]).astype(dtype)
    if dtype == "?":
        x = x.view(np.uint8).astype("?")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        want = reductions(x)
    got = parpy.jit(reductions)(x, opts=options(backend, {}))
    np.testing.assert_allclose(got, want, rtol=2e-3 if dtype == "f2" else 1e-6)
    assert [np.result_type(each) for each in got] == [each.dtype for each in want]


def of_mask(x, k):
    return x[x > k[0]].max()


def of_slice(x, k):
    return np.min(x[k[0] :])


def of_rows(x, k):
    return np.max(x.reshape(2, -1)[:, : k[0]], axis=1)


def of_no_rows(x, k):
    return np.max(x.reshape(2, -1)[k[0] :, : k[0] - 2], axis=1)


def in_a_loop(x, k):
    y = np.zeros(2)
    parpy.label("i")
    for i in range(2):
        y[i] = x[k[i] :].max()
    return y


def span(x, k):
    return np.ptp(x[k[0] :])


def place(x, k):
    return np.argmax(x[k[0] :])


def in_a_choice(x, k):
    y = np.zeros(2)
    y[:] = np.max(x.reshape(-1, 2)[k[0] :], axis=0) if k[1] > 0 else y + 1
    return y


EMPTY = [
    (of_mask, [8], [1]),
    (of_slice, [4], [2]),
    (of_rows, [0], [1]),
    (of_no_rows, [2], [1]),
    (in_a_loop, [2, 4], [2, 3]),
    (span, [5], [3]),
    (place, [4], [1]),
    (in_a_choice, [2, 1], [2, 0]),
]


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1"])
@pytest.mark.parametrize(("function", "empty", "filled"), EMPTY, ids=lambda v: getattr(v, "__name__", ""))
@pytest.mark.parametrize("backend", TARGETS)
def test_nothing_has_no_extremum(backend, function, empty, filled, dtype):
    compiled, x = parpy.jit(function), np.array([1, 5, 2, 4], dtype)
    mappings = [{}, {"i": 2}] if function is in_a_loop else [{}]
    for mapping in mappings:
        for _ in range(2):
            np.testing.assert_array_equal(
                compiled(x, np.array(filled), opts=options(backend, mapping)), function(x, np.array(filled))
            )
            with pytest.raises(ValueError, match=r"zero-size|empty sequence"):
                function(x, np.array(empty))
            with pytest.raises(ValueError, match=r"(?s)test_masks.py:\d+.*P225|argmax of an empty"):
                compiled(x, np.array(empty), opts=options(backend, mapping))


@pytest.mark.parametrize("backend", TARGETS)
def test_nothing_may_be_in_a_branch_that_does_not_run(backend):
    @parpy.jit
    def largest(x, c, t):
        s = -1.0
        if c > t:
            s = np.max(x)
        return s if c <= t else x.max()

    for n, c in ((3, 2.0), (0, 0.0), (4, 0.0), (0, -1.0), (5, 3.0)):
        x = np.arange(float(n))
        assert largest(x, c, 1.0, opts=options(backend, {})) == largest(x, c, 1.0, seq=True)
    with pytest.raises(ValueError, match="P225"):
        largest(np.zeros(0), 2.0, 1.0, opts=options(backend, {}))


def over_rows(x):
    return np.max(x, axis=0)


def over_columns(x):
    return np.max(x, axis=1)


def over_all(x):
    return np.max(x)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
@pytest.mark.parametrize("function", [over_rows, over_columns, over_all])
@pytest.mark.parametrize("backend", TARGETS)
def test_extrema_of_arrays_without_elements(backend, function, shape):
    x = np.zeros(shape)
    try:
        want = function(x)
    except ValueError:
        with pytest.raises(ValueError, match="P225"):
            parpy.jit(function)(x, opts=options(backend, {}))
    else:
        np.testing.assert_array_equal(parpy.jit(function)(x, opts=options(backend, {})), want)
