"""Calls of C functions of cuBLAS without ctypes. The functions of this file have C addresses, and are run by Python on
the memory of the emulated driver."""

from __future__ import annotations

import ctypes
import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fake_driver
from parpy import _native

SCRIPT = """
import threading

import numpy as np
from test_calls_of_libraries import memory
from test_direct_library_calls import Blas, InC

from parpy import cuda
from parpy.cudalib import LibraryError, _operands, _plans, cublas

assert cuda.is_available() and not cuda.sim.enabled
blas = Blas()
_operands.open_library = lambda name: InC(blas)
rng = np.random.default_rng(5)
s = cuda.stream()


def same(found, wanted):
    np.testing.assert_allclose(found if isinstance(found, np.generic | float | int) else found.copy_to_host(), wanted,
                               rtol=1e-4, atol=1e-5)


def numbers(kind, *shape):
    found = rng.random(shape)
    return (found + 1j * rng.random(shape) if kind.startswith("c") else found).astype(kind)


for kind in ("f4", "f8", "c8", "c16"):
    for _ in range(3):  # the first call checks the operands, and the others use its plan
        a, b, c = numbers(kind, 3, 4), numbers(kind, 4, 5), numbers(kind, 3, 5)
        left, right, result = map(cuda.to_device, (a, b, c))
        same(cublas.matmul(left, right), a @ b)
        assert cublas.matmul(left, right, result) is result
        same(result, a @ b)
        same(cublas.matmul(left, right, stream=s), a @ b)
        assert blas.streams[-1] == s.handle
        turned = cuda.device_array((5, 3), kind)
        same(cublas.matmul(left, right, turned.T), a @ b)
        same(cublas.matmul(cuda.to_device(a.T.copy()).T, cuda.to_device(b.T.copy()).T), a @ b)
        same(cublas.matmul(left[:, ::1][:2], right), a[:2] @ b)
        several = numbers(kind, 6, 3, 4)
        same(cublas.matmul(cuda.to_device(several), right), several @ b)
        result = cuda.to_device(np.asfortranarray(c))
        for alpha, beta in ((1.5, 0.5), (2, 0), (0.25, 3.0)):
            before = result.copy_to_host()
            fortran = [cuda.to_device(np.asfortranarray(each)) for each in (a, b)]
            cublas.Blas().gemm("N", "N", 3, 5, 4, alpha, *fortran, beta, result)
            same(result, alpha * (a @ b) + beta * before)
        v, w = numbers(kind, 7), numbers(kind, 7)
        x, y = cuda.to_device(v), cuda.to_device(w)
        cublas.Blas().axpy(2, x[::-1], y)
        same(y, 2 * v[::-1] + w)
        same(cublas.Blas().dot(x, x[::-1]), v @ v[::-1])
        same(cublas.Blas().amax(x), np.argmax(abs(v.real) + abs(v.imag)))
made = [call for call in (each[0] if isinstance(each, tuple) else each for each in cublas._plans._known.values())
        if isinstance(call, _plans.Call)]
assert len(made) > 20 and all(call._direct for call in made)

large = cuda.to_device(np.ones((2, 2), "f4"))
blas.status = 13
for _ in range(2):
    try:
        cublas.matmul(large, large)
    except LibraryError as error:
        assert str(error) == "cublasSgemm_v2 failed: CUBLAS_STATUS_EXECUTION_FAILED (13)" and error.status == 13
    else:
        raise AssertionError
blas.status = 0


def work():
    for n in range(50):
        x = cuda.to_device(np.full((2, 2), n, "f4"))
        for alpha in (1.0, n):
            out = cuda.to_device(np.zeros((2, 2), "f4"))
            cublas.Blas().gemm("N", "N", 2, 2, 2, alpha, x, x, 0.0, out)
            found.append((out.copy_to_host() == 2 * alpha * n * n).all())


found, threads = [], [threading.Thread(target=work) for _ in range(4)]
for each in threads:
    each.start()
for each in threads:
    each.join()
assert len(found) == 400 and all(found)
print("done")
"""


class Blas:
    """Some functions of cuBLAS for all types, which get the numbers that a C function gets."""

    def __init__(self):
        self.streams, self.status = [], 0

    def __getattr__(self, name):
        letter = name.removeprefix("cublas").removeprefix("I")[:1].upper()
        kind = {"S": "f4", "D": "f8", "C": "c8", "Z": "c16"}.get(letter)
        method = next((each for each in (_gemm, _batched, _axpy, _dot, _amax) if name in each.__doc__.split()), None)
        if method is None or kind is None:
            raise AttributeError(name)
        parameters = [*inspect.signature(method).parameters.values()][2:]

        def run(*arguments):
            method(self, kind, *arguments)
            return self.status

        run.__signature__ = inspect.Signature(parameters)
        return run

    def cublasCreate_v2(self, handle):
        handle._obj.value = 99

    def cublasDestroy_v2(self, handle):
        pass

    def cublasSetStream_v2(self, handle, stream):
        self.streams.append(getattr(stream, "value", stream))


def _gemm(self, kind, handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
    """cublasSgemm_v2 cublasDgemm_v2 cublasCgemm_v2 cublasZgemm_v2"""
    from test_calls_of_libraries import memory

    assert handle == 99
    alpha, beta = (memory(each, (1,), kind)[0] for each in (alpha, beta))
    a = memory(a, (k, m) if ta else (m, k), kind, (1, lda))
    b = memory(b, (n, k) if tb else (k, n), kind, (1, ldb))
    c = memory(c, (m, n), kind, (1, ldc))
    c[...] = alpha * ((a.T if ta else a) @ (b.T if tb else b)) + (beta * c if beta else 0)


def _batched(self, kind, handle, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, count):
    """cublasSgemmStridedBatched cublasDgemmStridedBatched cublasCgemmStridedBatched cublasZgemmStridedBatched"""
    size = np.dtype(kind).itemsize
    for i in range(count):
        places = a + size * i * sa, lda, b + size * i * sb, ldb, beta, c + size * i * sc, ldc
        _gemm(self, kind, handle, ta, tb, m, n, k, alpha, *places)


def _axpy(self, kind, handle, n, alpha, x, incx, y, incy):
    """cublasSaxpy_v2 cublasDaxpy_v2 cublasCaxpy_v2 cublasZaxpy_v2"""
    from test_calls_of_libraries import memory

    _vector(y, n, incy, kind)[...] += memory(alpha, (1,), kind)[0] * _vector(x, n, incx, kind)


def _dot(self, kind, handle, n, x, incx, y, incy, result):
    """cublasSdot_v2 cublasDdot_v2 cublasCdotu_v2 cublasZdotu_v2"""
    from test_calls_of_libraries import memory

    memory(result, (1,), kind)[0] = _vector(x, n, incx, kind) @ _vector(y, n, incy, kind)


def _amax(self, kind, handle, n, x, incx, result):
    """cublasIsamax_v2 cublasIdamax_v2 cublasIcamax_v2 cublasIzamax_v2"""
    from test_calls_of_libraries import memory

    x = _vector(x, n, incx, kind)
    memory(result, (1,), "i4")[0] = 1 + np.argmax(abs(x.real) + abs(x.imag))


def _vector(address, count, step, kind):
    from test_calls_of_libraries import memory

    found = memory(address, (count,), kind, (abs(step),))
    return found[::-1] if step < 0 else found


class InC:
    """A library whose functions have C addresses and get each argument in 64 bits."""

    def __init__(self, functions):
        self.file, self._functions, self._made = "libfake.so", functions, {}

    def has(self, name):
        return hasattr(self._functions, name)

    def function(self, name):
        if name not in self._made:
            method = getattr(self._functions, name)
            count = len(inspect.signature(method).parameters)
            self._made[name] = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_longlong] * count)(method)
        return self._made[name]

    def failure(self, function, status):
        from parpy.cudalib._libraries import Library

        return Library("cublas", None, self.file).failure(function, status)

    def call(self, name, *arguments):
        getattr(self._functions, name)(*arguments)


@pytest.mark.skipif(not fake_driver.LIBRARY.exists(), reason="the emulated driver is not built")
def test_calls_on_the_emulated_driver():
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "FAKE_CUDA_EMULATE": "1", **fake_driver.ENVIRONMENT, "PYTHONPATH": path}
    ran = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0 and ran.stdout.endswith("done\n"), ran.stdout + ran.stderr


# ---------------------------------------------------------------- the parts


@pytest.mark.parametrize("count", [1, 2, 7, 15, 20, 24])
def test_arguments_arrive(count):
    got = []
    wide = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_longlong] * count)(lambda *given: got.append(given) or 5)
    address = ctypes.cast(wide, ctypes.c_void_p).value
    constants = [(-1) ** n * (10**n) for n in range(min(count, 18) - 1)] + [0] * (count - min(count, 18))
    call = _native.LibraryCall(address, constants, [])
    assert call(2**40) == 5 and got == [(2**40, *constants)]
    if count > 2:
        changed = _native.LibraryCall(address, constants, [(count - 2, 16), (0, -1)])
        assert changed(-3, 2**62, 4) == 5
        assert got[1] == (-3, 3, *constants[1:-1], 2**62 + 16)


def test_arguments_of_32_bits_arrive():
    got = []
    kinds = [ctypes.c_void_p, *[ctypes.c_int, ctypes.c_void_p] * 7]
    function = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(lambda *given: got.append(given) or 0)
    constants = [value for n in range(7) for value in (-(2**31) + n, 2**63 - 1 - n)]
    assert _native.LibraryCall(ctypes.cast(function, ctypes.c_void_p).value, constants, [])(8) == 0
    assert got == [(8, *constants)]


def test_calls_that_do_not_fit():
    with pytest.raises(ValueError, match="too many"):
        _native.LibraryCall(8, [0] * 24, [])
    with pytest.raises(IndexError):
        _native.LibraryCall(8, [0], [(1, 0)])
    call = _native.LibraryCall(8, [0], [(0, 0)])
    with pytest.raises(TypeError, match="another number of arguments"):
        call(1)
    with pytest.raises(TypeError):
        call(1, "x")
    with pytest.raises(OverflowError):
        call(1, 2**64)


def test_layouts():
    x = np.zeros((4, 6), np.float32)
    layout, address = _native.layout_of(x)
    assert address == x.ctypes.data and layout == _native.layout_of(np.ones((4, 6), "f4"))[0]
    read_only = x.copy()
    read_only.flags.writeable = False
    others = [x.T, x[:3], x[:, ::2], x.reshape(24), x.astype("f8"), x.astype("i4"), x[None], x.astype(">f4"), read_only]
    found = [_native.layout_of(each)[0] for each in others]
    assert len({layout, *found}) == 1 + len(others)
    assert _native.layout_of(x[1:, ::2])[1] == x.ctypes.data + 24
    for kind in ("O", "M8[D]", "U3", [("a", "i4")]):
        assert _native.layout_of(np.zeros(3, kind)) is None
    with pytest.raises(TypeError):
        _native.layout_of([1])
