"""Contractions other than the product of two matrices: triangles, two products a step, convolutions, batches, complex
numbers, one row, few rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import parpy
import products
from contraction_checks import AUTO, SETTLED, chain, is_contraction, notes


@parpy.jit
def syrk(c, a):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= 0.5
        for k in range(a.shape[1]):
            c[i, : i + 1] += 1.5 * a[i, k] * a[: i + 1, k]


@parpy.jit
def syr2k(c, a, b):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= 0.5
        for k in range(a.shape[1]):
            c[i, : i + 1] += a[: i + 1, k] * 1.5 * b[i, k] + b[: i + 1, k] * 1.5 * a[i, k]


@parpy.jit
def trmm(b, a):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])


@parpy.jit
def correlation(c, data):
    for i in range(data.shape[1] - 1):
        c[i, i + 1 :] = data[:, i] @ data[:, i + 1 :]
        c[i + 1 :, i] = c[i, i + 1 :]


symm, covariance, convolution = map(parpy.jit, (products.symm, products.covariance, products.convolution))
batched, over_batches = parpy.jit(products.batched), parpy.jit(products.over_batches)

FORMS: dict[Callable[..., Any], tuple[float | tuple[int, ...], ...]] = {
    syrk: ((50, 50), (50, 31)),
    syr2k: ((50, 50), (50, 31), (50, 31)),
    symm: (1.5, 0.5, (50, 33), (50, 50), (50, 33)),
    trmm: ((50, 33), (50, 50)),
    covariance: ((50, 50), (61, 50)),
    correlation: ((50, 50), (61, 50)),
    convolution: ((2, 9, 20, 16), (2, 11, 22, 5), (3, 3, 5, 16)),
    batched: ((6, 20, 24), (6, 20, 16), (6, 16, 24)),
    over_batches: ((3, 17, 24), (3, 17, 16), (16, 24)),
}


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("function", FORMS, ids=lambda f: f.__name__)
def test_forms(function: Callable[..., Any], dtype: str) -> None:
    rng = np.random.default_rng(0)
    arguments = [
        rng.uniform(-1, 1, each).astype(dtype) if isinstance(each, tuple) else each for each in FORMS[function]
    ]
    assert is_contraction(function, arguments)

    def result(run: Callable[..., Any]) -> Any:
        """The first array after `run` has stored to it."""
        given = [np.copy(each) if isinstance(each, np.ndarray) else each for each in arguments]
        run(*given)
        return next(each for each in given if isinstance(each, np.ndarray))

    want = result(partial(function, seq=True))
    results = [result(partial(function, opts=opts)) for opts in (AUTO, SETTLED)]
    for got in results:
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 if dtype == "f4" else 1e-12)
    np.testing.assert_array_equal(results[0], results[1])
    oracle = result(lambda *given: parpy.calls.jit.interpret(function, given, SETTLED, "settle-reductions"))
    np.testing.assert_array_equal(results[1], oracle)


def conjugated(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] -= a[i, k] * b[j, k].conjugate()


def herk(c, a, b):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            c[i, j] *= 0.5
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += (2 - 1j) * a[i, k] * a[j, k].conjugate()


def complex_product(c, a, b):
    c[:] = a @ b.T


def left_below(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            t = c[i, j]
            for k in range(i):
                t += a[i, k] * b[j, k]
            c[i, j] = t


COMPLEX: dict[Callable[..., Any], Callable[..., Any]] = {
    conjugated: lambda c, a, b: c - a @ b.conj().T,
    herk: lambda c, a, b: np.triu(c, 1) + np.tril(0.5 * c + (2 - 1j) * a @ a.conj().T),
    complex_product: lambda c, a, b: a @ b.T,
    left_below: lambda c, a, b: c + np.tril(a, -1)[:, : len(a)] @ b.T[: len(a)],
}


@pytest.mark.parametrize("dtype", ["c16", "c8"])
@pytest.mark.parametrize("function", COMPLEX, ids=lambda f: f.__name__)
def test_complex(function: Callable[..., Any], dtype: str) -> None:
    """Each part is one chain, two products a step; deterministic=True rounds these products first: loops."""
    rng = np.random.default_rng(0)
    for m, n, k in ((24, 24, 24), (21, 21, 40), (18, 18, 700)):
        compiled_anew = parpy.jit(function)
        shapes = (m, n), (m, k), (n, k)
        c, a, b = ((rng.uniform(-1, 1, s) + 1j * rng.uniform(-1, 1, s)).astype(dtype) for s in shapes)
        assert is_contraction(compiled_anew, (c, a, b))
        assert notes(compiled_anew, (c, a, b), SETTLED) == [
            "a contraction without tiles: deterministic=True rounds these products before they are added"
        ]
        results = []
        for opts, until in ((AUTO, "contract-loops"), (SETTLED, "settle-reductions")):
            got, oracle = c.copy(), c.copy()
            compiled_anew(got, a, b, opts=opts)
            parpy.calls.jit.interpret(compiled_anew, [oracle, a, b], opts, until)
            np.testing.assert_array_equal(got, oracle)
            results.append(got)
        for got in results:
            want = COMPLEX[function](*(x.astype("c16") for x in (c, a, b)))
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 if dtype == "c8" else 1e-12)


def test_a_complex_sum_is_two_chains() -> None:
    rng = np.random.default_rng(0)
    c, a, b = (rng.uniform(-1, 1, s) + 1j * rng.uniform(-1, 1, s) for s in ((8, 16), (8, 10), (16, 10)))
    got = c.copy()
    parpy.jit(complex_product)(got, a, b, opts=AUTO)
    for i, j in np.ndindex(*c.shape):
        x, y = a[i], b[j]
        real = chain(0.0, [f for u, v in zip(x, y, strict=True) for f in ((u.real, v.real), (-u.imag, v.imag))])
        imag = chain(0.0, [f for u, v in zip(x, y, strict=True) for f in ((u.imag, v.real), (u.real, v.imag))])
        assert got[i, j] == complex(real, imag)


def row_product(y, x, a):
    y[:] = x @ a


def row_scalar(y, x, a):
    for j in range(y.shape[0]):
        t = y[j]
        for k in range(x.shape[0]):
            t -= 2.0 * x[k] * a[k, j]
        y[j] = max(t, 0.0)


def row_updated(y, x, a):
    for j in range(y.shape[0]):
        for k in range(x.shape[0]):
            y[j] += a[k, j] * x[k]


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("function", [row_product, row_scalar, row_updated], ids=lambda f: f.__name__)
def test_one_row(function: Callable[..., Any], dtype: str) -> None:
    """A row times a matrix that lies row by row: several columns at a time, each one chain in the order of k."""
    rng = np.random.default_rng(0)
    for k, n in ((8, 5), (40, 33), (41, 512), (43, 1100), (700, 64)):
        y, x, a = (rng.uniform(-1, 1, s).astype(dtype) for s in ((n,), (k,), (k, n)))
        compiled_anew = parpy.jit(function)
        (found,) = notes(compiled_anew, (y, x, a), AUTO)
        assert found.startswith("a contraction of one row and columns")
        got, settled, want = y.copy(), y.copy(), y.copy()
        compiled_anew(got, x, a, opts=AUTO)
        compiled_anew(settled, x, a, opts=SETTLED)
        parpy.calls.jit.interpret(compiled_anew, [want, x, a], SETTLED, "settle-reductions")
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(settled, want)


@pytest.mark.parametrize("function", [syrk, covariance], ids=lambda f: f.__name__)
def test_triangles_are_shared(function: Callable[..., Any]) -> None:
    """Some blocks of a triangle have no work, so the estimated cost must not be that of such a block."""
    zeros = np.zeros((1000, 1000)), np.zeros((1000, 1000))
    costs = re.findall(r"parpy_chunks\(context, \d+, ([\d.]+)", parpy.print_compiled(function, zeros, AUTO))
    assert costs and all(float(nanoseconds) > 1000 for nanoseconds in costs)


def test_large_batches_are_shared_and_small_ones_are_not() -> None:
    text = {
        n: parpy.print_compiled(batched, tuple(np.zeros((6, n, n)) for _ in range(3)), AUTO).split("---- host")[1]
        for n in (20, 200)
    }
    assert text[20].count("parpy_parallel_for(context") == 1 and "Work" not in text[20]
    assert text[200].count("parpy_parallel_for(context") == 2 and "Work right_memory" in text[200]


# ---------------------------------------------------------------- few rows, whose right factors are large


def few_product(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def few_across(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total -= a[i, k] * b[j, k] + 0.5 * a[i, k] * b[j, k]
            c[i, j] = total


def few_above(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(3 * i + 1, a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def few_in_two_ranges(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = c[i, j]
            for k in range(i + 1):
                total += a[i, k] * b[k, j]
            for k in range(i + 1, a.shape[1]):
                total += 2.0 * a[i, k] * b[k, j]
            c[i, j] = total


def few_below(c, a, b):
    for i in range(a.shape[0]):
        for j in range(i + 1):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[j, k]


def few_windows(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = 0.0
            for h in range(a.shape[1]):
                for k in range(a.shape[2]):
                    total += a[i, h, k] * b[k, j + h]
            c[i, j] = max(total, 0.0)


FEW_ROWS: dict[Callable[..., Any], tuple[tuple[int, ...], ...]] = {
    few_product: ((5, 470), (5, 301), (301, 470)),
    few_across: ((9, 400), (9, 350), (400, 350)),
    few_above: ((20, 350), (20, 401), (401, 350)),
    few_in_two_ranges: ((15, 400), (15, 333), (333, 400)),
    few_below: ((47, 47), (47, 3000), (47, 3000)),
    few_windows: ((8, 400), (8, 5, 70), (70, 404)),
}


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("function", FEW_ROWS, ids=lambda f: f.__name__)
def test_few_rows(function: Callable[..., Any], dtype: str) -> None:
    """Blocks pack right factors for a part of the steps at a time; each sum is nevertheless one chain."""
    rng = np.random.default_rng(0)
    c, a, b = (rng.uniform(-1, 1, shape).astype(dtype) for shape in FEW_ROWS[function])
    compiled_anew = parpy.jit(function)
    assert is_contraction(compiled_anew, (c, a, b))
    got, settled, want = c.copy(), c.copy(), c.copy()
    compiled_anew(got, a, b, opts=AUTO)
    compiled_anew(settled, a, b, opts=SETTLED)
    parpy.calls.jit.interpret(compiled_anew, [want, a, b], SETTLED, "settle-reductions")
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(settled, want)


def test_few_complex_rows() -> None:
    rng = np.random.default_rng(0)
    c, a, b = (rng.uniform(-1, 1, s) + 1j * rng.uniform(-1, 1, s) for s in ((6, 300), (6, 250), (250, 300)))
    got, want = c.copy(), c.copy()
    compiled_anew = parpy.jit(few_product)
    assert is_contraction(compiled_anew, (c, a, b))
    compiled_anew(got, a, b, opts=AUTO)
    parpy.calls.jit.interpret(compiled_anew, [want, a, b], AUTO, "contract-loops")
    np.testing.assert_array_equal(got, want)
    np.testing.assert_allclose(got, c + a @ b, rtol=1e-11, atol=1e-11)
