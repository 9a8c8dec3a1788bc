"""Calls that several GPUs share: results are those of the CPU, for any number of devices.

Run on the GPUs of the machine, each as several devices if there are too few, and on an emulated driver with three,
which ends the process if a device accesses memory to which it has no access.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import fake_driver
import parpy
import places
from backends import ON_GPU
from parpy import _native, cuda
from test_beside import CASES as BESIDE
from test_devices import EXACT, GATHERED, REDUCED, agree, alone, dot, jacobi_1d, jacobi_2d, life

EMULATED = {"FAKE_CUDA_EMULATE": "3", **fake_driver.ENVIRONMENT}
EMULATES = "FAKE_CUDA_EMULATE" in os.environ
HERE = ON_GPU or EMULATES
on_gpus = pytest.mark.skipif(not HERE, reason="no GPU, and no emulated one")
two_gpus = pytest.mark.skipif(not HERE or _native.device_count() < 2, reason="one GPU")
pytestmark = pytest.mark.gpu
CUDA = parpy.CompileBackend.Cuda
PARTS = [1, 2, 3] if EMULATES else [1, 2, 3, 5, 8]


@pytest.mark.skipif(HERE or not fake_driver.LIBRARY.exists(), reason="runs without a GPU, where the emulated driver is")
@pytest.mark.parametrize(
    ("more", "some"),
    [
        ({}, ""),
        ({"PARPY_PEER_ACCESS": "0"}, "peers or stay"),
        ({"FAKE_CUDA_LATE": "1"}, "3 or stay or examples or beside"),
        ({"FAKE_CUDA_GRAPHS": "1"}, "replayed or stay or fields_3d or wide"),
        ({"FAKE_CUDA_GRAPHS": "1", "FAKE_CUDA_LATE": "1"}, "replayed or stay"),
    ],
    ids=["peers", "no peers", "late", "graphs", "late graphs"],
)
def test_on_emulated_gpus(more, some):
    """Variant `late`: work runs as late as possible, so that an exchange that does not wait for it shows."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", some, __file__]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **EMULATED, **more})
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert " passed" in done.stdout and "failed" not in done.stdout


@parpy.jit
def table(k, values, y):
    for i in range(len(k)):
        y[i] = values[k[i]]


def options(parts, **fields):
    """Options of a call on `parts` devices; each GPU is several of them if there are too few."""
    devices = [part % _native.device_count() for part in range(parts)]
    return parpy.auto(backend=CUDA, devices=devices, **fields)


def shared(function, args, parts, **fields):
    copies = [each.copy() if isinstance(each, np.ndarray) else each for each in args]
    result = function(*copies, opts=options(parts, **fields))
    return [result, *(each for each in copies if isinstance(each, np.ndarray))]


@on_gpus
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("parts", PARTS)
def test_the_bits_are_those_of_the_cpu(name, parts):
    function, args = EXACT[name]
    if EMULATES and name == "product":
        pytest.skip("the emulated GPU has no tensor cores")
    sums = {"deterministic": True} if name in ("product", "down_columns") else {}
    agree(shared(function, args, parts, **sums), alone(function, args, **sums))


@on_gpus
@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("parts", PARTS)
def test_reductions(name, parts):
    function, args, rtol = REDUCED[name]
    agree(shared(function, args, parts), alone(function, args), rtol)


@on_gpus
@pytest.mark.parametrize("name", GATHERED)
@pytest.mark.parametrize("parts", PARTS[1:])
def test_arrays_are_gathered_when_asked_for(name, parts):
    function, args, rtol = GATHERED[name]
    agree(shared(function, args, parts, gather=True), alone(function, args), rtol)


@on_gpus
@pytest.mark.parametrize("parts", PARTS)
def test_deterministic_sums_have_the_bits_of_one_device(parts):
    x, y = EXACT["jacobi_1d"][1][:2]
    agree(shared(dot, (x, y), parts, deterministic=True), alone(dot, (x, y), deterministic=True))


@on_gpus
@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("parts", PARTS[1:])
def test_rows_travel_beside_interior_rows(name, parts, monkeypatch):
    monkeypatch.setenv("PARPY_TIME_TILES", "0")
    function, args, _ = BESIDE[name]
    for steps in (1, 2, 11):
        agree(shared(function, (*args, steps), parts), alone(function, (*args, steps)))


@on_gpus
@pytest.mark.parametrize("name", ["heat_3d", "float32", "jacobi_2d"])
@pytest.mark.parametrize("steps", [1, 6, 23])
def test_launches_between_exchanges_are_replayed(name, steps, monkeypatch):
    """The first call with some arrays counts launches, the second one captures them, and later ones replay them."""
    monkeypatch.setenv("PARPY_TIME_TILES", "0")
    function, args, _ = BESIDE[name]
    held = [parpy.buffer.from_array(each, CUDA, devices=options(2).devices) for each in args]
    others = [parpy.buffer.from_array(each, CUDA, devices=options(2).devices) for each in args]
    expected = [each.copy() for each in args]
    before = list(fake_driver.state().captures) if EMULATES else []
    for _ in range(5):
        function(*held, steps, opts=options(2))
        function(*expected, steps, opts=parpy.auto(backend=parpy.CompileBackend.Cpu))
        agree([each.numpy() for each in held], expected)
    function(*others, steps, opts=options(2))
    agree([each.numpy() for each in others], alone(function, (*args, steps))[1:])
    if "FAKE_CUDA_GRAPHS" in os.environ:
        captures, recorded, launched = (b - a for a, b in zip(before, fake_driver.state().captures, strict=True))
        assert (captures > 0) == (steps > 1) and launched == 4 * captures
        assert recorded >= 6 * captures


@pytest.mark.skipif("FAKE_CUDA_GRAPHS" not in os.environ, reason="a GPU captures what it is told to")
def test_errors_of_replayed_launches(monkeypatch):
    """A stream that cannot be captured gets the launches one by one; other errors end the call, not later ones."""
    monkeypatch.setenv("PARPY_TIME_TILES", "0")
    function, args, _ = BESIDE["heat_3d"]
    driver, expected, kept = fake_driver.state(), alone(function, (*args, 9))[1:], []
    for failing, call in [(b"cuStreamBeginCapture", 1), (b"cuGraphInstantiateWithFlags", 1), (b"cuGraphLaunch", 1),
                          (b"cuGraphLaunch", 3)]:  # fmt: skip
        held = [parpy.buffer.from_array(each, CUDA, devices=options(2).devices) for each in args]
        kept.append(held)  # other arrays have other addresses
        for number in range(5):
            for each, value in zip(held, args, strict=True):
                each.copy_from(value)
            driver.failing, driver.failure, driver.after = failing, 2, 1
            driver.times = 1 if number == call else 0
            if number == call and failing != b"cuStreamBeginCapture":
                with pytest.raises(parpy.BackendError, match="out of memory"):
                    function(*held, 9, opts=options(2))
            else:
                function(*held, 9, opts=options(2))
                agree([each.numpy() for each in held], expected)
    driver.times = 0


@on_gpus
def test_numbers_between_exchanges_are_not_replayed():
    @parpy.jit
    def scaled(x, y, T):
        for t in range(T):
            s = 0.0
            for i in range(len(x)):
                s += x[i]
            for i in range(1, len(x) - 1):
                y[i] = x[i - 1] + s
            for i in range(len(x)):
                x[i] = y[i] / s

    x, y = np.arange(1.0, 61), np.arange(60.0)
    held = [parpy.buffer.from_array(each, CUDA, devices=options(2).devices) for each in (x, y)]
    for _ in range(4):
        scaled(*held, 3, opts=options(2, deterministic=True))
        scaled(x, y, 3, opts=parpy.auto(backend=parpy.CompileBackend.Cpu, deterministic=True))
        agree([each.numpy() for each in held], [x, y])


@on_gpus
def test_rows_along_another_axis():
    @parpy.jit
    def columns(a, b, T):
        for t in range(T):
            for j in range(1, a.shape[1] - 1):
                for i in range(a.shape[0]):
                    b[i, j] = a[i, j - 1] + a[i, j + 1]
            for j in range(a.shape[1]):
                for i in range(a.shape[0]):
                    a[i, j] = 0.5 * b[i, j]

    a, b = EXACT["jacobi_2d"][1][:2]
    agree(shared(columns, (a.T.copy(), b.T.copy(), 3), 3), alone(columns, (a.T.copy(), b.T.copy(), 3)))
    held = [parpy.buffer.from_array(each.T, CUDA, devices=options(2).devices, axis=1) for each in (a, b)]
    columns(*held, 3, opts=options(2))
    agree([each.numpy() for each in held], alone(columns, (a.T.copy(), b.T.copy(), 3))[1:])


@on_gpus
@pytest.mark.parametrize("parts", PARTS[1:])
def test_partitioned_arrays_stay_where_they_are(parts):
    devices = options(parts).devices
    x, y = EXACT["jacobi_1d"][1][:2]
    A, B = (parpy.buffer.from_array(each, CUDA, devices=devices) for each in (x, y))
    assert A.shape == x.shape and A.dtype == x.dtype and len(A.shards) == parts
    shards = A.shards
    for steps in (4, 1):
        jacobi_1d(A, B, steps, opts=options(parts))
    expected = alone(jacobi_1d, (x, y, 5))
    agree([A.numpy(), np.asarray(B)], expected[1:])
    assert np.array_equal(np.concatenate([each.numpy() for each in shards]), expected[1])
    assert [each.__dlpack_device__()[1] for each in shards] == list(devices)
    shards[1][0] = 5.0
    assert A.numpy()[A.cuts[1]] == 5.0
    A.copy_from(x)
    assert np.array_equal(A.numpy(), x)
    jacobi_1d(A, y.copy(), 2, opts=options(parts + 1))  # other blocks: the arrays are copied there and back
    assert np.array_equal(A.numpy(), alone(jacobi_1d, (x, y, 2))[1])
    with pytest.raises(ValueError, match="shape"):
        A.copy_from(x[1:])


@on_gpus
def test_arrays_that_all_devices_need_stay_there_too():
    k, values = np.arange(40)[::-1] % 13, np.arange(13.0)
    held = [parpy.buffer.from_array(each, CUDA, devices=options(3).devices) for each in (k, values, np.zeros(40))]
    table(*held, opts=options(3))
    assert np.array_equal(held[2].numpy(), values[k])


class Foreign:
    """An array of another library, as CuPy's and PyTorch's are, on a stream of its own."""

    def __init__(self, x):
        self.held = cuda.to_device(x)
        self.stream = cuda.stream()
        self.__cuda_array_interface__ = {**self.held.__cuda_array_interface__, "stream": self.stream.handle}

    def numpy(self):
        return self.held.copy_to_host()


def on_one_gpu(kind, x):
    """The array, and a function that returns its elements."""
    if kind == "foreign":
        made = Foreign(x)
        return made, made.numpy
    if kind in ("cupy", "torch"):
        library = pytest.importorskip(kind)
        if kind == "torch":
            made = library.from_numpy(x).cuda()
            return made, lambda: made.cpu().numpy()
        return library.asarray(x), None
    if kind == "cuda":
        made = cuda.to_device(x)
        return made, made.copy_to_host
    made = parpy.buffer.from_array(x, CUDA if kind == "buffer" else parpy.CompileBackend.Cpu)
    return made, made.numpy


@on_gpus
@pytest.mark.parametrize("kind", ["buffer", "host buffer", "cuda", "foreign", "cupy", "torch"])
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_arrays_of_one_gpu_are_split_and_stored_to(kind, parts):
    function, args = EXACT["jacobi_2d"]
    (a, elements), (b, _) = (on_one_gpu(kind, each.copy()) for each in args[:2])
    elements = elements or a.get
    expected = alone(function, args)
    function(a, b, args[2], opts=options(parts))
    assert np.array_equal(elements(), expected[1])
    blocks = parpy.buffer.from_array(a, CUDA, devices=options(parts).devices)
    assert np.array_equal(blocks.numpy(), expected[1])
    blocks.copy_from(b)
    assert np.array_equal(blocks.numpy(), expected[2])


@on_gpus
@pytest.mark.parametrize("kind", ["buffer", "host buffer", "cuda", "cupy", "torch"])
def test_rows_of_arrays_of_one_gpu(kind):
    """Elements with a stride, and an array that every device needs as a whole."""
    given, elements = on_one_gpu(kind, np.arange(62.0))
    elements = elements or given.get
    expected, x = np.arange(62.0), np.arange(31.0)
    jacobi_1d(given[::2], x.copy(), 2, opts=options(2))
    jacobi_1d(expected[::2], x.copy(), 2)
    assert np.array_equal(elements(), expected)
    values, k = on_one_gpu(kind, np.arange(9.0))[0], np.arange(40) % 9
    found = np.zeros(40)
    table(k, values, found, opts=options(3))
    assert np.array_equal(found, k)


@on_gpus
def test_arrays_of_one_gpu_that_calls_refuse():
    x, y = parpy.buffer.from_array(np.ones(20), CUDA), np.ones(20)
    with pytest.raises(parpy.ParallelError, match="memory of a GPU"):
        dot(x, y, opts=parpy.auto(backend=parpy.CompileBackend.Cpu, devices=(0, 1)))
    with pytest.raises(parpy.ParallelError, match="shares memory"):
        jacobi_1d(x, x, 1, opts=options(2))
    fixed = Foreign(y)
    address, _ = fixed.__cuda_array_interface__["data"]
    fixed.__cuda_array_interface__["data"] = address, True
    jacobi_1d(x, y, 1, opts=options(2))
    with pytest.raises(ValueError, match="read-only"):
        jacobi_1d(x, fixed, 1, opts=options(2))


@on_gpus
def test_arrays_that_all_devices_have_are_not_copied_again():
    @parpy.jit
    def doubled(values):
        for i in range(len(values)):
            values[i] = 2 * values[i]

    devices = options(3).devices
    k, values = np.arange(40)[::-1] % 13, np.arange(13.0)
    held = [parpy.buffer.from_array(each, CUDA, devices=devices) for each in (k, values, np.zeros(40))]

    def copies(values):
        before = fake_driver.state().peer_copies if EMULATES else 0
        table(*held, opts=options(3))
        assert np.array_equal(held[2].numpy(), values[k])
        return fake_driver.state().peer_copies - before if EMULATES else None

    assert copies(values) in (6, None)
    assert copies(values) in (0, None)
    doubled(held[1], opts=options(3))
    assert copies(2 * values) in (6, None)
    held[1].copy_from(values)
    assert copies(values) in (6, None)
    assert copies(values) in (0, None)
    held[1].shards[1][0] = 7.0  # shards may change at any time
    values[held[1].cuts[1]] = 7.0
    for _ in range(2):
        assert copies(values) in (6, None)


@on_gpus
def test_rows_travel_with_and_without_peers():
    """Results are the same if no device can access another's memory: test_on_emulated_gpus runs both cases."""
    for function in (jacobi_2d, life):
        args = EXACT[function.__name__][1]
        agree(shared(function, args, 3), alone(function, args))
    count = _native.device_count()
    wanted = os.environ.get("PARPY_PEER_ACCESS") != "0"
    assert _native.peer_access(0, 0) and (_native.peer_access(0, count - 1) == wanted or count == 1 or ON_GPU)


@on_gpus
def test_a_device_has_memory_for_its_block_and_halo():
    memory = _native.PartMemory(1 << 26, 0, [0])
    assert memory.mapped == 0
    memory.cover(1 << 20, 3 << 20)
    first = memory.mapped
    memory.cover(1 << 20, 2 << 20)
    assert memory.mapped == first
    memory.cover(0, 1 << 26)
    assert memory.mapped == 1 << 26
    for begin, end in ((5 << 20, 7 << 20), (20 << 20, 22 << 20), (6 << 20, 30 << 20), (0, 64 << 20)):
        memory.cover(begin, end)
    with pytest.raises(RuntimeError, match=r"P53\d|P52\d"):
        _native.PartMemory(1 << 50, 0, [0]).cover(0, 1 << 50)


@pytest.mark.skipif(not EMULATES, reason="a GPU launches what it is told to")
def test_an_error_in_one_part_ends_the_call():
    args = EXACT["jacobi_1d"][1]
    before, driver = threading.active_count(), fake_driver.state()
    shared(jacobi_1d, args, 3)
    for function in (b"cuLaunchKernelEx", b"cuMemcpyPeerAsync", b"cuStreamWaitEvent", b"cuEventRecord"):
        driver.failing, driver.failure, driver.after, driver.times = function, 2, 2, 1
        with pytest.raises(parpy.BackendError, match="out of memory"):
            shared(jacobi_1d, args, 3)
        assert threading.active_count() == before
        agree(shared(jacobi_1d, args, 3), alone(jacobi_1d, args))


@pytest.mark.skipif(not EMULATES, reason="a GPU has memory")
def test_a_device_without_memory():
    """The error says how much memory was wanted, and on which GPU."""
    driver = fake_driver.state()
    for after, number in ((0, 0), (1, 1)):
        driver.failing, driver.failure, driver.after, driver.times = b"cuMemCreate", 2, after, 2
        with pytest.raises(parpy.BackendError, match=rf"allocating 655360 bytes on GPU {number}"):
            parpy.buffer.from_array(np.zeros((2, 640, 128)), CUDA, devices=(0, 1))
        driver.times = 0
    made = parpy.buffer.from_array(np.ones((2, 640, 128)), CUDA, devices=(0, 1))
    assert np.array_equal(made.numpy(), np.ones((2, 640, 128)))


@on_gpus
def test_devices_that_are_not_there():
    with pytest.raises(parpy.BackendError, match="there is no GPU 99"):
        dot(np.ones(9), np.ones(9), opts=parpy.auto(backend=CUDA, devices=(0, 99)))


@on_gpus
def test_calls_of_several_threads_do_not_meet():
    args, found = EXACT["jacobi_1d"][1], [None] * 3

    def run(number):
        found[number] = shared(jacobi_1d, args, 2)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(found))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for each in found:
        agree(each, alone(jacobi_1d, args))


@two_gpus
@pytest.mark.parametrize("name", ["heat", "life", "nbody", "histogram", "power"])
def test_examples(name, monkeypatch):
    monkeypatch.syspath_prepend(places.ROOT / "examples" / "scale")
    module, engines = importlib.import_module(name), importlib.import_module("engines")
    small = {"nbody": (40,), "power": (12,)}.get(name, (30, 24))
    numbers = {"heat": (4,), "life": (3,), "nbody": (2, 0.02), "power": (1e-6,)}.get(name, ())
    function, arrays = getattr(module, name), module.start(*small)
    found, expected = (
        engine(function, arrays, *numbers, gather=True) for engine in (engines.on_gpus, engines.one_call)
    )
    agree(found, expected, 0 if name != "nbody" else 1e-12)


# ---------------------------------------------------------------- parpy.cuda on several devices


@cuda.jit
def added(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] += x[i]


@two_gpus
def test_kernels_and_arrays_on_several_devices():
    x = np.arange(64.0)
    held = []
    for device in cuda.gpus:
        with device:
            held.append((cuda.to_device(x * device.id), cuda.to_device(np.ones(64))))
            assert cuda.get_current_device() == device
    assert cuda.get_current_device() == cuda.gpus[0]
    for device, (a, b) in zip(cuda.gpus, held, strict=True):
        added[1, 64](a, b)  # on the device of the arrays, not the selected one
        assert a.__dlpack_device__() == b.__dlpack_device__() == (2, device.id)
        assert np.array_equal(b.copy_to_host(), x * device.id + 1)
    with pytest.raises(parpy.BackendError, match="P533"):
        added[1, 64](held[0][0], held[1][1])


@two_gpus
@pytest.mark.parametrize("target", ["same", "other type", "strided"])
def test_copies_between_devices(target):
    x = np.arange(60.0).reshape(6, 10)
    with cuda.gpus[1]:
        source = cuda.to_device(x)
    made = np.zeros((6, 20)) if target == "strided" else np.zeros((6, 10), "f4" if target == "other type" else "f8")
    to = cuda.to_device(made)
    to = to[:, ::2] if target == "strided" else to
    to.copy_to_device(source) if target == "same" else to.__setitem__(..., source)
    assert np.array_equal(to.copy_to_host(), x)
    to[...] = source[::-1]
    assert np.array_equal(to.copy_to_host(), x[::-1])
    with cuda.gpus[1]:
        source[...] = to
        assert np.array_equal(source.copy_to_host(), x[::-1])
    buffers = [parpy.buffer.from_array(each, CUDA) for each in (source, to)]
    buffers[0].copy_from(buffers[1])
    assert np.array_equal(buffers[0].numpy(), x[::-1])


@two_gpus
def test_streams_wait_for_events_of_other_devices():
    with cuda.gpus[1]:
        other, event = cuda.stream(), cuda.event()
        a = cuda.to_device(np.ones(64))
        added[1, 64, other](a, a)
        event.record(other)
    stream = cuda.stream()
    event.wait(stream)
    event.wait(cuda.default_stream())
    b = cuda.to_device(np.zeros(64), stream=stream)
    b.copy_to_device(a, stream=stream)
    stream.synchronize()
    assert np.array_equal(b.copy_to_host(), np.full(64, 2.0))


@two_gpus
def test_peer_access_of_contexts():
    here, there = (cuda.current_context(number) for number in (0, 1))
    cuda.select_device(0)
    assert here.can_access_peer(here)
    if here.can_access_peer(there):
        here.enable_peer_access(there)
    else:
        with pytest.raises(ValueError, match="cannot access"):
            here.enable_peer_access(there)
