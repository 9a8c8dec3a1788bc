"""Memory of a GPU: lifetimes in any order, copies and fills of every layout and type, comparisons, the pool.

Run on a GPU if there is one, and on the emulated driver, which aborts if a stream is used after its end.
"""

from __future__ import annotations

import gc
import itertools
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import fake_driver
import parpy
from backends import ON_GPU
from parpy import CompileBackend, buffer, cuda

EMULATED = {"FAKE_CUDA_EMULATE": "1", **fake_driver.ENVIRONMENT}
HERE = ON_GPU or "FAKE_CUDA_EMULATE" in os.environ
on_gpu = pytest.mark.skipif(not HERE, reason="no GPU, and no emulated one")
pytestmark = pytest.mark.gpu
CUDA = CompileBackend.Cuda
TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]


def in_a_new_process(script: str, **more: str) -> subprocess.CompletedProcess:
    paths = os.pathsep.join([str(Path(parpy.__file__).parents[1]), str(Path(__file__).parent)])
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": paths, **more},
    )  # fmt: skip


@pytest.mark.skipif(HERE or not fake_driver.LIBRARY.exists(), reason="runs without a GPU, where the emulated driver is")
def test_on_the_emulated_gpu():
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **EMULATED})
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert " passed" in done.stdout and "failed" not in done.stdout


# ---------------------------------------------------------------- lifetimes


class Cycle:
    pass


@on_gpu
@pytest.mark.parametrize("order", list(itertools.permutations(["array", "stream", "event"])), ids="-".join)
def test_the_end_of_arrays_streams_and_events_in_any_order(order):
    stream = cuda.stream()
    event = cuda.event()
    array = cuda.to_device(np.arange(1000.0), stream=stream)
    event.record(stream)
    parts = {"array": [array, array[3:5]], "stream": [stream], "event": [event]}
    del array, stream, event
    for name in order:
        del parts[name]
        gc.collect()


@on_gpu
@pytest.mark.parametrize("first", ["array", "stream"])
def test_a_dead_cycle_of_array_and_stream(first):
    """The collector clears the parts of a cycle in an arbitrary order."""
    for _ in range(20):
        cycle = Cycle()
        parts = {"stream": cuda.stream()}
        parts["array"] = cuda.device_array(100, stream=parts["stream"])
        for name in ("array", "stream") if first == "array" else ("stream", "array"):
            setattr(cycle, name, parts[name])
        cycle.me = cycle
        del parts, cycle
        gc.collect()


@on_gpu
def test_arrays_outlive_their_streams():
    stream = cuda.stream()
    array = cuda.to_device(np.arange(10.0), stream=stream)
    stream.synchronize()
    other = cuda.as_cuda_array(array)
    native = stream._native
    object.__setattr__(stream, "_native", None)
    assert native is not None
    del native  # the driver's stream ends here, though the array names it
    del stream
    gc.collect()
    view = array[2:]
    del array, other
    gc.collect()
    np.testing.assert_array_equal(view._view.shape, (8,))
    del view
    gc.collect()


class Foreign:
    """A stream of another library, which is destroyed with its object."""

    def __init__(self):
        self.made = cuda.stream()

    def __cuda_stream__(self):
        return 0, self.made.handle


@on_gpu
def test_streams_of_other_libraries():
    foreign = Foreign()
    array = cuda.device_array(100, stream=foreign)
    array.copy_to_device(np.arange(100.0), stream=foreign)
    x = buffer.zeros((10,), backend=CUDA)
    cycle = [foreign, array, x]
    cycle.append(cycle)
    del foreign, array, x, cycle
    gc.collect()


@on_gpu
def test_threads_free_what_others_made():
    made = [cuda.to_device(np.full(1000, float(i)), stream=cuda.stream()) for i in range(40)]
    failures = []

    def free(own):
        try:
            while own:
                own.pop()
                buffer.zeros((100,), backend=CUDA)[3:5] = 7
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=free, args=(made[i::4],)) for i in range(4)]
    del made
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    gc.collect()
    assert not failures


AT_EXIT = """
import gc, sys
import numpy as np
import parpy
from parpy import buffer, cuda

class Late:
    def __init__(self, *parts): self.parts = parts
    def __del__(self): self.parts = None

stream = cuda.stream()
array = cuda.to_device(np.arange(100.0), stream=stream)
kept = Late(array, stream, cuda.event(), buffer.zeros((5,)), cuda.pinned_array(7))
sys.modules["a module of its own"] = kept
array[1::3] = array[:33]
(array < 3).copy_to_host()
cycle = [kept, array]
cycle.append(cycle)
gc.disable()
"""


@on_gpu
def test_the_end_of_the_process():
    done = in_a_new_process(AT_EXIT)
    assert done.returncode == 0 and not done.stderr, done.stderr


# ---------------------------------------------------------------- copies


def layouts(x):
    """Arrays with the elements of x in many layouts, each with the memory around it."""
    yield "C", x.copy(), lambda a: a
    yield "F", np.asfortranarray(x), lambda a: a
    wide = np.zeros(tuple(2 * n for n in x.shape), x.dtype)
    wide[tuple(slice(None, None, 2) for _ in x.shape)] = x
    yield "strided", wide, lambda a: a[tuple(slice(None, None, 2) for _ in x.shape)]
    yield "reversed", x[::-1].copy(), lambda a: a[::-1]
    yield "transposed", x.T.copy(), lambda a: a.T


@on_gpu
@pytest.mark.parametrize("shape", [(6,), (3, 4), (2, 3, 4), (1, 1), (0, 3)], ids=str)
def test_copies_of_every_layout(shape):
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype("f4")
    for (_, from_host, from_part), (_, to_host, to_part) in itertools.product(layouts(x), layouts(x)):
        source, target = cuda.to_device(from_host), cuda.to_device(np.full_like(to_host, -1))
        expected = np.full_like(to_host, -1)
        to_part(expected)[...] = x
        to_part(target).copy_to_device(from_part(source))
        np.testing.assert_array_equal(target.copy_to_host(), expected)
        np.testing.assert_array_equal(from_part(source).copy_to_host(), x)
        target = cuda.to_device(np.full_like(to_host, -1))
        to_part(target).copy_to_device(x)
        np.testing.assert_array_equal(target.copy_to_host(), expected)


@on_gpu
@pytest.mark.parametrize("kind", TYPES)
def test_conversions(kind):
    edges = [0, 1, 2, 100, 77.5, -3.25, 255, -128, 1e5]
    with np.errstate(invalid="ignore", over="ignore"):
        x = np.array(edges).astype(kind)
    b = buffer.from_array(x, CUDA)
    for other in TYPES:
        with np.errstate(invalid="ignore", over="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            expected = x.astype(other)
        if x.dtype.kind in "fc" and np.dtype(other).kind in "iu":
            fits = np.isfinite(x.real) & (x.real >= np.iinfo(other).min) & (x.real <= np.iinfo(other).max)
            got = b.with_type(other).numpy()
            np.testing.assert_array_equal(got[fits], expected[fits])
        else:
            np.testing.assert_array_equal(b.with_type(other).numpy(), expected)
        made = buffer.empty((2, len(x)), other, CUDA)
        made[:, ::-1] = 1
        np.testing.assert_array_equal(made.numpy(), np.ones((2, len(x)), other))


@on_gpu
@pytest.mark.parametrize("aligned", [False, True])
def test_records(aligned):
    kind = np.dtype([("a", "i1"), ("b", "f8"), ("c", "i2", (3,))], align=aligned)
    x = np.zeros(12, kind)
    x["a"], x["b"], x["c"] = np.arange(12), np.arange(12) / 7, np.arange(36).reshape(12, 3)
    d = cuda.to_device(x)
    for part in (slice(None), slice(1, 9, 3), slice(None, None, -1)):
        np.testing.assert_array_equal(d[part].copy_to_host(), x[part])
    target = cuda.to_device(np.zeros((4, 12), kind))
    target[1:3, ::-1] = d
    expected = np.zeros((4, 12), kind)
    expected[1:3, ::-1] = x
    np.testing.assert_array_equal(target.copy_to_host(), expected)
    target[:, 3] = x[5]
    expected[:, 3] = x[5]
    np.testing.assert_array_equal(target.copy_to_host(), expected)
    for name in kind.names:
        np.testing.assert_array_equal(d[name].copy_to_host(), x[name])


@on_gpu
def test_copies_within_one_array():
    for to, of in [((1, None), (None, -1)), ((None, -1), (1, None)), ((None, 50), (50, None)), ((3, 90), (5, 92))]:
        x = np.arange(100.0)
        d = cuda.to_device(x)
        d[slice(*to)] = d[slice(*of)]
        x[slice(*to)] = x[slice(*of)].copy()
        np.testing.assert_array_equal(d.copy_to_host(), x)
    x = np.arange(36.0).reshape(6, 6)
    d = cuda.to_device(x)
    d[...] = d.T
    np.testing.assert_array_equal(d.copy_to_host(), x.T)
    b = buffer.from_array(x, CUDA)
    b[::-1] = b
    np.testing.assert_array_equal(b.numpy(), x[::-1])


@on_gpu
def test_values_of_slices_are_spread_and_converted():
    x, d = np.zeros((4, 5), "i4"), cuda.to_device(np.zeros((4, 5), "i4"))
    for index, value in [
        ((slice(1, 3),), 7), ((slice(None), 2), np.arange(4)), ((slice(None, None, 2), slice(None)), np.arange(5)),
        ((0,), np.array([[9, 8, 7, 6, 5]])), ((slice(0, 0),), 3), ((3, 3), np.int64(-4)), ((slice(1, 2),), True),
    ]:  # fmt: skip
        x[index], d[index] = value, value
        np.testing.assert_array_equal(d.copy_to_host(), x)
    with pytest.raises(ValueError):
        d[1:3] = np.arange(4)


@on_gpu
@pytest.mark.parametrize("n", [1000, 10**6])
def test_contiguous_copies_within_one_array(n):
    """The driver's own copies leave undefined elements if they overlap; ours must not."""
    x = np.arange(float(n))
    for shift in (1, 7, n // 2):
        for to, of in ((slice(shift, None), slice(None, -shift)), (slice(None, -shift), slice(shift, None))):
            d, b = cuda.to_device(x), buffer.from_array(x, CUDA)
            d[to] = d[of]
            b[to] = b[of]
            want = x.copy()
            want[to] = x[of]
            np.testing.assert_array_equal(d.copy_to_host(), want)
            np.testing.assert_array_equal(b.numpy(), want)


@on_gpu
def test_fields_of_packed_records():
    x = np.zeros(5, np.dtype([("a", "i1"), ("b", "f8"), ("c", "i4")]))
    d = cuda.to_device(x)
    for name, index, value in [
        ("b", 1, 7.5),
        ("b", slice(None, None, 2), 3),
        ("c", slice(1, 4), [4, 5, 6]),
        ("a", 0, 1),
    ]:
        d[name][index] = value
        x[name][index] = value
        np.testing.assert_array_equal(d.copy_to_host(), x)
    np.testing.assert_array_equal((d["b"] == 3).copy_to_host(), x["b"] == 3)
    np.testing.assert_array_equal((d["c"] < d["b"]).copy_to_host(), x["c"] < x["b"])
    d["c"], x["c"] = np.arange(5), np.arange(5)
    d["b"], x["b"] = 2.25, 2.25
    np.testing.assert_array_equal(d.copy_to_host(), x)


@on_gpu
def test_truth_values_are_no_index():
    b, d = buffer.zeros((3,), backend=CUDA), cuda.to_device(np.zeros(3))
    for index in (True, (0, False), np.True_, [0, 1], np.array([0])):
        for array in (b, d):
            with pytest.raises(TypeError):
                array[index]
            with pytest.raises(TypeError):
                array[index] = 9


def test_strides_that_walk_back():
    d = cuda.device_array((4, 3), "f8", strides=(-24, 8))
    d[...] = np.arange(12.0).reshape(4, 3)
    np.testing.assert_array_equal(d.copy_to_host(), np.arange(12.0).reshape(4, 3))


@on_gpu
def test_read_only_memory_stays_as_it_is():
    d = cuda.to_device(np.arange(3.0))
    host = np.zeros(3)
    host.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        d.copy_to_host(host)

    interface = d.__cuda_array_interface__
    given = SimpleNamespace(__cuda_array_interface__={**interface, "data": (interface["data"][0], True)})
    for array in (cuda.as_cuda_array(given), buffer.from_array(given)):
        assert array.__cuda_array_interface__["data"][1]
        with pytest.raises(ValueError, match="read-only"):
            array[1:] = 5
    np.testing.assert_array_equal(d.copy_to_host(), np.arange(3.0))


@on_gpu
def test_buffers_and_arrays_of_kernels_take_each_other():
    b, d = buffer.zeros((2, 3), backend=CUDA), cuda.to_device(np.arange(3.0))
    b[0, :] = d
    d[1:] = b[0, :2]
    np.testing.assert_array_equal(b.numpy(), [[0, 1, 2], [0, 0, 0]])
    np.testing.assert_array_equal(d.copy_to_host(), [0, 0, 1])


# ---------------------------------------------------------------- new arrays


@on_gpu
@pytest.mark.parametrize("kind", [*TYPES])
@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 5)], ids=str)
def test_zeros_and_full(kind, shape):
    size = {np.dtype(np.bool_): bool}.get(np.dtype(kind), kind)
    for _ in range(2):  # also in memory that was used before
        z = buffer.zeros(shape, size, CUDA)
        np.testing.assert_array_equal(z.numpy(), np.zeros(shape, kind))
        f = buffer.full(shape, 1, size, CUDA)
        np.testing.assert_array_equal(f.numpy(), np.full(shape, 1, kind))
        np.testing.assert_array_equal(buffer.full_like(f, 0).numpy(), np.zeros(shape, kind))
        np.testing.assert_array_equal(buffer.zeros_like(f).numpy(), np.zeros(shape, kind))
        del z, f


def test_full_on_the_host():
    f = buffer.full((2, 3), 2.5, backend=CompileBackend.Cpu)
    assert f.dtype == np.float64 and np.array_equal(f.numpy(), np.full((2, 3), 2.5))
    assert buffer.full((2,), 3, backend=CompileBackend.Cpu).dtype == np.int64
    assert np.array_equal(buffer.full_like(f, 7).numpy(), np.full((2, 3), 7.0))
    with pytest.raises(ValueError, match="not be negative"):
        buffer.full((-1,), 0)


@on_gpu
def test_arrays_that_no_memory_has():
    for shape in [(2**62,), (2**40, 2**40), (2**31, 2**31, 2**31)]:
        with pytest.raises((ValueError, parpy.BackendError)):
            buffer.empty(shape, backend=CUDA)
    assert buffer.zeros((3,), backend=CUDA)[1] == 0


@on_gpu
def test_no_leak_of_arrays_made_and_dropped():
    rounds = int(os.environ.get("PARPY_LEAK_ROUNDS", 2000))
    stream = cuda.stream()
    before = None
    for i in range(rounds):
        x = buffer.empty((1000, i % 50), backend=CUDA)
        y = cuda.device_array(100, stream=stream)
        del x, y
        if i == rounds // 10:
            cuda.synchronize()
            before = parpy._native.memory_info()[0]
    cuda.synchronize()
    assert before is None or before - parpy._native.memory_info()[0] < 64 << 20
    buffer.empty_cache()
    parpy.clear_cache()


# ---------------------------------------------------------------- comparisons


OPERATORS = ["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"]


@pytest.mark.parametrize("place", [CompileBackend.Cpu, pytest.param(CUDA, marks=on_gpu)])
@pytest.mark.parametrize("operator", OPERATORS)
def test_comparisons(operator, place):
    x = np.array([[1, 2.5, np.nan, -0.0], [3, 3, np.inf, -np.inf]])
    for other in (2.5, 3, True, np.float32(2.5), np.array([1, 3, 0, 0]), x.T[:, :1].T[:, ::-1], np.arange(4)[::-1]):
        want = getattr(x, operator)(np.asarray(other)[()] if not isinstance(other, np.ndarray) else other)
        b = buffer.from_array(x.copy(), place)
        got = getattr(b, operator)(other)
        assert isinstance(got, buffer.Buffer) and got.backend is place and got.dtype.name == "Bool"
        np.testing.assert_array_equal(got.numpy(), want)
        if isinstance(other, np.ndarray):
            np.testing.assert_array_equal(getattr(b, operator)(buffer.from_array(other, place)).numpy(), want)
        d = cuda.to_device(x)
        got = getattr(d, operator)(cuda.to_device(other) if isinstance(other, np.ndarray) else other)
        assert isinstance(got, cuda.cudadrv.devicearray.DeviceNDArray if hasattr(cuda, "cudadrv") else type(d))
        np.testing.assert_array_equal(got.copy_to_host(), want)


@on_gpu
@pytest.mark.parametrize("operator", OPERATORS)
def test_comparisons_with_integers_of_any_size(operator):
    for kind in ("u1", "i4", "i8", "u8"):
        limits = np.iinfo(kind)
        x = np.array([0, 7, limits.min, limits.max]).astype(kind)
        x[2:] = limits.min, limits.max
        for number in (0, 7, -1, 300, 2**31, 2**63, -(2**63), 2**64 - 1, 2**64, -(2**63) - 1, -(2**70), 10**400):
            got = getattr(buffer.from_array(x, CUDA), operator)(number).numpy()
            want = [getattr(int(each), operator)(number) for each in x]
            np.testing.assert_array_equal(got, want, err_msg=f"{kind} {number}")


def test_arrays_are_hashed_and_found_by_identity():
    x, d = buffer.zeros((3,)), cuda.to_device(np.zeros(3))
    assert len({x, d, x}) == 2 and x in {x: 1} and (x == None) is False and (d != "text") is True  # noqa: E711
    with pytest.raises(TypeError):
        assert x < "text"


# ---------------------------------------------------------------- streams of other libraries, graphs (a real GPU)


real = pytest.mark.skipif(not ON_GPU, reason="no GPU")


@parpy.jit
def spin_then_store(x, y, n, rounds):
    parpy.label("i")
    for i in range(n):
        v = x[i]
        for _ in range(rounds):
            v = v * 0.999999 + 0.000001
        y[i] = v


@real
@pytest.mark.parametrize("non_blocking", [False, True])
def test_memory_that_another_stream_still_reads_is_not_given_away(non_blocking):
    cupy = pytest.importorskip("cupy")
    opts = parpy.CompileOptions(backend=CUDA, parallelize={"i": parpy.threads(1024)})
    n = 1 << 16
    for _ in range(20):
        stream = cupy.cuda.Stream(non_blocking=non_blocking)
        x, y = buffer.full((n,), 1.0, backend=CUDA), buffer.zeros((n,), backend=CUDA)
        cuda.synchronize()
        opts.stream = stream.ptr
        spin_then_store(x, y, n, 20_000, opts=opts)
        del x  # the kernel still reads it
        others = [buffer.full((n,), 1e9, backend=CUDA) for _ in range(4)]
        stream.synchronize()
        np.testing.assert_allclose(y.numpy(), 1.0, rtol=1e-6)
        del others, stream


@real
def test_memory_in_a_captured_graph():
    cupy = pytest.importorskip("cupy")
    stream = cupy.cuda.Stream(non_blocking=True)
    x = cuda.to_device(np.arange(1000.0))
    y = cuda.device_array(1000)
    opts = parpy.CompileOptions(backend=CUDA, stream=stream.ptr)
    spin_then_store(x, y, 1000, 1, opts=opts)
    other = buffer.zeros((1000,), backend=CUDA)
    cuda.synchronize()
    stream.begin_capture()
    try:
        between = cuda.device_array(1000, stream=stream)
        spin_then_store(x, between, 1000, 1, opts=opts)
        spin_then_store(between, y, 1000, 1, opts=opts)
        del other  # while another stream is captured
        gc.collect()
    finally:
        graph = stream.end_capture()
    for _ in range(3):
        graph.launch(stream)
        stream.synchronize()
    want = np.arange(1000.0)
    for _ in range(2):
        want = want * 0.999999 + 0.000001
    np.testing.assert_allclose(y.copy_to_host(), want)
    del between, graph
    gc.collect()
    assert buffer.zeros((10,), backend=CUDA)[3] == 0
