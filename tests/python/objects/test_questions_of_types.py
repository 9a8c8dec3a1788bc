"""Conditions on the types of values that the function computes, and on the classes of its arguments."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options


def either_type(a):
    s = 0.0
    for i in range(a.shape[0]):
        x = a[i] * 2
        if x.dtype == np.float32 or x.dtype == np.float64:
            s += x[0]
        else:
            s += 100 + x[2]
    return s


def beside_others(a):
    x = a * 2
    s = 0.0
    for i in range(a.shape[0]):
        if s < 50 and not (x.dtype == np.int64 or i > 2):
            s += x[i, 0]
        s += 1.5 if x.dtype != np.float32 and i < 2 else 0.25
    return s


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int8])
@pytest.mark.parametrize("function", [either_type, beside_others])
@pytest.mark.parametrize("backend", TARGETS)
def test_types_of_computed_arrays(backend, function, dtype):
    a = np.arange(12).reshape(4, 3).astype(dtype)
    assert parpy.jit(function)(a, opts=options(backend, {})) == function(a)


def by_number(k, x):
    s = 0.0
    for i in range(x.shape[0]):
        if isinstance(k, (int, float)):
            s += k * x[i]
        else:
            s += k[i] * x[i]
    return s


def allocating(k, x):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = x[i] * k if isinstance(k, int | float) and not isinstance(k, bool) else x[i]
    return out


def by_class(k, x):
    if k is None or isinstance(k, str):
        return 0.5 if k == "half" else 0.0
    if type(k) is int:
        return k + 1
    if not isinstance(k, (list, tuple)):
        raise TypeError("neither_type a number nor a sequence")
    return len(k) * x[0]


X = np.array([0.5, 1.5, -2.0])


@pytest.mark.parametrize(
    ("function", "k"),
    [(by_number, k) for k in (3, 2.5, True, np.float64(2), X * 2)]
    + [(allocating, k) for k in (3, 2.5, True, np.int64(3), np.float32(2), (1, 2))]
    + [(by_class, k) for k in (3, 2.5, np.int64(3), (1, 2), [1, 2, 3], "half", "a", None)],
    ids=lambda each: getattr(each, "__name__", repr(each)),
)
@pytest.mark.parametrize("backend", TARGETS)
def test_classes_of_arguments(backend, function, k):
    compiled = parpy.jit(function)
    try:
        want = function(k, X)
    except TypeError as error:
        with pytest.raises(TypeError, match=str(error)):
            compiled(k, X, opts=options(backend, {}))
        return
    for _ in range(2):
        np.testing.assert_allclose(compiled(k, X, opts=options(backend, {})), want, rtol=1e-15)


def test_one_function_for_arguments_of_all_classes():
    compiled = parpy.jit(by_class)
    for k in (3, "half", (1, 2), 4, None, [1], "a", 3):
        assert compiled(k, X) == by_class(k, X)


def of_element(x):
    y = x[0]
    return 1 if isinstance(y, int) else 2


def of_either(x, k):
    y = k
    if x[0] > 0:
        y = x[1]
    return 1 if isinstance(y, int) else 2


def test_elements_are_numbers_of_numpy():
    for x in (np.arange(3), np.arange(3.0), np.arange(3, dtype=np.int32)):
        assert parpy.jit(of_element)(x) == of_element(x)


def test_numbers_that_may_be_pythons_or_numpys_are_refused():
    with pytest.raises(parpy.CompileError, match=r"'isinstance\(y, int\)' in line .*\(int, np.integer\)"):
        parpy.jit(of_either)(np.arange(3), 1)
