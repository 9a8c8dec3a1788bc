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
    assert x.shape == (100,) and x.size() == 400 and x.dtype is ElemSize.F32 and x.backend is place and len(x) == 100
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


@pytest.mark.parametrize("backend", TARGETS)
def test_edges(backend):
    place = CompileBackend(backend)
    none = buffer.zeros((3, 0), F64, place)
    assert none.shape == none.copy().shape == (3, 0) and none.size() == 0 and none.reshape(0, 5).shape == (0, 5)
    double(none[1], 0, opts=opts(place))
    assert list(none[1]) == [] and none.T.shape == (0, 3)
    one = buffer.from_array(np.float64(-0.5), place)
    assert one.shape == () and float(one) == -0.5 and bool(one)
    x = buffer.from_array(np.array([np.nan, np.inf, -1.5, 3e9, 0.0]), place)
    x[4] = -np.inf
    double(x, 5, opts=opts(place))
    np.testing.assert_array_equal(x.numpy(), [np.nan, np.inf, -3.0, 6e9, -np.inf])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(x.with_type(I32).numpy(), x.numpy().astype(np.int32))
    x[1:3] = np.array([7, 8], np.int8)
    x[3:] = buffer.from_array(np.ones(2), place)
    np.testing.assert_array_equal(x.numpy(), [np.nan, 7.0, 8.0, 1.0, 1.0])
    for index in (5, -6):
        with pytest.raises(IndexError, match="out of bounds"):
            x[index]
    with pytest.raises(ValueError):
        bool(x)


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
    moved = buffer.from_array(b, CompileBackend.Sim)
    assert moved.backend is CompileBackend.Sim and np.shares_memory(moved.numpy(), a) and moved is not b


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
    with pytest.raises(TypeError, match="the element type"):
        buffer.empty(3, "text")
    with pytest.raises(TypeError, match="elements of type"):
        buffer.from_array(np.array(["a"]))
    with pytest.raises(ValueError, match="not be negative"):
        buffer.empty((-1,), F32)
    for shape in ((2.5,), 2.0, "ab", None):
        with pytest.raises(TypeError, match="extents must be integers"):
            buffer.empty(shape, F32)
    assert buffer.empty((np.int8(3), True), F32, CompileBackend.Cpu).shape == (3, 1)
    twelve = buffer.zeros((3, 4), F32, CompileBackend.Cpu)
    for shape in ((5,), (5, -1), (0, 4)):
        with pytest.raises(ValueError, match="a buffer of 12 elements has no shape"):
            twelve.reshape(*shape)
    with pytest.raises(ValueError, match=r"strides \(4, 16\) cannot be viewed as \(12,\) in place"):
        twelve.T.reshape(12)
    assert twelve.reshape((np.int64(2), -1)).shape == (2, 6)
    with pytest.raises(ValueError, match="shape"):
        buffer.empty(3, F32, CompileBackend.Cpu).copy_from(np.ones(4))
    with pytest.raises(TypeError, match="CompileBackend"):
        buffer.empty(3, F32, "cpu")
    if not ON_GPU:
        with pytest.raises(parpy.BackendError, match="no GPU"):
            buffer.empty(3, F32, CompileBackend.Cuda)
