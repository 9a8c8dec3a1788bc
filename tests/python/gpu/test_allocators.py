"""GPU memory of other allocators: a function on the emulated driver, whose memory is the host's, stand-ins of
libraries, and CuPy's pool on a GPU."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import fake_driver
import parpy
from parpy import CompileBackend, buffer
from parpy.arrays.allocators import allocate_of

SCRIPT = """
import gc
import sys
import threading
import types
import numpy as np
import parpy
import parpy.cuda as cuda
from parpy import CompileBackend, buffer

CUDA = CompileBackend.Cuda
sizes, freed = [], []


class Memory:
    def __init__(self, size, stream):
        self.array = np.full(size + 512, 77, np.uint8)
        self.ptr = (self.array.ctypes.data + 255) // 256 * 256
        sizes.append((size, stream))

    def __del__(self):
        freed.append(self.array.nbytes - 512)


@parpy.jit
def shifted(x):
    y = x + 1.0
    return y * 2.0


before = buffer.zeros((4,), parpy.types.F64, CUDA)
buffer.set_allocator(Memory)
x = buffer.from_array(np.arange(10.0), CUDA)
assert sizes == [(80, 0)] and before.numpy().sum() == 0
y = shifted(x, opts=parpy.auto(backend=CUDA))
assert y.numpy().tolist() == [2.0 * (i + 1) for i in range(10)]
assert len(sizes) > 1
del y
gc.collect()
assert 80 in freed, freed
del x
gc.collect()
assert len(freed) == len(sizes)
host = np.arange(6.0)
shifted(host, opts=parpy.auto(backend=CUDA))  # the call's own copies
assert len(freed) == len(sizes)
stream = cuda.stream()
array = cuda.device_array(5, np.float32, stream=stream)
assert sizes[-1] == (20, 0)  # arrays may outlive the stream
del stream
gc.collect()
del array
gc.collect()
assert len(freed) == len(sizes)

def work():
    for _ in range(50):
        each = buffer.from_array(np.arange(3.0), CUDA)
        assert each.numpy().sum() == 3
        del each


threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
gc.collect()
assert len(freed) == len(sizes)

buffer.set_allocator(lambda size, stream: types.SimpleNamespace(pointer=1))
try:
    buffer.zeros((3,), parpy.types.F64, CUDA)
except parpy.BackendError as error:
    assert "P528" in str(error) and "no attribute 'ptr'" in str(error), error
else:
    raise AssertionError("no error")
buffer.set_allocator(lambda size, stream: types.SimpleNamespace(ptr=0))
try:
    buffer.zeros((3,), parpy.types.F64, CUDA)
except parpy.BackendError as error:
    assert "'ptr' of its result is 0" in str(error), error
else:
    raise AssertionError("no error")
def fails(size, stream):
    raise MemoryError("nothing is left")
buffer.set_allocator(fails)
try:
    buffer.zeros((3,), parpy.types.F64, CUDA)
except parpy.BackendError as error:
    assert "24 bytes" in str(error) and "nothing is left" in str(error), error
else:
    raise AssertionError("no error")

kept = []
rmm, inner = types.ModuleType("rmm"), types.ModuleType("rmm.pylibrmm.stream")
class Stream:
    def __init__(self, obj):
        self.given = obj.__cuda_stream__()
def device_buffer(*, size, stream):
    kept.append(stream.given)
    return Memory(size, stream.given[1])
inner.Stream, rmm.DeviceBuffer = Stream, device_buffer
sys.modules.update({"rmm": rmm, "rmm.pylibrmm": types.ModuleType("rmm.pylibrmm"), "rmm.pylibrmm.stream": inner})
buffer.set_allocator("rmm")
z = buffer.zeros((3,), parpy.types.F64, CUDA)
assert kept == [(0, 0)] and z.numpy().tolist() == [0, 0, 0]

count = len(sizes)
buffer.set_allocator(None)
w = buffer.zeros((3,), parpy.types.F64, CUDA)
assert len(sizes) == count and w.numpy().sum() == 0
del z
gc.collect()
assert len(freed) == len(sizes)
last = buffer.from_array(np.arange(3.0), CUDA)
buffer.set_allocator(Memory)
at_exit = buffer.from_array(np.arange(3.0), CUDA)
print("passed")
"""


@pytest.mark.skipif(not fake_driver.LIBRARY.exists(), reason="the emulated driver is not built")
def test_memory_of_a_function():
    done = fake_driver.run_emulated(SCRIPT)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip() == "passed"


def test_unknown_allocators():
    with pytest.raises(ValueError, match="'cupi' is no allocator; allowed are 'cupy', 'rmm', None"):
        buffer.set_allocator("cupi")
    assert allocate_of(print) is print


@parpy.jit
def scaled(x):
    y = np.cumsum(x)
    return y * 2.0


@pytest.mark.gpu
def test_memory_of_cupy():
    cupy = pytest.importorskip("cupy")
    pool = cupy.cuda.MemoryPool()
    data = np.random.default_rng(0).random(100_000)
    opts = parpy.auto(backend=CompileBackend.Cuda)
    with cupy.cuda.using_allocator(pool.malloc):
        buffer.set_allocator("cupy")
        try:
            x = buffer.from_array(data, CompileBackend.Cuda)
            assert pool.used_bytes() >= x.nbytes
            for _ in range(4):
                y = scaled(x, opts=opts)
                np.testing.assert_allclose(y.numpy(), 2 * np.cumsum(data))
            assert pool.used_bytes() >= 2 * x.nbytes

            def work(x=x):
                for _ in range(20):
                    z = scaled(x, opts=opts)
                    np.testing.assert_allclose(z.numpy(), 2 * np.cumsum(data))

            threads = [threading.Thread(target=work) for _ in range(3)]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
            del x, y, work, threads, each
            gc.collect()
            parpy.sync()
            assert pool.used_bytes() == 0
            pool.set_limit(size=1 << 20)
            with pytest.raises(parpy.BackendError, match=r"OutOfMemory|Out of memory"):
                buffer.zeros((10_000_000,), parpy.types.F64, CompileBackend.Cuda)
        finally:
            buffer.set_allocator(None)
    assert buffer.from_array(data, CompileBackend.Cuda).numpy()[7] == data[7]
