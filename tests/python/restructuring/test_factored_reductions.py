"""Sums down the columns of tables on GPUs (factor-reductions): partial sums of blocks of rows, whose threads read
adjacent elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parpy
from parpy import CompileBackend

SIM = parpy.auto(backend=CompileBackend.Sim)


@parpy.jit
def scalar(a, r, s):
    for i in range(a.shape[1]):
        total = 0.0
        for j in range(a.shape[0]):
            total += r[j] * a[j, i]
        s[i] = total


@parpy.jit
def rows_first(a, r, s):
    for j in range(a.shape[0]):
        for i in range(a.shape[1]):
            s[i] += r[j] * a[j, i]


@parpy.jit
def product(a, r, s):
    s[:] = r @ a


@parpy.jit
def greatest(a, r, s):
    s[:] = a.max(axis=0) + a.mean(axis=0)


@parpy.jit
def subtracted(a, r, s):
    """Sums over every third row, into elements that earlier statements have changed."""
    for i in range(2, a.shape[1]):
        q = s[i] * 2.0
        s[i] = q + 1.0
        for j in range(1, a.shape[0], 3):
            s[i] -= q * a[j, i]
        s[i] = s[i] + q


@parpy.jit
def several(a, r, s):
    """Three targets, one of another type, one under a condition."""
    for i in range(a.shape[1]):
        low = a[0, i]
        high = a[0, i]
        above = 0
        for j in range(a.shape[0]):
            v = a[j, i]
            low = min(low, v)
            if v > high:
                high = v
            if v > 0.5:
                above += 1
        s[i] = high - low + above


@parpy.jit
def deviations(a, r, s):
    """The second sum needs the first."""
    for i in range(a.shape[1]):
        mean = 0.0
        for j in range(a.shape[0]):
            mean += a[j, i]
        mean /= a.shape[0]
        variance = 0.0
        for j in range(a.shape[0]):
            variance += (a[j, i] - mean) ** 2
        s[i] = variance / a.shape[0]


@parpy.jit
def again_and_again(a, r, s):
    """The loop is in a loop of the host, whose iterations read the stores of the previous one."""
    for _ in range(3):
        for i in range(a.shape[1]):
            total = 0.0
            for j in range(a.shape[0]):
                total += a[j, i] * r[j]
            s[i] += total / a.shape[0]
        for j in range(a.shape[0]):
            r[j] += s[j % 16]


FUNCTIONS = [scalar, rows_first, product, greatest, subtracted, several, deviations, again_and_again]


def table(dtype: str, rows: int, columns: int) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(rows)
    return [rng.random(shape).astype(dtype) for shape in ((rows, columns), (rows,), (columns,))]


def kernels(function: Any, arguments: Any) -> list[str]:
    return [each["name"] for each in parpy.explain(function, *arguments, opts=SIM).facts["kernels"]]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("dtype", "rows", "columns"), [("f4", 60_011, 97), ("f8", 20_001, 257)])
def test_as_python(function: Any, dtype: str, rows: int, columns: int) -> None:
    got, want = table(dtype, rows, columns), table(dtype, rows, columns)
    function(*got, opts=SIM)
    function(*want, opts=parpy.auto(backend=CompileBackend.Cpu))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-3 if dtype == "f4" else 1e-11)
    assert any("part" in name for name in kernels(function, table(dtype, rows, columns)))


def test_special_values_are_those_of_python() -> None:
    a, r, s = table("f8", 20_001, 257)
    a[7, 3], a[9, 4], a[20_000, 5] = np.nan, np.inf, -np.inf
    r[0] = -0.0
    for function in (scalar, product):
        got = s.copy()
        function(a, r, got, opts=SIM)
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(got, r @ a, rtol=1e-11)
    zeros = np.full_like(a, -0.0)
    got = np.full_like(s, -0.0)
    rows_first(zeros, np.abs(r) + 1.0, got, opts=SIM)
    assert np.signbit(got).all()


def test_the_order_stays_under_deterministic() -> None:
    a, r, s = table("f8", 20_001, 257)
    settled = {backend: s.copy() for backend in (CompileBackend.Sim, CompileBackend.Cpu)}
    for backend, got in settled.items():
        scalar(a, r, got, opts=parpy.auto(backend=backend, deterministic=True))
    np.testing.assert_array_equal(settled[CompileBackend.Sim], settled[CompileBackend.Cpu])


def test_the_mapping_of_explain_can_be_given_back() -> None:
    arguments = table("f8", 20_001, 257)
    found = parpy.explain(deviations, *arguments, opts=SIM)
    assert parpy.explain(deviations, *arguments, opts=found.opts).facts["kernels"] == found.facts["kernels"]
    got, want = table("f8", 20_001, 257), table("f8", 20_001, 257)
    deviations(*got, opts=found.opts)
    deviations(*want, opts=SIM)
    np.testing.assert_array_equal(got[2], want[2])


@pytest.mark.parametrize("row", [0, 5, 20_000])
@pytest.mark.parametrize("function", [scalar, rows_first, subtracted], ids=lambda f: f.__name__)
def test_sums_that_are_stored_to_a_row_of_the_table(function: Any, row: int) -> None:
    tables = []
    for opts in (SIM, parpy.auto(backend=CompileBackend.Cpu, deterministic=True)):
        a, r, _ = table("f8", 20_001, 257)
        a /= 4
        r /= 20_000
        function(a, r, a[row], opts=opts)
        tables.append(a)
    np.testing.assert_allclose(tables[0], tables[1], rtol=1e-8)


@pytest.mark.parametrize("function", [scalar, subtracted, deviations], ids=lambda f: f.__name__)
def test_reversed_tables(function: Any) -> None:
    a, r, s = table("f8", 20_001, 257)
    got, want = s.copy(), s.copy()
    function(a[::-1, ::-1], r[::-1], got[::-1], opts=SIM)
    function(a[::-1, ::-1], r[::-1], want[::-1], opts=parpy.auto(backend=CompileBackend.Cpu))
    np.testing.assert_allclose(got, want, rtol=1e-9)


@parpy.jit
def few_rows(x, w, b, out):
    """A product of few rows and columns over many steps, with its ends."""
    for n in range(1, x.shape[0]):
        for j in range(2, w.shape[1]):
            total = b[j] * 0
            for k in range(x.shape[1]):
                total += x[n, k] * w[k, j]
            out[n, j] = max(total + b[j], 0)


@parpy.jit
def few_rows_scaled(x, w, b, out):
    """Scalars of a row and of an element are needed before, in and after the sums."""
    for n in range(x.shape[0]):
        for j in range(w.shape[1]):
            factor = b[j] + n
            least = factor
            for k in range(x.shape[1]):
                least = min(least, factor * (x[n, k] - w[k, j]))
            out[n, j] = least - factor


@parpy.jit
def as_array(x, w, b, out):
    out[:] = x @ w + b


@pytest.mark.parametrize("function", [few_rows, few_rows_scaled, as_array], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_few_rows_and_columns(function: Any, dtype: str) -> None:
    rng = np.random.default_rng(11)
    x, w, b = (rng.random(shape).astype(dtype) for shape in ((9, 20_011), (20_011, 67), (67,)))
    got, want = np.full((9, 67), 3, dtype), np.full((9, 67), 3, dtype)
    function(x, w, b, got, opts=SIM)
    function(x, w, b, want, opts=parpy.auto(backend=CompileBackend.Cpu, deterministic=True))
    np.testing.assert_allclose(got, want, rtol=1e-4 if dtype == "f4" else 1e-12)
    assert any("part" in name for name in kernels(function, (x, w, b, got)))


def test_products_that_occupy_the_card_are_not_split() -> None:
    x, w = np.ones((500, 600), "f4"), np.ones((600, 700), "f4")
    assert not any("part" in name for name in kernels(as_array, (x, w, w[0], np.zeros((500, 700), "f4"))))
