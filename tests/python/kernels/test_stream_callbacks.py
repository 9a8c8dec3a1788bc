"""Callbacks of streams, ``await stream.async_done()``, default streams; ineffective or failing names of numba.cuda."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

import kernel_places
import parpy
from parpy import cuda

backend = kernel_places.backend


@cuda.jit
def bumped(x):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] += 1


def test_callbacks():
    stream, got = cuda.stream(), []
    device = cuda.to_device(np.zeros(1000), stream=stream)
    for number in range(3):
        bumped.forall(1000, stream=stream)(device)
        stream.add_callback(lambda s, status, arg: got.append((s is stream, status, arg)), number)
    stream.add_callback(lambda *given: got.append(given[1:]))
    stream.synchronize()
    assert sorted(got, key=str) == sorted([(True, 0, 0), (True, 0, 1), (True, 0, 2), (0, None)], key=str)
    with pytest.raises(TypeError, match="a callback is a function"):
        stream.add_callback(3)


def test_callbacks_see_what_is_done():
    stream, seen, host = cuda.stream(), [], np.zeros(1000)
    device = cuda.to_device(host, stream=stream)
    bumped.forall(1000, stream=stream)(device)
    device.copy_to_host(host, stream=stream)
    stream.add_callback(lambda *_: seen.append(host.sum()))
    stream.synchronize()
    assert seen == [1000]


def test_await():
    async def copies(number):
        stream = cuda.stream()
        device = cuda.to_device(np.full(10, number), stream=stream)
        found = await stream.async_done()
        assert found is stream
        return device.copy_to_host(stream=stream)

    async def all_of_them():
        return await asyncio.gather(*map(copies, range(8)))

    for number, array in enumerate(asyncio.run(all_of_them())):
        assert (array == number).all()


def test_a_future_that_is_given_up():
    async def cancelled():
        future = cuda.stream().async_done()
        future.cancel()
        await asyncio.sleep(0.05)
        assert future.cancelled()

    asyncio.run(cancelled())


@pytest.mark.parametrize("make", [cuda.legacy_default_stream, cuda.per_thread_default_stream, cuda.default_stream])
def test_default_streams(make):
    results = []

    def work():
        cuda.sim.enabled = enabled
        stream = make()
        device = cuda.to_device(np.zeros(100), stream=stream)
        bumped.forall(100, stream=stream)(device)
        array = device.copy_to_host(stream=stream)
        stream.synchronize()
        results.append(array)

    enabled = cuda.sim.enabled
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 3 and all((array == 1).all() for array in results)


def test_what_has_nothing_to_do():
    with cuda.defer_cleanup():
        device = cuda.to_device(np.ones(3))
    with cuda.profiling():
        bumped[1, 3](device)
    cuda.profile_start()
    cuda.profile_stop()
    cuda.initialize()

    @cuda.require_context
    def use():
        return device.copy_to_host().sum()

    assert use() == 6
    assert cuda.is_float16_supported() and cuda.is_bfloat16_supported()
    assert cuda.is_supported_version() == cuda.is_available()
    assert cuda.is_available() == (cuda.cuda_error() is None)
    major, minor = cuda.runtime.get_version()
    assert (major > 10 or cuda.sim.enabled) and minor >= 0


def test_mapped_and_managed_arrays():
    x, y = np.zeros(4), np.ones(3, np.float32)
    with cuda.mapped(x) as device:
        bumped[1, 4](device)
    with cuda.mapped(x, y) as (first, second):
        bumped[1, 4](first)
        bumped[1, 3](second)
    assert x.tolist() == [2] * 4 and y.tolist() == [2] * 3
    managed = cuda.managed_array((2, 3), np.float32)
    managed[:] = 5
    bumped[1, 3](managed[0])
    cuda.synchronize()
    assert managed.copy_to_host().tolist() == [[6] * 3, [5] * 3]


def test_what_there_is_not():
    with pytest.raises(NotImplementedError, match="CUDA's IPC"):
        cuda.to_device(np.ones(3)).get_ipc_handle()
    with pytest.raises(NotImplementedError, match="CUDA's IPC"):
        cuda.open_ipc_array(None, 3, np.float32)
    with pytest.raises(NotImplementedError, match="CUDA's IPC"):
        cuda.IpcHandle()
    with pytest.raises(NotImplementedError, match="CUDA's IPC"):
        cuda.GetIpcHandleMixin().get_ipc_handle(None)
    for make in (cuda.BaseCUDAMemoryManager, cuda.HostOnlyCUDAMemoryManager, lambda: cuda.set_memory_manager(None)):
        with pytest.raises(NotImplementedError, match="memory comes from the driver's pool"):
            make()
    assert cuda.CudaSupportError is cuda.LinkerError is cuda.CudaAPIError is parpy.BackendError


def test_devices():
    device = cuda.get_current_device()
    assert device.uuid.startswith("GPU-") and len(device.uuid) == 40
    assert device.compute_capability == (device.COMPUTE_CAPABILITY_MAJOR, device.COMPUTE_CAPABILITY_MINOR)
    for name in ("MAX_PITCH", "CONCURRENT_KERNELS", "UNIFIED_ADDRESSING", "L2_CACHE_SIZE", "PCI_BUS_ID", "ECC_ENABLED",
                 "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"):  # fmt: skip
        assert getattr(device, name) >= 0
    assert cuda.devices is cuda.gpus and device.supports_float16 and device.supports_bfloat16
    device.reset()


def test_functions_of_numpy_on_mapped_arrays():
    for made in (cuda.managed_array((2, 3)), cuda.mapped_array((2, 3)), cuda.mapped_array_like(np.zeros((2, 3)))):
        made.fill(1.5)
        assert all(made.ravel() == 1.5) and made.sum() == 9 and made.mean(axis=0).tolist() == [1.5] * 3
        made[:] = np.arange(6.0).reshape(2, 3)
        bumped[1, 3](made[1])
        cuda.synchronize()
        np.testing.assert_array_equal(made, [[0, 1, 2], [4, 5, 6]])
        made += 1
        assert (
            (made + made.T.T)[1, 0] == 10 and np.sqrt(made).dtype == np.float64 and (10 - made)[0].tolist() == [9, 8, 7]
        )
        assert made[:, 1].tolist() == [2, 6] and np.maximum(made, 3)[0].tolist() == [3, 3, 3]
        shared = np.asarray(made)
        shared[0, 0] = 50
        assert made[0, 0] == 50 and isinstance(made[0], cuda.MappedNDArray)
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            made.nothing  # noqa: B018
