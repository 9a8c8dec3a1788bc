"""Calls of NVIDIA's libraries. Libraries of this file replace them, and access the given memory as the documentation of
the real libraries says. Host arrays replace those of a GPU."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest

from parpy import cudalib
from parpy.arrays.libraries import is_on_device
from parpy.cudalib import _libraries, _operands, _plans, cublas, cufft, curand

STREAM = 7


class Fake:
    """A library whose functions are methods of an object in a test."""

    def __init__(self, functions):
        self.file = "libfake.so"
        self.calls, self.noted = [], []
        self._functions = functions

    def has(self, function):
        return hasattr(self._functions, function)

    def function(self, name):
        assert hasattr(self._functions, name), f"the library has no {name}"

        def run(*arguments):
            self.calls.append(name)
            getattr(self._functions, name)(*map(plain, arguments))
            return 0

        return run

    def call(self, name, *arguments):
        self.function(name)(*arguments)


def plain(value):
    """A number or an address, in the form that a C function receives."""
    return getattr(value, "value", value) if isinstance(value, ctypes._SimpleCData) else value


def memory(address, shape, dtype, strides=None):
    """The elements at an address, with strides in elements."""
    dtype = np.dtype(dtype)
    strides = strides if strides is not None else tuple(int(np.prod(shape[d + 1 :])) for d in range(len(shape)))
    count = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    raw = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    flat = np.frombuffer(raw, dtype)
    return np.lib.stride_tricks.as_strided(flat, shape, tuple(s * dtype.itemsize for s in strides))


def number(reference, dtype):
    raw = reference.raw if hasattr(reference, "raw") else reference
    return np.frombuffer(raw, dtype)[0]


@pytest.fixture
def gpu(monkeypatch, place_of_calls):
    """Host arrays replace those of a GPU, and an object's methods the functions of all libraries."""
    if place_of_calls == "gpu":
        pytest.skip("the real libraries have tests of their own")

    def how_of(array):
        return (np.ndarray, array.dtype, array.shape, array.strides, array.flags.writeable), array.ctypes.data

    def use(functions, *modules):
        fake = Fake(functions)
        monkeypatch.setitem(_plans.READERS, np.ndarray, how_of)
        for module in modules:
            for name, value in {
                "runs_on_gpu": lambda *arrays: True,
                "is_on_device": lambda array: True,
                "open_library": lambda name: fake,
                "stream_of": lambda arrays, stream: STREAM if stream is None else getattr(stream, "handle", stream),
                "on_the_gpu": lambda array, stream: array,
                "scale": lambda array, factor, stream: np.multiply(array, factor, out=array),
            }.items():
                if hasattr(module, name):
                    monkeypatch.setattr(module, name, value)
            if hasattr(module, "_native"):
                monkeypatch.setattr(module._native, "device_of_pointer", lambda address: 0, raising=False)
                monkeypatch.setattr(module._native, "note_stream", lambda *work: fake.noted.append(work))
        return fake

    yield use
    cufft.clear_plan_cache()
    for plans in (cublas._plans, cufft._transforms, curand._counts):
        plans.clear()
    _operands._handles.known.clear()


class FftFunctions:
    """cuFFT's functions, on NumPy."""

    def __init__(self):
        self.plans, self.streams, self.destroyed = {}, [], []

    def cufftPlanMany(self, plan, rank, sizes, inembed, istride, idist, onembed, ostride, odist, kind, batch):
        number = len(self.plans) + 1
        plan._obj.value = number
        assert inembed is onembed is None and istride == ostride == 1
        self.plans[number] = (tuple(sizes), idist, odist, kind, batch)

    def cufftSetStream(self, plan, stream):
        self.streams.append(stream)

    def cufftDestroy(self, plan):
        self.destroyed.append(plan)

    def _run(self, plan, given, made, kind, types, transform):
        sizes, idist, odist, planned, batch = self.plans[plan]
        assert planned == kind
        for k in range(batch):
            half = (*sizes[:-1], sizes[-1] // 2 + 1)
            shapes = [half if np.dtype(t).kind == "c" and types != (t, t) else sizes for t in types]
            source = memory(given + k * idist * np.dtype(types[0]).itemsize, shapes[0], types[0])
            target = memory(made + k * odist * np.dtype(types[1]).itemsize, shapes[1], types[1])
            target[...] = transform(source.copy(), sizes)
            if types[1][0] == "f":
                source[...] = np.nan  # the real library may do the same

    def cufftExecC2C(self, plan, given, made, direction):
        self._run(plan, given, made, 0x29, ("c8", "c8"), _both(direction))

    def cufftExecZ2Z(self, plan, given, made, direction):
        self._run(plan, given, made, 0x69, ("c16", "c16"), _both(direction))

    def cufftExecR2C(self, plan, given, made):
        self._run(plan, given, made, 0x2A, ("f4", "c8"), lambda x, n: np.fft.rfftn(x))

    def cufftExecD2Z(self, plan, given, made):
        self._run(plan, given, made, 0x6A, ("f8", "c16"), lambda x, n: np.fft.rfftn(x))

    def cufftExecC2R(self, plan, given, made):
        self._run(
            plan, given, made, 0x2C, ("c8", "f4"), lambda x, n: np.fft.irfftn(x, n, range(len(n)), norm="forward")
        )

    def cufftExecZ2D(self, plan, given, made):
        self._run(
            plan, given, made, 0x6C, ("c16", "f8"), lambda x, n: np.fft.irfftn(x, n, range(len(n)), norm="forward")
        )


def _both(direction):
    assert direction in (-1, 1)
    return lambda x, n: np.fft.fftn(x) if direction == -1 else np.fft.ifftn(x, norm="forward")


@pytest.mark.parametrize("shape", [(8,), (4, 6), (2, 3, 5)])
@pytest.mark.parametrize("wide", [False, True])
def test_transforms(gpu, shape, wide):
    functions = FftFunctions()
    gpu(functions, cufft)
    rng = np.random.default_rng(4)
    x = (rng.random(shape) + 1j * rng.random(shape)).astype("c16" if wide else "c8")
    kept = x.copy()
    np.testing.assert_allclose(cufft.fft(x), np.fft.fftn(x), rtol=1e-4)
    np.testing.assert_allclose(cufft.ifft(x, norm="backward"), np.fft.ifftn(x), rtol=1e-4, atol=1e-6)
    half = cufft.rfft(x.real.copy())
    np.testing.assert_allclose(half, np.fft.rfftn(x.real), rtol=1e-4, atol=1e-5)
    before = half.copy()
    np.testing.assert_allclose(cufft.irfft(half, n=shape[-1]), x.real * x.size, rtol=1e-3)
    np.testing.assert_array_equal(half, before)  # the library overwrites a copy
    np.testing.assert_array_equal(x, kept)
    cufft.fft_inplace(x)
    np.testing.assert_allclose(x, np.fft.fftn(kept), rtol=1e-4)
    assert set(functions.streams) == {STREAM}
    batch = np.stack([kept, 2 * kept]).reshape(2, *shape)
    axes = tuple(range(-len(shape), 0))
    np.testing.assert_allclose(cufft.fft(batch, axes=axes), np.fft.fftn(batch, axes=axes), rtol=1e-4)
    np.testing.assert_allclose(cufft.fft(x.T, stream=9), np.fft.fftn(x.T), rtol=1e-4)
    assert functions.streams[-1] == 9


def test_transforms_that_are_alike_are_looked_at_once(gpu, monkeypatch):
    functions = FftFunctions()
    gpu(functions, cufft)
    monkeypatch.setattr(cufft, "HOST", None)
    rng = np.random.default_rng(4)

    def calls():
        x, out = rng.random((3, 4)) + 1j * rng.random((3, 4)), np.empty((3, 4), complex)
        for axes, norm in ((None, None), (-1, "ortho")):
            wanted = np.fft.fftn(x, axes=(0, 1) if axes is None else (-1,), norm=norm)
            np.testing.assert_allclose(cufft.fft(x, axes=axes, norm=norm), wanted)
            assert cufft.fft(x, out, axes=axes, norm=norm) is out
            np.testing.assert_allclose(out, wanted)
            np.testing.assert_allclose(cufft.fft_inplace(x.copy(), axes=axes, norm=norm), wanted)
        np.testing.assert_allclose(cufft.rfft(x.real.copy()), np.fft.rfftn(x.real))
        assert functions.streams[-1] == STREAM

    calls()
    monkeypatch.setattr(cufft, "runs_on_gpu", None)
    calls()


def test_plans_are_kept(gpu):
    functions = FftFunctions()
    fake = gpu(functions, cufft)
    x = np.ones(8, "c8")
    for _ in range(3):
        cufft.fft(x)
        cufft.ifft(x)
    assert fake.calls.count("cufftPlanMany") == 1 and cufft.plan_cache_size() == 1
    cufft.fft(x, stream=9)  # another stream has another work area
    for n in range(1, 40):
        cufft.fft(np.ones(n, "c8"))
    assert cufft.plan_cache_size() == 32 and functions.destroyed
    cufft.clear_plan_cache()
    assert len(functions.destroyed) == len(functions.plans)


class BlasFunctions:
    """Some functions of cuBLAS, implemented with NumPy."""

    def cublasCreate_v2(self, handle):
        handle._obj.value = 99

    def cublasDestroy_v2(self, handle):
        assert handle == 99

    def cublasSetStream_v2(self, handle, stream):
        assert handle == 99 and stream == STREAM

    def cublasDgemm_v2(self, handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
        a = memory(a, (m, k) if ta == 0 else (k, m), "f8", (1, lda))
        b = memory(b, (k, n) if tb == 0 else (n, k), "f8", (1, ldb))
        c = memory(c, (m, n), "f8", (1, ldc))
        product = (a if ta == 0 else a.T) @ (b if tb == 0 else b.T)
        c[...] = number(alpha, "f8") * product + (number(beta, "f8") * c if number(beta, "f8") else 0)

    def cublasDgemmStridedBatched(self, h, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, count):
        for i in range(count):
            self.cublasDgemm_v2(
                h, ta, tb, m, n, k, alpha, a + 8 * i * sa, lda, b + 8 * i * sb, ldb, beta, c + 8 * i * sc, ldc
            )

    def cublasZgemv_v2(self, handle, trans, m, n, alpha, a, lda, x, incx, beta, y, incy):
        a = memory(a, (m, n), "c16", (1, lda))
        x, y = self._vector(x, m if trans else n, incx), self._vector(y, n if trans else m, incy)
        a = (a, a.T, a.conj().T)[trans]
        y[...] = number(alpha, "c16") * a @ x + number(beta, "c16") * y

    def _vector(self, address, count, step, dtype="c16"):
        found = memory(address, (count,), dtype, (abs(step),))
        return found[::-1] if step < 0 else found

    def cublasCherk_v2(self, handle, uplo, trans, n, k, alpha, a, lda, beta, c, ldc):
        a, c = memory(a, (n, k) if trans == 0 else (k, n), "c8", (1, lda)), memory(c, (n, n), "c8", (1, ldc))
        found = number(alpha, "f4") * (a @ a.conj().T if trans == 0 else a.conj().T @ a) + number(beta, "f4") * c
        places = np.tril_indices(n) if uplo == 0 else np.triu_indices(n)
        c[places] = found[places]

    def cublasIdamax_v2(self, handle, n, x, incx, result):
        result.raw = np.int32(1 + np.argmax(abs(self._vector(x, n, incx, "f8")))).tobytes()

    def cublasScnrm2_v2(self, handle, n, x, incx, result):
        result.raw = np.float32(np.linalg.norm(self._vector(x, n, incx, "c8"))).tobytes()

    def cublasZdotc_v2(self, handle, n, x, incx, y, incy, result):
        result.raw = np.complex128(np.vdot(self._vector(x, n, incx), self._vector(y, n, incy))).tobytes()

    def cublasDaxpy_v2(self, handle, n, alpha, x, incx, y, incy):
        self._vector(y, n, incy, "f8")[...] += number(alpha, "f8") * self._vector(x, n, incx, "f8")

    def cublasCrot_v2(self, handle, n, x, incx, y, incy, c, s):
        x, y = self._vector(x, n, incx, "c8"), self._vector(y, n, incy, "c8")
        c, s = number(c, "f4"), number(s, "c8")
        x[...], y[...] = c * x + s * y, c * y - np.conj(s) * x

    def cublasDtrsm_v2(self, handle, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb):
        size = m if side == 0 else n
        a, b = memory(a, (size, size), "f8", (1, lda)), memory(b, (m, n), "f8", (1, ldb))
        a = np.tril(a) if uplo == 0 else np.triu(a)
        if diag:
            np.fill_diagonal(a, 1)
        a = a.T if trans else a
        b[...] = (
            np.linalg.solve(a, number(alpha, "f8") * b)
            if side == 0
            else np.linalg.solve(a.T, number(alpha, "f8") * b.T).T
        )

    def cublasDspmv_v2(self, handle, uplo, n, alpha, ap, x, incx, beta, y, incy):
        packed = memory(ap, (n * (n + 1) // 2,), "f8")
        a = np.zeros((n, n))
        at = 0
        for j in range(n):
            rows = range(j + 1) if uplo == 1 else range(j, n)
            for i in rows:
                a[i, j] = a[j, i] = packed[at]
                at += 1
        x, y = self._vector(x, n, incx, "f8"), self._vector(y, n, incy, "f8")
        y[...] = number(alpha, "f8") * a @ x + number(beta, "f8") * y


@pytest.fixture
def blas(gpu):
    return gpu(BlasFunctions(), cublas, _operands)


def test_products(blas):
    rng = np.random.default_rng(5)
    a, b = np.asfortranarray(rng.random((6, 3))), np.asfortranarray(rng.random((3, 5)))
    inside = np.zeros((9, 7), order="F")
    cublas.Blas().gemm("N", "N", 4, 5, 3, 2, a[1:5], b, 0, inside[2:6, 1:6])
    np.testing.assert_allclose(inside[2:6, 1:6], 2 * a[1:5] @ b)
    assert np.count_nonzero(inside) == 20
    for first, second in [
        ((4, 3), (3, 5)),
        ((4, 3), (3, 1)),
        ((1, 3), (3, 5)),
        ((2, 4, 3), (2, 3, 5)),
        ((2, 4, 3), (3, 5)),
    ]:
        x, y = rng.random(first), rng.random(second)
        np.testing.assert_allclose(cublas.matmul(x, y), np.matmul(x, y))
        np.testing.assert_allclose(
            cublas.matmul(np.swapaxes(np.swapaxes(x, -1, -2).copy(), -1, -2), y), np.matmul(x, y)
        )


def test_host_arrays_are_sent_as_they_are_read(blas, monkeypatch):
    """Copies to the device keep the order of matrices, and results are copied back."""
    monkeypatch.setattr(_operands, "is_on_device", is_on_device)
    monkeypatch.setitem(_plans.READERS, np.ndarray, lambda array: None)
    rng = np.random.default_rng(8)
    a, b = np.asfortranarray(rng.random((6, 3))), np.asfortranarray(rng.random((3, 5)))
    inside = np.zeros((9, 7), order="F")
    cublas.Blas().gemm("N", "N", 4, 5, 3, 2, a[1:5], b, 0, inside[2:6, 1:6])
    np.testing.assert_allclose(inside[2:6, 1:6], 2 * a[1:5] @ b)
    assert np.count_nonzero(inside) == 20
    many, found = rng.random((2, 4, 3)), np.zeros((2, 5, 4)).transpose(0, 2, 1)
    cublas.Blas().gemm_strided_batched("T", "N", 4, 5, 3, 1, many, b, 0, found)
    np.testing.assert_allclose(found, many @ b)
    np.testing.assert_allclose(cublas.matmul(many, np.ascontiguousarray(b)), many @ b)
    v, w = rng.random(5), np.zeros(10)
    cublas.Blas().axpy(2, v[::-1], w[::2])
    np.testing.assert_allclose(w[::2], 2 * v[::-1])


def test_vectors(blas):
    rng = np.random.default_rng(6)
    a = np.asfortranarray(rng.random((4, 3)) + 1j)
    x, y = rng.random(6) * (1 + 1j), rng.random(8) * 1j
    wanted = 2j * a.conj().T @ y[::2] + 3 * x[::-2]
    found = x.copy()
    cublas.Blas().gemv("C", 4, 3, 2j, a, y[::2], 3, found[::-2])
    np.testing.assert_allclose(found[::-2], wanted)
    v, w = rng.random(5), rng.random(5)
    assert cublas.Blas().amax(v[::-1]) == np.argmax(v[::-1])
    changed = w.copy()
    cublas.Blas().axpy(2, v, changed)
    np.testing.assert_allclose(changed, 2 * v + w)
    np.testing.assert_allclose(cublas.Blas().nrm2((v + 1j).astype("c8")), np.linalg.norm(v + 1j), rtol=1e-6)
    np.testing.assert_allclose(cublas.Blas().dotc(v + 1j, w + 2j), np.vdot(v + 1j, w + 2j))
    p, q = (v + 1j).astype("c8"), (w - 1j).astype("c8")
    first, second = p.copy(), q.copy()
    cublas.Blas().rot(first, second, 0.6, 0.8j)
    np.testing.assert_allclose(first, 0.6 * p + 0.8j * q, rtol=1e-5)
    np.testing.assert_allclose(second, 0.6 * q + 0.8j * p, rtol=1e-5)


def test_calls_that_are_alike_are_looked_at_once(blas, monkeypatch):
    rng = np.random.default_rng(9)
    library = cublas.Blas()

    def calls():
        a, b, c, many = rng.random((4, 3)), rng.random((3, 5)), rng.random((4, 5)), rng.random((2, 4, 3))
        x, y, alpha = rng.random(6), rng.random(12), float(rng.random())
        square, other, matrix = rng.random((3, 3)), rng.random((3, 3)), np.asfortranarray(rng.random((3, 3)) * 1j)
        np.testing.assert_allclose(cublas.matmul(square, square), square @ square)
        np.testing.assert_allclose(cublas.matmul(square, other), square @ other)
        u, v = rng.random(3) + 1j, rng.random(3) + 0j
        wanted = [a @ b, many @ b, np.vdot(u, v), np.argmax(y), alpha * x[::-1] + y[::2], alpha * matrix @ u + 2 * v]
        assert cublas.matmul(a, b, c) is c
        library.axpy(alpha, x[::-1], y[::2])
        found = [c, cublas.matmul(many, b), library.dotc(u, v), library.amax(y), y[::2]]
        library.gemv("N", np.int64(3), 3, alpha, matrix, u, 2.0, v)
        wanted[3] = np.argmax(y)
        for ours, theirs in zip([*found, v], wanted, strict=True):
            np.testing.assert_allclose(ours, theirs)

    calls()
    for name in ("letter_of", "checked", "_shape_of_product", "OnGpu"):
        monkeypatch.setattr(cublas, name, None)
    calls()
    with pytest.raises(TypeError, match="NoneType"):  # other sizes
        library.gemv("N", 2, 3, 1.0, np.zeros((3, 3), "c16"), np.zeros(3, "c16"), 1.0, np.zeros(3, "c16"))


@pytest.mark.parametrize("uplo", "LU")
def test_triangles(blas, uplo):
    rng = np.random.default_rng(7)
    a = np.asfortranarray(rng.random((4, 4)) + 4 * np.eye(4))
    half = np.tril(a) if uplo == "L" else np.triu(a)
    b = np.asfortranarray(rng.random((4, 3)))
    found = b.copy(order="F")
    cublas.Blas().trsm("L", uplo, "T", "N", 4, 3, 2, a, found)
    np.testing.assert_allclose(half.T @ found, 2 * b)
    c = np.asfortranarray((rng.random((4, 3)) + 1j * rng.random((4, 3))).astype("c8"))
    made = np.zeros((4, 4), "c8", order="F")
    cublas.Blas().herk(uplo, "N", 4, 3, 2, c, 0, made)
    wanted = 2 * c @ c.conj().T
    np.testing.assert_allclose(made, np.tril(wanted) if uplo == "L" else np.triu(wanted), rtol=1e-5)
    columns = [half[: j + 1, j] if uplo == "U" else half[j:, j] for j in range(4)]
    x, y = rng.random(4), rng.random(4)
    result = y.copy()
    cublas.Blas().spmv(uplo, 4, 2, np.concatenate(columns), x, 3, result)
    np.testing.assert_allclose(result, 2 * (half + half.T - np.diag(half.diagonal())) @ x + 3 * y)


class RandomFunctions:
    """cuRAND's functions, which log their calls and fill arrays with values that identify the call."""

    def __init__(self):
        self.log = []

    def __getattr__(self, name):
        if not name.startswith("curand"):
            raise AttributeError(name)
        return lambda generator, *arguments: self.log.append((name, *arguments))

    def curandCreateGenerator(self, generator, kind):
        generator._obj.value = 5
        self.log.append(("create", kind))

    def curandGenerateUniform(self, generator, address, count):
        memory(address, (count,), "f4")[...] = 0.5

    def curandGenerateNormalDouble(self, generator, address, count, mean, sigma):
        assert count % 2 == 0
        memory(address, (count,), "f8")[...] = mean + sigma

    def curandGeneratePoisson(self, generator, address, count, expected):
        memory(address, (count,), "u4")[...] = expected


def test_random_numbers(gpu, monkeypatch):
    functions = RandomFunctions()
    gpu(functions, curand)
    monkeypatch.setattr(curand, "device_array", np.empty)
    generator = curand.PRNG(curand.PRNG.PHILOX4_32_10, seed=3, offset=4)
    x = generator.uniform(np.zeros(5, "f4"), 3)
    np.testing.assert_array_equal(x, [0.5, 0.5, 0.5, 0, 0])
    assert functions.log[:4] == [
        ("create", 161),
        ("curandSetPseudoRandomGeneratorSeed", 3),
        ("curandSetGeneratorOffset", 4),
        ("curandSetStream", STREAM),
    ]
    for count in (1, 2, 5):
        np.testing.assert_array_equal(generator.normal(np.zeros(count), 1, 2), np.full(count, 3.0))
    np.testing.assert_array_equal(generator.poisson(np.zeros(3, "u4"), 4), [4, 4, 4])
    created = len(functions.log)
    curand.PRNG(seed=3).uniform(np.zeros(4, "f4"))
    assert functions.log[created : created + 2] == [("create", 161), ("curandSetGeneratorOrdering", 104)]
    curand.QRNG(curand.QRNG.SOBOL32, ndim=3).generate(np.zeros(6, "u4"))
    assert ("curandSetQuasiRandomGeneratorDimensions", 3) in functions.log
    assert next(each for each in functions.log if each[0] == "curandGenerate")[2] == 6


# ---------------------------------------------------------------- libraries that are not there


@pytest.mark.parametrize("name", ["cufft", "cublas", "curand"])
def test_missing_libraries(monkeypatch, name):
    monkeypatch.setenv(f"PARPY_{name.upper()}", "/nowhere/lib.so")
    with pytest.raises(cudalib.MissingLibraryError, match=f"pip install nvidia-{name}-cu12"):
        _libraries.open_library(name)
    assert issubclass(cudalib.MissingLibraryError, ImportError)


def test_failures_of_libraries():
    class Failing:
        def __call__(self, *arguments):
            return 8

    class Handle:
        cufftDestroy = Failing()

    library = _libraries.Library("cufft", Handle(), "libcufft.so")
    with pytest.raises(cudalib.LibraryError, match=r"cufftDestroy failed: CUFFT_STATUS_INVALID_SIZE \(8\)") as caught:
        library.call("cufftDestroy", 1)
    assert caught.value.status == 8
    with pytest.raises(cudalib.LibraryError, match="has no function 'cufftNothing'"):
        library.call("cufftNothing")


def test_distributions(place_of_calls):
    for dtype in ("f4", "f8"):
        x = np.empty(200_001, dtype)
        generator = curand.PRNG(seed=11)
        generator.uniform(x)
        assert x.min() > 0 and x.max() <= 1 and abs(x.mean() - 0.5) < 0.005
        generator.normal(x, 2, 0.5)
        assert abs(x.mean() - 2) < 0.01 and abs(x.std() - 0.5) < 0.01
        generator.lognormal(x, 0, 0.25)
        assert abs(x.mean() - math.exp(0.25**2 / 2)) < 0.01
    events = generator.poisson(np.empty(100_000, "u4"), 4.5)
    assert abs(events.mean() - 4.5) < 0.05 and abs(events.var() - 4.5) < 0.1
    first = curand.PRNG(seed=5).uniform(np.empty(12))
    if place_of_calls == "cpu":  # cuRAND's offsets count words, not numbers
        np.testing.assert_array_equal(curand.PRNG(seed=5, offset=7).uniform(np.empty(5)), first[7:])
    again = curand.PRNG(seed=6)
    again.seed = 5
    np.testing.assert_array_equal(again.uniform(np.empty(12)), first)
    assert curand.uniform(3).dtype == np.float64 and curand.normal(0, 1, (2, 3), np.float32).shape == (2, 3)
    assert curand.lognormal(0, 1, 4).min() > 0 and curand.poisson(3, 4).dtype == np.uint32


@pytest.mark.parametrize("kind", ["SOBOL32", "SCRAMBLED_SOBOL32", "SOBOL64", "SCRAMBLED_SOBOL64"])
def test_low_discrepancy(kind):
    pytest.importorskip("scipy")
    rndtype = getattr(curand.QRNG, kind)
    for dtype in ("f4", "f8"):
        x = curand.QRNG(rndtype, ndim=2).generate(np.empty(2 * 1024, dtype))
        assert x.min() > 0 and x.max() <= 1
        for row in x.reshape(2, -1):  # each of 1024 equal parts has one point, but for the bounds between them
            assert np.abs(np.histogram(row, 64, (0, 1))[0] - 16).max() <= 1
    whole = np.empty(12, "u8" if "64" in kind else "u4")
    curand.QRNG(rndtype, ndim=3).generate(whole)
    generator = curand.QRNG(rndtype, ndim=3)
    parts = [generator.generate(np.empty(6, whole.dtype)).reshape(3, 2) for _ in range(2)]
    np.testing.assert_array_equal(np.concatenate(parts, axis=1), whole.reshape(3, 4))
    generator.ndim = 2
    assert generator.ndim == 2 and generator.generate(np.empty(8, whole.dtype)).any()
    with pytest.raises(TypeError, match="numbers of this sort fill arrays of"):
        generator.generate(np.empty(6, "u4" if "64" in kind else "u8"))
    for bits, scrambled in ((32, False), (32, True), (64, False), (64, True)):
        assert curand.quasi(8, bits=bits, nd=2, scrambled=scrambled).dtype == np.dtype(f"u{bits // 8}")
    with pytest.raises(ValueError, match="32 or 64 bits"):
        curand.quasi(8, bits=16)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: curand.PRNG(7), ValueError, "PRNG.XORWOW"),
        (lambda: curand.PRNG(seed=-1), ValueError, "'seed' is an int"),
        (lambda: curand.PRNG().uniform([1.0]), TypeError, "fills an array"),
        (lambda: curand.PRNG().uniform(np.zeros(3, int)), TypeError, "arrays of float32, float64"),
        (lambda: curand.PRNG().uniform(np.zeros(3), 4), ValueError, "has no room for 4"),
        (lambda: curand.PRNG().uniform(np.zeros(6)[::2]), ValueError, "follow each other"),
        (lambda: curand.PRNG().uniform(np.broadcast_to(0.0, 3)), ValueError, "read-only"),
        (lambda: curand.PRNG().normal(np.zeros(3), 0, 0), ValueError, "'sigma' is a number above 0"),
        (lambda: curand.QRNG(ndim=3).generate(np.zeros(4)), ValueError, "not points of 3 dimensions"),
        (lambda: curand.QRNG(ndim=0), ValueError, "1 to 20000 dimensions"),
    ],
)
def test_wrong_arguments(call, error, text):
    with pytest.raises(error, match=text):
        call()
