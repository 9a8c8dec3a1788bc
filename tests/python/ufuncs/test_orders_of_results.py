"""Results of universal functions lie in memory as NumPy's do, and updates and sums take what NumPy's take."""

from __future__ import annotations

import numpy as np
import pytest

import fake_driver
import parpy
from parpy import cuda
from parpy.ufuncs.axis_orders import axes_of_results
from ufunc_targets import DEVICES, on_device, on_host

PLACES = [on_device, lambda value: value]


class Interface:
    """An array of which only the interface is known."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def weighted(target):
    @parpy.vectorize(["float64(float64, float64, float64)"], target=target)
    def weighted(a, b, c):
        return a + 2 * b + 3 * c

    return weighted


def plus(target):
    @parpy.vectorize(["float64(float64, float64)", "int32(int32, int32)"], target=target)
    def plus(a, b):
        return a + b

    return plus


def steps(array):
    return [step for step, n in zip(array.strides, array.shape, strict=True) if n > 1]


# ---------------------------------------------------------------- the order of results


def random_operands(rng):
    """Three arrays that broadcast, with permuted, reversed and missing dimensions."""
    shape = rng.choice([1, 2, 3, 4], rng.integers(2, 5))
    for _ in range(3):
        sizes = [1 if rng.random() < 0.25 else n for n in shape]
        sizes = sizes[rng.integers(0, len(sizes)) :] if rng.random() < 0.3 else sizes
        axes = rng.permutation(len(sizes))
        array = rng.random([sizes[axis] for axis in axes]).transpose(np.argsort(axes))
        yield array[tuple(slice(None, None, rng.choice([-1, 1])) for _ in sizes)]


@pytest.mark.parametrize("seed", range(200))
def test_axes_are_numpys(seed):
    operands = [*random_operands(np.random.default_rng(seed))]
    shape = np.broadcast_shapes(*(each.shape for each in operands))
    flags = [["readonly"]] * 3 + [["writeonly", "allocate"]]
    wanted = np.nditer([*operands, None], ["zerosize_ok"], flags, order="K").operands[3]
    axes = axes_of_results("K", operands, shape) or (*range(len(shape)),)
    found = np.empty([shape[axis] for axis in axes]).transpose(np.argsort(axes))
    assert steps(found) == steps(wanted)


@pytest.mark.parametrize("target", DEVICES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("seed", range(20))
def test_results_for_operands_in_any_order(target, place, seed):
    operands = [*random_operands(np.random.default_rng(seed))]
    a, b, c = operands
    function = weighted(target)
    given = [*map(place, operands)]
    for _ in range(2):  # the second call has a plan
        found = function(*given)
        np.testing.assert_array_equal(on_host(found), a + 2 * b + 3 * c)
        axes = axes_of_results("K", given, found.shape) or (*range(found.ndim),)
        lying = np.empty([found.shape[axis] for axis in axes]).transpose(np.argsort(axes))
        assert steps(found) == steps(lying)


@pytest.mark.parametrize("target", DEVICES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("order", "KACF")
@pytest.mark.parametrize("axes", [(2, 1, 0), (1, 2, 0), (0, 2, 1), (0, 1, 2)])
def test_orders_by_name(target, place, order, axes):
    base = np.arange(24.0).reshape(2, 3, 4)
    x = base.transpose(axes)
    wanted = np.add(x, 1.0, order=order)
    found = plus(target)(place(base).transpose(axes), 1.0, order=order)
    assert found.strides == wanted.strides
    np.testing.assert_array_equal(on_host(found), wanted)


@pytest.mark.parametrize("target", DEVICES)
def test_large_arrays_in_fortran_order(target):
    x = np.arange(200.0 * 150).reshape(200, 150)
    given = on_device(x).T
    function = plus(target)
    for _ in range(2):
        found = function(given, given)
        assert found.strides == x.T.strides
        np.testing.assert_array_equal(on_host(found), 2 * x.T)
    mixed = function(given, on_device(x.T.copy()))
    np.testing.assert_array_equal(on_host(mixed), 2 * x.T)
    assert mixed.strides == np.add(x.T, x.T.copy()).strides


@pytest.mark.parametrize("target", DEVICES)
def test_masks_and_several_results_in_fortran_order(target):
    @parpy.vectorize(target=target)
    def parts(a):
        return a + 1, a * 2

    x = np.arange(12.0).reshape(3, 4)
    given = on_device(x).T
    for _ in range(2):
        first, second = parts(given)
        assert first.strides == second.strides == x.T.strides
        np.testing.assert_array_equal(on_host(first), x.T + 1)
        np.testing.assert_array_equal(on_host(second), x.T * 2)
    chosen = plus(target)(given, 1.0, where=np.asfortranarray(x.T > 4))
    assert chosen.strides == x.T.strides
    np.testing.assert_array_equal(on_host(chosen)[x.T > 4], x.T[x.T > 4] + 1)


@pytest.mark.parametrize("target", DEVICES)
@pytest.mark.parametrize("order", "KAFC")
def test_arrays_known_by_their_interface(target, order):
    x = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    function = plus(target)
    given = Interface(cuda.to_device(x))
    for _ in range(2):
        found = function(given, 1.0, order=order)
        assert found.strides == np.add(x, 1.0, order=order).strides
        np.testing.assert_array_equal(found.copy_to_host(), x + 1)
        if order == "K":
            assert function(given, 1.0).strides == x.strides


# ---------------------------------------------------------------- updates at indices


@pytest.mark.parametrize("target", DEVICES)
@pytest.mark.parametrize(
    ("indices", "values"),
    [
        ([0, 0, 1], np.arange(4.0)),
        ([0, 0, 1], np.arange(3.0)[:, None]),
        ([0, 2, 0], np.arange(12.0).reshape(3, 4)),
        (([0, 0, 1], [1, 1, 2]), np.array([4.0])),
        (([0, 0, 1], [1, 1, 2]), np.array(5.0)),
        ((slice(None), [1, 1]), np.array([1.0, 2.0])),
        (([[0], [2]], [1, 1, 2]), np.arange(6.0).reshape(3, 2).T),
        (..., np.arange(4.0)[::-1]),
        ([], np.zeros((0, 4))),
    ],
)
def test_values_of_updates_are_broadcast(target, indices, values):
    wanted = np.arange(12.0).reshape(3, 4)
    np.add.at(wanted, indices, values)
    twice = np.repeat(values, 2, axis=-1) if values.ndim else values
    for given in (values, on_device(values), on_device(twice)[..., ::2] if values.ndim else on_device(twice)):
        found = on_device(np.arange(12.0).reshape(3, 4))
        plus(target).at(found, indices, given)
        np.testing.assert_array_equal(found.copy_to_host(), wanted)


@pytest.mark.parametrize("target", DEVICES)
@pytest.mark.parametrize("shape", [(3,), (3, 4), (1, 2, 4)])
def test_values_of_updates_that_do_not_fit(target, shape):
    found = on_device(np.zeros((3, 4)))
    with pytest.raises(ValueError, match=r"shape|dimensions"):
        plus(target).at(found, [0, 1], on_device(np.ones(shape)))
    assert not found.copy_to_host().any()


# ---------------------------------------------------------------- sums of a function called add


@pytest.mark.parametrize("target", DEVICES)
@pytest.mark.parametrize("name", ["add", "multiply"])
@pytest.mark.parametrize("kind", [np.int8, np.int32, np.uint8, np.float64])
def test_a_function_with_numpys_name_reduces_integers(target, name, kind):
    # NumPy widens the integers of each ufunc with such a name, but this one has no loop of 64-bit integers.
    def function(a, b):
        return a + b

    function.__name__ = name
    made = parpy.vectorize(["int32(int32, int32)", "float64(float64, float64)"], target=target)(function)
    x = np.arange(1, 8).astype(kind)
    found = made.reduce(on_device(x))
    assert found.dtype == (np.float64 if kind is np.float64 else np.int32)
    assert found.copy_to_host() == 28
    np.testing.assert_array_equal(on_host(made.accumulate(on_device(x))), np.add.accumulate(x.astype(int)))


@pytest.mark.parametrize("target", DEVICES)
def test_a_reduction_without_a_loop_is_refused(target):
    @parpy.vectorize(["int32(int32, int32)"], target=target)
    def add(a, b):
        return a + b

    with pytest.raises(TypeError, match="No loop matching"):
        add.reduce(on_device(np.arange(3.0)), dtype=np.float64)
    with pytest.raises(TypeError):
        add.reduce(on_device(np.arange(3)))


# ---------------------------------------------------------------- arrays on a GPU

SCRIPT = """
import numpy as np

import parpy
from parpy import cuda

assert cuda.is_available() and not cuda.sim.enabled


@parpy.vectorize(["float64(float64, float64)"], target="gpu")
def plus(a, b):
    return a + b


@cuda.jit
def numbered(x):
    i, j = cuda.grid(2)
    x[i, j] += i * x.shape[1] + j


for shape in ((3, 4), (200, 150)):
    x = np.random.default_rng(2).random(shape)
    given = cuda.to_device(x).T
    for _ in range(2):
        for other, host in ((given, x.T), (1.0, 1.0), (cuda.to_device(x[:, 0]), x[:, 0])):
            wanted = np.add(x.T, host)
            found = plus(given, other)
            assert found.on_gpu and found.strides == wanted.strides
            np.testing.assert_array_equal(found.copy_to_host(), wanted)
found = cuda.to_device(np.zeros((3, 4)))
plus.at(found, [0, 0, 1], cuda.to_device(np.arange(8.0))[::2])
np.testing.assert_array_equal(found.copy_to_host(), [[0, 4, 8, 12], [0, 2, 4, 6], [0] * 4])
for strides in ((32, 4), (-16, 4), (4, 12)):
    for make in (cuda.pinned_array, cuda.mapped_array):
        made = make((3, 4), np.float32, strides=strides)
        made[...] = 1
        there = made if make is cuda.mapped_array else cuda.to_device(made)
        numbered[1, (3, 4)](there)
        cuda.synchronize()
        np.testing.assert_array_equal(np.asarray(there), 1 + np.arange(12).reshape(3, 4))
empty = cuda.device_array((0, 3))
assert empty.__cuda_array_interface__["data"][0] == 0
print("done")
"""


@pytest.mark.skipif(not fake_driver.LIBRARY.exists(), reason="the emulated driver is not built")
def test_orders_on_the_emulated_driver():
    ran = fake_driver.run_emulated(SCRIPT)
    assert ran.returncode == 0 and ran.stdout == "done\n", ran.stdout + ran.stderr
