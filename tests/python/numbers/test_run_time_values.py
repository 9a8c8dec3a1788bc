"""Calls whose values have become run-time values give the results and errors of calls compiled for their values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import parpy
from fresh_functions import CPU, compilations, fresh, on_cpu


def test_large_integers_that_keep_changing(tmp_path):
    f = fresh(
        """
        @parpy.jit
        def f(x, seed):
            for i in range(len(x)):
                x[i] = (seed ^ i) & 0xffff
        """,
        tmp_path,
    )
    rng = np.random.default_rng(0)
    for seed in rng.integers(2**50, 2**63 - 1, 80).tolist():
        x = np.zeros(3, np.int64)
        f(x, seed, opts=CPU)
        assert x.tolist() == [(seed ^ i) & 0xFFFF for i in range(3)]
    assert compilations(f) <= 32


def test_calls_beyond_what_was_proved(tmp_path):
    f = fresh(
        """
        @parpy.jit
        def f(x, n, k):
            parpy.label('i')
            for i in range(n):
                x[i] = x[i + k] + 1
        """,
        tmp_path,
    )
    for k in range(1, 70):
        x = np.arange(200.0)
        if k < 60:
            with pytest.raises(parpy.ParallelError, match="iteration i="):
                f(x, 60, k, opts=on_cpu(i=4))
            assert x.tolist() == list(range(200))
        else:
            f(x, 60, k, opts=on_cpu(i=4))
            assert x[:60].tolist() == [i + k + 1 for i in range(60)]
    assert compilations(f) <= 40


def test_what_needs_its_sizes_is_specialised_for_them_alone(tmp_path):
    f = fresh(
        """
        @parpy.jit
        def f(x, y, a):
            y[:] = a * x
        """,
        tmp_path,
    )
    for n in range(2, 8):
        for a in range(12):
            x, y = np.ones(n), np.zeros(n)
            f(x, y, float(a), opts=CPU)
            assert y.tolist() == [float(a)] * n
    assert "a" in f.cache_info().run_time
    assert compilations(f) <= 40


@pytest.mark.parametrize("statement", ["y[i] = x[i] + k", "x[i] = k", "x[i] <<= k", "y[i] = np.uint8(k)", "x[i] -= k"])
@pytest.mark.parametrize("backend", [parpy.CompileBackend.Cpu, parpy.CompileBackend.Sim])
def test_run_time_integers_that_do_not_fit_are_refused_as_constants_are(statement, backend, tmp_path):
    f = fresh(f"@parpy.jit\ndef f(x, y, k):\n    for i in range(len(x)):\n        {statement}\n", tmp_path)
    opts = parpy.CompileOptions(backend=backend)
    for k in (300, 1, 2, 3, 4, 5, 6, 300, -1, 2**40, 7, 255):
        x, y = np.full(3, 100, np.uint8), np.zeros(3, np.int64)
        before = x.copy(), y.copy()
        if 0 <= k < 256:
            want = [each.copy() for each in before]
            with np.errstate(over="ignore"):
                f.__wrapped__(*want, k)
            f(x, y, k, opts=opts)
            assert (x.tolist(), y.tolist()) == tuple(each.tolist() for each in want)
        else:
            with pytest.raises(parpy.CompileError, match="does not fit uint8"):
                f(x, y, k, opts=opts)
            assert (x.tolist(), y.tolist()) == tuple(each.tolist() for each in before)
    assert f.cache_info().specializations <= 4


@pytest.mark.parametrize("exponent", ["k", "k - 1", "-k", "2 * k - 3", "5 - k * 2 + k"])
def test_powers_of_run_time_integers_are_what_they_are_of_constants(exponent, tmp_path):
    f = fresh(f"@parpy.jit\ndef f(y, k):\n    y[0] = 2 ** ({exponent})\n", tmp_path)
    for k in (0, -2, 1, 2, 3, 4, 5, 6, -3, 7, -1, 8):
        y = np.zeros(1)
        f(y, k, opts=CPU)
        assert y[0] == 2.0 ** eval(exponent, {"k": k})


def test_other_powers_fail_where_they_are_negative(tmp_path):
    f = fresh("@parpy.jit\ndef f(y, k):\n    y[0] = 2 ** (k // 2 - 3)\n", tmp_path)
    for k in (0, 6, 7, 8, 9, 10, 5, -1, 12):
        y = np.zeros(1)
        if k // 2 < 3:
            with pytest.raises(ValueError, match="negative power"):
                f(y, k, opts=CPU)
        else:
            f(y, k, opts=CPU)
            assert y[0] == 2 ** (k // 2 - 3)


def test_sums_of_run_time_integers_that_do_not_fit_are_refused(tmp_path):
    f = fresh("@parpy.jit\ndef f(y, k):\n    y[0] += k - 5\n", tmp_path)
    for k in (4, 300, 5, 6, 7, 8, 9, 4, 300, 260, 261):
        y = np.zeros(1, np.uint8)
        if 0 <= k - 5 < 256:
            f(y, k, opts=CPU)
            assert y[0] == k - 5
        else:
            with pytest.raises(parpy.CompileError, match="does not fit uint8"):
                f(y, k, opts=CPU)


@parpy.jit
def stretched(x, y):
    y[:] = x[:] + y[:]


@parpy.jit
def stretched_rows(x, y):
    y[:, :] = x[:, :] * 2


def test_what_is_stretched_is_known_for_every_call():
    """Programs for all sizes exclude arrays of one element, which NumPy broadcasts."""
    for n in range(2, 40):
        for m in (n, 1):
            x, y = np.arange(1.0, m + 1), np.ones(n)
            stretched(x, y)
            np.testing.assert_array_equal(y, x + np.ones(n))
    assert parpy.calls.jit.cache_info(stretched).compilations < 12
    for n, m in itertools.product(range(2, 7), range(2, 7)):
        for shape in ((n, m), (1, m), (n, 1), (1, 1)):
            x, y = np.arange(1.0, 1 + shape[0] * shape[1]).reshape(shape), np.zeros((n, m))
            stretched_rows(x, y)
            np.testing.assert_array_equal(y, np.broadcast_to(2 * x, (n, m)))


@parpy.jit
def greatest(x, y):
    y[0] = parpy.max(x[:])


def test_the_maximum_of_nothing_is_refused_in_every_call():
    y = np.zeros(1)
    for n in range(1, 30):
        greatest(np.arange(float(n)), y)
        assert y[0] == n - 1
    with pytest.raises(ValueError, match="has no value"):
        greatest(np.zeros(0), y)


HELPERS = """
    @parpy.jit
    def h(a, b):
        return a + b

    @parpy.jit
    def deeper(a, b):
        return h(a, b - 1) * h(b, 1)

    @parpy.jit
    def power(a, b):
        return a * 2 ** b
"""


@pytest.mark.parametrize(
    "call", ["h(x[i], n)", "h(x[i], 2 * n - 300)", "deeper(x[i], n + 1)", "h(n, x[i])", "h(b=x[i], a=n)"]
)
def test_integers_that_do_not_fit_behind_a_call(call, tmp_path):
    """The integer is a constant of the program, or has become a run-time value."""
    f = fresh(
        HELPERS
        + f"""
    @parpy.jit
    def f(y, x, n):
        for i in range(len(x)):
            y[i] = {call}
    """,
        tmp_path,
    )
    x = np.array([1, 2, 3], np.uint8)
    for n in [300, *range(150, 220), 300, 301, -1, 180, 1000]:
        expected, found = np.zeros(3, np.int64), np.zeros(3, np.int64)
        try:
            with np.errstate(all="ignore"):
                f(expected, x, n, seq=True)
        except OverflowError:
            with pytest.raises(parpy.CompileError, match="does not fit uint8"):
                f(found, x, n, opts=CPU)
            continue
        f(found, x, n, opts=CPU)
        assert found.tolist() == expected.tolist()


def test_constants_that_do_not_fit_behind_a_call(tmp_path):
    f = fresh(
        HELPERS
        + """
    @parpy.jit
    def f(y, x):
        y[0] = h(x[0], 300)
    """,
        tmp_path,
    )
    with pytest.raises(parpy.CompileError, match="300 does not fit uint8"):
        f(np.zeros(1), np.zeros(1, np.uint8), opts=CPU)


def test_powers_behind_a_call(tmp_path):
    f = fresh(
        HELPERS
        + """
    @parpy.jit
    def f(y, x, n):
        y[0] = power(x[0], n)
    """,
        tmp_path,
    )
    for n in [-1, *range(50), -2, 3]:
        y = np.zeros(1)
        f(y, np.ones(1), n, opts=CPU)
        assert y[0] == 2.0**n


def test_functions_that_call_themselves_ask_once(tmp_path):
    f = fresh(
        """
    @parpy.jit
    def climb(a, n):
        return a if n == 0 else climb(a + n, n - 1)

    @parpy.jit
    def f(y, x, n):
        y[0] = climb(x[0], n)
    """,
        tmp_path,
    )
    for n in range(20):
        y = np.zeros(1)
        f(y, np.ones(1, np.uint8), n, opts=CPU)
        assert y[0] == 1 + n * (n + 1) // 2


BRANCHES = """
    @parpy.jit
    def store(y, i, v):
        y[i] = v

    @parpy.jit
    def clamped(y, n, v):
        if 0 <= v and v < 256:
            y[n] = v
        else:
            y[n] = 0

    @parpy.jit
    def looped(y, n, v):
        for i in range(n):
            y[i] = v

    @parpy.jit
    def early(y, n, v):
        if v > 255:
            return
        y[n] = v

    @parpy.jit
    def deeper(y, n, v):
        if n > 1:
            store(y, n, v)

    @parpy.jit
    def opened(y, n, v):
        if v <= 100000 or n > 2:
            y[n] = 1
        else:
            store(y, n, v)
"""


@pytest.mark.parametrize("helper", ["clamped", "looped", "early", "deeper", "opened"])
def test_integers_that_do_not_fit_in_branches_that_are_not_taken(helper, tmp_path):
    f = fresh(BRANCHES + f"\n    @parpy.jit\n    def f(y, n, v):\n        {helper}(y, n, v)\n", tmp_path)
    calls = [(n, v) for v in (1, 2, 3, 4, 5, 6, 7, 300, 400, -1, 100001, 0, 300) for n in (2, 3, 1, 0)]
    for n, v in calls:
        expected, found = np.zeros(4, np.uint8), np.zeros(4, np.uint8)
        try:
            f(expected, n, v, seq=True)
        except OverflowError:
            with pytest.raises(parpy.CompileError, match="does not fit uint8"):
                f(found, n, v, opts=CPU)
            continue
        f(found, n, v, opts=CPU)
        assert found.tolist() == expected.tolist()


def test_integers_that_do_not_fit_in_branches_that_elements_decide(tmp_path):
    f = fresh(
        BRANCHES
        + """
    @parpy.jit
    def decided(y, x, v):
        if x[0] > 0:
            y[0] = v

    @parpy.jit
    def f(y, x, v):
        decided(y, x, v)
    """,
        tmp_path,
    )
    y = np.zeros(4, np.uint8)
    for v in range(8):
        f(y, np.ones(1), v, opts=CPU)
        assert y[0] == v
    with pytest.raises(parpy.CompileError, match="300 does not fit uint8"):
        f(y, np.ones(1), 300, opts=CPU)
    assert y[0] == 7


def test_calls_in_branches_that_are_not_taken(tmp_path):
    f = fresh(
        BRANCHES
        + """
    @parpy.jit
    def f(y, n, v):
        if v > 100000:
            store(y, n, v)
        for i in range(n):
            store(y, i, v % 256)
    """,
        tmp_path,
    )
    for v in (1, 2, 3, 4, 5, 6, 7, 300, 100000, -1):
        y = np.zeros(4, np.uint8)
        f(y, 2, v, opts=CPU)
        assert y.tolist() == [v % 256] * 2 + [0, 0]
    with pytest.raises(parpy.CompileError, match="does not fit uint8"):
        f(y, 2, 100001, opts=CPU)
