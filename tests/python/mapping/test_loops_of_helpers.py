"""In automatic mode, loops of functions that host code calls run in parallel, as those of the caller do."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, copies
from parpy import CompileBackend


@parpy.jit
def accelerate(position, acceleration):
    for i in range(position.shape[0]):
        total = 0.0
        for j in range(position.shape[0]):
            d = position[j] - position[i]
            total += d / (d * d + 0.1)
        acceleration[i] = total


@parpy.jit
def energy(velocity):
    total = 0.0
    for i in range(velocity.shape[0]):
        total += velocity[i] * velocity[i]
    return 0.5 * total


@parpy.jit
def move(position, velocity, step):
    position[:] += step * velocity


@parpy.jit
def bodies(position, velocity, acceleration, energies, step):
    for t in range(energies.shape[0]):
        accelerate(position, acceleration)
        velocity += step * acceleration
        move(position, velocity, step)
        energies[t] = energy(velocity)


@parpy.jit
def first_above(x, limit):
    """Returns from its loop, which therefore runs in order."""
    for i in range(x.shape[0]):
        if x[i] > limit:
            return i
    return -1


@parpy.jit
def counted(x, y):
    y[0] = first_above(x, 0.9)
    y[1] = energy(x) if x[0] > 0.5 else energy(y)
    while energy(y) > 1.0:
        y *= 0.5


def data():
    rng = np.random.default_rng(4)
    return rng.normal(size=300), np.zeros(300), np.zeros(300), np.zeros(5), 0.01


@pytest.mark.parametrize("backend", TARGETS)
def test_values_are_those_of_python(backend):
    want, got = copies(data()), copies(data())
    for t in range(5):
        difference = want[0][None, :] - want[0][:, None]
        want[2][:] = (difference / (difference * difference + 0.1)).sum(axis=1)
        want[1][:] += 0.01 * want[2]
        want[0][:] += 0.01 * want[1]
        want[3][t] = 0.5 * (want[1] ** 2).sum()
    bodies(*got, opts=parpy.auto(backend=CompileBackend(backend)))
    for a, b in zip(got[:4], want[:4], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("first", [0.2, 0.7])
def test_calls_that_stay_calls(first, backend):
    x = np.linspace(first, 1.0, 50)
    y, want = np.full(20, 3.0), np.full(20, 3.0)
    want[0] = np.argmax(x > 0.9)
    want[1] = 0.5 * ((x if first > 0.5 else want) ** 2).sum()
    while 0.5 * (want**2).sum() > 1.0:
        want *= 0.5
    counted(x, y, opts=parpy.auto(backend=CompileBackend(backend)))
    np.testing.assert_allclose(y, want, rtol=1e-12)


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
def test_they_are_parallel(backend):
    n = 100_000
    given = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(5), 0.01
    text = str(parpy.explain(bodies, *given, opts=parpy.auto(backend=CompileBackend(backend))))
    rows = [line for line in text.splitlines() if "for i in" in line or "velocity" in line]
    assert len(rows) >= 2, text  # neighbouring loops may be fused
    assert not any("sequential" in row for row in rows), text


def place_of(ends, i):
    if i >= ends[1]:
        raise IndexError("behind the last one")
    return ends[0] + i


def element(unused, x, ends, i):
    return x[place_of(ends, i)]


def sum_of_elements(unused, x, ends):
    total = 0
    for i in range(ends[1]):
        total += element(unused, x, ends, i)
    return total


@pytest.mark.parametrize("backend", TARGETS)
def test_arrays_that_a_called_function_does_not_touch(backend):
    unused, x, ends = np.zeros(9), np.arange(2**16), np.array([3, 2000])
    opts = parpy.auto(backend=CompileBackend(backend))
    assert parpy.jit(sum_of_elements)(unused, x, ends, opts=opts) == sum_of_elements(unused, x, ends)
