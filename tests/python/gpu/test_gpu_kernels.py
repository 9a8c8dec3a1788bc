"""Behaviour of kernels written by hand that only a GPU can show: the same results as the simulator's, memory that does
not leak, asynchronous launches, grids that wait for each other, faults.

Skipped, with the reason, if there is none. test_kernels, test_kernel_exchanges, test_kernel_numbers,
test_kernel_data, test_cudapy and test_kernel_examples run on the GPU as well.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import parpy
import test_kernels as kernels
from parpy import _native, cuda
from parpy.cuda import cg

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not cuda.is_available(), reason=_native.cuda_unavailable()),
]
rng = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def on_gpu():
    cuda.sim.enabled = False
    yield
    cuda.sim.enabled = False


# ---------------------------------------------------------------- the same on both


def cases():
    ints, square = rng.integers(-5, 6, 128), rng.random((48, 48))
    yield kernels.saxpy, (40, 128), (2.5, rng.random(5000, np.float32), rng.random(5000, np.float32))
    yield kernels.places, ((5, 2, 3), (2, 4, 2)), (np.zeros((6, 8, 10), np.int64),)
    yield kernels.matmul, ((3, 3), (16, 16)), (square, square.T.copy(), np.zeros((48, 48)))
    yield kernels.reverse, (1, 64, 0, 256), (np.arange(64, dtype=np.int32),)
    yield kernels.block_sum, (8, 128), (rng.integers(-9, 9, 1000) * 1.0, np.zeros(1))
    yield kernels.sorted_five, (1, 64), (rng.random((50, 5), np.float32),)
    yield kernels.functions, (1, 32), (rng.random(32), np.zeros(32, np.int32))
    yield kernels.shifted, (1, 32), (rng.random(32),)
    yield kernels.warp_sum, (2, 64), (ints.astype(np.complex64), np.zeros(4, np.complex64))
    yield kernels.exchanges, (1, 32), (ints[:32].astype(np.int32), np.zeros((32, 10), np.int64))
    yield kernels.counts, (1, 96), (np.arange(-10, 86), np.zeros((96, 3), np.int32))
    yield kernels.histogram, (4, 128), (rng.integers(0, 10, 5000), np.zeros(10, np.int32))
    yield kernels.bit_atomics, (1, 30), (np.array([0, 2**30 - 1, 0, 0, 0, 40], np.int32),)
    yield kernels.numbers, (1, 32), (rng.integers(0, 2**32, 32, np.uint32), np.zeros((32, 5), np.uint64))
    yield kernels.mandel, ((5, 4), (8, 8)), (
        np.linspace(-2, 1, 40), np.linspace(-1, 1, 30), np.zeros((30, 40), np.uint8), 50,
    )  # fmt: skip


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case[0].__name__)
def test_the_same_as_the_simulator(case):
    kernel, launch, arguments = case
    results = []
    for simulated in (False, True):
        cuda.sim.enabled = simulated
        copies = [np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]
        kernel[launch](*copies)
        results.append(copies)
    for gpu, sim in zip(*results, strict=True):
        np.testing.assert_allclose(gpu, sim, rtol=1e-6)  # a GPU rounds a * b + c once


# ---------------------------------------------------------------- memory and time


def test_device_arrays_through_dlpack():
    stream = cuda.stream()
    device = cuda.to_device(np.arange(12, dtype=np.float32).reshape(3, 4), stream)
    kind, number = device.__dlpack_device__()
    assert (kind, number) == (2, cuda.get_current_device().id)
    part = device[1:, ::2]
    given = 0
    for library in ("torch", "cupy"):
        try:
            module = importlib.import_module(library)
        except ImportError:
            continue
        shared = module.from_dlpack(part)
        shared += 1
        module.cuda.Stream.null.synchronize() if library == "cupy" else module.cuda.synchronize()
        given += 1
        np.testing.assert_array_equal(part.copy_to_host(), np.float32([[4, 6], [8, 10]]) + given)
    if given == 0:
        pytest.skip("neither torch nor CuPy")


@cuda.jit(debug=True)
def ends_too_far(x, n):
    i = cuda.grid(1)
    assert i < n, "too far"
    x[i] = 1


def test_a_thread_that_fails_ends():
    x = cuda.to_device(np.zeros(64))
    with pytest.raises(AssertionError, match="too far"):
        ends_too_far[2, 32](x, 40)
    np.testing.assert_array_equal(x.copy_to_host(), np.arange(64) < 40)


@parpy.jit
def loop_too_far(x, n):
    parpy.label("i")
    for i in range(64):
        assert i < n, "too far"
        x[i] = 1


def test_a_thread_of_a_mapped_loop_that_fails_ends():
    x = cuda.to_device(np.zeros(64))
    with pytest.raises(AssertionError, match="too far"):
        loop_too_far(x, 40, opts=parpy.par({"i": parpy.threads(64)}), debug=True)
    assert not x.copy_to_host()[40:].any()


def test_odd_numbers_of_small_elements_are_updated_alone():
    for dtype in (np.float16, np.int16, np.uint8):
        x = cuda.to_device(np.zeros(7, dtype))
        added_to_the_last[4, 32](x)
        assert x.copy_to_host().tolist() == [0] * 6 + [128]


@cuda.jit
def added_to_the_last(x):
    cuda.atomic.add(x, x.size - 1, 1)


@cuda.jit
def increment(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


ROUNDS = int(os.environ.get("PARPY_LEAK_ROUNDS", "100000"))


def test_no_leak_in_many_rounds():
    """Allocates, launches and frees 1e5 times 64 KiB, on two streams."""
    import resource

    streams = [0, cuda.stream()]

    def rounds(count):
        for i in range(count):
            array = cuda.device_array(1 << 13, stream=streams[i % 2])
            increment[8, 128, streams[i % 2]](array)
            del array
        cuda.synchronize()

    rounds(2000)
    free = cuda.current_context().get_memory_info().free
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rounds(ROUNDS)
    for _ in range(20):  # other processes use the device too; lost arrays would be 64 KiB each
        if free - cuda.current_context().get_memory_info().free < ROUNDS << 15:
            break
        time.sleep(1)
    else:
        pytest.fail("memory of the device was lost")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - most < 16 << 10


def test_objects_go_with_their_last_reference():
    def rounds(count):
        for _ in range(count):
            made = cuda.stream(), cuda.event(), cuda.pinned_array(1 << 16), cuda.mapped_array(1 << 12)
            increment[1, 32, made[0]](made[3])
            made[0].synchronize()

    def lost(count):
        free = cuda.current_context().get_memory_info().free
        rounds(count)
        return free - cuda.current_context().get_memory_info().free

    rounds(20)
    # Other processes use memory of the same device: a leak shows in every attempt, their changes only in some.
    assert any(lost(500) < 64 << 20 for _ in range(8))


@cuda.jit
def slow(x, turns):
    for _ in range(turns):
        cuda.nanosleep(1000000)
    x[cuda.grid(1)] += 1


@pytest.mark.clock
def test_launches_are_asynchronous():
    device = cuda.to_device(np.zeros(32))
    slow[1, 32](device, 1)
    cuda.synchronize()
    begin, end = cuda.event(), cuda.event()
    start = time.perf_counter()
    begin.record()
    slow[1, 32](device, 100)
    end.record()
    launched = time.perf_counter() - start
    end.synchronize()
    assert begin.elapsed_time(end) > 20 and 1000 * launched < begin.elapsed_time(end) / 4
    assert (device.copy_to_host() == 2).all()


def test_threads_launch_on_streams_of_their_own():
    arrays = [cuda.to_device(np.zeros(1000)) for _ in range(8)]

    def work(array):
        stream = cuda.stream()
        for _ in range(200):
            increment[8, 128, stream](array)
        stream.synchronize()

    threads = [threading.Thread(target=work, args=(array,)) for array in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((array.copy_to_host() == 200).all() for array in arrays)


def test_arrays_of_other_libraries():
    torch = pytest.importorskip("torch")
    x = torch.zeros(100, device="cuda")
    increment[1, 128](x)
    ours = cuda.as_cuda_array(x)
    increment[1, 128](ours)
    cuda.synchronize()
    assert (x == 2).all() and torch.as_tensor(ours, device="cuda").data_ptr() == x.data_ptr()


# ---------------------------------------------------------------- decisions of the device


@cuda.jit
def reversed_in_place(x):
    i = cuda.grid(1)
    g = cg.this_grid()
    v = x[x.size - 1 - i]
    g.sync()
    x[i] = v


def test_grid_barriers():
    most = reversed_in_place.max_cooperative_grid_blocks(256, cuda.to_device(np.zeros(1)))
    assert most >= cuda.get_current_device().MULTIPROCESSOR_COUNT
    n = 256 * min(most, 264)
    x = cuda.to_device(np.arange(float(n)))
    for _ in range(3):
        reversed_in_place[n // 256, 256](x)
    np.testing.assert_array_equal(x.copy_to_host(), np.arange(float(n))[::-1])
    with pytest.raises(parpy.BackendError, match=r"launching kernel 'reversed_in_place_kernel'") as caught:
        reversed_in_place[8 * most, 256](x)
    assert "blocks must all fit on the GPU at once" in str(caught.value)
    increment[1, 32](x)  # the next launch works
    cuda.synchronize()


@cuda.jit(debug=True)
def gathered_in_place(x, k):
    i = cuda.grid(1)
    g = cg.this_grid()
    v = x[k[i]]
    g.sync()
    x[i] = v
    g.sync()
    x[i] += 1


@pytest.mark.parametrize("bad", [0, 300, 1023])
def test_failures_in_grids_that_wait(bad):
    x, k = cuda.to_device(np.arange(1024.0)), np.arange(1024)[::-1].copy()
    k[bad] = 1 << 40
    with pytest.raises(IndexError, match="subscript 1099511627776 is out of bounds"):
        gathered_in_place[8, 128](x, k)
    np.testing.assert_array_equal(x.copy_to_host(), np.arange(1024.0))  # no thread passed the barrier
    k[bad] = 1023 - bad
    gathered_in_place[8, 128](x, k)
    np.testing.assert_array_equal(x.copy_to_host(), np.arange(1024.0)[::-1] + 1)


def test_occupancy_chooses_the_block():
    x = cuda.to_device(np.zeros(100_000))
    assert increment.suggest_block(x) in range(128, 1025, 32)
    increment.forall(x.size)(x)
    assert (x.copy_to_host() == 1).all()


@cuda.jit
def shared_copy(x):
    s = cuda.shared.array(0, np.float64)
    i = cuda.threadIdx.x
    s[i] = x[i]
    cuda.syncthreads()
    x[i] = s[cuda.blockDim.x - 1 - i]


def test_much_shared_memory():
    x = cuda.to_device(np.arange(256.0))
    shared_copy[1, 256, 0, 160 * 1024](x)
    np.testing.assert_array_equal(x.copy_to_host(), np.arange(256.0)[::-1])
    with pytest.raises(parpy.BackendError, match="1048576 bytes of shared memory"):
        shared_copy[1, 256, 0, 1 << 20](x)
    shared_copy[1, 256, 0, 2048](x)
    np.testing.assert_array_equal(x.copy_to_host(), np.arange(256.0))


@cuda.jit(max_registers=24, lineinfo=True, fastmath=True)
def few_registers(x, y):
    i = cuda.grid(1)
    x[i] = x[i] / y[i]


def test_compiler_flags():
    x, y = (cuda.to_device(np.ones(32, np.float32)) for _ in range(2))
    few_registers[1, 32](x, y)
    assert few_registers.get_regs_per_thread(x, y) <= 24
    assert ".loc" in few_registers.inspect_asm(x, y) and "div.approx" in few_registers.inspect_asm(x, y)


# ---------------------------------------------------------------- faults


def run_alone(body):
    """Runs it in a process of its own, because a fault destroys the context."""
    text = "import numpy as np\nimport parpy\nfrom parpy import cuda\n\n" + textwrap.dedent(body)
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"parpy_fault_{os.getpid()}.py"
    path.write_text(text)
    try:
        return subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=300)
    finally:
        path.unlink()


def test_a_fault_names_its_kernel():
    done = run_alone("""
        @cuda.jit
        def astray(x):
            x[cuda.grid(1) + (1 << 40)] = 1

        x = cuda.to_device(np.zeros(4))
        try:
            astray[1, 4](x)
            cuda.synchronize()
        except parpy.BackendError as error:
            assert "astray_kernel" in str(error), error
        else:
            raise AssertionError("no fault")
        try:
            astray[1, 4](x)
            cuda.synchronize()
        except parpy.BackendError as error:
            print("again:", error)
        """)
    assert done.returncode == 0, done.stderr
    assert "again:" in done.stdout


@cuda.jit(debug=True)
def checked(x, k):
    i = cuda.grid(1)
    cuda.syncthreads()
    x[k[i]] = i
    cuda.syncthreads()


def test_a_checked_kernel_leaves_the_gpu_usable():
    x = cuda.to_device(np.zeros(64))
    with pytest.raises(IndexError, match="subscript 64 is out of bounds for axis 0 of 'x', whose size is 64"):
        checked[2, 32](x, np.r_[0:40, 64:88])
    checked[2, 32](x, np.arange(64))
    np.testing.assert_array_equal(x.copy_to_host(), np.arange(64))


def test_wrong_device():
    if len(cuda.gpus) < 2:
        pytest.skip("needs two GPUs")
    with cuda.gpus[1]:
        there = cuda.to_device(np.zeros(4))
    here = cuda.to_device(np.zeros(4))
    with pytest.raises(parpy.BackendError, match="different GPUs"):
        kernels.saxpy[1, 4](1.0, here, there)
    with cuda.gpus[1]:
        increment[1, 4](there)
        assert (there.copy_to_host() == 1).all()


# ---------------------------------------------------------------- several GPUs


@cuda.jit
def scale(x, factor):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] = factor * x[i]


@pytest.fixture
def first_gpu_again():
    yield
    cuda.select_device(0)


@pytest.mark.skipif(_native.device_count() < 2, reason="needs two GPUs")
def test_arrays_stay_on_their_gpu(first_gpu_again):
    arrays = []
    for device in range(2):
        cuda.select_device(device)
        arrays.append(cuda.to_device(np.arange(1000.0)))
        scale[8, 128](arrays[device], 2.0 + device)
    for current in range(2):
        cuda.select_device(current)
        for device, array in enumerate(arrays):
            np.testing.assert_array_equal(array.copy_to_host(), (2.0 + device) * np.arange(1000.0))
            np.testing.assert_array_equal(array[::3].copy_to_host(), (2.0 + device) * np.arange(0.0, 1000.0, 3))
            assert array.__dlpack_device__() == (2, device)
    cuda.select_device(0)
    arrays[0].copy_to_device(arrays[1])
    np.testing.assert_array_equal(arrays[0].copy_to_host(), 3 * np.arange(1000.0))
    scale[8, 128](arrays[1], 2.0)  # on the device of the array
    arrays[1][:10] = 0.0
    np.testing.assert_array_equal(arrays[1][5:15].copy_to_host(), 6.0 * np.arange(5, 15) * (np.arange(5, 15) >= 10))
    with cuda.gpus[1]:
        assert cuda.get_current_device().id == 1
    assert cuda.get_current_device().id == 0


@pytest.mark.skipif(_native.device_count() < 2, reason="needs two GPUs")
def test_threads_have_their_own_gpu():
    found = {}

    def work(device):
        cuda.select_device(device)
        array = cuda.to_device(np.ones(1 << 18))
        for _ in range(20):
            scale[1024, 256](array, 0.5 + device)
        found[device] = array.copy_to_host()

    threads = [threading.Thread(target=work, args=(device,)) for device in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for device in range(2):
        assert (found[device] == (0.5 + device) ** 20).all()


@pytest.mark.skipif(_native.device_count() < 2, reason="needs two GPUs")
def test_arguments_on_two_gpus_are_refused(first_gpu_again):
    arrays = []
    for device in range(2):
        cuda.select_device(device)
        arrays.append(cuda.to_device(np.arange(100.0)))
    with pytest.raises(parpy.BackendError, match="different GPUs: 0 and 1"):
        kernels.saxpy[1, 128](2.0, arrays[0], arrays[1])
    cuda.select_device(0)
    np.testing.assert_array_equal(arrays[1].copy_to_host(), np.arange(100.0))
