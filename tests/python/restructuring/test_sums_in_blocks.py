"""Steps whose sums begin at zero, as in `x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]`, run in blocks of steps."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, copies, explained, run_automatic

BLOCK = 64
N = 2 * BLOCK + 3


@pytest.fixture(autouse=True)
def blocks_whatever_can_be(monkeypatch):
    monkeypatch.setenv("PARPY_BLOCK_STEPS", "2")


def solve(L, x, b):
    for i in range(x.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


def solve_upwards(L, x, b):
    for i in range(x.shape[0] - 1, -1, -1):
        x[i] = (b[i] - np.dot(L[i, i + 1 :], x[i + 1 :])) / L[i, i]


def added(L, x, b):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(i):
            s -= L[i, j] * x[j]
        x[i] += s


def sum_first(L, x, b):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(i):
            s += L[i, j] * x[j]
        x[i] = s + b[i]


def scaled(L, x, b):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(i):
            s += L[i, j] * x[j]
        x[i] = 0.5 * abs(x[i] - s) + 1.0


def by_columns(L, x, b):
    for k in range(x.shape[0]):
        for i in range(k, x.shape[0]):
            L[i, k] -= np.dot(L[i, :k], L[:k, k]) / 99
        for j in range(k + 1, x.shape[0]):
            L[k, j] -= np.dot(L[k, :k], L[:k, j]) / 99


BLOCKED = [solve, added, sum_first, scaled]


def twice(L, x, b):
    """The sum is read twice."""
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(i):
            s += L[i, j] * x[j]
        x[i] = (b[i] - s) / (L[i, i] + s)


def weighted(L, x, b):
    """The sum is multiplied before it is subtracted."""
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(i):
            s += L[i, j] * x[j]
        x[i] = b[i] - 0.125 * s


def from_one(L, x, b):
    for i in range(x.shape[0]):
        s = 1.0
        for j in range(i):
            s += L[i, j] * x[j]
        x[i] = b[i] - s


def greatest(L, x, b):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(i):
            s = max(s, L[i, j] * x[j] / 9)
        x[i] = b[i] - s


def reads_itself(L, x, b):
    """A summand reads the element that the sum goes to."""
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(i + 1):
            s += L[i, j] * x[j]
        x[i] = b[i] - s


def left_behind(L, x, b):
    """The last sum is wanted after the loop."""
    s = 0.0
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(i):
            s += L[i, j] * x[j]
        x[i] = b[i] - s
    b[0] = s


def old_value(L, x, b):
    """The old element is read beside the sum."""
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(i):
            s += L[i, j] * x[j]
        x[i] = x[i] * (b[i] - s)


def stores_between(L, x, b):
    """The loop of the sum changes the element that the sum is subtracted from."""
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(i):
            s += L[i, j] * x[j]
            b[i] = b[i] * 0.5 + j
        x[i] = b[i] - s


def guarded(L, x, b):
    """A condition guards an element that does not exist."""
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(i):
            s += L[i, j] * x[j]
        x[i] = (b[i + 1_000_000_000] - s) if i > 1000 else 3.0


def two_sums(L, x, b):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(i):
            s += L[i, j] * x[j]
        t = 0.0
        for j in range(i):
            t += L[j, i] * x[j]
        x[i] = b[i] - s - t


OTHERS = [
    guarded,
    old_value,
    stores_between,
    two_sums,
    solve_upwards,
    by_columns,
    twice,
    weighted,
    from_one,
    greatest,
    reads_itself,
    left_behind,
]


def data(n, dtype=np.float64):
    rng = np.random.default_rng(n)
    return (
        (rng.random((n, n)) / max(n, 1) + np.eye(n)).astype(dtype),
        rng.random(n).astype(dtype),
        rng.random(n).astype(dtype),
    )


def run(backend, function, given, **options):
    return run_automatic(backend, function, given, "block-steps", **options)


def expected(function, given):
    want = copies(given)
    with np.errstate(all="ignore"):
        function(*want)
    return want


def in_blocks(function, given, **options):
    opts = parpy.auto(backend=parpy.CompileBackend.Cpu, **options)
    return f"blocks of {BLOCK} steps" in explained(function, given, opts)


@pytest.mark.parametrize("n", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, N])
@pytest.mark.parametrize("function", BLOCKED)
@pytest.mark.parametrize("backend", BACKENDS)
def test_sums_that_begin_at_zero(backend, function, n):
    given = data(n)
    for a, b in zip(expected(function, given), run(backend, function, given), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-9)
    assert n < N or in_blocks(function, given)


@pytest.mark.parametrize("function", OTHERS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_others(backend, function):
    given = data(N)
    for a, b in zip(expected(function, given), run(backend, function, given), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-9)


@pytest.mark.parametrize(
    "function", [guarded, old_value, stores_between, twice, weighted, from_one, greatest, reads_itself]
)
def test_left_alone(function):
    assert not in_blocks(function, data(N))


@pytest.mark.parametrize("function", [solve, added, sum_first])
@pytest.mark.parametrize("backend", BACKENDS)
def test_deterministic_sums_have_the_order_of_the_text(backend, function):
    given = data(N)
    want = run("cpu", function, given, deterministic=True)
    for a, b in zip(want, run(backend, function, given, deterministic=True), strict=True):
        np.testing.assert_array_equal(b, a)
    assert not in_blocks(function, given, deterministic=True)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
@pytest.mark.parametrize("backend", BACKENDS)
def test_types(backend, dtype):
    given = data(N, dtype)
    for a, b in zip(expected(solve, given), run(backend, solve, given), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-3 if dtype == np.float32 else 1e-9)


@pytest.mark.parametrize("backend", BACKENDS)
def test_nan_and_infinity(backend):
    L, x, b = data(N)
    L[100, 70] = np.nan
    b[80] = np.inf
    for function in (solve, sum_first):
        given = (L, x, b)
        for want, got in zip(expected(function, given), run(backend, function, given), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9)


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_memory(backend):
    """The right side is the solution, as in a solver that works in place."""
    L, x, _ = data(N)
    want = x.copy()
    solve(L, want, want)
    got = x.copy()
    opts = parpy.auto(backend=parpy.CompileBackend("cpu" if backend == "eval" else backend))
    if backend == "eval":
        parpy.calls.jit.interpret(parpy.jit(solve), (L, got, got), opts, "block-steps")
    else:
        parpy.jit(solve)(L, got, got, opts=opts)
    np.testing.assert_allclose(got, want, rtol=1e-9)
