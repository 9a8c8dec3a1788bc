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
