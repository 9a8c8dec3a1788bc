"""Python's integers beside NumPy's small ones in min, max and conditional expressions: they keep their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, options, run

SMALL = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64]


@parpy.jit
def greater(x, y, n):
    for i in range(n):
        y[i] = max(x[i], 1 - i)


@parpy.jit
def smaller(x, y, n):
    for i in range(n):
        y[i] = min(i * 1000 - 3, x[i])


@parpy.jit
def chosen(x, y, n):
    for i in range(n):
        y[i] = x[i] if x[i] > 3 else 1 - i


@parpy.jit
def under_a_name(x, y, n):
    for i in range(n):
        t = x[i]
        if t > 3:
            t = -i * 100_000
        y[i] = t


@parpy.jit
def accumulated(x, y, n):
    t = x[0]
    for i in range(n):
        t = max(t, 300 * i - 500)
        y[i] = t


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", SMALL, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("function", [greater, smaller, chosen, under_a_name, accumulated], ids=lambda f: f.__name__)
def test_as_python(function: Callable[..., None], kind: Any, backend: str) -> None:
    for result in (np.int64, np.float64):
        x, y, want = np.arange(2, 7).astype(kind), np.zeros(5, result), np.zeros(5, result)
        function.__wrapped__(x, want, 5)
        run(backend, function, (x, y, 5), {"gpu": 1} if backend in ("sim", "cuda") else {})
        np.testing.assert_array_equal(y, want)


@parpy.jit
def sum_where(y, x, n):
    parpy.label("i")
    for i in range(n):
        if x[i] == 77:
            y[0] += x[i]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex64, np.complex128], ids=lambda kind: kind.__name__)
def test_sums_of_nothing_keep_negative_zeros(kind: Any, backend: str) -> None:
    zero = complex(-0.0, -0.0) if np.issubdtype(kind, np.complexfloating) else -0.0
    for value in (1.0, zero):
        y, x = np.array([zero], kind), np.full(2000, value, kind)
        run(backend, sum_where, (y, x, 2000), {"i": 64})
        parts = y.view(np.float32 if kind in (np.float32, np.complex64) else np.float64)
        assert np.signbit(parts).all()
        assert not parts.any()


@pytest.mark.parametrize("function", [greater, smaller, chosen], ids=lambda f: f.__name__)
def test_no_type_holds_uint64_and_negative_integers(function: Callable[..., None]) -> None:
    with pytest.raises(parpy.CompileError, match="uint64"):
        function(np.arange(5).astype(np.uint64), np.zeros(5), 5, opts=parpy.par({}))
    x, y, want = np.arange(2, 7).astype(np.uint64), np.zeros(5), np.zeros(5)
    function.__wrapped__(x, want, 5)
    function(x, y, 5)  # by Python
    np.testing.assert_array_equal(y, want)


def test_names_of_uint64_and_negative_integers_are_floats() -> None:
    x, y, want = np.arange(2, 7).astype(np.uint64), np.zeros(5), np.zeros(5)
    under_a_name.__wrapped__(x, want, 5)
    under_a_name(x, y, 5)
    np.testing.assert_array_equal(y, want)


def test_uint64_and_known_integers() -> None:
    @parpy.jit
    def f(x, y):
        for i in range(x.size):
            y[i] = max(min(x[i], 300), 2)

    x, y = np.array([0, 5, 2**63 + 1], np.uint64), np.zeros(3, np.uint64)
    f(x, y)
    np.testing.assert_array_equal(y, [2, 5, 300])


@pytest.mark.parametrize("backend", TARGETS)
def test_constants_under_names_fit_beside_elements(backend):
    def masked(b):
        c = 0xFFFFFFFF
        c = c ^ b
        return c

    def fitting(b):
        c = 200
        d = 1000
        return c ^ b if d > 2000 else c & b

    def not_reached(b, n):
        c = -1
        if n > 3:
            return int(c + b)
        return n

    opts = {"opts": options(backend, {})}
    with pytest.raises(OverflowError):
        masked(np.uint8(3))
    with pytest.raises(parpy.CompileError, match=r"P201\]: the Python integer 4294967295 does not fit uint8"):
        parpy.jit(masked)(np.uint8(3), **opts)
    for number in (np.uint32(3), np.int64(3), np.uint64(3)):
        assert parpy.jit(masked)(number, **opts) == masked(number)
    assert parpy.jit(fitting)(np.uint8(77), **opts) == fitting(np.uint8(77))
    compiled = parpy.jit(not_reached)
    for n in (0, 1, 2, 3):
        assert compiled(np.uint8(3), n, **opts) == n
