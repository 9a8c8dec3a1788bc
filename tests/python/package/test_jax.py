"""Jit functions in programs of JAX."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import parpy
from parpy.arrays import xla

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


def test_shapes_that_are_not_announced_are_an_error():
    x = jnp.arange(4.0)
    with pytest.raises(Exception, match=r"returns shape \(4,\) where 'result' says \(3,\)"):
        jax.block_until_ready(parpy.jax.call(scaled, x, 2.0, result=jax.ShapeDtypeStruct((3,), x.dtype)))
    with pytest.raises(Exception, match="returns 2 results, and 'result' describes 3"):
        jax.block_until_ready(parpy.jax.call(two, x, result=(like(x), like(x), like(x))))


@parpy.jit
def nearly(x, out):
    for i in range(len(x)):
        out[i] = x[i]


TYPES = ["bool_", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32", "complex64", "bfloat16"]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("shape", [(5,), (0,)], ids=str)
def test_types_of_elements(name, shape):
    x = jnp.arange(5)[: shape[0]].astype(getattr(jnp, name))
    found = jax.jit(lambda x: parpy.jax.call(nearly, x, result=like(x)))(x)
    assert found.dtype == x.dtype and found.shape == shape
    np.testing.assert_array_equal(np.asarray(found), np.asarray(x))


def test_double_precision():
    with jax.enable_x64(True):
        x = jnp.arange(5, dtype=jnp.float64) / 3
        np.testing.assert_array_equal(parpy.jax.call(scaled, x, 3.0, result=like(x)), np.arange(5) / 3 * 3.0)


def test_numbers_differ_by_their_types():
    x = jnp.arange(3, dtype=jnp.int32)
    whole = parpy.jax.call(scaled, x, 2, result=like(x))
    half = parpy.jax.call(scaled, x, 2.0, result=jax.ShapeDtypeStruct((3,), jnp.float32))
    np.testing.assert_array_equal(whole, [0, 2, 4])
    np.testing.assert_array_equal(half, [0.0, 2.0, 4.0])


def test_arrays_of_no_dimension_are_numbers():
    x, a = jnp.arange(3.0), jnp.float32(4)
    np.testing.assert_array_equal(jax.jit(lambda x, a: parpy.jax.call(scaled, x, a, result=like(x)))(x, a), [0, 4, 8])


def test_calls_of_many_threads():
    model = jax.jit(lambda x: parpy.jax.call(prefix, x, result=like(x)))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: np.asarray(model(jnp.full(1000 + n % 2, n))), range(40)))
    for n, each in enumerate(found):
        np.testing.assert_array_equal(each, n * np.arange(1, 1001 + n % 2))


@pytest.mark.parametrize("function", [scaled, prefix])
def test_calls_on_a_device(function):
    """Makes the call of a program on a GPU, with the simulator's arrays where there is no GPU."""
    device = parpy.cuda.to_device
    x, out = np.arange(4, dtype=np.float32), device(np.full(4, 7, np.float32))
    stores = function is prefix
    opts = None if parpy.cuda.is_available() else parpy.auto(backend=parpy.CompileBackend.Sim)
    call = parpy.jax._Call(function, 1 if stores else 2, {}, stores, False, opts)
    arguments = [device(x)] if stores else [device(x), device(np.array(3, np.float32))]
    call(xla.Buffers(arguments, [out], 0))
    np.testing.assert_array_equal(out.copy_to_host(), np.cumsum(x) if stores else 3 * x)


@pytest.mark.gpu
def test_programs_on_a_gpu():
    """The arrays stay on the GPU: the function receives their memory there, and the stream of the program."""
    if not any(each.platform == "gpu" for each in jax.devices()):
        pytest.skip("JAX has no GPU")
    x = jnp.arange(100_000, dtype=jnp.float32)

    @jax.jit
    def model(x):
        y = parpy.jax.call(scaled, x + 1, 3.0, result=like(x))
        return parpy.jax.call(nearly, y * 2, result=like(x)) - 1

    np.testing.assert_array_equal(model(x), (np.arange(100_000, dtype=np.float32) + 1) * 6 - 1)
    total = jax.jit(lambda x, a: parpy.jax.call(scaled, x, a, result=like(x)).sum())(x, jnp.float32(2))
    assert abs(float(total) / float(np.arange(100_000, dtype=np.float64).sum()) - 2) < 1e-5
