"""Texts that a function computes or returns, and tests whether two names refer to one array: Python makes them, between
compiled parts."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from results import same


def total(x):
    s = 0.0
    for i in range(x.size):
        s += x[i]
    return s


def with_text(x):
    s = total(x)
    return s, "text"


def formatted(x):
    s = 0.0
    for i in range(x.size):
        s += x[i]
    label = f"{s:.3f} of {x.size}"
    return label, "%d values" % x.size, "{:.1f}".format(x.max())  # noqa: UP031, UP032


def chosen(x):
    name = "low" if x.sum() < 1 else "high"
    return name


def returned(x):
    if total(x) < 1:
        return "low"
    return "high"


def in_loop(x):
    message = "ok"
    for i in range(x.size):
        if x[i] < 0:
            message = "negative"
    return message, x.sum()


def identical(x, y):
    z = x
    if x is y:
        return 1.0, z is x
    s = 0.0
    for i in range(x.size):
        s += x[i] * y[i]
    return s, x is not y


X = np.array([1.5, -2.0, 3.25])


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("function", [with_text, formatted, chosen, returned, in_loop])
def test_texts(function):
    for x in (X, X - 3, abs(X)):
        assert same(parpy.jit(function)(x), function(x))


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
def test_identity():
    compiled = parpy.jit(identical)
    for y in (X, X.copy(), X[:]):
        assert same(compiled(X, y), identical(X, y))


def test_texts_in_exceptions_are_compiled():
    @parpy.jit
    def check(x):
        for i in range(x.size):
            if x[i] < 0:
                raise ValueError(f"bad {x[i]:.1f} at {i}")
        return "good"

    with pytest.raises(ValueError, match=r"bad -2\.0 at 1"):
        check(X)
    assert check(abs(X)) == "good"
