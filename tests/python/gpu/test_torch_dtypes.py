"""PyTorch's element types are accepted wherever NumPy's are; similar objects replace them here."""

from __future__ import annotations

import types

import numpy as np
import pytest

import parpy
from parpy import cuda

pytestmark = pytest.mark.usefixtures("simulator")

Dtype = type("dtype", (), {"__module__": "torch", "__repr__": lambda self: f"torch.{self.name}"})


def made(name):
    found = Dtype()
    found.name = name
    return found


torch = types.SimpleNamespace(
    **{n: made(n) for n in ("float32", "bool", "uint8", "int64", "complex64", "float8_e4m3fn")}
)


@pytest.mark.parametrize("name", ["float32", "bool", "uint8", "int64", "complex64"])
def test_arrays(name):
    dtype = getattr(torch, name)
    assert parpy.buffer.zeros((2,), dtype).numpy().dtype == name
    assert cuda.device_array(2, dtype).dtype == name
    assert parpy.types.buffer(dtype, [2]) == parpy.types.buffer(np.dtype(name), [2])


def test_types_without_a_name_here():
    with pytest.raises(TypeError, match=r"NumPy or PyTorch, not torch\.float8_e4m3fn"):
        parpy.buffer.zeros((2,), torch.float8_e4m3fn)
    with pytest.raises(TypeError, match=r"elements of type torch\.float8_e4m3fn cannot be on the device"):
        cuda.device_array(2, torch.float8_e4m3fn)


@cuda.jit
def kernel(x):
    shared = cuda.shared.array(2, torch.float32)
    own = cuda.local.array(1, dtype=torch.int64)
    shared[0], own[0] = 0.1, 3.7
    x[0] = shared[0] + own[0]


@parpy.jit
def converted(x):
    x[0] = parpy.builtin.convert(x[0], torch.uint8)


def test_in_compiled_code():
    x = np.zeros(1)
    kernel[1, 1](x)
    assert x[0] == np.float64(np.float32(0.1)) + 3
    for keywords in ({}, {"seq": True}):
        x[0] = 7.9
        converted(x, **keywords)
        assert x[0] == 7
