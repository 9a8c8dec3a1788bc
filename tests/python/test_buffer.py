"""parpy.buffer: arrays in host memory and on the GPU, shared with other libraries."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import ON_GPU, TARGETS
from parpy import CompileBackend, buffer
from parpy.types import F32, F64, I32, U8, ElemSize


@parpy.jit
def double(x, n):
    parpy.label("i")
    for i in range(n):
        x[i] *= 2


def opts(place):
    return parpy.CompileOptions(parallelize={"i": parpy.threads(64)}, backend=place)


@pytest.mark.parametrize("backend", TARGETS)
def test_made_and_computed_with(backend):
    place = CompileBackend(backend)
    x = buffer.zeros((100,), F32, place)
    assert x.shape == (100,) and x.size() == 100 and x.dtype is ElemSize.F32 and x.backend is place and len(x) == 100
    x.copy_from(np.arange(100))
    double(x, 100, opts=opts(place))
    x.sync()
    assert np.array_equal(x.numpy(), 2 * np.arange(100, dtype=np.float32))
    y = x.copy()
    double(y, 100, opts=opts(place))
    assert x[3] == 6 and y[3] == 12 and y[-1] == 396
    y[0] = 7
    assert y[0] == 7 and x[0] == 0
    assert buffer.empty_like(x).shape == (100,) and buffer.zeros_like(x).numpy().sum() == 0
    assert np.asarray(y).sum() == y.numpy().sum()


@pytest.mark.parametrize("backend", TARGETS)
def test_views_and_types(backend):
    place = CompileBackend(backend)
    x = buffer.from_array(np.arange(12, dtype=np.int32), place)
    m = x.reshape(3, 4)
    assert m.shape == (3, 4) and m.reshape((4, -1)).shape == (4, 3)
    assert m[1].shape == (4,) and np.array_equal(m[1].numpy(), [4, 5, 6, 7]) and m[2, 3] == 11
    double(m[1], 4, opts=opts(place))
    assert np.array_equal(x.numpy()[4:8], [8, 10, 12, 14])
    d = x.with_type(F64)
    assert d.dtype is F64 and d.numpy().dtype == np.float64 and x.with_type(I32) is x
    assert np.array_equal(m.T.copy().numpy() if place is not CompileBackend.Cuda else m.numpy().T, m.numpy().T)
    with pytest.raises(ValueError):
        x.reshape(5, 5)


def test_memory_is_shared_with_numpy():
    a = np.arange(5.0)
    b = buffer.from_array(a)
    assert b.numpy() is a and b.backend is CompileBackend.Cpu and buffer.from_array(b) is b
    double(b, 5, opts=opts(CompileBackend.Cpu))
    assert a[4] == 8
    assert np.from_dlpack(b)[1] == 2 and b.__array_interface__["shape"] == (5,)
    assert not hasattr(b, "__cuda_array_interface__")
    raw = buffer.from_raw(a.ctypes.data, (2, 2), np.float64, CompileBackend.Cpu, owner=a)
    assert raw[1, 1] == a[3]
    assert buffer.from_array([1, 2, 3]).dtype == np.int64


def test_memory_is_shared_with_torch():
    torch = pytest.importorskip("torch")
    t = torch.arange(4, dtype=torch.float32)
    b = buffer.from_array(t)
    b[0] = 9
    assert t[0] == 9 and b.torch()[0] == 9


def test_numpy_takes_elem_sizes():
    assert np.zeros(2, dtype=F32).dtype == np.float32 == F32 and np.float32 == ElemSize.F32
    assert ElemSize.F32 != ElemSize.F64 and np.float64 != ElemSize.F32
    assert {ElemSize.U8: 1}[U8] == 1


def test_what_cannot_be_a_buffer():
    with pytest.raises(TypeError, match="elements"):
        buffer.empty(3, "text")
    with pytest.raises(TypeError, match="elements of type"):
        buffer.from_array(np.array(["a"]))
    with pytest.raises(ValueError, match="not negative"):
        buffer.empty((-1,), F32)
    with pytest.raises(ValueError, match="shape"):
        buffer.empty(3, F32, CompileBackend.Cpu).copy_from(np.ones(4))
    with pytest.raises(TypeError, match="CompileBackend"):
        buffer.empty(3, F32, "cpu")
    if not ON_GPU:
        with pytest.raises(RuntimeError, match="no GPU"):
            buffer.empty(3, F32, CompileBackend.Cuda)
