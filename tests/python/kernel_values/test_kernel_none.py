"""Arguments of kernels and device functions that are None, and the code that kernels omit for them."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from parpy import cuda

pytestmark = pytest.mark.usefixtures("simulator")


@cuda.jit
def weighted(x, out, weights=None, scale=None):
    i = cuda.grid(1)
    if i < len(x):
        value = x[i] if scale is None else scale * x[i]
        if weights is not None and weights[i] > 0:
            value *= weights[i]
        elif weights is None:
            value += 100
        out[i] = value


def expected(x, weights=None, scale=None):
    value = x if scale is None else scale * x
    return value + 100 if weights is None else np.where(weights > 0, value * weights, value)


@pytest.mark.parametrize("first", [0, 1, 2, 3])
def test_arguments_that_are_none(first):
    x, weights = np.arange(5.0), np.array([2, -1, 0, 3, 1.5])
    calls = [(), (weights,), (None, 4), (weights, 4)]
    for given in calls[first:] + calls[:first]:
        out = np.zeros(5)
        weighted[1, 32](x, out, *given)
        assert out.tolist() == expected(x, *given).tolist()
        out = np.zeros(5)
        weighted.forall(5)(x, out, *given)
        assert out.tolist() == expected(x, *given).tolist()
    out = np.zeros(5)
    weighted[1, 32](x, out, scale=3)
    assert out.tolist() == expected(x, scale=3).tolist()


@cuda.jit(device=True)
def picked(x, i, mask=None, other=None):
    if mask is None or mask[i]:
        return x[i]
    return -1 if other is None else other[i]


@cuda.jit(device=True)
def both(x, i, shift=None):
    j = i if shift is None else i + shift
    return x[i], x[j]


def test_device_functions_get_none():
    @cuda.jit
    def kernel(x, mask, out):
        i = cuda.grid(1)
        out[i, 0] = picked(x, i)
        out[i, 1] = picked(x, i, mask)
        out[i, 2] = picked(x, i, None, other=None)
        out[i, 3] = picked(x, i, mask, x[1:])
        a, b = both(x, 0)
        c, d = both(x, 0, 1)
        out[i, 4] = a + 10 * b + 100 * c + 1000 * d

    x = np.array([3.0, 4, 5])
    for mask in (np.array([1, 0]), None):
        out = np.zeros((2, 5))
        kernel[1, 2](x, mask, out)
        given = [True, True] if mask is None else mask
        rows = [[x[i], x[i] if given[i] else -1, x[i], x[i] if given[i] else x[i + 1], 4333] for i in range(2)]
        assert out.tolist() == rows


def test_a_default_is_filled_in():
    @cuda.jit
    def kernel(out, n=None, start=None):
        if n is None:
            n = len(out)
        view = out if start is None else out[1:]
        for i in range(n):
            view[i] = i + 1

    for given, left in [((), [1, 2, 3]), ((2,), [1, 2, 0]), ((2, 1), [0, 1, 2]), ((None, None), [1, 2, 3])]:
        out = np.zeros(3)
        kernel[1, 1](out, *given)
        assert out.tolist() == left


NOTHING = None


def test_other_names_are_compared(monkeypatch):
    @cuda.jit
    def kernel(r, out):
        p, v = r[0], out[1:]
        t = (1, 2)
        if p is None or t is None or v is None or not (out is not None):
            out[0] = 1
        if NOTHING is None:
            out[1] = p.a
        out[2] = 7 if None is not NOTHING else t[1]

    out = np.zeros(3)
    records = np.ones(2, [("a", "f4"), ("b", "i4")])
    kernel[1, 1](records, out)
    assert out.tolist() == [0, 1, 2]
    monkeypatch.setitem(globals(), "NOTHING", 5)
    out = np.zeros(3)
    kernel[1, 1](records, out)
    assert out.tolist() == [0, 0, 7]


def test_types_of_elements_are_not_asked_of_none():
    @cuda.jit
    def kernel(x, out):
        if x is not None:
            own = cuda.local.array(2, x.dtype)
            own[0] = x[0]
            out[0] = own[0]
        else:
            out[0] = -1

    for x, value in [(None, -1), (np.array([2.5], np.float32), 2.5), (None, -1), (np.array([2]), 2)]:
        out = np.zeros(1)
        kernel[1, 1](x, out)
        assert out[0] == value


def test_records_that_are_none():
    @cuda.jit
    def kernel(out, r=None, s=None):
        if r is not None:
            p = r[1]
            out[0] = r[0].a + p.b
        if s is not None:
            out[1] = s["a"]

    records = np.array([(1, 2), (3, 4)], [("a", "f4"), ("b", "i4")])
    for given, left in [((None,), [0, 0]), ((records,), [5, 0]), ((None, {"a": 7}), [0, 7]), ((), [0, 0])]:
        out = np.zeros(2)
        kernel[1, 1](out, *given)
        assert out.tolist() == left


def test_kernels_that_call_themselves():
    @cuda.jit
    def kernel(x, n=None):
        if n is None:
            kernel(x, 4)
        elif n > 0:
            x[0] += n
            kernel(x, n - 1)

    x = np.zeros(1)
    kernel[1, 1](x)
    assert x[0] == 10


def refused(kernel, *arguments):
    with pytest.raises((parpy.CompileError, TypeError)) as caught:
        kernel[1, 1](*arguments)
    return str(caught.value)


def test_none_is_no_number_and_no_array():
    @cuda.jit
    def adds(y, out):
        out[0] = y + 1

    @cuda.jit
    def subscripts(y, out):
        out[0] = y[0]

    @cuda.jit
    def asks(y, out):
        out[0] = len(y)

    @cuda.jit
    def sometimes(y, out):
        if out[0] > 1 and y is None:
            y = 3
        out[0] = 2

    out = np.zeros(1)
    for kernel in (adds, subscripts, asks):
        assert "'y' is None here" in refused(kernel, None, out)
    sometimes[1, 1](None, out)
    assert out[0] == 2
    signed = cuda.jit("void(float64[:], float64[:])")(subscripts.py_func)
    assert "argument 'y' must be a float64[:], not NoneType" in refused(signed, None, out)


def test_is_compares_with_none_only():
    @cuda.jit
    def kernel(x, out):
        out[0] = x is out

    @cuda.jit
    def undefined(out):
        if nowhere is None:  # noqa: F821
            out[0] = 1

    assert "the operator 'is' can only compare with None" in refused(kernel, np.zeros(1), np.zeros(1))
    with pytest.raises(NameError, match="nowhere"):
        undefined[1, 1](np.zeros(1))


@cuda.jit(device=True)
def plus(a, b):
    if b is None:
        return a
    return a + b


@cuda.jit(device=True)
def plus_by_size(a, b):
    if b is None:
        if a > 1:
            return a
        else:
            return -a
    return a + b


@cuda.jit(device=True)
def plus_thrice(a, b):
    for i in range(3):
        if b is None:
            continue
        a += b
    for i in range(3):
        if b is None:
            break
        a += b
    a += 1
    if a > 100:
        if b is None:
            return a
        a += b
    return a + 1


@cuda.jit
def leaves_early(x, out, weight, shift):
    i = cuda.grid(1)
    if shift is None:
        return
    if i < len(x):
        out[i] = plus(x[i], weight) + 10 * plus_by_size(x[i], weight) + 100 * plus_thrice(x[i], weight) + shift


@pytest.mark.parametrize("weight", [None, 3.0])
def test_branches_that_leave(weight):
    def by_size(a):
        return a + weight if weight is not None else a if a > 1 else -a

    x, out = np.array([0.5, 2, 200]), np.zeros(3)
    more = weight or 0
    leaves_early[1, 4](x, out, weight, 5)
    thrice = [a + 6 * more + 1 + (1 if a < 100 or weight else 0) + (more if a > 100 else 0) for a in x]
    assert out.tolist() == [a + more + 10 * by_size(a) + 100 * b + 5 for a, b in zip(x, thrice, strict=True)]
    leaves_early[1, 4](x, out, weight, None)
    assert out.any()


@cuda.jit
def goes_on_behind(x, b):
    i = cuda.grid(1)
    if i < 2:
        if b is None:
            return
        x[i] += b
    elif b is None:
        x[i] += 5
    x[i] += 1


def test_branches_that_leave_on_some_paths():
    x = np.zeros(4)
    goes_on_behind[1, 4](x, None)
    assert x.tolist() == [0, 0, 6, 6]
    goes_on_behind[1, 4](x, 2)
    assert x.tolist() == [3, 3, 7, 7]
