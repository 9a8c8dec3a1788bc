"""Nests whose loops all carry dependences, run as waves of independent iterations, with the bits of plain Python."""

from __future__ import annotations

import numpy as np
import pytest

import backends
import parpy
from backends import BACKENDS, copies, run_automatic
from nvrtc import cubin

SIZES = (0, 1, 2, 3, 7, 12)


@pytest.fixture(autouse=True)
def waves_wherever_possible(monkeypatch):
    monkeypatch.setenv("PARPY_WAVES", "2")


def auto(backend, **options):
    return parpy.auto(backend=parpy.CompileBackend(backend), **options)


def run(backend, function, given, **options):
    return run_automatic(backend, function, given, "collapse-loops", "sim", **options)


def explained(function, given, **options):
    return backends.explained(function, given, auto("sim", **options))


def check(backend, function, given, **options):
    want = copies(given)
    function(*want)
    for a, b in zip(want, run(backend, function, given, **options), strict=True):
        np.testing.assert_array_equal(a, b)


@parpy.jit
def chosen(x, i, s):
    if s > 0:
        return x[i] * 0.5
    return x[i] - s


def read_by_a_function(b, c, x, y, n):
    for i in range(n):
        y[1:] = (b[i] + y[:-1]) * 0.5
        c[i] = chosen(y, i, x[i])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("n", SIZES)
def test_elements_that_a_called_function_reads(backend, n):
    """A statement beside the inner loop reads, in the function that it calls, what later iterations store."""
    b, x, y = (np.random.default_rng(each).random(n) - 0.5 for each in range(3))
    check(backend, read_by_a_function, (b, np.zeros(n), x, y, n))


@parpy.jit
def limited(x, i):
    if x[i] > 100:
        raise ValueError("too large")
    return x[i] * 0.5


def other_array_in_a_function(b, c, x, y, n):
    for i in range(n):
        y[1:] = (b[i] + y[:-1]) * 0.5
        c[i] = chosen(x, i, x[i])


@parpy.jit
def put(y, i, s):
    if s > 0:
        y[i] = s
        return 1.0
    y[i] = -2 * s
    return s


def stored_by_a_function(b, c, x, y, n):
    for i in range(n):
        y[1:] = (b[i] + y[:-1]) * 0.5
        x[i] = put(c, i, x[i])


def stored_among_the_waves(b, c, x, y, n):
    for i in range(n):
        y[1:] = (b[i] + y[:-1]) * 0.5
        x[i] = put(y, i, x[i])


def may_fail_beside(b, c, x, y, n):
    for i in range(n):
        y[1:] = (b[i] + y[:-1]) * 0.5
        c[i] = limited(x, i)


CALLS = {
    other_array_in_a_function: True,
    stored_by_a_function: True,
    stored_among_the_waves: False,
    may_fail_beside: False,
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", CALLS)
def test_calls_beside_waves(backend, function):
    """Accesses of called functions are followed; functions that may fail keep their place."""
    for n in SIZES:
        b, x, y = (np.random.default_rng(each).random(n) - 0.5 for each in range(3))
        check(backend, function, given := (b, np.zeros(n), x, y, n))
    assert ("waves: " in explained(function, given)) == CALLS[function]


def seidel(A, T, N):
    for t in range(T):
        for i in range(1, N - 1):
            for j in range(1, N - 1):
                A[i, j] = (
                    A[i - 1, j - 1]
                    + A[i - 1, j]
                    + A[i - 1, j + 1]
                    + A[i, j - 1]
                    + A[i, j]
                    + A[i, j + 1]
                    + A[i + 1, j - 1]
                    + A[i + 1, j]
                    + A[i + 1, j + 1]
                ) / 9.0


def nussinov(table, seq, N):
    for i in range(N - 1, -1, -1):
        for j in range(i + 1, N):
            table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < N:
                table[i, j] = max(table[i, j], table[i + 1, j])
                if i < j - 1:
                    pair = 1 if seq[i] + seq[j] == 3 else 0
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + pair)
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])


def edit_distance(D, a, b):
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            changed = 0 if a[i - 1] == b[j - 1] else 1
            D[i, j] = min(D[i - 1, j] + 1, D[i, j - 1] + 1, D[i - 1, j - 1] + changed)


def smith_waterman(H, E, F, a, b):
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            E[i, j] = max(E[i, j - 1] - 1, H[i, j - 1] - 3)
            F[i, j] = max(F[i - 1, j] - 1, H[i - 1, j] - 3)
            score = 2 if a[i - 1] == b[j - 1] else -1
            H[i, j] = max(0, H[i - 1, j - 1] + score, E[i, j], F[i, j])


def relaxation(U, N, w):
    for t in range(3):
        for i in range(1, N - 1):
            for j in range(N - 2, 0, -1):
                around = U[i - 1, j] + U[i + 1, j] + U[i, j - 1] + U[i, j + 1]
                U[i, j] = (1 - w) * U[i, j] + w * (around * 0.25)


def triangle_of_ratios(R, N):
    for i in range(1, N):
        for j in range(i, N):
            R[i, j] = R[i - 1, j - 1] + 0.5 * R[i, j - 1] if j > i else R[i - 1, j] * 0.5


def with_first_elements(H, a, b):
    for i in range(1, len(a) + 1):
        H[i, 0] = H[i, 0] % 5 - i
        for j in range(1, len(b)):
            H[i, j] = max(H[i - 1, j - 1] + 1, H[i - 1, j] - 1, H[i, j - 1] - 1) if a[i - 1] < b[j - 1] else H[i, j - 1]
        H[i, -1] += i


def levels(A, N):
    for t in range(2):
        for i in range(N - 2, 0, -1):
            A[i, 0] += 1
            for j in range(1, i + 1):
                A[i, j] = (A[i + 1, j] + A[i, j - 1]) * 0.5


def as_often_as_a_neighbour_says(P, N):
    for i in range(1, N):
        for j in range(1, N - 2):
            for k in range(P[i - 1, j + 2]):
                P[i, j] = (P[i, j - 1] + P[i - 1, j + 1] + k) % 5


def from_negative(A, N):
    for i in range(-N, N):
        for j in range(-2, N - 1):
            A[i + N + 1, j + 3] = A[i + N, j + 4] + A[i + N + 1, j + 2]


def both_downwards(A, B, N):
    for i in range(N - 2, -1, -1):
        for j in range(N - 2, -1, -1):
            A[i, j] = A[i + 1, j] - B[i, j + 1]
            B[i, j] = A[i, j + 1] + B[i + 1, j + 1]


def cube(A, N):
    for i in range(1, N):
        for j in range(1, N):
            for k in range(1, N):
                A[i, j, k] = max(A[i - 1, j, k] + 1, A[i, j - 1, k] - 2, A[i, j, k - 1] * 3) % 1000


def relaxation_in_space(A, T, N):
    for t in range(T):
        for i in range(1, N - 1):
            for j in range(1, N - 1):
                for k in range(1, N - 1):
                    before = A[i - 1, j, k] + A[i, j - 1, k] + A[i, j, k - 1]
                    A[i, j, k] = (before + A[i + 1, j, k] + A[i, j + 1, k] + A[i, j, k + 1]) * 0.125


def with_a_parallel_loop(A, N):
    for i in range(1, N):
        for j in range(1, N):
            for k in range(j, N):
                A[i, j, k] = A[i - 1, j, k] + 0.5 * A[i, j - 1, k]


def reads_far_away(A, N):
    for i in range(2, N):
        for j in range(2, N):
            if (i + j) % 3 == 0:
                continue
            A[i, j] += A[i - 2, (j + N) // 2] + A[i, j - 2]


def given_for(function, n):
    rng = np.random.default_rng(n)
    square = rng.uniform(-1, 1, (n, n))
    table = rng.integers(0, 9, (n + 1, n + 3)).astype(np.int32)
    a, b = rng.integers(0, 4, n), rng.integers(0, 4, n + 2)
    return {
        seidel: (square, 4, n),
        nussinov: (np.zeros((n, n), np.int32), rng.integers(0, 4, n).astype(np.int32), n),
        edit_distance: (table, a, b),
        smith_waterman: (table.astype(np.float32), table.copy(), table * 2, a, b),
        relaxation: (square.astype(np.float32), n, np.float32(0.9)),
        triangle_of_ratios: (square, n),
        with_first_elements: (table.astype(np.int64), a, b),
        levels: (square, n),
        as_often_as_a_neighbour_says: (rng.integers(0, 5, (n, n)).astype(np.int32), n),
        from_negative: (rng.uniform(-1, 1, (2 * n + 1, n + 4)), n),
        both_downwards: (square, square + 1, n),
        cube: (rng.integers(-9, 9, (n, n, n)), n),
        relaxation_in_space: (rng.uniform(-1, 1, (n, n, n)), 3, n),
        with_a_parallel_loop: (rng.uniform(-1, 1, (n, n, n)), n),
        reads_far_away: (square, n),
    }[function]


# The hyperplane of each program, where three loops or more are not left to the cost model.
PROGRAMS = {
    seidel: None,
    nussinov: "-i + j",
    edit_distance: "i + j",
    smith_waterman: "i + j",
    relaxation: None,
    triangle_of_ratios: "i + j",
    with_first_elements: "i + j",
    levels: "2*t - i",
    as_often_as_a_neighbour_says: "3*i + j",
    from_negative: "2*i + j",
    both_downwards: "-i - j",
    cube: None,
    relaxation_in_space: None,
    with_a_parallel_loop: "i + j",
    reads_far_away: "3*i + j",
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_waves_leave_the_bits_of_the_loops_in_order(backend, function):
    for n in SIZES:
        check(backend, function, given_for(function, n))


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_explain_names_the_hyperplane(function):
    text = explained(function, given_for(function, 12))
    assert f"waves: iterations with the same {PROGRAMS[function] or ''}" in text
    assert "restructure=True" in text


def test_a_long_loop_over_time_is_part_of_the_waves(monkeypatch):
    monkeypatch.delenv("PARPY_WAVES")
    square = np.ones((400, 400))
    text = explained(seidel, (square, 99, 400))
    assert "waves: iterations with the same 4*t + 2*i + j are independent" in text
    assert text.count("proved") == 2
    text = explained(relaxation_in_space, (np.ones((100, 100, 100)), 50, 100))
    assert "waves: iterations with the same 2*t + i + j + k are independent" in text
    assert text.count("proved") == 3
    assert "waves" not in explained(seidel, (square, 1, 5))
    monkeypatch.setenv("PARPY_WAVES", "0")
    assert "waves" not in explained(seidel, (square, 99, 400))


def test_the_cpu_keeps_the_loops(monkeypatch):
    text = str(parpy.explain(parpy.jit(seidel), np.ones((400, 400)), 99, 400, opts=auto("cpu")))
    assert "waves" not in text


def test_the_mapping_that_explain_shows_can_be_given_by_hand():
    given = (np.random.default_rng(1).uniform(-1, 1, (40, 40)), 10, 40)
    found = parpy.explain(parpy.jit(seidel), *copies(given), opts=auto("sim"))
    assert len(found.opts.parallelize) == 2
    want, got = copies(given), copies(given)
    seidel(*want)
    parpy.jit(seidel)(*got, opts=found.opts)
    np.testing.assert_array_equal(want[0], got[0])


def labelled(A, N):
    for i in range(1, N):
        parpy.label("columns")
        for j in range(1, N):
            A[i, j] = A[i - 1, j] + A[i, j - 1]


def test_a_loop_that_is_mapped_by_hand_stays():
    opts = parpy.CompileOptions(
        parallelize={"columns": parpy.threads(64)}, restructure=True, backend=parpy.CompileBackend.Sim
    )
    with pytest.raises(parpy.ParallelError, match="loop 'j' cannot run in parallel"):
        parpy.jit(labelled)(np.ones((9, 9)), 9, opts=opts)


def scalar_passed_on(A, N):
    s = 0.0
    for i in range(1, N):
        for j in range(1, N):
            A[i, j] = A[i - 1, j] * 0.5 + A[i, j - 1] * 0.25 + s * 0.125
            s = A[i, j]


def last_value(A, N):
    v = 0.0
    for i in range(1, N):
        for j in range(1, N):
            v = A[i - 1, j] + A[i, j - 1]
            A[i, j] = v
    A[0, 0] = v


def by_table(A, N):
    for i in range(1, N):
        for j in range(1, N):
            A[i, j] = A[i - 1, int(A[0, j])] + A[i, j - 1]


def ends_early(A, N):
    for i in range(1, N):
        for j in range(1, N):
            if A[i - 1, j] > 3:
                break
            A[i, j] = A[i - 1, j] + A[i, j - 1]


def mirrored(A, N):
    for i in range(N):
        for j in range(N):
            A[i, j] = A[N - 1 - i, N - 1 - j] + A[N - 1 - i, j]


def total(A, N):
    s = 0.0
    for i in range(1, N):
        for j in range(1, N):
            A[i, j] = A[i - 1, j] + A[i, j - 1]
            s += A[i, j]
    A[0, 0] = s


def row_needs_the_last_one(A, N):
    for i in range(1, N):
        A[i, 0] = A[i - 1, N - 1]
        for j in range(1, N):
            A[i, j] = A[i - 1, j] + A[i, j - 1]


def scalar_of_a_row(A, N):
    for i in range(1, N):
        s = A[i - 1, 0]
        for j in range(1, N):
            A[i, j] = A[i - 1, j] + A[i, j - 1] + s


def bounds_that_change(A, N):
    m = N
    for i in range(1, m):
        m -= 1
        for j in range(1, m):
            A[i, j] = A[i - 1, j] + A[i, j - 1]


def of_two_ranges(A, N):
    for i in range(1, N):
        for j in range(1, N // (i + 1)):
            A[i, j] = A[i - 1, j] + A[i, j - 1]


def by_steps(A, N):
    for i in range(1, N, 2):
        for j in range(1, N):
            A[i, j] = A[i - 1, j] + A[i, j - 1]


NO_WAVES = (
    scalar_passed_on,
    last_value,
    by_table,
    ends_early,
    mirrored,
    total,
    row_needs_the_last_one,
    scalar_of_a_row,
    bounds_that_change,
    of_two_ranges,
    by_steps,
)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", NO_WAVES, ids=lambda f: f.__name__)
def test_other_nests_stay_in_order(backend, function):
    for n in (2, 20):
        given = (np.random.default_rng(n).integers(0, 2, (n, n)).astype(float), n)
        assert "waves: " not in explained(function, given)
        check(backend, function, given)


def reads_another(A, B, N):
    for i in range(1, N):
        for j in range(1, N):
            A[i, j] = B[i - 1, j] + A[i, j - 1] + B[i, j - 1]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("offset", "in_waves"), [(0, True), (1, True), (13, True), (14, True), (5, False), (-3, False)]
)
def test_arrays_that_overlap(backend, offset, in_waves):
    n = 13

    def views():
        memory = np.arange(500.0)
        return memory[50 : 50 + n * n].reshape(n, n), memory[50 + offset : 50 + offset + n * n].reshape(n, n)

    want, got = views(), views()
    reads_another(*want, n)
    compiled = parpy.jit(reads_another)
    if backend == "eval":
        parpy.calls.jit.interpret(compiled, (*got, n), auto("sim"), "collapse-loops")
    else:
        compiled(*got, n, opts=auto(backend))
    np.testing.assert_array_equal(want[0], got[0])
    text = str(parpy.explain(parpy.jit(reads_another), *views(), n, opts=auto("sim")))
    assert ("waves: " in text) == in_waves


@pytest.mark.parametrize("backend", BACKENDS[1:])
def test_sizes_of_run_time(backend):
    compiled = parpy.jit(edit_distance)
    for n in (5, 6, 8, 11, 12, 13, 0, 1, 2, 20):
        want, got = given_for(edit_distance, n), given_for(edit_distance, n)
        edit_distance(*want)
        compiled(*got, opts=auto(backend))
        np.testing.assert_array_equal(want[0], got[0])


def between(A, first, last, N):
    for i in range(first, last):
        for j in range(first, i + 1):
            A[i - first + 1, j - first + 1] = A[i - first, j - first + 1] + A[i - first + 1, j - first]


@pytest.mark.parametrize("backend", BACKENDS[1:])
def test_bounds_that_are_far_from_zero(backend):
    compiled = parpy.jit(between)
    for first in (0, -7, 2**40, -(2**40), 2**60, -(2**62), 3):
        want, got = np.ones((9, 9)), np.ones((9, 9))
        between(want, first, first + 8, 9)
        compiled(got, first, first + 8, 9, opts=auto(backend))
        np.testing.assert_array_equal(want, got)


@pytest.mark.parametrize("function", (seidel, nussinov, edit_distance), ids=lambda f: f.__name__)
def test_nvrtc_compiles_the_waves(function):
    text = parpy.print_compiled(parpy.jit(function), given_for(function, 60), auto("cuda"))
    assert "wave" in text
    cubin(text)
