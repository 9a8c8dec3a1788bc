"""parpy.numbapro: the names of the seed, and programs that use them."""

from __future__ import annotations

import importlib
import warnings
from contextlib import closing

import numpy as np
import pytest

from parpy import cuda as own_cuda
from parpy import numbapro
from parpy.numbapro import CU, GUVectorize, Vectorize, autojit, cuda, f4, float32, guvectorize, int32, jit, vectorize
from ufunc_targets import on_host


@pytest.fixture(autouse=True)
def without_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_imports():
    assert importlib.import_module("parpy.numbapro.cudalib.cufft").FFTPlan
    assert importlib.import_module("parpy.numbapro.cudalib.curand").PRNG
    assert importlib.import_module("parpy.numbapro.cudalib").cublas.Blas
    assert numbapro.cuda.to_device is own_cuda.to_device
    assert all(hasattr(numbapro, name) for name in numbapro.__all__)
    assert all(hasattr(cuda, name) for name in cuda.__all__)


def test_kernels_with_argtypes():
    @cuda.jit(argtypes=[f4[:], f4[:]])
    def twice(a, b):
        i = cuda.grid(1)
        if i < a.shape[0]:
            b[i] = a[i] * 2

    @jit(argtypes=[f4[:], f4[:]], target="gpu")
    def thrice(a, b):
        i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
        if i < a.shape[0]:
            b[i] = a[i] * 3

    @cuda.jit(argtypes=[int32], restype=int32, device=True)
    def next_of(i):
        return i + 1

    @cuda.jit("void(int32[:])")
    def fill(a):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] = next_of(i)

    a, b = np.arange(10, dtype="f4"), np.zeros(10, "f4")
    twice[1, 32](a, b)
    np.testing.assert_array_equal(b, a * 2)
    thrice[1, 32](a, b)
    np.testing.assert_array_equal(b, a * 3)
    c = np.zeros(10, "i4")
    fill[1, 32](c)
    np.testing.assert_array_equal(c, np.arange(1, 11))


def test_functions_for_the_host():
    @jit(argtypes=[float32[:]], restype=float32)
    def total(x):
        found = float32(0)
        for i in range(x.shape[0]):
            found += x[i]
        return found

    @jit("float64(float64)")
    def half(x):
        return x / 2

    @autojit
    def twice(x):
        return x * 2

    @autojit(target="cpu")
    def plus(x):
        return x + 1

    assert total(np.arange(4, dtype="f4")) == 6 and half(3) == 1.5 and twice(3) == 6 and plus(3) == 4
    with pytest.raises(ValueError, match="targets are"):
        jit(target="tpu")


@pytest.mark.parametrize("target", ["gpu", "cpu"])
def test_compute_units(target):
    def product(tid, a, b, result):
        result[tid] = a[tid] * b[tid]

    def scaled(tid, result, factor):
        result[tid] = result[tid] * factor

    a, result, changed = np.arange(100.0), np.zeros(100), np.ones(100)
    unit = CU(target)
    with closing(unit):
        out = unit.output(result)
        unit.enqueue(product, ntid=a.size, args=(unit.input(a), unit.input(a), out))
        unit.enqueue(scaled, ntid=50, args=(out, 2.0))
        unit.enqueue(product, ntid=100, args=(out, out, room := unit.scratch_like(a)))
        unit.enqueue(product, ntid=100, args=(room, room, unit.inout(changed)))
        unit.wait()
    factors = np.where(a < 50, 2, 1)
    np.testing.assert_allclose(result, a * a * factors)
    np.testing.assert_allclose(changed, (a * a * factors) ** 4)
    with pytest.raises(ValueError, match="'ntid'"):
        unit.enqueue(product, -1)
    with pytest.raises(ValueError, match="'gpu' and 'cpu'"):
        CU("tpu")


def test_builders():
    builder = Vectorize(lambda a, b: a + b, target="gpu")
    builder.add(restype=f4, argtypes=[f4, f4])
    builder.add("int32(int32, int32)")
    ufunc = builder.build_ufunc()
    assert ufunc.types == ["ff->f", "ii->i"]
    assert ufunc(np.ones(3, "f4"), 1).dtype == np.float32

    def summed(row, result):
        result[0] = row.sum()

    layout = GUVectorize(summed, "(n)->()", target="cpu")
    layout.add(argtypes=[f4[:], f4[:]])
    np.testing.assert_array_equal(layout.build_ufunc()(np.ones((2, 3), "f4")), [3, 3])
    with pytest.raises(TypeError, match="argtypes"):
        layout.add()


def test_the_slides():
    """One function for three targets, and the product of matrices."""

    def foo(a, b):
        return (a + b) ** 2

    prototypes = ["float32(float32, float32)"]
    array, scalar = np.arange(10, dtype=np.float32), np.float32(1.2)
    for target in ("cpu", "parallel", "gpu"):
        np.testing.assert_allclose(vectorize(prototypes, target=target)(foo)(array, scalar), (array + scalar) ** 2)

    @guvectorize(["void(float32[:,:], float32[:,:], float32[:,:])"], "(m,n),(n,p)->(m,p)", target="gpu")
    def matmulcore(A, B, C):
        m, n = A.shape
        n, p = B.shape
        for i in range(m):
            for j in range(p):
                C[i, j] = 0
                for k in range(n):
                    C[i, j] += A[i, k] * B[k, j]

    a = np.arange(1000 * 2 * 4, dtype=np.float32).reshape(1000, 2, 4)
    b = np.arange(1000 * 4 * 5, dtype=np.float32).reshape(1000, 4, 5)
    np.testing.assert_allclose(matmulcore(a, b), np.matmul(a, b), rtol=1e-6)
    there = cuda.to_device(a)
    assert on_host(matmulcore(there, cuda.to_device(b))).shape == (1000, 2, 5)
