"""opts.check and assertions: correct programs stay silent with equal results; faults are found and located.

The checks insert ordinary IR, so the reference interpreter also finds each planted fault.
"""

from __future__ import annotations

import contextlib
import io
import re
from typing import Any

import numpy as np
import pytest

import parpy
from backends import copies
from checking import backend, message, on_host, options  # noqa: F401
from parpy import CompileBackend, CompileOptions, ElemSize, threads

LEVELS = ["bounds", "races", "all"]


# ---------------------------------------------------------------- correct programs


@parpy.jit
def axpy(y, x, n):
    parpy.label("i")
    for i in range(n):
        y[i] = y[i] + x[i]


@parpy.jit
def row_sums(y, x, n, m):
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(m):
            y[i] += x[i, j]


@parpy.jit
def scatter(y, x, p, n):
    parpy.label("i")
    for i in range(n):
        y[p[i]] = x[p[-i - 1]]


@parpy.jit
def jacobi(a, b, steps, n):
    for _ in range(steps):
        parpy.label("i")
        for i in range(1, n - 1):
            b[i] = a[i - 1] + a[i + 1]
        parpy.label("k")
        for k in range(1, n - 1):
            a[k] = b[k]


@parpy.jit
def compress(y, x, n):
    parpy.label("i")
    for i in range(n):
        k = 0
        while k < i and x[k] != x[i]:
            k += 1
        y[i] = x[k] if k < i or x[i] > x[0] else x[-1]


@parpy.jit
def middle(y, x, n):
    parpy.label("i")
    for i in range(n):
        parpy.label("j")
        for j in range(n):
            parpy.label("k")
            for k in range(n):
                y[i, j, k] = x[k, j, i]


def arguments_of(function: Any, dtype: Any) -> tuple[Any, ...]:
    rng = np.random.default_rng(1)

    def array(*shape: int) -> Any:
        return (rng.integers(0, 2, shape)).astype(dtype)

    n, m = 30, 17
    return {
        "axpy": lambda: (array(n), array(n), n),
        "row_sums": lambda: (array(n), array(n, m), n, m),
        "scatter": lambda: (array(n), array(n), rng.permutation(n), n),
        "jacobi": lambda: (array(n), array(n), 3, n),
        "compress": lambda: (array(n), array(n), n),
        "middle": lambda: (array(5, 5, 5), array(5, 5, 5), 5),
    }[function.__name__]()


DTYPES = [s.to_numpy() for s in ElemSize if s is not ElemSize.Bool] + [np.complex64, np.complex128]


@pytest.mark.parametrize(
    ("check", "backend"),
    [*((level, CompileBackend.Cpu) for level in LEVELS), ("bounds", CompileBackend.Sim)],
    indirect=["backend"],
)
@pytest.mark.parametrize("function", [axpy, row_sums, scatter, jacobi], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
def test_correct_programs_stay_silent(function, dtype, check):
    arguments = arguments_of(function, dtype)
    expected = copies(arguments)
    mapping: dict[str, Any] = {"i": 8, "k": 8} if function is jacobi else {"i": 8}
    if function is row_sums:
        mapping["j"] = threads(4).reduce()
    function(*expected, opts=options(None, **mapping))
    function(*arguments, opts=options(check, **mapping))
    for got, want in zip(arguments, expected, strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("check", LEVELS)
@pytest.mark.parametrize("function", [compress, middle], ids=lambda f: f.__name__)
def test_control_flow_keeps_its_meaning(function, check):
    arguments = arguments_of(function, np.float64)
    expected = copies(arguments)
    mapping = {"i": 8} if function is compress else {"i": 8, "j": 8, "k": 8}
    function(*expected, seq=True)
    function(*arguments, opts=options(check, **mapping))
    np.testing.assert_array_equal(arguments[0], expected[0])


@on_host
@pytest.mark.parametrize("check", LEVELS)
def test_reductions_are_silent(check):
    @parpy.jit
    def reductions(out, x, n):
        total = 0.0
        low = x[0]
        parpy.label("i")
        for i in range(n):
            total += x[i]
            if x[i] < low:
                low = x[i]
            out[2] = max(out[2], x[i])
        out[0] = total
        out[1] = low

    x = np.arange(-50.0, 50.0)
    out = np.zeros(3)
    reductions(out, x, 100, opts=options(check, i=64))
    assert out.tolist() == [-50.0, -50.0, 49.0]


@pytest.mark.parametrize("check", LEVELS)
def test_shapes_at_run_time(check):
    for n in range(2, 9):
        x = np.arange(n * n, dtype=np.float64).reshape(n, n)[:, ::-1]
        y = np.zeros(n)
        row_sums(y, x, n, n, opts=options(check, i=8))
        np.testing.assert_allclose(y, x.sum(axis=1))
    assert "n" in row_sums.cache_info().run_time
    with pytest.raises(IndexError):
        row_sums(np.zeros(9), np.zeros((9, 9)), 9, 10, opts=options(check, i=8))


def test_empty_arrays_and_loops():
    for check in LEVELS:
        axpy(np.zeros(0), np.zeros(0), 0, opts=options(check, i=8))


# ---------------------------------------------------------------- bounds


@parpy.jit
def gather(y, x, idx, n):
    parpy.label("i")
    for i in range(n):
        y[i] = x[idx[i]]


@pytest.mark.parametrize("check", LEVELS)
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32])
def test_subscripts_of_any_type(dtype, check):
    n = 40
    idx = np.arange(n).astype(dtype)
    x, y = np.arange(50.0), np.zeros(n)
    gather(y, x, idx, n, opts=options(check, i=8))
    assert (y == x[:n]).all()
    idx[23] = 50
    text = message(IndexError, gather, (y, x, idx, n), options(check, i=8))
    assert re.search(r"test_check\.py:\d+:18: error\[P421\]: subscript 50 is out of bounds for axis 0", text)
    assert "of 'x', whose size is 50" in text
    assert "y[i] = x[idx[i]]" in text and "^~" in text
    assert "note: in iteration i=23" in text


@pytest.mark.parametrize("check", LEVELS)
def test_negative_subscripts(check):
    n = 20
    x, y = np.arange(30.0), np.zeros(n)
    idx = -1 - np.arange(n)
    gather(y, x, idx, n, opts=options(check, i=8))
    assert (y == x[idx]).all()
    idx[3] = -31
    assert "subscript -31 is out of bounds" in message(IndexError, gather, (y, x, idx, n), options(check, i=8))


@parpy.jit
def place(y, x, p, n, m):
    parpy.label("i")
    for i in range(n):
        for j in range(m):
            y[i, p[j]] = x[i - 1, j] if i > 0 else 0.0


@pytest.mark.parametrize("check", LEVELS)
def test_two_dimensions(check):
    p = np.array([1, 7, -8])
    for n in range(3, 9):  # becomes a run-time value
        place(np.zeros((n, 8)), np.ones((n, 8)), p, n, 3, opts=options(check, i=6))
    p[2] = 8
    text = message(IndexError, place, (np.zeros((6, 8)), np.ones((6, 8)), p, 6, 3), options(check, i=6))
    assert "subscript 8 is out of bounds for axis 1 of 'y', whose size is 8" in text
    assert re.search(r"in iteration i=\d, j=2", text)


def test_only_what_is_evaluated_is_checked():
    @parpy.jit
    def guarded(y, x, n):
        for i in range(n + 3):
            if i < n and x[i] > 0:
                y[i] = x[i] if i < n else x[i + 100]
            j = i
            while j < n and x[j] > 0:
                j += 1

    for n in range(1, 6):
        guarded(np.zeros(n), np.ones(n), n, opts=options("all"))


def test_proved_subscripts_cost_nothing():
    y, x = np.zeros(100), np.zeros(100)
    plain = parpy.print_compiled(axpy, (y, x, 100), options(None, i=8))
    assert "fail(" not in parpy.print_compiled(axpy, (y, x, 100), options("bounds", i=8))
    assert "fail" not in plain
    assert "fail(" in parpy.print_compiled(gather, (y, x, np.zeros(100, int), 100), options("bounds", i=8))


def test_many_workers_stop():
    """The first failure wins, whichever worker finds it, and the next call is fine."""
    n = 200_000
    x, y, idx = np.arange(10.0), np.zeros(n), np.full(n, 11)
    for _ in range(20):
        with pytest.raises(IndexError, match="subscript 11 is out of bounds"):
            gather(y, x, idx, n, opts=options("bounds", i=64))
    gather(y, x, idx * 0, n, opts=options("bounds", i=64))


def test_helpers_are_checked():
    @parpy.jit
    def pick(x, k):
        return x[k]

    @parpy.jit
    def use(y, x, k, n):
        parpy.label("i")
        for i in range(n):
            y[i] = pick(x, k[i])

    k = np.arange(9) + 1
    text = message(IndexError, use, (np.zeros(9), np.zeros(9), k, 9), options("bounds", i=8))
    assert "subscript 9 is out of bounds for axis 0 of 'x', whose size is 9" in text
    assert "return x[k]" in text


@parpy.jit
def reduce_at(y, x, k, n):
    parpy.label("i")
    for i in range(n):
        y[k[0]] += x[i]


@pytest.mark.parametrize("check", LEVELS)
def test_reduced_elements_are_checked(check):
    y, x, k = np.zeros(4), np.ones(1000), np.array([2])
    reduce_at(y, x, k, 1000, opts=options(check, i=8))
    assert y.tolist() == [0, 0, 1000, 0]
    k[0] = 1 << 40
    assert "subscript 1099511627776 is" in message(IndexError, reduce_at, (y, x, k, 1000), options(check, i=8))


# ---------------------------------------------------------------- values


def test_variables_without_value():
    @parpy.jit
    def last(y, x, n):
        for i in range(n):
            if x[i] > 0:
                s = x[i]
        y[0] = s

    x = np.zeros(5)
    last(np.zeros(1), x + 1, 5, opts=options("all"))
    text = message(NameError, last, (np.zeros(1), x, 5), options("all"))
    assert "error[P423]: 's' is read before it has a value" in text and "y[0] = s" in text
    assert "error[P423]" in message(UnboundLocalError, last, (np.zeros(1), x, 5), options(None))


# ---------------------------------------------------------------- assertions


@parpy.jit
def positive(x, n):
    parpy.label("i")
    for i in range(n):
        assert x[i] > 0, "elements must be positive, {0}"
        x[i] = 1 / x[i]


def test_assertions():
    x = np.ones(10)
    x[3] = -1
    before = x.copy()
    positive(x, 10)
    assert (x == before).all()  # not checked
    for opts in (options("bounds", i=4), options("races", i=4), options("all")):
        text = message(AssertionError, positive, (x.copy(), 10), opts)
        assert "error[P420]: assertion failed: elements must be positive, {0}" in text
        assert "assert x[i] > 0" in text and "in iteration i=3" in text
    with contextlib.redirect_stdout(io.StringIO()):
        with pytest.raises(AssertionError, match="elements must be positive"):
            positive(x, 10, debug=True)
        with pytest.raises(AssertionError, match="elements must be positive"):
            positive(x, 10, opts=CompileOptions(backend=CompileBackend.Cpu, debug_print=True))
        positive(abs(x), 10, debug=True)
    positive(x, 10)


@pytest.mark.parametrize("loop", [{}, {"i": threads(4)}], ids=["sequential", "mapped"])
def test_assertions_on_the_simulator(loop):
    sim = CompileOptions(backend=CompileBackend.Sim, parallelize=loop)
    x = np.ones(10)
    x[3] = -1
    with contextlib.redirect_stdout(io.StringIO()):
        for _ in range(2):
            with pytest.raises(AssertionError, match="elements must be positive") as caught:
                positive(x.copy(), 10, opts=sim, debug=True)
            assert "in iteration i=3" in str(caught.value)
        positive(abs(x), 10, opts=sim, debug=True)
    got = x.copy()
    positive(got, 10, opts=sim)
    np.testing.assert_array_equal(got, 1 / x)


def test_assertions_of_host_code():
    @parpy.jit
    def some(x, n):
        assert n > 2, "too few"
        parpy.label("i")
        for i in range(n):
            x[i] = 1

    sim = CompileOptions(backend=CompileBackend.Sim, parallelize={"i": threads(4)})
    x = np.zeros(10)
    with contextlib.redirect_stdout(io.StringIO()), pytest.raises(AssertionError, match="too few"):
        some(x, 2, opts=sim, debug=True)
    assert not x.any()
    some(x, 2, opts=sim)
    assert x[1] == 1


@on_host
def test_a_dropped_assertion_reads_nothing():
    @parpy.jit
    def total(y, x, n):
        s = 0.0
        parpy.label("i")
        for i in range(n):
            s += x[i]
            assert s < 1000.0
        y[0] = s

    y = np.zeros(1)
    total(y, np.ones(100), 100, opts=options(None, i=8))
    assert y[0] == 100


def test_cuda_cannot_check():
    opts = CompileOptions(backend=CompileBackend.Cuda, check="bounds")
    with pytest.raises(parpy.BackendError, match=r"CompileBackend\.Cpu"):
        axpy(np.zeros(3), np.zeros(3), 3, opts=opts)


# ---------------------------------------------------------------- reads without a use


@parpy.jit
def times_nothing(a, b, k):
    for i in range(3):
        a[i] = b[k[i]] * 0


@parpy.jit
def decided_before(a, b, k):
    for i in range(3):
        a[i] = 1 if (b[k[i]] > 0 or True) else 2


@parpy.jit
def alone(a, b, k):
    for i in range(3):
        b[k[i]]
        a[i] = 1


@parpy.jit
def never_used(a, b, k):
    for i in range(3):
        s = b[k[i]]  # noqa: F841
        a[i] = 1


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("function", [times_nothing, decided_before, alone, never_used], ids=lambda f: f.__name__)
def test_reads_whose_value_nobody_needs_are_checked(function, dtype):
    opts = CompileOptions(backend=CompileBackend.Cpu, check="all")
    function(np.zeros(4, dtype), np.zeros(4, dtype), np.array([0, 3, 2]), opts=opts)
    with pytest.raises(IndexError, match="subscript 9 is out of bounds for axis 0 of 'b', whose size is 4"):
        function(np.zeros(4, dtype), np.zeros(4, dtype), np.array([1, 9, 2]), opts=opts)
