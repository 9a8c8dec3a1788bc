"""cuda.random against the published algorithm, and cuda.reduce against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import kernel_places
from nvrtc import cubin
from parpy import cuda
from parpy.cuda import random as draws

backend = kernel_places.backend
MASK = 2**64 - 1


def rotated(x, k):
    return (x << k | x >> 64 - k) & MASK


def advanced(state):
    """A step of xoroshiro128+: the number and the next state."""
    a, b = state
    c = a ^ b
    return (a + b) & MASK, (rotated(a, 55) ^ c ^ (c << 14 & MASK), rotated(c, 36))


def jumped(state):
    """The state after 2**64 steps."""
    a = b = 0
    for word in (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922):
        for bit in range(64):
            if word >> bit & 1:
                a, b = a ^ state[0], b ^ state[1]
            state = advanced(state)[1]
    return a, b


def seeded(seed):
    """The first two numbers of SplitMix64."""
    words = []
    for _ in range(2):
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        words.append(z ^ z >> 31)
    return words[0], words[1]


@pytest.mark.parametrize("seed", [0, 1, 12345, MASK])
def test_states_lie_a_jump_apart(seed):
    states = draws.create_xoroshiro128p_states(5, seed)
    assert states.dtype == draws.xoroshiro128p_dtype
    want = seeded(seed)
    for state in states.copy_to_host():
        assert (int(state["s0"]), int(state["s1"])) == want
        want = jumped(want)
    further = draws.create_xoroshiro128p_states(2, seed, subsequence_start=3).copy_to_host()
    np.testing.assert_array_equal(further, states.copy_to_host()[3:])


@cuda.jit
def drawn(states, raw, u64, u32, n64, n32):
    i = cuda.grid(1)
    if i < len(raw):
        raw[i] = draws.xoroshiro128p_next(states, i)
        u64[i] = draws.xoroshiro128p_uniform_float64(states, i)
        u32[i] = draws.xoroshiro128p_uniform_float32(states, i)
        n64[i] = draws.xoroshiro128p_normal_float64(states, i)
        n32[i] = draws.xoroshiro128p_normal_float32(states, i)


def test_numbers():
    count = 100
    states = draws.create_xoroshiro128p_states(count, 7)
    before = states.copy_to_host()
    results = [np.zeros(count, kind) for kind in (np.uint64, np.float64, np.float32, np.float64, np.float32)]
    drawn.forall(count)(states, *results)
    after = states.copy_to_host()
    for i in range(count):
        state = int(before[i]["s0"]), int(before[i]["s1"])
        words = []
        for _ in range(7):
            word, state = advanced(state)
            words.append(word)
        assert (int(after[i]["s0"]), int(after[i]["s1"])) == state
        assert int(results[0][i]) == words[0]
        assert results[1][i] == (words[1] >> 11) * 2.0**-53
        assert results[2][i] == np.float32((words[2] >> 40) * 2.0**-24)
        near, far = 1 - (words[3] >> 11) * 2.0**-53, (words[4] >> 11) * 2.0**-53
        np.testing.assert_allclose(results[3][i], np.sqrt(-2 * np.log(near)) * np.cos(2 * np.pi * far), rtol=1e-11)
        near, far = 1 - (words[5] >> 40) * 2.0**-24, (words[6] >> 40) * 2.0**-24
        want = np.sqrt(-2 * np.log(near)) * np.cos(2 * np.pi * far)
        np.testing.assert_allclose(results[4][i], want, rtol=1e-4, atol=1e-6)
    cubin(drawn.inspect_source(states, *results))


@cuda.jit
def started(states, seed):
    draws.init_xoroshiro128p_state(states, 0, seed)
    draws.init_xoroshiro128p_state(states, 1, seed)
    draws.xoroshiro128p_jump(states, 1)


@cuda.jit
def mean_and_square(states, sums):
    i = cuda.grid(1)
    for _ in range(200):
        x = draws.xoroshiro128p_normal_float64(states, i)
        sums[i, 0] += x
        sums[i, 1] += x * x
        sums[i, 2] += draws.xoroshiro128p_uniform_float32(states, i)


def test_states_of_kernels_and_moments():
    states = cuda.device_array(2, draws.xoroshiro128p_dtype)
    started[1, 1](states, 99)
    want = draws.create_xoroshiro128p_states(2, 99).copy_to_host()
    np.testing.assert_array_equal(states.copy_to_host(), want)
    cubin(started.inspect_source(states, 99))
    sums = np.zeros((256, 3))
    mean_and_square[8, 32](draws.create_xoroshiro128p_states(256, 1), sums)
    mean, square, uniform = sums.sum(axis=0) / (256 * 200)
    assert abs(mean) < 0.02 and abs(square - 1) < 0.03 and abs(uniform - 0.5) < 0.01


def test_what_states_are_not():
    with pytest.raises(ValueError, match="the seed is an int from 0"):
        draws.create_xoroshiro128p_states(3, -1)
    with pytest.raises(ValueError, match="the subsequence_start is an int"):
        draws.create_xoroshiro128p_states(3, 1, 0.5)
    with pytest.raises(TypeError, match="of the type xoroshiro128p_dtype"):
        draws.init_xoroshiro128p_states(cuda.device_array(3), 1)
    with pytest.raises(TypeError, match="a device array of one dimension"):
        draws.init_xoroshiro128p_states(np.zeros(3, draws.xoroshiro128p_dtype), 1)
    for n in (-1, 2.5, True, (2, 2)):
        with pytest.raises(ValueError, match="n is a number of states, not "):
            draws.create_xoroshiro128p_states(n, 1)


# ---------------------------------------------------------------- reductions


@cuda.reduce
def added(a, b):
    return a + b


greatest = cuda.Reduce(lambda a, b: a if a > b else b)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.int64, np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("count", [0, 1, 31, 256, 257, 70000])
def test_sums(dtype, count):
    x = (np.arange(count) % 7).astype(dtype)
    got = added(x)
    assert got == x.sum(dtype=dtype) and got.dtype == dtype
    assert added(cuda.to_device(x), init=3) == np.asarray(x.sum(dtype=dtype) + dtype(3), dtype)


@pytest.mark.parametrize("count", [2047, 2048, 2049, 4096, 4097, 6000, 3 * 2**21 + 77])
def test_rounds_of_elements_and_what_is_left(count):
    x = np.random.default_rng(count).integers(-(2**40), 2**40, count)
    assert added(x) == x.sum() and greatest(x, init=x[0]) == x.max()
    assert added(x, size=count - 1) == x[:-1].sum()


def test_what_is_reduced_and_where_it_goes():
    x = np.random.default_rng(5).random(3000) - 2
    assert greatest(x, init=-np.inf) == x.max() and greatest(x) == 0
    assert greatest(x, size=10, init=-5) == x[:10].max()
    result, stream = cuda.device_array(1), cuda.stream()
    assert greatest(cuda.to_device(x), res=result, init=-9, stream=stream) is None
    stream.synchronize()
    assert result.copy_to_host()[0] == x.max()
    assert added(np.arange(20)[::2]) == 90
    first, last = added._kernels
    cubin(first.inspect_source(x, 3, x))
    cubin(last.inspect_source(x, 3, 0.0, x))


def test_what_is_not_reduced():
    for arguments, message in (
        ((np.zeros((2, 2)),), "an array of one dimension is reduced, not one of 2"),
        ((np.zeros(3), 4), "size is a number of elements, 0 to 3, not 4"),
        ((np.zeros(3, np.int32), None, None, 0.5), "init is a number of the type int32, not 0.5"),
        ((np.zeros(3, np.int8), None, None, 300), "init is a number of the type int8, not 300"),
        ((np.zeros(3, np.int64), None, None, 2**70), "init is a number of the type int64, not 1180591620717411303424"),
        ((np.zeros(3), None, None, 1j), "init is a number of the type float64, not 1j"),
        ((np.zeros(3, [("a", int)]),), "numbers are reduced, not records of type"),
        ((np.zeros(3), None, cuda.device_array(1, np.int32)), "an array of float64, not to one of int32"),
        ((np.zeros(3), None, [0.0]), "an array of float64, not to an object of type 'list'"),
        (
            (np.zeros(3), None, cuda.device_array(0)),
            r"element 0 of an array of one dimension, not to one of shape \(0,\)",
        ),
        (
            (np.zeros(3), None, cuda.device_array(())),
            r"element 0 of an array of one dimension, not to one of shape \(\)",
        ),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            added(*arguments)
    with pytest.raises(TypeError, match="'&' does not take"):
        cuda.reduce(lambda a, b: a & b)(np.zeros(3))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("init", [float("nan"), float("inf"), 1j, 300])
def test_numbers_that_are_no_elements(init):
    with pytest.raises(TypeError, match="init is a number of the type int8"):
        added(np.zeros(3, np.int8), init=init)


def test_starts_of_other_types():
    assert added(np.ones(3), init=2**70) == 2.0**70
    assert added(np.ones(3, np.float32), init=0.1) == np.float32(3) + np.float32(0.1)
    assert added(np.ones(3, np.int8), init=np.float64(7)) == 10
    assert added(np.ones(3), init=2 + 0j) == 5


def test_functions_that_reduce_nothing():
    def three(a, b, c):
        return a + b + c

    for function, shown in (
        (lambda a: a, r"'<lambda>' takes \(a\)"),
        (lambda *a: a[0], r"'<lambda>' takes \(\*a\)"),
        (three, r"'three' takes \(a, b, c\)"),
    ):
        with pytest.raises(TypeError, match="a function of two numbers; " + shown):
            cuda.reduce(function)
    with pytest.raises(TypeError, match="a function of two numbers; 'three'"):
        cuda.reduce(cuda.jit(device=True)(three))
