"""Calls that devices cannot share are refused before anything runs, with the accesses that prevent it."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import copies
from test_devices import agree, alone, back_and_forth, gathered, jacobi_1d, options, power, shared, with_border


@parpy.jit
def plus(x, y):
    for i in range(len(x)):
        y[i] = x[i] + 1


@parpy.jit
def doubled_if_large(v):
    if v > 3:
        return v * 2
    return v - 1


@parpy.jit
def beside_a_call(x, z):
    for i in range(len(z)):
        z[i] = z[i] * 2
    x[0] = doubled_if_large(1.5) + z[len(z) - 2]


@pytest.mark.parametrize(
    ("function", "args", "words"),
    [
        (power, (np.ones((9, 9)), np.ones(9), np.ones(9), 3), ["'x[j]' in line", "each block needs all of 'x'"]),
        (back_and_forth, (np.ones((9, 9)), np.ones((9, 9))), ["'x[j, i]' in line", "'x[i, j]' in line"]),
        (with_border, (np.ones(9), np.ones(9), 2), ["'y[1]' in line"]),
        (gathered, (np.ones(9), np.zeros(9, np.int64), np.ones(9)), ["data, or", "'x[k[i]]' in line"]),
        (beside_a_call, (np.ones(9), np.ones(9)), ["'z[len(z) - 2]' in line", "every part needs all of 'z'"]),
    ],
)
def test_otherwise_the_accesses_are_named(function, args, words):
    before = copies(args)
    with pytest.raises(parpy.ParallelError, match="P401") as error:
        function(*args, opts=options(3))
    for word in words:
        assert word in str(error.value)
    for mine, other in zip(args, before, strict=True):
        assert np.array_equal(mine, other)


def test_recurrences_are_refused_with_their_iterations():
    @parpy.jit
    def running_sum(x, y):
        for i in range(1, len(x)):
            x[i] += x[i - 1]
        for i in range(len(x)):
            y[i] = x[i]

    with pytest.raises(parpy.ParallelError, match=r"iteration i=1 writes x\[1\], iteration i=2 reads x\[1\]"):
        running_sum(np.ones(9), np.ones(9), opts=options(2))
    agree(shared(running_sum, (np.ones(9), np.ones(9)), 2, gather=True), alone(running_sum, (np.ones(9), np.ones(9))))


def test_other_refusals():
    @parpy.jit
    def by_python(A, B, T):
        for t in range(T):
            B[1:-1] = A[:-2] + A[2:]
            A, B = B, A

    @parpy.jit
    def pairs(d, x):
        for n in range(0, len(d) - 1, 2):
            d[n] = x[n]
            d[n + 1] = 1.0

    with pytest.raises(parpy.ParallelError, match="Python runs a part"):
        by_python(np.ones(9), np.ones(9), 2, opts=options(2))
    with pytest.raises(parpy.ParallelError, match="at several offsets"):
        pairs(np.ones(10), np.ones(10), opts=options(2))

    @parpy.jit
    def returned(x, y):
        y[1:] = x[:-1]
        return y

    @parpy.jit
    def made(x):
        return x[1:] + x[:-1]

    for function, args in [(returned, (np.ones(9), np.zeros(9))), (made, (np.ones(9),))]:
        with pytest.raises(parpy.ParallelError, match=r"array that it returns|Python runs a part"):
            function(*args, opts=options(2))
        assert all(np.ptp(each) == 0 for each in args)
    x = np.ones(20)
    with pytest.raises(parpy.ParallelError, match="shares memory"):
        jacobi_1d(x, x[::-1], 2, opts=options(2))


def test_memory_that_calls_cannot_store_to():
    x, y = np.ones(20), np.ones(20)
    y.flags.writeable = False
    jacobi_1d(x, x.copy(), 2, opts=options(2))
    with pytest.raises(ValueError, match="'B' is a read-only array"):
        jacobi_1d(x, y, 2, opts=options(2))
    found = np.zeros(20)
    plus(y, found, opts=options(2))
    assert np.array_equal(found, y + 1)


def test_buffers_on_the_host_are_used_in_place():
    x, y = np.arange(20.0), np.ones(20)
    held = [parpy.buffer.from_array(each.copy()) for each in (x, y)]
    jacobi_1d(*held, 3, opts=options(3))
    expected = alone(jacobi_1d, (x, y, 3))[1:]
    agree([each.numpy() for each in held], expected)
    with pytest.raises(parpy.ParallelError, match="shares memory"):
        jacobi_1d(held[0], held[0].numpy(), 2, opts=options(2))


def test_bounds_of_loops_that_arrays_say():
    @parpy.jit
    def counted(n, x, y):
        for i in range(len(n)):
            n[i] = n[i] + 1
        for i in range(n[25]):
            y[i] = x[i] * 2

    args = (np.full(30, 19), np.ones(30), np.zeros(30))
    with pytest.raises(parpy.ParallelError, match=r"needs all of 'n', because of 'n\[25\]' in line"):
        counted(*args, opts=options(3))
    agree(shared(counted, args, 3, gather=True), alone(counted, args))


def test_random_numbers_are_refused():
    generator = np.random.default_rng(3)

    @parpy.jit
    def draws(x):
        for i in range(len(x)):
            x[i] = generator.random()

    with pytest.raises(parpy.ParallelError, match="random numbers"):
        draws(np.zeros(9), opts=options(2))


def test_the_options_are_validated():
    for wrong in (3, "01", (0, -1), (0.5,)):
        with pytest.raises((TypeError, ValueError)):
            parpy.auto(devices=wrong)
    with pytest.raises(ValueError, match="at least one device"):
        parpy.auto(devices=())
    assert parpy.auto(devices=[0, 1]).devices == (0, 1)
    assert parpy.auto().devices is None
