"""Jit functions in programs of JAX."""

from __future__ import annotations

import numpy as np
import pytest

import parpy

jax = pytest.importorskip("jax")
jnp = jax.numpy


@parpy.jit
def scale(x, a):
    for i in range(len(x)):
        x[i] *= a


@parpy.jit
def doubled(x, out):
    for i in range(len(x)):
        out[i] = 2 * x[i]


def test_arrays_are_read_and_never_stored_to():
    x, out = jnp.arange(5.0), np.zeros(5, np.float32)
    with pytest.raises((TypeError, ValueError, parpy.CompileError), match="read-only"):
        scale(x, 2.0)
    np.testing.assert_array_equal(x, np.arange(5.0))
    doubled(x, out)
    np.testing.assert_array_equal(out, 2 * np.arange(5.0))


@parpy.jit
def scaled(x, a):
    return x * a


@parpy.jit
def prefix(x, out):
    s = x[0] - x[0]
    for i in range(len(x)):
        s += x[i]
        out[i] = s


@parpy.jit
def two(x):
    return x + 1, x.sum()


@parpy.jit
def spoils(x):
    x[0] = 1
    return x * 2


def like(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def test_results_are_arrays_of_jax():
    x = jnp.arange(5.0)
    found = parpy.jax.call(scaled, x, 2.5, result=like(x))
    assert isinstance(found, jax.Array) and found.dtype == x.dtype
    np.testing.assert_array_equal(found, np.arange(5, dtype=np.float32) * np.float32(2.5))


def test_under_jit():
    @jax.jit
    def model(x):
        return jnp.cos(parpy.jax.call(scaled, jnp.sin(x), 2.0, result=like(x))) + 1

    for size in (3, 8):
        x = jnp.arange(float(size))
        np.testing.assert_allclose(model(x), np.cos(np.sin(np.arange(size)) * 2) + 1, rtol=1e-5)


def test_results_that_are_stored():
    x = jnp.arange(6, dtype=jnp.int32)
    found = jax.jit(lambda x: parpy.jax.call(prefix, x, result=like(x)))(x)
    np.testing.assert_array_equal(found, np.cumsum(np.arange(6)))


def test_several_results():
    x = jnp.arange(4.0)
    one, total = jax.jit(lambda x: parpy.jax.call(two, x, result=(like(x), jax.ShapeDtypeStruct((), x.dtype))))(x)
    np.testing.assert_array_equal(one, np.arange(4) + 1)
    assert float(total) == 6.0


def test_under_vmap():
    x = jnp.arange(6.0).reshape(2, 3)
    found = jax.vmap(lambda row: parpy.jax.call(prefix, row, result=like(row)))(x)
    np.testing.assert_array_equal(found, np.cumsum(np.arange(6).reshape(2, 3), axis=1))


def test_a_gradient_of_ones_own():
    @jax.custom_vjp
    def double(x):
        return parpy.jax.call(scaled, x, 2.0, result=like(x))

    double.defvjp(lambda x: (double(x), None), lambda _, g: (2 * g,))
    np.testing.assert_array_equal(jax.grad(lambda x: double(x).sum())(jnp.ones(3)), np.full(3, 2.0))


def test_arrays_of_jax_are_never_changed():
    x = jnp.zeros(3)
    with pytest.raises(Exception, match=r"read-only|P55"):
        jax.block_until_ready(parpy.jax.call(spoils, x, result=like(x)))
    assert float(x[0]) == 0


def test_a_wrong_number_of_arguments_is_an_error():
    with pytest.raises(TypeError, match="'scaled' takes 2 arguments, not 4"):
        parpy.jax.call(scaled, 1, 2, 3, 4, result=jax.ShapeDtypeStruct((), np.float32))
