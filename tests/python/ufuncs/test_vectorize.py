"""parpy.vectorize: signatures, inferred types, several results, flags of the floating-point unit, errors."""

from __future__ import annotations

import gc
import math
import threading
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import parpy
from parpy.cuda.types import float32, float64, int32
from parpy.ufuncs import choices
from ufunc_targets import HOSTS, TARGETS, check_same, on_device, on_host

FACTOR = 3.0
TABLE = np.array([1.0, 2.0, 4.0])


def squared(a, b):
    return (a + b) ** 2


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "signatures",
    [
        ["float32(float32, float32)", "float64(float64, float64)"],
        [float32(float32, float32), float64(float64, float64)],
        "float64(float64, float64)",
        None,
    ],
)
def test_signatures(target, signatures):
    ufunc = parpy.vectorize(signatures, target=target)(squared)
    x = np.arange(10, dtype=np.float32)
    wide = x.astype("f8") if isinstance(signatures, str) else x
    check_same(on_host(ufunc(x, np.float32(1.2))), (wide + np.float32(1.2)) ** 2)
    check_same(on_host(ufunc(x.astype("f8"), 2)), (x.astype("f8") + 2) ** 2)


@pytest.mark.parametrize("target", TARGETS)
def test_types_found_at_the_call(target):
    @parpy.vectorize(target=target)
    def add(a, b):
        return a + b

    assert add.ntypes == 0
    for a, b in [(1, 2), (1.5, 2), (np.float32(1), 2.5), (np.arange(3, dtype="i1"), 1), (np.arange(3, dtype="i1"), 1.5),
                 (np.arange(3, dtype="u2"), np.arange(3, dtype="i2")), (np.ones(3, "f4"), 1j)]:  # fmt: skip
        check_same(on_host(add(a, b)), np.add(a, b))
    types = list(add.types)
    assert "bb->b" in types and len(set(types)) == len(types)
    check_same(on_host(add.reduce(np.arange(10.0))), np.float64(45))
    check_same(on_host(add(np.arange(3.0), np.arange(3.0), dtype="f4")), np.arange(3, dtype="f4") * 2)
    with pytest.raises(TypeError):
        add(np.array(["a"]), 1)
    with pytest.raises(TypeError, match="cannot use operands with types"):
        add(np.array(["2020"], "M8[D]"), np.array(["2020"], "M8[D]"))


@pytest.mark.parametrize("target", TARGETS)
def test_several_results(target):
    @parpy.vectorize(target=target)
    def both(a, b):
        """Quotient and remainder."""
        return a // b, a % b

    assert both.nout == 2 and "Quotient" in both.__doc__
    x = np.arange(-5, 6)
    check_same(on_host(both(x, 3)), np.divmod(x, 3))
    out = np.empty(11, int), np.empty(11, int)
    assert both(x, 3, out=out)[1] is out[1]
    check_same(out, np.divmod(x, 3))

    @parpy.vectorize(["Tuple((float64, int32))(float64)"], target=target)
    def split(a):
        return a * 2, int32(a)

    check_same(on_host(split(np.array([1.5, 2.5]))), (np.array([3.0, 5.0]), np.array([1, 2], "i4")))


@pytest.mark.parametrize("target", TARGETS)
def test_bodies(target):
    """Bodies with branches, loops, helpers, functions of math and NumPy, and globals."""

    def helper(x):
        return x * FACTOR

    @parpy.vectorize(["float64(float64, int64)"], target=target)
    def body(x, n):
        total = 0.0
        for k in range(n):
            if k % 2 == 0:
                total += math.exp(-x) * TABLE[k % 3]
            else:
                total -= np.sqrt(abs(x))
        return helper(total)

    def wanted(x, n):
        return 3 * sum(math.exp(-x) * TABLE[k % 3] if k % 2 == 0 else -math.sqrt(abs(x)) for k in range(n))

    x = np.linspace(-1, 2, 50)
    np.testing.assert_allclose(on_host(body(x, 7)), [wanted(each, 7) for each in x], rtol=1e-12)


@pytest.mark.parametrize("target", HOSTS)
def test_flags_of_the_floating_point_unit(target):
    @parpy.vectorize(["float64(float64, float64)"], target=target)
    def divide(a, b):
        return a / b

    @parpy.vectorize(["float64(float64, float64)"], target=target)
    def guarded(a, b):
        return a / b if b != 0 else 0.0

    @parpy.vectorize(["float64(float64)"], target=target)
    def clipped(a):
        return a if a > 0 else 0.0

    for count in (1, 7, 10_000, 300_000):
        ones, zeros, nans = np.ones(count), np.zeros(count), np.full(count, np.nan)
        zeros[: count // 2] = 1
        with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
            divide(ones, zeros)
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
            divide(ones, zeros)
        with np.errstate(divide="ignore", invalid="raise"), pytest.raises(FloatingPointError):
            divide(np.zeros(count), np.zeros(count))
        with np.errstate(over="raise"), pytest.raises(FloatingPointError):
            divide(np.full(count, 1e300), np.full(count, 1e-300))
        with np.errstate(all="raise"):
            guarded(ones, zeros)  # both sides of the branch are computed
            clipped(nans)  # comparisons of NaN
            divide(nans, ones)


@pytest.mark.parametrize("target", HOSTS)
@pytest.mark.parametrize("count", [1, 8191, 8193, 1_000_003])
def test_lengths_and_strides(target, count):
    @parpy.vectorize(["float64(float64, float32, int32)"], target=target)
    def f(a, b, c):
        return a * b + c

    a, b, c = np.random.rand(2 * count)[::2], np.random.rand(count).astype("f4")[::-1], np.arange(count, dtype="i4")
    np.testing.assert_allclose(f(a, b, c), a * b + c)
    np.testing.assert_allclose(f(a[0], b, c), a[0] * b + c)
    np.testing.assert_allclose(f(a, b[0], c[0]), a * b[0] + c[0])
    for out in (a.copy(), np.repeat(a, 3)[::3], np.repeat(a[::-1], 2)[::-2]):
        f(out, b, c, out=out)
        np.testing.assert_allclose(out, a * b + c)


@pytest.mark.parametrize("target", [each for each in TARGETS if each not in HOSTS])
def test_arrays_of_several_dimensions_as_one_row(target):
    @parpy.vectorize(["float64(float64, float64)"], target=target)
    def f(a, b):
        return a * b + a

    x = np.random.rand(50, 20, 20)
    a, b = on_device(x), on_device(x.astype("f4"))
    for _ in range(2):  # the second call has a plan
        np.testing.assert_allclose(on_host(f(a, b)), x * x.astype("f4") + x)
        np.testing.assert_allclose(on_host(f(a, 2.0)), x * 3)
        out = on_device(np.zeros_like(x))
        f(a, b, out=out)
        np.testing.assert_allclose(on_host(out), x * x.astype("f4") + x)
        np.testing.assert_allclose(on_host(f(a.T, a.T)), (x * x + x).T)
        np.testing.assert_allclose(f(x, x), x * x + x)


@pytest.mark.parametrize("target", HOSTS)
def test_complex_numbers_in_records(target):
    """Fields are aligned to half their size."""

    @parpy.vectorize(["complex128(complex128, complex128)"], target=target)
    def product(a, b):
        return a * b

    records = np.zeros(1000, np.dtype([("z", "c16"), ("n", "f8")]))
    records["z"] = np.arange(1000) * 1j
    wanted = records["z"] * records["z"]
    np.testing.assert_array_equal(product(records["z"], records["z"]), wanted)
    product(records["z"], records["z"], out=records["z"])
    np.testing.assert_array_equal(records["z"], wanted)
    assert not records["n"].any()


@pytest.mark.parametrize("target", HOSTS)
def test_exceptions_of_the_function(target):
    @parpy.vectorize(["float64(float64)"], target=target)
    def root(x):
        if x < 0:
            raise ValueError("negative")
        return math.sqrt(x)

    np.testing.assert_array_equal(root([1.0, 4.0]), [1, 2])
    for count in (2, 300_000):
        with pytest.raises(ValueError, match="negative"):
            root(np.linspace(1, -1, count))
    np.testing.assert_array_equal(root([1.0, 4.0]), [1, 2])


def test_reductions_in_order():
    """The compiler recognises no reduction in these functions."""

    @parpy.vectorize(["float64(float64, float64)"])
    def minus(a, b):
        return a - b

    @parpy.vectorize(["float32(float32, float32)"], identity=0)
    def distance(a, b):
        return math.sqrt(a * a + b * b)

    x = np.random.rand(37, 41)
    for axis in (0, 1):
        np.testing.assert_allclose(minus.reduce(x, axis=axis), np.subtract.reduce(x, axis=axis))
        np.testing.assert_allclose(minus.accumulate(x, axis=axis), np.subtract.accumulate(x, axis=axis))
    with pytest.raises(ValueError, match="not reorderable"):
        minus.reduce(x, axis=(0, 1))
    single = x.astype("f4")
    np.testing.assert_allclose(distance.reduce(single, axis=(0, 1)), np.sqrt((x * x).sum()), rtol=1e-5)


def test_a_sum_in_many_chunks_on_the_device():
    @parpy.vectorize(target="sim", identity="reorderable")
    def distance(a, b):
        return math.sqrt(a * a + b * b)

    x = np.random.rand(3, 20_000)
    np.testing.assert_allclose(distance.reduce(x, axis=1), np.sqrt((x * x).sum(axis=1)))
    np.testing.assert_allclose(distance.reduce(x, axis=None), np.sqrt((x * x).sum()))


def test_auto_goes_where_the_arrays_are():
    @parpy.vectorize(["float64(float64, float64)"], target="auto")
    def f(a, b):
        return a * b

    x = np.arange(5.0)
    assert type(f(x, x)) is np.ndarray
    there = on_device(x)
    assert type(f(there, x)) is type(there)
    np.testing.assert_array_equal(on_host(f(there, x)), x * x)
    assert f.reduce(x[1:]) == 24


@pytest.mark.parametrize("target", TARGETS)
def test_objects_that_say_themselves_what_happens(target):
    class Wrapped:
        def __init__(self, values):
            self.values = values

        def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
            assert method == "__call__"
            return Wrapped(ufunc(*(getattr(each, "values", each) for each in inputs), **keywords))

    ufunc = parpy.vectorize(["float64(float64, float64)"], target=target)(squared)
    found = ufunc(Wrapped(np.arange(3.0)), 1.0)
    assert isinstance(found, Wrapped)
    np.testing.assert_array_equal(on_host(found.values), [1, 4, 9])


def test_numbas_types():
    numba = pytest.importorskip("numba")
    ufunc = parpy.vectorize([numba.float32(numba.float32, numba.float32)])(squared)
    assert ufunc.types == ["ff->f"]


def test_auto_goes_where_large_arrays_of_the_host_take_less_time(monkeypatch):
    """Each place is tried twice; only the second time counts."""
    clock = iter([0, 9, 9, 10, 10, 19, 19, 19.5])
    monkeypatch.setattr(choices._backend, "has_gpu", lambda: True)
    monkeypatch.setattr(choices, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    found = choices.Choices()
    calls = []
    for _ in range(6):
        found.run("f8", 1 << 20, lambda: calls.append("host"), lambda: calls.append("device"))
    found.run("f8", 100, lambda: calls.append("host"), lambda: calls.append("device"))
    assert calls == ["host", "host", "device", "device", "device", "device", "host"]

    monkeypatch.undo()
    monkeypatch.setattr(choices._backend, "has_gpu", lambda: True)
    monkeypatch.setattr(choices, "LEAST", 10)

    @parpy.vectorize(["float64(float64, float64)"], target="auto")
    def f(a, b):
        return a * b

    x = np.arange(20.0)
    for _ in range(6):
        np.testing.assert_array_equal(f(x, 2.0), x * 2)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy 2.0 refuses types that it found twice")
def test_other_threads():
    @parpy.vectorize(target="parallel")
    def f(a, b):
        return a * b + 1

    x, wrong = np.random.rand(100_000), []

    def run():
        for kind in ("f4", "f8", "c8"):
            y = x.astype(kind)
            try:
                if not np.allclose(f(y, y[::-1]), y * y[::-1] + 1):
                    wrong.append(kind)
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong
    assert len(set(f.types)) == len(f.types) == 3


def test_garbage():
    class Marker:
        pass

    def make():
        marker = Marker()

        @parpy.vectorize(["float64(float64)"])
        def f(x):
            return x + 1

        holder = {"f": f, "marker": marker}
        f.reduce.__self__  # noqa: B018
        return holder, weakref.ref(marker)

    holder, found = make()
    assert holder["f"](1.0) == 2
    del holder
    gc.collect()
    assert found() is None


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: parpy.vectorize(["float64(float64, float64)"] * 2)(squared), TypeError, "occurs twice"),
        (lambda: parpy.vectorize(["float64(float64)"])(squared), TypeError, "has 2 parameters, but its signature"),
        (lambda: parpy.vectorize(["float64(float64[:], float64)"])(squared), TypeError, "guvectorize"),
        (lambda: parpy.vectorize(["void(float64, float64)"])(squared), TypeError, "has no result"),
        (lambda: parpy.vectorize(["flot64(float64, float64)"])(squared), TypeError, "did you mean 'float64'"),
        (lambda: parpy.vectorize(target="tpu")(squared), ValueError, "'cpu', 'parallel', 'gpu'"),
        (lambda: parpy.vectorize(identity="zero")(squared), ValueError, "'reorderable'"),
        (lambda: parpy.vectorize(len), TypeError, "only Python functions"),
        (lambda: parpy.vectorize(lambda: 1), TypeError, "no parameters"),
    ],
)
def test_decorators_that_mean_nothing(make, error, text):
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize("target", TARGETS)
def test_arguments_that_no_loop_takes(target):
    ufunc = parpy.vectorize(["float32(float32, float32)", "int64(int64, int64)"], target=target)(squared)
    with pytest.raises(TypeError, match=r"not supported for the input types.*its loops are ff->f, ll->l"):
        ufunc(1j, 2j)


def test_a_function_that_returns_nothing():
    with pytest.raises(TypeError, match="returns nothing"):

        @parpy.vectorize
        def f(x):
            x + 1

    with pytest.raises(TypeError, match="returns 1 or 2 numbers"):

        @parpy.vectorize
        def g(x):
            if x > 0:
                return x
            return x, x


# ---------------------------------------------------------------- at


@parpy.vectorize(["float64(float64, float64)", "int64(int64, int64)"])
def sum_of(a, b):
    return a + b


@parpy.vectorize
def share(a, b):
    return a / b


@pytest.mark.parametrize("kind", [np.float64, np.int64])
@pytest.mark.parametrize("count", [0, 1, 1000])
def test_updates_at_indices(kind, count):
    """Updates in one dimension are one compiled loop; other updates, and numbers that are cast, are not."""
    rng = np.random.default_rng(3)
    ours, theirs = np.arange(60).astype(kind), np.arange(60).astype(kind)
    at, numbers = rng.integers(-30, 30, count), rng.integers(0, 9, count).astype(kind)
    for part in (slice(0, 30), slice(None, None, -2)):
        for given in (numbers, numbers[::-1], kind(3), 2, ours[:count] if count == 1 else numbers):
            sum_of.at(ours[part], at, given)
            np.add.at(theirs[part], at, given)
            np.testing.assert_array_equal(ours, theirs)
    rows = at % 3, at % 4
    sum_of.at(ours[:12].reshape(3, 4), rows, numbers)
    np.add.at(theirs[:12].reshape(3, 4), rows, numbers)
    np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(IndexError, match="out of bounds"):
        sum_of.at(ours, [60], kind(1))


def test_floating_point_errors_at_indices():
    x = np.ones(3)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        share.at(x, [0, 1, -1], np.array([0.0, 2.0, 4.0]))
    assert x.tolist() == [np.inf, 0.5, 0.25]
    with np.errstate(all="raise"):
        share.at(x, [1, 0], np.array([2.0, 3.0]))  # the infinity existed before
        with pytest.raises(FloatingPointError):
            share.at(x, [1], np.array([0.0]))


@pytest.mark.parametrize("target", TARGETS)
def test_reductions_over_no_axis(target):
    f = parpy.vectorize(["int64(int64, int64)", "float64(float64, float64)"], target=target)(plain_sum)
    x = np.arange(6.0).reshape(2, 3)
    assert f.reduce(3) == 3 and f.reduce(3.5) == 3.5 and f.reduce(np.array(2.0), initial=5) == 7
    for more in ({}, {"initial": 1}, {"initial": 1, "where": x > 2}, {"keepdims": True}):
        np.testing.assert_array_equal(f.reduce(x, axis=(), **more), np.add.reduce(x, axis=(), **more))


def plain_sum(a, b):
    return a + b
