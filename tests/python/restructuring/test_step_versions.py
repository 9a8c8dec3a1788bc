"""Steps that keep the elements that they find, and code for blocks of GPU threads, with Python's results."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, copies, explained, run_automatic
from nvrtc import cubin

BLOCK = 64
SIZES = (0, 1, BLOCK + 1, 2 * BLOCK + 3)
TYPES = (np.int32, np.int64, np.float32, np.float64)


@pytest.fixture(autouse=True)
def blocks_whatever_can_be(monkeypatch):
    monkeypatch.setenv("PARPY_BLOCK_STEPS", "2")


def run(backend, function, given, **options):
    """The arguments after the call. "eval" runs the blocks of a GPU in the interpreter."""
    return run_automatic(backend, function, given, "block-steps", "cuda", **options)


def check(backend, function, given, **options):
    want = copies(given)
    with np.errstate(all="ignore"):
        function(*want)
    for a, b in zip(want, run(backend, function, given, **options), strict=True):
        np.testing.assert_array_equal(b, a)


def is_blocked(function, given):
    opts = parpy.auto(backend=parpy.CompileBackend.Sim)
    return f"blocks of {BLOCK} steps" in explained(function, given, opts)


def shortest(path, N):
    for k in range(N):
        for i in range(N):
            if i != k:
                there = path[i, k]
                for j in range(N):
                    path[i, j] = min(path[i, j], there + path[k, j])


def shortest_of_arrays(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


def longest(path, N):
    for k in range(N):
        for i in range(N):
            if i != k:
                there = path[i, k]
                for j in range(N):
                    path[i, j] = max(path[i, j], there + path[k, j])


def shortest_backwards(path, N):
    for k in range(N - 1, -1, -1):
        for i in range(N):
            if i != k:
                there = path[i, k]
                for j in range(N):
                    path[i, j] = min(path[i, j], there + path[k, j])


def shortest_of_some(path, first, end):
    for k in range(first, end):
        for i in range(first, end):
            if i != k:
                there = path[i, k]
                for j in range(first, end):
                    path[i, j] = min(path[i, j], there + path[k, j])


def of_each_row(path, N):
    """Reads row k after it has changed: rows below it read other elements than those above."""
    for k in range(N):
        for i in range(N):
            there = path[i, k]
            for j in range(N):
                path[i, j] = min(path[i, j], there + path[k, j])


def rank_one_updates(A, N):
    for k in range(N):
        for i in range(N):
            if i != k:
                factor = A[i, k]
                for j in range(N):
                    A[i, j] -= factor * A[k, j]


def distances(N, dtype, least=1):
    rng = np.random.default_rng(N)
    path = rng.integers(least, 50, (N, N)).astype(dtype)
    np.fill_diagonal(path, 0)
    return path


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("N", SIZES)
def test_shortest_paths(backend, N):
    check(backend, shortest, (distances(N, np.int32), N))
    check(backend, shortest_of_arrays, (distances(N, np.int32),))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", TYPES)
def test_types_and_negative_distances(backend, dtype):
    """With negative distances each step changes its own row and column, too."""
    N = BLOCK + 9
    if dtype in (np.int32, np.float64):
        check(backend, shortest, (distances(N, dtype, -3), N))
    else:
        check(backend, longest, (distances(N, dtype, -50), N))


@pytest.mark.parametrize("backend", BACKENDS)
def test_nan_and_infinities(backend):
    N = BLOCK + 5
    path = distances(N, np.float64)
    path[3, 5], path[7], path[:, 9] = np.nan, np.inf, -np.inf
    check(backend, shortest, (path, N))
    check(backend, shortest_of_arrays, (path,))


@pytest.mark.parametrize("backend", BACKENDS)
def test_directions_and_ranges(backend):
    N = 2 * BLOCK + 1
    check(backend, shortest_backwards, (distances(N, np.int32), N))
    check(backend, shortest_of_some, (distances(N, np.int32), 3, N - 2))


@pytest.mark.parametrize("backend", BACKENDS)
def test_strides(backend):
    N = BLOCK + 3
    wide = distances(2 * N, np.int32)
    check(backend, shortest, (wide[::2, ::2], N))
    check(backend, shortest, (np.asfortranarray(wide[:N, :N]), N))
    check(backend, shortest, (wide[:N, :N][::-1, ::-1], N))


@pytest.mark.parametrize("backend", BACKENDS)
def test_integers_wrap(backend):
    N = BLOCK + 2
    path = np.random.default_rng(1).integers(-(2**31), 2**31, (N, N)).astype(np.int32)
    want = path.copy()
    with np.errstate(over="ignore"):
        shortest_of_arrays(want)
    np.testing.assert_array_equal(run(backend, shortest_of_arrays, (path,))[0], want)


@pytest.mark.parametrize("backend", BACKENDS)
def test_products(backend):
    N = BLOCK + 7
    A = np.random.default_rng(2).integers(-1, 2, (N, N)) * 2.0**-3
    want = A.copy()
    rank_one_updates(want, N)
    got = run(backend, rank_one_updates, (A, N), deterministic=True)[0]
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_row_that_changes_while_it_is_read(backend):
    N = BLOCK + 1
    check(backend, of_each_row, (distances(N, np.int32, -3), N))


def test_which_loops_are_blocked():
    N = 3 * BLOCK
    path = distances(N, np.int32)
    for function in (shortest, shortest_backwards, longest):
        assert is_blocked(function, (path, N)), function
    assert is_blocked(shortest_of_arrays, (path,))
    assert is_blocked(rank_one_updates, (path.astype(float), N))
    assert not is_blocked(of_each_row, (path, N))


def test_the_text_compiles_for_the_gpu():
    given = (distances(600, np.int32), 600)
    opts = parpy.auto(backend=parpy.CompileBackend.Cuda)
    text = parpy.print_compiled(parpy.jit(shortest), given, opts)
    assert "__shared__ int path_tile" in text
    assert cubin(text)
