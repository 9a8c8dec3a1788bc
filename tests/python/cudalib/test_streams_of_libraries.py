"""Calls of NVIDIA's libraries with arrays of parpy.cuda, on the emulated driver of the unit tests: the streams of calls
and of results, copies of operands, and calls whose layouts are known."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fake_driver

pytestmark = pytest.mark.skipif(not fake_driver.LIBRARY.exists(), reason="the emulated driver is not built")

SCRIPT = """
import numpy as np
from test_calls_of_libraries import BlasFunctions, Fake, FftFunctions

from parpy import _native, cuda
from parpy.cudalib import _operands, cublas, cufft, curand

assert cuda.is_available() and not cuda.sim.enabled
noted, note_stream = [], _native.note_stream


def note(stream, device):
    noted.append((stream, device))
    note_stream(stream, device)


class Blas(BlasFunctions):
    def __init__(self):
        self.streams = []

    def cublasSetStream_v2(self, handle, stream):
        self.streams.append(stream)


class Random:
    def __init__(self):
        self.streams, self.made = [], 0

    def curandCreateGenerator(self, generator, kind):
        generator._obj.value = kind

    def curandDestroyGenerator(self, generator):
        pass

    def curandSetGeneratorOrdering(self, generator, order):
        assert order == 104

    def curandSetPseudoRandomGeneratorSeed(self, generator, seed):
        pass

    def curandSetStream(self, generator, stream):
        self.streams.append(stream)

    def curandGenerateNormal(self, generator, address, count, mean, sigma):
        from test_calls_of_libraries import memory

        assert count % 2 == 0
        memory(address, (count,), "f4")[...] = mean


_native.note_stream = note
ffts, blas, random = FftFunctions(), Blas(), Random()
cufft.open_library = lambda name: Fake(ffts)
_operands.open_library = lambda name: Fake(blas)
curand.open_library = lambda name: Fake(random)
s, t = cuda.stream(), cuda.stream()
rng = np.random.default_rng(3)
host = (rng.random((4, 6)) + 1j * rng.random((4, 6))).astype("c8")


def same(found, wanted):
    np.testing.assert_allclose(found.copy_to_host(), wanted, rtol=1e-4, atol=1e-4)


for _ in range(3):  # the first call checks the operands, and the others use its plan
    x, on_s = cuda.to_device(host), cuda.to_device(host, stream=s)
    wanted = np.fft.fft2(host)
    found = cufft.fft(x)
    same(found, wanted)
    assert found.stream == 0 and not noted
    found = cufft.fft(x, stream=t)
    same(found, wanted)
    assert found.stream is t and noted.pop() == (t.handle, 0)
    found = cufft.fft(on_s)
    same(found, wanted)
    assert found.stream is s and noted.pop() == (s.handle, 0)
    same(cufft.fft(x.T, stream=t), wanted.T)
    same(cufft.fft(x[::2], axes=[-1]), np.fft.fft(host[::2]))
    out = cuda.device_array((6, 4), np.complex64)
    assert cufft.fft(x, out.T) is not out
    same(out.T, wanted)
    assert cufft.fft(x, x) is x
    same(x, wanted)
    whole = cuda.to_device(np.concatenate([host, host]).reshape(-1))
    first, second = whole[:24].reshape((4, 6)), whole[6:30].reshape((4, 6))
    given = second.copy_to_host()
    cufft.fft(second, first)
    same(first, np.fft.fft2(given))
    for axes in ((0, 1), -1):
        real = cuda.to_device(host.real.copy())
        half = cufft.rfft(real, axes=axes)
        kept = half.copy_to_host()
        back = cufft.irfft(half, n=6, axes=axes, norm="backward", stream=t)
        same(back, host.real)
        np.testing.assert_array_equal(half.copy_to_host(), kept)
        same(cufft.fft(real, axes=axes), np.fft.fftn(host.real, axes=(0, 1) if axes == (0, 1) else (1,)))
    for wrong in (5, "s"):
        try:
            cufft.fft(cuda.to_device(host), stream=wrong)
        except TypeError as error:
            assert "is not a stream" in str(error)
        else:
            raise AssertionError
    noted.clear()

    a, b = rng.random((3, 4)), rng.random((4, 5))
    left, right = cuda.to_device(a, stream=s), cuda.to_device(b)
    found = cublas.matmul(left, right)
    same(found, a @ b)
    assert found.stream is s and noted.pop() == (s.handle, 0) and blas.streams[-1] == s.handle
    found = cublas.matmul(left, right, stream=t)
    assert found.stream is t and blas.streams[-1] == t.handle
    same(cublas.matmul(cuda.to_device(a.T.copy()).T, right), a @ b)
    v, w = rng.random(5), rng.random(5)
    y = cuda.to_device(w)
    cublas.Blas(stream=t).axpy(2, cuda.to_device(v), y)
    same(y, 2 * v + w)
    noted.clear()

    generator = curand.PRNG(seed=1, stream=t)
    for count in (1, 4, 5):
        for _ in range(2):
            x = cuda.to_device(np.zeros(count, "f4"))
            generator.normal(x, count, 1)
            same(x, np.full(count, count))
            assert noted.pop() == (t.handle, 0)
    assert random.streams[-1] == t.handle
    noted.clear()
print("done")
"""


DEVICES = """
import numpy as np
from test_calls_of_libraries import BlasFunctions, Fake, FftFunctions

from parpy import _native, cuda
from parpy.cudalib import _operands, cublas, cufft, curand

assert _native.device_count() == 3
here = []  # the selected GPU at each call


class Seen(Fake):
    def function(self, name):
        run = super().function(name)

        def noted(*arguments):
            here.append(int(_native.current_device()))
            return run(*arguments)

        return noted


class Random:
    def __getattr__(self, name):
        if not name.startswith("curand"):
            raise AttributeError(name)
        return lambda *arguments: None


ffts, blas, random = FftFunctions(), BlasFunctions(), Random()
cufft.open_library = lambda name: Seen(ffts)
_operands.open_library = lambda name: Seen(blas)
curand.open_library = lambda name: Seen(random)
host = np.random.default_rng(1).random((4, 4))


def on(device, value):
    cuda.select_device(device)
    try:
        return cuda.to_device(value)
    finally:
        cuda.select_device(0)


for device in (1, 2, 0, 1):
    x = on(device, host + 0j)
    here.clear()
    found = cufft.fft(x)
    assert set(here) == {device} and _native.device_of_pointer(_native.address_of(found._view)) == device
    np.testing.assert_allclose(found.copy_to_host(), np.fft.fft2(host))
    a = on(device, host)
    here.clear()
    found = cublas.matmul(a, a)
    assert set(here) == {device} and _native.device_of_pointer(_native.address_of(found._view)) == device
    np.testing.assert_allclose(found.copy_to_host(), host @ host)
    here.clear()
    curand.PRNG(seed=1).uniform(a)
    assert here and set(here) == {device}
    assert int(_native.current_device()) == 0


def refused(text, call):
    try:
        call()
    except ValueError as error:
        assert text in str(error), error
    else:
        raise AssertionError


first, second = on(0, host), on(1, host)
for _ in range(2):
    refused("on different GPUs: 0 and 1", lambda: cublas.matmul(first, second))
    refused("on different GPUs: 0 and 1", lambda: cublas.Blas().axpy(1.0, first[0], second[0]))
    refused("on different GPUs: 0 and 1", lambda: cufft.fft(on(0, host + 0j), on(1, host + 0j)))
generator = curand.PRNG(seed=1)
generator.uniform(first)
refused("the generator works on GPU 0, and the array is on GPU 1", lambda: generator.uniform(second))
print("done")
"""


@pytest.mark.parametrize(("script", "devices"), [(SCRIPT, 1), (DEVICES, 3)], ids=["streams", "devices"])
def test_on_the_emulated_driver(script, devices):
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "FAKE_CUDA_EMULATE": str(devices), **fake_driver.ENVIRONMENT, "PYTHONPATH": path}
    ran = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0 and ran.stdout.endswith("done\n"), ran.stdout + ran.stderr
