"""Loops whose steps depend on each other, run in blocks of steps, with Python's results."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, copies, explained, run_automatic
from nvrtc import cubin

BLOCK = 64
SIZES = (0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3)


@pytest.fixture(autouse=True)
def blocks_whatever_can_be(monkeypatch):
    monkeypatch.setenv("PARPY_BLOCK_STEPS", "2")


def auto(backend, **options):
    return parpy.auto(backend=parpy.CompileBackend("cpu" if backend == "eval" else backend), **options)


def run(backend, function, given, **options):
    return run_automatic(backend, function, given, "block-steps", **options)


def in_blocks(function, given, backend="cpu"):
    return f"blocks of {BLOCK} steps" in explained(function, given, auto(backend))


def expected(function, given):
    want = copies(given)
    with np.errstate(all="ignore"):
        function(*want)
    return want


def check(backend, function, given, **options):
    for a, b in zip(expected(function, given), run(backend, function, given, **options), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-3 if np.asarray(a).dtype == np.float32 else 1e-9)


def lu(A, N):
    for k in range(N):
        for i in range(k + 1, N):
            A[i, k] /= A[k, k]
        for i in range(k + 1, N):
            for j in range(k + 1, N):
                A[i, j] -= A[i, k] * A[k, j]


def lu_by_rows(A, N):
    for k in range(N):
        for i in range(k + 1, N):
            A[i, k] /= A[k, k]
            for j in range(k + 1, N):
                A[i, j] -= A[i, k] * A[k, j]


def cholesky(A, N):
    for j in range(N):
        for i in range(j, N):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            A[i, j] = total
        for i in range(j + 1, N):
            A[i, j] /= np.sqrt(A[j, j])
    for j in range(N):
        A[j, j] = np.sqrt(A[j, j])


def right_looking_cholesky(A, N):
    for k in range(N):
        A[k, k] = np.sqrt(A[k, k])
        for i in range(k + 1, N):
            A[i, k] /= A[k, k]
        for i in range(k + 1, N):
            for j in range(k + 1, i + 1):
                A[i, j] -= A[i, k] * A[j, k]


def lu_of_rectangles(A, M, N):
    for k in range(min(M, N)):
        for i in range(k + 1, M):
            A[i, k] /= A[k, k]
        for i in range(k + 1, M):
            for j in range(k + 1, N):
                A[i, j] -= A[i, k] * A[k, j]


def many_right_sides(L, B, N, M):
    for k in range(N):
        for j in range(M):
            B[k, j] /= L[k, k]
        for i in range(k + 1, N):
            for j in range(M):
                B[i, j] -= L[i, k] * B[k, j]


def solve(A, x, y, z, N):
    """Solves downwards by columns, upwards by columns, and by rows."""
    for k in range(N - 1, -1, -1):
        x[k] /= A[k, k]
        for i in range(k):
            x[i] -= A[i, k] * x[k]
    for k in range(N):
        for i in range(k + 1, N):
            y[i] -= A[i, k] * y[k] / N
    for i in range(N):
        for j in range(i):
            z[i] -= A[i, j] * z[j]
        z[i] /= A[i, i]


def matrix(n, dtype=np.float64, seed=0):
    values = np.random.default_rng(seed).random((n, n)).astype(dtype)
    if np.issubdtype(dtype, np.complexfloating):
        values = values + 1j * np.random.default_rng(seed + 1).random((n, n))
    return (values + n * np.eye(n)).astype(dtype)


def definite(n, dtype=np.float64):
    values = np.random.default_rng(3).random((n, n))
    return (values @ values.T / max(n, 1) + np.eye(n)).astype(dtype)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_lu(backend, n):
    check(backend, lu, (matrix(n), n))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_cholesky(backend, n):
    check(backend, cholesky, (definite(n), n))


@pytest.mark.parametrize("function", [lu_by_rows, right_looking_cholesky])
@pytest.mark.parametrize("n", [BLOCK + 1, 2 * BLOCK + 3])
@pytest.mark.parametrize("backend", BACKENDS)
def test_other_texts(backend, n, function):
    check(backend, function, (definite(n), n))


@pytest.mark.parametrize("shape", [(BLOCK + 9, 2 * BLOCK + 3), (2 * BLOCK + 3, BLOCK + 9), (3, 100)])
@pytest.mark.parametrize("backend", BACKENDS)
def test_rectangles(backend, shape):
    m, n = shape
    A = np.random.default_rng(5).random(shape) + max(shape) * np.eye(*shape)
    check(backend, lu_of_rectangles, (A, m, n))


@pytest.mark.parametrize("backend", BACKENDS)
def test_right_sides(backend):
    n, m = 2 * BLOCK + 3, 70
    check(backend, many_right_sides, (matrix(n), np.random.default_rng(1).random((n, m)), n, m))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_triangles_of_equations(backend, n):
    x, y, z = np.random.default_rng(4).random((3, n))
    check(backend, solve, (matrix(n), x, y, z, n))


def last_quotient(A, B, N):
    """The scalar is read after the loop."""
    last = 0.0
    for k in range(N):
        for i in range(k + 1, N):
            last = A[i, k] / A[k, k]
            A[i, k] = last
        for i in range(k + 1, N):
            for j in range(k + 1, N):
                A[i, j] -= A[i, k] * A[k, j]
    B[0] = last


@pytest.mark.parametrize("backend", BACKENDS)
def test_scalars_behind_the_loop(backend):
    n = 2 * BLOCK + 3
    check(backend, last_quotient, (matrix(n), np.zeros(1), n))


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
@pytest.mark.parametrize("backend", BACKENDS)
def test_types(backend, dtype):
    n = 2 * BLOCK + 3
    check(backend, lu, (matrix(n, dtype), n))


@pytest.mark.parametrize("function", [lu, cholesky])
@pytest.mark.parametrize("backend", BACKENDS)
def test_nan_and_infinity(backend, function):
    """NaNs and infinities spread as in the text, and no further."""
    n = 2 * BLOCK + 3
    A = definite(n)
    A[100, 70] = np.nan
    A[80, 90] = A[90, 5] = np.inf
    A[3, 120] = -np.inf
    check(backend, function, (A, n))


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_settled_has_the_bits_of_the_text(backend):
    n = BLOCK + 5
    A = matrix(n)
    want = expected(lu, (A, n))[0]
    np.testing.assert_array_equal(run(backend, lu, (A, n), deterministic=True)[0], want)


@pytest.mark.parametrize("backend", BACKENDS)
def test_settled_sums_have_the_same_bits_without_blocks(backend, monkeypatch):
    n = 2 * BLOCK + 3
    A = definite(n)
    got = run(backend, cholesky, (A, n), deterministic=True)[0]
    monkeypatch.setenv("PARPY_BLOCK_STEPS", "0")
    np.testing.assert_array_equal(got, run("cpu", cholesky, (A, n), deterministic=True)[0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_sizes_that_calls_choose(backend):
    """One program serves all sizes."""
    if backend == "eval":
        pytest.skip("the interpreter has a program of its own for each call")
    compiled = parpy.jit(lu)
    for n in (BLOCK + 1, 70, 2 * BLOCK + 3, 100, 3, 131, 90):
        A = matrix(n)
        want = expected(lu, (A, n))[0]
        compiled(A, n, opts=auto(backend))
        np.testing.assert_allclose(A, want, rtol=1e-9)


@pytest.mark.parametrize("function", [lu, lu_by_rows, cholesky, right_looking_cholesky])
@pytest.mark.parametrize("backend", ["cpu", "cuda"])
def test_explained(backend, function):
    assert in_blocks(function, (matrix(300), 300), backend)


def test_a_block_of_steps_is_four_kernels():
    """A block of steps runs in one block of threads, with its elements in shared memory; the text compiles for the
    GPU."""
    given = (matrix(600), 600)
    opts = auto("cuda")
    text = explained(lu, given, opts)
    assert "1 block of 1024 threads" in text and text.count("kernel lu_") == 4
    text = parpy.print_compiled(parpy.jit(lu), given, opts)
    assert "__shared__ double A_tile[64 * 65]" in text
    assert cubin(text)


def test_a_factorization_that_looks_left_looks_right():
    """Its updates by earlier steps are three kernels a block, as those of one that looks right."""
    A = matrix(600)
    given = (A @ A.T + 600 * np.eye(600), 600)
    opts = auto("cuda")
    text = explained(cholesky, given, opts)
    assert text.count("kernel cholesky_") == 4  # the last one takes the roots of the diagonal


def test_few_steps_stay_as_they_are(monkeypatch):
    monkeypatch.delenv("PARPY_BLOCK_STEPS")
    assert not in_blocks(lu, (matrix(100), 100))
    assert in_blocks(lu, (matrix(300), 300))


def gram_schmidt(A, R, M, N):
    for k in range(N):
        norm = 0.0
        for i in range(M):
            norm += A[i, k] * A[i, k]
        R[k, k] = np.sqrt(norm)
        for i in range(M):
            A[i, k] /= R[k, k]
        for j in range(k + 1, N):
            for i in range(M):
                R[k, j] += A[i, k] * A[i, j]
            for i in range(M):
                A[i, j] -= A[i, k] * R[k, j]


def other_half(A, B, N):
    """The updates store to one array and read the other."""
    for k in range(N):
        for i in range(k + 1, N):
            A[i, k] /= B[k, k]
        for i in range(k + 1, N):
            for j in range(k + 1, N):
                A[i, j] -= A[i, k] * B[k, j]


def reads_the_rest(A, N):
    """A step reads an element outside the block, which the updates of earlier steps change."""
    for k in range(N):
        for i in range(k + 1, N):
            A[i, k] /= A[k, k] + A[N - 1, N - 1]
        for i in range(k + 1, N):
            for j in range(k + 1, N):
                A[i, j] -= A[i, k] * A[k, j]


@pytest.mark.parametrize("backend", BACKENDS)
def test_left_alone(backend):
    """Loops stay as they are if steps of a block read its updates, which could not be delayed."""
    n = 2 * BLOCK + 3
    for function, given in (
        (gram_schmidt, (matrix(n)[:, :80].copy(), np.zeros((80, 80)), n, 80)),
        (reads_the_rest, (matrix(n), n)),
    ):
        assert not in_blocks(function, given)
        check(backend, function, given)


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_memory(backend):
    """One array under two names, and two arrays."""
    n = 2 * BLOCK + 3
    check(backend, other_half, (matrix(n), matrix(n, seed=4), n))
    shared = matrix(n)
    want = shared.copy()
    other_half(want, want, n)
    if backend == "eval":
        parpy.calls.jit.interpret(parpy.jit(other_half), (shared, shared, n), auto(backend), "block-steps")
    else:
        parpy.jit(other_half)(shared, shared, n, opts=auto(backend))
    np.testing.assert_allclose(shared, want, rtol=1e-9)


@pytest.mark.parametrize("backend", BACKENDS)
def test_integers(backend):
    def eliminate(A, N):
        for k in range(N):
            for i in range(k + 1, N):
                for j in range(k + 1, N):
                    A[i, j] -= A[i, k] * A[k, j]

    n = BLOCK + 5
    A = np.random.default_rng(2).integers(-3, 4, (n, n))
    want = expected(eliminate, (A, n))[0]
    np.testing.assert_array_equal(run(backend, eliminate, (A, n))[0], want)
