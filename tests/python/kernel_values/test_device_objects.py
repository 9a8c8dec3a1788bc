"""Programs for numba.cuda use arrays, records, streams, contexts and overloads outside of kernels."""

from __future__ import annotations

import numpy as np
import pytest

import kernel_places
import parpy
from parpy import cuda
from parpy.cuda.cudadrv import devicearray, devices, driver, error

backend = kernel_places.backend
RECORD = np.dtype([("a", np.int32), ("b", np.float64), ("c", np.float32, 2)], align=True)


def test_records_of_device_arrays():
    host = np.zeros(3, RECORD)
    host["a"], host["b"] = [1, 2, 3], [0.5, 1.5, 2.5]
    there = cuda.to_device(host)
    record = there[1]
    assert isinstance(record, cuda.DeviceRecord) and record["a"] == 2 and record[1] == 1.5
    record["a"], record[1], record["c"] = 7, 8.5, (3, 4)
    assert record["a"] == 7
    host[1] = (7, 8.5, (3, 4))
    np.testing.assert_array_equal(there.copy_to_host(), host)
    there["b"][1] = 9
    assert record["b"] == 8.5 and record.copy_to_host()["b"] == 9
    given = np.zeros(1, RECORD)[0]
    record.copy_to_host(given)
    assert given["b"] == 9 and given["c"].tolist() == [3, 4]


@cuda.jit
def assigned(record, factor):
    record.b = record.a * factor


def test_kernels_store_to_records_of_device_arrays():
    there = cuda.to_device(np.zeros(2, RECORD))
    there["a"][1] = 3
    assigned[1, 1](there[1], 2.5)
    assert there.copy_to_host()["b"].tolist() == [0, 7.5]


def test_truth_and_fill():
    there = cuda.device_array(4, np.float32)
    there.fill(3)
    assert there.copy_to_host().tolist() == [3] * 4
    assert cuda.to_device(np.float64(2)) and not cuda.to_device(np.zeros(1))
    with pytest.raises(ValueError, match="has no truth value"):
        bool(there)

    @parpy.vectorize(["int32(int32, int32)"], target="cuda")
    def plus(a, b):
        return a + b

    assert plus.reduce(cuda.to_device(np.arange(10, dtype=np.int32))) == 45


def test_streams_by_number_and_name():
    named = {
        0: (cuda.default_stream(), "Default CUDA stream"),
        1: (cuda.legacy_default_stream(), "Legacy default CUDA stream"),
        2: (cuda.per_thread_default_stream(), "Per-thread default CUDA stream"),
        0xABC: (cuda.external_stream(0xABC), "External CUDA stream 0xabc"),
    }
    for number, (stream, name) in named.items():
        assert int(stream) == number and name in repr(stream)
    assert "<CUDA stream" in repr(cuda.stream())


def test_contexts_and_modules_of_the_driver():
    context = cuda.current_context()
    assert context is cuda.current_context() is devices.get_context() and context.device == cuda.get_current_device()
    assert devices.gpus is cuda.gpus and issubclass(error.CudaSupportError, parpy.BackendError)
    assert driver.CudaAPIError is cuda.CudaAPIError and isinstance(cuda.stream(), driver.Stream)
    host = np.arange(3.0)
    there, is_new = devicearray.auto_device(host)
    assert is_new and devicearray.is_cuda_ndarray(there) and devicearray.auto_device(there) == (there, False)
    np.testing.assert_array_equal(there.copy_to_host(), host)


@cuda.jit
def filled(x, value):
    x[cuda.grid(1)] = value


def test_overloads_are_those_of_all_launches():
    launch = filled[1, 3]
    for x, value in ((np.zeros(3), 3), (np.zeros(3, np.int32), 3), (np.zeros(3), 4), (np.zeros(3), np.float32(1))):
        launch(x, value)
    assert [tuple(map(str, each)) for each in filled.overloads] == [
        ("float64[::1]", "int64"),
        ("int32[::1]", "int64"),
        ("float64[::1]", "float32"),
    ]


class Foreign:
    """Another library's array."""

    def __init__(self, array):
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def test_array_interfaces(backend):
    """Without a GPU, as_cuda_array also accepts the simulator's arrays."""
    if backend == "sim" and not parpy.backend.is_enabled(parpy.CompileBackend.Cuda):
        there = cuda.to_device(np.arange(12.0).reshape(3, 4))
        for part in (there, there[1:, ::2], there.T):
            again = cuda.as_cuda_array(Foreign(part))
            np.testing.assert_array_equal(again.copy_to_host(), part.copy_to_host())
        filled[1, 4](Foreign(there[1]), 5)
        np.testing.assert_array_equal(there.copy_to_host()[1], [5] * 4)

        @parpy.vectorize(["float64(float64, float64)"], target="cuda")
        def plus(a, b):
            return a + b

        out = cuda.device_array(4)
        plus(Foreign(there[0]), there[1], out=Foreign(out))
        np.testing.assert_array_equal(out.copy_to_host(), np.arange(4) + 5)


# ---------------------------------------------------------------- array interfaces and strides


class Described:
    """An array of another library, of which only the interface is known."""

    def __init__(self, array, **more):
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **more}


@cuda.jit
def doubled(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


def test_masked_arrays_are_refused():
    there = cuda.to_device(np.ones(3))
    given = Described(there, mask=Described(cuda.to_device(np.zeros(3, bool))))
    with pytest.raises(NotImplementedError, match="masked arrays"):
        cuda.as_cuda_array(given)
    with pytest.raises(TypeError, match="masked device array"):
        doubled[1, 3](given)
    assert there.copy_to_host().tolist() == [1] * 3
    doubled[1, 3](Described(there, mask=None))
    assert there.copy_to_host().tolist() == [2] * 3


@pytest.mark.parametrize("shape", [0, (0, 3), (2, 0)])
def test_arrays_without_elements_have_no_address(shape):
    there = cuda.device_array(shape)
    assert there.__cuda_array_interface__["data"][0] == 0
    again = cuda.as_cuda_array(Described(there))
    assert again.shape == there.shape and again.copy_to_host().shape == there.shape
    doubled[1, 1](again)


@pytest.mark.parametrize("strides", [(32, 4), (4, 12), (-16, 4), (16, -4)])
def test_strides_of_host_memory(strides):
    for made in (cuda.pinned_array((3, 4), np.float32, strides), cuda.mapped_array((3, 4), np.float32, strides)):
        assert made.strides == strides
        made[...] = np.arange(12.0, dtype=np.float32).reshape(3, 4)
        cuda.synchronize()
        np.testing.assert_array_equal(np.asarray(made), np.arange(12.0).reshape(3, 4))
    added_one = cuda.mapped_array((3, 4), np.float32, strides=strides)
    added_one[...] = 1
    numbered[1, (3, 4)](added_one)
    cuda.synchronize()
    np.testing.assert_array_equal(np.asarray(added_one), 1 + np.arange(12).reshape(3, 4))
    with pytest.raises(ValueError, match="strides are a number of bytes for each of 2 dimensions"):
        cuda.pinned_array((3, 4), strides=(8,))


@cuda.jit
def numbered(x):
    i, j = cuda.grid(2)
    x[i, j] += i * x.shape[1] + j


@cuda.jit
def stored(out, value):
    out[0] = value


@cuda.jit("void(uint64[:], uint64)")
def declared(out, value):
    out[0] = value


@pytest.mark.parametrize("value", [2**63 - 1, 2**63, 2**64 - 1, 5])
def test_large_integers(value):
    for kernel in (stored, declared):
        out = np.zeros(1, np.uint64)
        kernel[1, 1](out, value)
        assert out[0] == value
    for wrong in (2**64, -(2**63) - 1):
        with pytest.raises(parpy.CompileError, match="does not fit 64 bits"):
            stored[1, 1](out, wrong)
    assert out[0] == value


# ---------------------------------------------------------------- devices and names


def test_lists_of_devices(capsys):
    assert cuda.gpus.lst == cuda.list_devices()
    here = cuda.current_context()
    assert here.can_access_peer(here) == here.can_access_peer(0)
    with pytest.raises(IndexError):
        here.can_access_peer(1000)
    assert cuda.detect() == (not cuda.sim.enabled)
    assert capsys.readouterr().out.startswith("Found 0 CUDA devices" if cuda.sim.enabled else "Found ")


def test_names_of_memory_that_is_not_managed():
    assert isinstance(cuda.current_context().get_memory_info(), cuda.MemoryInfo)
    for name in ("MemoryPointer", "MappedMemory", "PinnedMemory"):
        with pytest.raises(NotImplementedError, match="driver's pool"):
            getattr(cuda, name)(1, 2, 3)


def test_names_of_errors_and_warnings():
    assert issubclass(error.NvrtcCompilationError, parpy.BackendError)
    assert issubclass(cuda.errors.NumbaPerformanceWarning, cuda.errors.NumbaWarning)
    assert issubclass(cuda.errors.NumbaTypeError, parpy.CompileError)
    assert devices.reset() is None


@cuda.jit(parpy.cuda.types.void(cuda.random.xoroshiro128p_type[:], cuda.types.float64[:]))
def drawn(states, out):
    i = cuda.grid(1)
    out[i] = cuda.random.xoroshiro128p_uniform_float64(states, i)


def test_the_type_of_random_states_in_signatures():
    states, out = cuda.random.create_xoroshiro128p_states(4, seed=1), np.full(4, 2.0)
    drawn[1, 4](states, out)
    assert (out < 1).all() and len(set(out)) == 4


# ---------------------------------------------------------------- outputs of NumPy's functions


@cuda.jit
def sums(x, y, out):
    np.add(x, y, out=out)
    np.multiply(out, 2, out=(out,))
    np.negative(out[1:], out=out[1:])


def test_outputs_by_name():
    x, y, out = np.arange(4.0), np.ones(4), np.zeros(4)
    sums[1, 1](x, y, out)
    np.testing.assert_array_equal(out, [2, -4, -6, -8])
