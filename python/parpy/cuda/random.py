"""Random numbers in kernels: ``xoroshiro128p_*`` under numba.cuda's names, with a generator for each thread.

xoroshiro128+ of Blackman and Vigna (2016, rotations 55, 14 and 36): 128 bits of state, a period of 2**128 - 1. The
states of threads are 2**64 steps apart, so their sequences do not overlap. Seeds are spread by SplitMix64, whose first
two numbers are the state of the first thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.device_arrays import is_int
from ..vocabulary.signatures import from_dtype
from ._arrays import DeviceNDArray, device_array
from ._decorators import jit

xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)
"""The type of a state."""

xoroshiro128p_type = from_dtype(xoroshiro128p_dtype)
"""The type of a state in signatures."""

_U64 = 2**64 - 1
_JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)
_TO_64 = 2.0**-53
_TO_32 = 2.0**-24
_TWO_PI = 2 * math.pi
_device: Callable[[Callable[..., Any]], Any] = jit(device=True)


@_device
def xoroshiro128p_next(states: Any, index: Any) -> Any:
    """Returns a uniformly distributed uint64 of the generator number ``index``, and advances the generator."""
    a = states[index].s0
    b = states[index].s1
    found = a + b
    b ^= a
    states[index].s0 = ((a << np.uint64(55)) | (a >> np.uint64(9))) ^ b ^ (b << np.uint64(14))
    states[index].s1 = (b << np.uint64(36)) | (b >> np.uint64(28))
    return found


@_device
def uint64_to_unit_float64(x: Any) -> Any:
    """Returns the upper 53 bits of a uint64 as a float64 in [0, 1)."""
    return np.float64(np.uint64(x) >> np.uint64(11)) * np.float64(_TO_64)


@_device
def uint64_to_unit_float32(x: Any) -> Any:
    """Returns the upper 24 bits of a uint64 as a float32 in [0, 1)."""
    return np.float32(np.uint64(x) >> np.uint64(40)) * np.float32(_TO_32)


@_device
def xoroshiro128p_uniform_float64(states: Any, index: Any) -> Any:
    """Returns a uniformly distributed float64 in [0, 1)."""
    return uint64_to_unit_float64(xoroshiro128p_next(states, index))


@_device
def xoroshiro128p_uniform_float32(states: Any, index: Any) -> Any:
    """Returns a uniformly distributed float32 in [0, 1)."""
    return uint64_to_unit_float32(xoroshiro128p_next(states, index))


@_device
def xoroshiro128p_normal_float64(states: Any, index: Any) -> Any:
    """Returns a normal float64 of mean 0 and variance 1, by Box and Muller's transform of two uniform numbers."""
    above_zero = np.float64(1) - xoroshiro128p_uniform_float64(states, index)
    angle = np.float64(_TWO_PI) * xoroshiro128p_uniform_float64(states, index)
    return np.sqrt(np.float64(-2) * np.log(above_zero)) * np.cos(angle)


@_device
def xoroshiro128p_normal_float32(states: Any, index: Any) -> Any:
    """Returns a normal float32 of mean 0 and variance 1, by Box and Muller's transform of two uniform numbers."""
    above_zero = np.float32(1) - xoroshiro128p_uniform_float32(states, index)
    angle = np.float32(_TWO_PI) * xoroshiro128p_uniform_float32(states, index)
    return np.sqrt(np.float32(-2) * np.log(above_zero)) * np.cos(angle)


@_device
def xoroshiro128p_jump(states: Any, index: Any) -> None:
    """Advances the generator number ``index`` by 2**64 steps."""
    a = np.uint64(0)
    b = np.uint64(0)
    for bit in range(128):
        word = np.uint64(0xBEAC0467EBA5FACB) if bit < 64 else np.uint64(0xD86B048B86AA9922)
        if (word >> np.uint64(bit % 64)) & np.uint64(1) != 0:
            a ^= states[index].s0
            b ^= states[index].s1
        xoroshiro128p_next(states, index)
    states[index].s0 = a
    states[index].s1 = b


@_device
def init_xoroshiro128p_state(states: Any, index: Any, seed: Any) -> None:
    """Sets the generator number ``index`` to the first state of ``seed``."""
    z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15)
    for word in range(2):
        mixed = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
        if word == 0:
            states[index].s0 = mixed
        else:
            states[index].s1 = mixed
        z += np.uint64(0x9E3779B97F4A7C15)


def create_xoroshiro128p_states(n: int, seed: int, subsequence_start: int = 0, stream: Any = 0) -> DeviceNDArray:
    """Returns a device array of ``n`` states, one for each thread, 2**64 steps apart. The first of them is the first
    state of ``seed``, advanced by ``subsequence_start`` times 2**64 steps."""
    if not is_int(n) or n < 0:
        raise ValueError(f"n is a number of states, not {n!r}")
    states = device_array(n, dtype=xoroshiro128p_dtype, stream=stream)
    init_xoroshiro128p_states(states, seed, subsequence_start, stream)
    return states


def init_xoroshiro128p_states(states: DeviceNDArray, seed: int, subsequence_start: int = 0, stream: Any = 0) -> None:
    """Fills a device array of states, as ``create_xoroshiro128p_states`` does."""
    if not isinstance(states, DeviceNDArray) or states.ndim != 1 or states.dtype != xoroshiro128p_dtype:
        raise TypeError("the states are a device array of one dimension and of the type xoroshiro128p_dtype")
    for name, value in (("seed", seed), ("subsequence_start", subsequence_start)):
        if not is_int(value) or not 0 <= value <= _U64:
            raise ValueError(f"the {name} is an int from 0 to 2**64 - 1, not {value!r}")
    states.copy_to_device(_states(len(states), int(seed), int(subsequence_start)), stream=stream)


# ---------------------------------------------------------------- on the host
#
# A jump is linear in the bits of a state. It is stored as its images of the 128 single bits, and powers of it are made
# by squaring. In Python, the functions of kernels above work on all states of a NumPy array at once.


def _states(count: int, seed: int, start: int) -> np.ndarray[Any, Any]:
    """The states of ``count`` threads, each one jump after the state before it. Each step doubles their number."""
    first, made = np.recarray(1, xoroshiro128p_dtype), np.zeros(count, xoroshiro128p_dtype)
    with np.errstate(over="ignore"):
        init_xoroshiro128p_state.py_func(first, 0, seed)
    z: np.ndarray[Any, Any] = first
    jump = _jump_of_bits()
    each = jump
    while start:
        z = _applied(each, z) if start & 1 else z
        each, start = _applied(each, each), start >> 1
    made[:1] = z
    done, each = 1, jump
    while done < count:
        more = min(done, count - done)
        made[done : done + more] = _applied(each, made[:more])
        done, each = done + more, _applied(each, each)
    return made


def _jump_of_bits() -> np.ndarray[Any, Any]:
    """The images under a jump of the 128 states with a single bit."""
    state, made = (np.zeros(128, xoroshiro128p_dtype).view(np.recarray) for _ in range(2))
    state.s0[:64] = state.s1[64:] = np.uint64(1) << np.arange(64, dtype=np.uint64)
    for bit in range(128):
        if _JUMP[bit // 64] >> bit % 64 & 1:
            made.s0 ^= state.s0
            made.s1 ^= state.s1
        xoroshiro128p_next.py_func(state, slice(None))
    return made


def _applied(jump: np.ndarray[Any, Any], states: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The images of the states under a jump."""
    made = np.zeros(len(states), xoroshiro128p_dtype)
    for number, of_bit in enumerate(jump):
        given = states["s0" if number < 64 else "s1"]
        mask = -(given >> np.uint64(number % 64) & np.uint64(1))
        made["s0"] ^= mask & of_bit["s0"]
        made["s1"] ^= mask & of_bit["s1"]
    return made
