"""Texts that a function computes or returns, and tests whether two names refer to one array: Python makes them, between
compiled parts."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
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


class Body:
    def __init__(self, mass, place):
        self.mass, self.place, self.speed = mass, np.array(place), np.zeros(2)


def moved(bodies, dt):
    for b in bodies:
        pull = np.zeros(2)
        for o in bodies:
            if o is b:
                continue
            pull += o.mass * (o.place - b.place)
        b.speed += pull * dt
    for b in bodies:
        b.place += b.speed * dt
    return sum(b.mass * (b.speed**2).sum() for b in bodies)


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
def test_objects_in_a_list_are_compared_by_identity():
    compiled = parpy.jit(moved)
    given, expected = ([Body(1.0 + k, (k * k, 3.0 - k)) for k in range(3)] for _ in range(2))
    for _ in range(2):
        np.testing.assert_allclose(compiled(given, 0.1), moved(expected, 0.1))
        for got, want in zip(given, expected, strict=True):
            np.testing.assert_allclose(got.place, want.place)
    same = [given[0], given[0]]
    assert compiled(same, 0.1) == moved([expected[0], expected[0]], 0.1)


def letters_e(text):
    n = 0
    for c in text:
        if c == "e":
            n += 1
    return n


def equal_letters(a, b):
    n = 0
    for i in range(min(len(a), len(b))):
        n += a[i] == b[i]
    return n


def share_of(text, x):
    return (text.count("G") + text.count("C")) / len(text) if text else 0.0, "A" in text, x.sum()


def reversed_text(text, x):
    return "".join({"A": "T", "C": "G", "G": "C", "T": "A"}[c] for c in reversed(text)), x * 2


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize(
    ("function", "given"),
    [
        (letters_e, ("hello there",)), (letters_e, ("",)), (equal_letters, ("kitten", "sitting")),
        (share_of, ("ACGG", np.ones(3))), (share_of, ("", np.ones(3))), (reversed_text, ("ACGT", np.ones(3))),
    ],
)  # fmt: skip
def test_texts_whose_characters_are_read(function, given):
    compiled = parpy.jit(function)
    for _ in range(2):
        assert same(compiled(*given), function(*given))


def test_texts_that_are_no_numbers():
    with pytest.raises(parpy.CompileError, match="P550"):
        parpy.jit(lambda x, s: x * s)(np.ones(3), "a")


def named(x):
    name = "\ud800a"
    x[0] = len(name)
    return name


def counted(x, name="ab\udc80b"):
    n = 0
    for letter in name:
        if letter == "\udc80":
            n += 1
    x[0] = n
    return n, name == "ab\udc80b", name + "\ud800"


def looked_up(x, name="\udc80"):
    x[0] = 2 if name in ("a", "\udc80") else 3
    return {name: x[0], "\udc81": 2}


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", [named, counted, looked_up])
def test_python_computes_with_lone_surrogates(function, backend):
    for more in ((), *(("x",), ("\udc80",)) * (function is not named)):
        got, want = X.copy(), X.copy()
        expected = function(want, *more)
        assert same(parpy.jit(function)(got, *more, opts=options(backend, {})), expected)
        np.testing.assert_array_equal(got, want)


SURROGATE = "\udc80"


def test_lone_surrogates_that_compiled_code_needs_are_refused():
    @parpy.jit
    def raising(x):
        if x[0] > 1:
            raise ValueError("bad \udc80")

    @parpy.jit
    def global_text(x, name):
        x[0] = 2 if name == SURROGATE else 3

    opts = parpy.par({})
    for call in (lambda: raising(X, opts=opts), lambda: global_text(X, "a", opts=opts)):
        with pytest.raises(parpy.CompileError, match=r"test_texts_and_identity.py:\d+:\d+: error\[P018\]: a text"):
            call()
