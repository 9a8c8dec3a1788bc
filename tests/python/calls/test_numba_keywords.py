"""`parpy.jit` with the keywords and signatures of `numba.jit`, `parpy.njit` and `parpy.prange`."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

import parpy
import parpy as nb
from parpy import cuda


@nb.jit(nopython=True, parallel=True, fastmath=True, cache=True, nogil=True, error_model="numpy", inline="never")
def total(x):
    found = 0.0
    for i in nb.prange(x.shape[0]):
        found += x[i]
    return found


@nb.njit(parallel=True)
def squares(n):
    made = np.empty(n)
    for i in nb.prange(n):
        made[i] = i * i
    return made


def test_the_usual_keywords():
    x = np.linspace(0.5, 2, 1001)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert total(x) == pytest.approx(x.sum())
        assert (squares(7) == np.arange(7) ** 2).all()


def test_fastmath_is_the_option_of_plain_calls():
    def root(x, y):
        for i in range(x.shape[0]):
            y[i] = (x[i] + 1e30) - 1e30

    x, y = np.ones(3, np.float32), np.full(3, 7, np.float32)
    nb.njit(root)(x, y)
    assert (y == 0).all()
    nb.njit(fastmath={"nnan"})(root)(x, y)
    assert (y == 0).all()
    fast = nb.njit(fastmath=True)(root)
    fast(x, y)
    assert (y == 1).all()
    fast(x, y, opts=parpy.auto(backend=parpy.CompileBackend.Cpu))
    assert (y == 0).all()


def test_keywords_reach_the_parts_between_which_python_runs():
    @nb.njit(boundscheck=True)
    def parts(x, y, k):
        for _ in range(3):
            for i in range(x.shape[0]):
                y[i] = x[i] + 1.0
            x, y = y, x
        x[k] = 5.0

    x, y = np.zeros(3), np.zeros(3)
    parts(x, y, 1)
    assert y.tolist() == [3, 5, 3]
    with pytest.raises(IndexError):
        parts(x, y, 3)


def test_boundscheck_checks_the_subscripts_of_plain_calls():
    def element(x, i):
        return x[i]

    checked = nb.njit(boundscheck=True)(element)
    assert checked(np.arange(3.0), 2) == 2
    with pytest.raises(IndexError, match="3"):
        checked(np.arange(3.0), 3)


@nb.jit("float32(float64[:], float64)")
def scaled_sum(x, a):
    found = 0.0
    for i in range(len(x)):
        found += x[i] * a
    return found


@nb.njit("f8[:](f8[:], i4)")
def scaled(x, k):
    return x * k


@nb.njit(cuda.types.float64(cuda.types.float32, cuda.types.int64))
def product(a, b):
    return a * b


@nb.njit(["f8(f8)", "i8(i8)"])
def successor(a):
    return a + 1


def test_signatures():
    x = np.arange(5.0)
    result = scaled_sum(x, 3)
    assert type(result) is np.float32 and result == 30
    assert (scaled(x, 2) == 2 * x).all()
    assert product(0.1, 3) == float(np.float32(0.1) * 3)
    assert (successor(2), successor(2.5)) == (3, 3.5)
    with pytest.raises(TypeError, match=r"'x' is an array of f32 [^$]*buffer\(parpy.types.F64, \[:\]\)"):
        scaled_sum(x.astype(np.float32), 3)
    with pytest.raises(TypeError, match="'x' is an array of f64 with 2 dimensions"):
        scaled_sum(np.ones((2, 2)), 3)
    with pytest.raises(TypeError, match="1099511627776 does not fit int32"):
        scaled(x, 2**40)


def test_a_signature_leaves_the_function_as_it_is():
    def plain(a):
        return a

    made = nb.njit("f4(f4)")(plain)
    assert made.py_func is made.__wrapped__ is plain and plain.__annotations__ == {}
    assert made(0.1) == np.float32(0.1) and made(0.1, seq=True) == np.float32(0.1)


def test_decorating_twice():
    assert nb.njit(parallel=True)(total) is total and nb.jit(total) is total


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: nb.jit(forceobj=True), TypeError, "'forceobj'.*seq=True"),
        (lambda: nb.jit(debug=True), TypeError, "'debug'.*debug=True"),
        (lambda: nb.njit(paralel=True), TypeError, "'paralel'.*nopython, parallel"),
        (lambda: nb.njit(nopython=3), ValueError, "'nopython' is True or False, not 3"),
        (lambda: nb.njit(error_model="c"), ValueError, "'error_model' is 'python' or 'numpy', not 'c'"),
        (lambda: nb.njit("f8(f8"), TypeError, "'f8\\(f8' cannot be read"),
        (lambda: nb.njit("f7(f8)"), TypeError, "there is no type 'f7'"),
        (lambda: nb.njit([3]), TypeError, "3 is not a signature"),
        (lambda: nb.njit(3), TypeError, r"P001\]"),
        (lambda: nb.njit("f8(f8, f8)")(successor.__wrapped__), TypeError, "'successor' has 1 parameter.* has 2"),
        (lambda: cuda.jit("f8[:](f8)"), TypeError, r"cannot return float64\[:\]"),
    ],
)
def test_what_means_nothing_here(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_the_signature_names_the_keywords():
    shown = inspect.signature(parpy.jit)
    assert {"nopython", "parallel", "fastmath", "boundscheck"} <= shown.parameters.keys()
    assert "object at" not in str(shown)
