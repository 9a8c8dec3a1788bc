"""Contractions as kernels over tiles: on the simulator with the bits of the CPU and of the reference interpreter, as
machine code for every GPU that has matrix units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parpy
import products
from backends import copies
from contraction_cases import case
from contraction_checks import AUTO, SETTLED, check_on_simulator, is_contraction, notes
from nvrtc import cubin
from parpy import CompileBackend

SIM = parpy.auto(backend=CompileBackend.Sim)
SIM_SETTLED = parpy.auto(backend=CompileBackend.Sim, deterministic=True)

SPELLINGS = [parpy.jit(each) for each in products.SPELLINGS]
scalar, zeroed, updated, rows, expression, product = SPELLINGS
symm, covariance, convolution = (parpy.jit(each) for each in (products.symm, products.covariance, products.convolution))


def data(dtype: str, *shapes: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(len(shapes))
    return [rng.uniform(-1, 1, shape).astype(dtype) for shape in shapes]


def agree(function: Callable[..., Any], target: int, arguments: tuple[Any, ...], contracts: bool = True) -> None:
    """Checks that all ways to run it on the simulator give the CPU's results."""
    want = copies(arguments)
    function(*want, opts=SETTLED)
    for opts in (SIM, SIM_SETTLED):
        assert is_contraction(function, arguments, opts) is contracts
        got = copies(arguments)
        function(*got, opts=opts)
        if not contracts and not opts.deterministic:
            np.testing.assert_allclose(got[target], want[target], rtol=1e-10)
            continue
        np.testing.assert_array_equal(got[target], want[target])
        np.testing.assert_array_equal(np.signbit(got[target]), np.signbit(want[target]))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("function", SPELLINGS, ids=lambda f: f.__name__)
def test_spellings(function: Callable[..., Any], dtype: str) -> None:
    for m, n, k in ((64, 64, 64), (65, 63, 79), (127, 129, 17)):
        a, b, c = data(dtype, (m, k), (k, n), (m, n))
        agree(function, 2, (1.5, 0.5, c, a, b))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_sizes_at_run_time(dtype: str) -> None:
    """One program serves all sizes: none, one, one less and one more than a tile, and no steps."""

    @parpy.jit
    def function(c, a, b):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                t = 0.0
                for k in range(a.shape[1]):
                    t += a[i, k] * b[k, j]
                c[i, j] = 2.0 * c[i, j] + t

    sizes = [(70, 80, 90), (71, 81, 91), (72, 82, 92), (73, 83, 93), (127, 1, 64), (1, 128, 65), (128, 129, 1)]
    sizes += [(129, 33, 0), (0, 5, 7), (5, 0, 7), (31, 32, 33), (64, 63, 15), (1, 1, 1)]
    for m, n, k in sizes:
        a, b, c = data(dtype, (m, k), (k, n), (m, n))
        want = c.copy()
        function(want, a, b, opts=SETTLED)
        for opts in (SIM, SIM_SETTLED):
            got = c.copy()
            function(got, a, b, opts=opts)
            if not opts.deterministic:  # a program has constant sizes that are too small
                np.testing.assert_allclose(got, want, rtol=1e-4 if dtype == "f4" else 1e-10)
            else:
                np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "dtype, sizes, tile",
    [
        ("f8", (1405, 1279), "128 × 128"),
        ("f8", (1535, 1055), "128 × 96"),
        ("f8", (1055, 1535), "96 × 128"),
        ("f8", (1499, 1501), "96 × 64"),
        ("f8", (895, 899), "64 × 64"),
        ("f8", (641, 699), "32 × 32"),
        ("f4", (1405, 1279), "128 × 128"),
        ("f4", (1535, 1055), "128 × 96"),
        ("f4", (1055, 1535), "96 × 128"),
    ],
)
def test_large_tiles(dtype: str, sizes: tuple[int, int], tile: str) -> None:
    """Tiles that only large products get, with factors in both orders and a last tile that is not full."""
    m, n = sizes
    for k in (17, 32):
        for turned in range(4):
            a, b, c = data(dtype, (k, m) if turned % 2 else (m, k), (n, k) if turned >= 2 else (k, n), (m, n))
            a, b = a.T if turned % 2 else a, b.T if turned >= 2 else b
            found = " ".join(notes(scalar, (1.5, 0.5, c, a, b), SIM_SETTLED))
            assert f"in tiles of {tile}" in found
            want, got = c.copy(), c.copy()
            scalar(1.5, 0.5, want, a, b, opts=SETTLED)
            scalar(1.5, 0.5, got, a, b, opts=SIM_SETTLED)
            np.testing.assert_array_equal(got, want)


def test_strides() -> None:
    a, b, c = data("f8", (80, 2 * 70), (90, 80), (80, 2 * 90))
    agree(scalar, 2, (1.5, 0.5, c[::-1, 1::2], a[:, ::-2], b.T))
    agree(zeroed, 2, (1.5, 0.5, c[:, ::2], a[::-1, 1::2], b.T[:, ::-1]))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_memory_that_is_not_aligned(dtype: str) -> None:
    """Copies of several elements must begin at multiples of their size; the simulator checks that."""
    a, b, c = data(dtype, (81, 73), (74, 81), (80, 80))
    for first in (0, 1):
        agree(scalar, 2, (1.5, 0.5, c, a[1:, first : first + 72], b[first : first + 72, 1:]))
    a, b = data(dtype, (81, 76), (76, 84))
    for first in (0, 1, 2):
        agree(scalar, 2, (1.5, 0.5, c, a[1:, first : first + 72], b[first : first + 72, first : first + 80]))
        agree(scalar, 2, (1.5, 0.5, c, b.T[:80, first : first + 72], a.T[first : first + 72, 1:]))


def test_relatives() -> None:
    a, b, c = data("f8", (96, 96), (96, 100), (96, 100))
    agree(symm, 2, (1.5, 0.5, c, a, b))
    values, cov = data("f8", (60, 97), (97, 97))
    agree(covariance, 0, (cov, values))
    x, w, y = data("f4", (2, 6, 35, 8), (3, 3, 8, 24), (2, 4, 33, 24))
    agree(convolution, 0, (y, x, w))


@parpy.jit
def syr2k(c, a, b):
    for i in range(a.shape[0]):
        for j in range(i + 1):
            for k in range(a.shape[1]):
                c[i, j] += a[j, k] * b[i, k] + b[j, k] * a[i, k]


@parpy.jit
def trmm(b, a):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            t = b[i, j]
            for k in range(i + 1, b.shape[0]):
                t += a[k, i] * b[k, j]
            b[i, j] = 1.5 * t


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_triangles(dtype: str) -> None:
    a, b, c = data(dtype, (97, 40), (97, 40), (97, 97))
    agree(syr2k, 0, (c, a, b))
    a, b = data(dtype, (98, 98), (98, 66))
    agree(trmm, 0, (b, a))


@parpy.jit
def lower(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(i):
                c[i, j] += a[i, k] * b[k, j]


@pytest.mark.parametrize("n, m", [(47, 600), (150, 70), (301, 129), (511, 300)])
def test_rows_with_other_steps(n: int, m: int) -> None:
    """Rows begin or end among the steps of a matrix unit; factors that other rows lack are infinite or NaN."""
    rng = np.random.default_rng(n)
    a, b, c = (rng.standard_normal(shape) for shape in ((n, n), (n, m), (n, m)))
    b[rng.integers(0, n, 5), rng.integers(0, m, 5)] = np.inf
    b[3, 4] = np.nan
    for function, arguments in ((trmm, (b, a)), (lower, (c, a, b)), (symm, (1.5, 0.5, c, a, b))):
        want, got = (copies(arguments) for _ in range(2))
        assert is_contraction(function, arguments, SIM_SETTLED)
        function(*want, opts=SETTLED)
        function(*got, opts=SIM_SETTLED)
        for x, y in zip(want, got, strict=True):
            np.testing.assert_array_equal(x, y)
            np.testing.assert_array_equal(np.signbit(x), np.signbit(y))


@parpy.jit
def band(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(i, i + 400):
                c[i, j] += a[i, k] * b[k, j]


@pytest.mark.parametrize("n, m, tile", [(1055, 1535, "96 × 128"), (1535, 1055, "128 × 96")])
def test_rows_with_other_steps_in_large_tiles(n: int, m: int, tile: str) -> None:
    rng = np.random.default_rng(n)
    a, b, c = (rng.standard_normal(shape) for shape in ((n, n + 400), (n + 400, m), (n, m)))
    b[7, 3], b[900, 5] = np.inf, np.nan
    assert f"in tiles of {tile}" in " ".join(notes(band, (c, a, b), SIM_SETTLED))
    want, got = c.copy(), c.copy()
    band(want, a, b, opts=SETTLED)
    band(got, a, b, opts=SIM_SETTLED)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


@parpy.jit
def batch(c, a, b):
    for g in range(a.shape[0]):
        for i in range(a.shape[1]):
            for j in range(b.shape[2]):
                t = 0.0
                for k in range(a.shape[2]):
                    t += a[g, i, k] * b[g, k, j]
                c[g, i, j] += t


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_batches(dtype: str) -> None:
    """Both factors vary with the outer loop; the last rows of one matrix and the first of the next share no tile."""
    for g, m, n, k in ((3, 70, 90, 50), (5, 65, 67, 33), (8, 64, 64, 32), (1, 129, 65, 79)):
        a, b, c = data(dtype, (g, m, k), (g, k, n), (g, m, n))
        agree(batch, 0, (c, a, b))
        turned = np.swapaxes(np.ascontiguousarray(np.swapaxes(b, 1, 2)), 1, 2)
        agree(batch, 0, (c, a[::-1], turned))


@parpy.jit
def correlated(c, w, a):
    """A row has statements before its columns and after them."""
    for i in range(c.shape[0]):
        c[i, i] = 2.0 * w[i]
        for j in range(i + 1, c.shape[0]):
            t = 0.0
            for k in range(a.shape[0]):
                t += a[k, i] * a[k, j]
            c[i, j] = t
            c[j, i] = t
        w[i] += 1.0


@parpy.jit
def batch_with_rows(c, w, a, b):
    for g in range(a.shape[0]):
        for i in range(a.shape[1]):
            for j in range(b.shape[1]):
                t = 0.0
                for k in range(a.shape[2]):
                    t += a[g, i, k] * b[k, j]
                c[g, i, j] = t
            half = 0.5 * w[g, i]
            if half > 0.0:
                w[g, i] = half - 1.0


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_statements_of_rows(dtype: str) -> None:
    for m, k in ((150, 80), (128, 64), (161, 33)):
        a, w, c = data(dtype, (k, m), (m,), (m, m))
        agree(correlated, 0, (c, w, a))
        agree(correlated, 1, (c, w, a))
    for g, m, n, k in ((3, 70, 90, 50), (2, 129, 64, 65)):
        a, b, w, c = data(dtype, (g, m, k), (k, n), (g, m), (g, m, n))
        agree(batch_with_rows, 0, (c, w, a, b))
        agree(batch_with_rows, 1, (c, w, a, b))


def test_statements_of_rows_run_where_there_are_no_columns() -> None:
    a, w, c = data("f8", (80, 1), (1,), (1, 1))
    agree(correlated, 0, (c, w, a), contracts=False)
    agree(correlated, 1, (c, w, a), contracts=False)
    a, b, w, c = data("f8", (2, 70, 50), (50, 0), (2, 70), (2, 70, 0))
    agree(batch_with_rows, 1, (c, w, a, b), contracts=False)


def test_zeros_are_no_masks() -> None:
    """Products that the text does not compute are not computed, even if they would be NaN; signs of zeros stay."""
    a, b = data("f8", (98, 98), (98, 66))
    a[np.triu_indices(98)] = np.nan
    b[90, :] = np.inf
    agree(trmm, 0, (b, a))
    a, b, c = data("f8", (70, 65), (65, 70), (70, 70))
    a[:] = -0.0
    c[:] = -0.0
    agree(updated, 2, (0, 0, c, a, np.abs(b)))


def test_what_stays_loops() -> None:
    a, b, c = data("f8", (80, 70), (70, 80), (80, 80))
    shared = np.zeros((80, 80))
    assert not is_contraction(updated, (1, 1, shared, shared, shared), SIM)
    agree(scalar, 2, (1.5, 0.5, c[:8], a[:8], b), contracts=False)
    halves = [x.astype("f2") for x in (c, a, b)]
    assert not is_contraction(updated, (1, 1, *halves), SIM)
    complexes = [x.astype("c16") for x in (c, a, b)]
    assert notes(updated, (1, 1, *complexes), SIM) == [
        "a contraction without tiles: tiles of products can only hold f32 or f64"
    ]
    assert is_contraction(updated, (1, 1, c, a, b), AUTO)


@pytest.mark.parametrize("block", range(4))
def test_random_nests(block: int) -> None:
    seeds = range(3000 + 8 * block, 3000 + 8 * block + 8)
    assert sum(check_on_simulator(case(seed, special=seed % 4 == 3, large=True)) for seed in seeds) > 2


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_machine_code(dtype: str, architecture: str) -> None:
    for n in (32, 200, 2000):
        a, b, c = (np.zeros((n, n), dtype) for _ in range(3))
        opts = parpy.auto(backend=CompileBackend.Cuda)
        text = parpy.print_compiled(scalar, (1.5, 0.5, c, a, b), opts)
        assert cubin(text, architecture).startswith(b"\x7fELF")
