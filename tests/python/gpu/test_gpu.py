"""Behaviour that only a GPU can show: device arrays used in place, streams, scarce memory, faults.

Skipped, with the reason, if there is none. The tests that run on every backend (test_mapping,
test_operators) run on the GPU as well and carry the same marker.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import parpy
import places
from failing import FILES
from parpy import _native, threads

sys.path.insert(0, str(places.ROOT / "examples"))
from quickstart import axpy, jacobi_2d, softmax, spmv, sum_rows

CUDA = parpy.CompileBackend.Cuda
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not parpy.backend.is_enabled(CUDA), reason=_native.cuda_unavailable()),
]


def on_gpu(**loops: int | parpy.LoopPar) -> parpy.CompileOptions:
    mapping = {label: n if isinstance(n, parpy.LoopPar) else threads(n) for label, n in loops.items()}
    return parpy.CompileOptions(parallelize=mapping, backend=CUDA)


def torch_library() -> SimpleNamespace:
    torch = pytest.importorskip("torch")

    def sleep(stream):
        with torch.cuda.stream(stream):
            torch.cuda._sleep(200_000_000)

    return SimpleNamespace(
        name="torch",
        put=lambda a: torch.from_numpy(np.ascontiguousarray(a)).cuda(),
        get=lambda a: a.cpu().numpy(),
        address=lambda a: a.data_ptr(),
        stream=torch.cuda.Stream,
        use=torch.cuda.stream,
        sleep=sleep,
        idle=lambda s: s.query(),
        wait=lambda s: s.synchronize(),
        handle=lambda s: s.cuda_stream,
    )


def cupy_library() -> SimpleNamespace:
    cupy = pytest.importorskip("cupy")
    spin = cupy.RawKernel(
        """extern "C" __global__ void spin(long long cycles) {
        long long begin = clock64(); while (clock64() - begin < cycles) { } }""",
        "spin",
    )

    def sleep(stream):
        with stream:
            spin((1,), (1,), (np.int64(200_000_000),))

    return SimpleNamespace(
        name="cupy",
        put=cupy.asarray,
        get=cupy.asnumpy,
        address=lambda a: a.data.ptr,
        stream=lambda: cupy.cuda.Stream(non_blocking=True),
        use=lambda s: s,
        sleep=sleep,
        idle=lambda s: s.done,
        wait=lambda s: s.synchronize(),
        handle=lambda s: s.ptr,
    )


def numpy_library() -> SimpleNamespace:
    return SimpleNamespace(name="numpy", put=np.array, get=lambda a: a, address=lambda a: a.ctypes.data)


LIBRARIES = {"numpy": numpy_library, "torch": torch_library, "cupy": cupy_library}


@pytest.fixture(params=LIBRARIES)
def library(request):
    return LIBRARIES[request.param]()


@pytest.fixture(params=["torch", "cupy"])
def device_library(request):
    return LIBRARIES[request.param]()


@pytest.fixture
def rng():
    return np.random.default_rng(7)


# ------------------------------------------------------------------ the demo kernels


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("n", [1, 31, 1000, 1_000_003])
def test_axpy(library, rng, n, dtype):
    x, y = (rng.integers(-100, 100, n).astype(dtype) for _ in range(2))
    on_device = [library.put(x), library.put(y)]
    addresses = [library.address(a) for a in on_device]
    axpy(3, *on_device, n, opts=on_gpu(N=n))
    np.testing.assert_array_equal(library.get(on_device[1]), 3 * x + y)
    np.testing.assert_array_equal(library.get(on_device[0]), x)
    assert [library.address(a) for a in on_device] == addresses


@pytest.mark.parametrize("shape", [(1, 1), (7, 33), (1000, 1023), (70_001, 3), (3, 200_003)])
@pytest.mark.parametrize("columns", [32, 128, 1024, 4096])
def test_sum_rows(library, rng, shape, columns):
    x = rng.standard_normal(shape)
    on_device = library.put(x), library.put(np.full(shape[0], np.nan))
    sum_rows(*on_device, *shape, opts=on_gpu(N=shape[0], M=threads(columns).reduce()))
    np.testing.assert_allclose(library.get(on_device[1]), x.sum(axis=1), rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("shape", [(5, 7), (513, 1025), (66_000, 40)])
def test_softmax(library, rng, shape):
    x = rng.standard_normal(shape).astype(np.float32)
    on_device = library.put(x), library.put(np.full_like(x, np.nan))
    reduction = threads(128).reduce()
    softmax(*on_device, *shape, opts=on_gpu(N=shape[0], max=reduction, sum=reduction, scale=128))
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(library.get(on_device[1]), e / e.sum(axis=1, keepdims=True), rtol=2e-6)


@pytest.mark.parametrize("side", [3, 34, 301])
def test_jacobi(library, rng, side):
    a, b = rng.random((side, side)), rng.random((side, side))
    on_device = library.put(a), library.put(b)
    jacobi_2d(*on_device, 9, side, opts=on_gpu(rows=side - 2, columns=128))
    for _ in range(9):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    np.testing.assert_array_equal(library.get(on_device[0]), a)
    np.testing.assert_array_equal(library.get(on_device[1]), b)


@pytest.mark.parametrize("rows", [1, 1000, 30_001])
def test_spmv(library, rng, rows):
    counts = rng.integers(0, 9, rows)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    column = rng.integers(0, rows, start[-1]).astype(np.int32)
    value, x = rng.random(start[-1]), rng.random(rows)
    arguments = [library.put(a) for a in (start, column, value, x, np.full(rows, np.nan))]
    spmv(*arguments, rows, opts=on_gpu(N=rows))
    want = np.bincount(np.repeat(np.arange(rows), counts), value * x[column], rows)
    np.testing.assert_allclose(library.get(arguments[-1]), want, rtol=1e-12, atol=1e-14)


# ------------------------------------------------------------------ layouts and protocols


@parpy.jit
def copy_2d(x, y, n, m):
    parpy.label("n")
    for i in range(n):
        parpy.label("m")
        for j in range(m):
            y[i, j] = x[i, j]


VIEWS = {
    "transposed": lambda a: a.T,
    "every third": lambda a: a[::3, 1::2],
    "column block": lambda a: a[:, 5:9],
    "empty": lambda a: a[:0],
}


@pytest.mark.parametrize("view", VIEWS)
def test_strided_arrays(library, rng, view):
    a = rng.random((40, 50))
    want, x = VIEWS[view](a), VIEWS[view](library.put(a))
    n, m = want.shape
    y = library.put(np.full((n, m), np.nan))
    copy_2d(x, y, n, m, opts=on_gpu(n=max(n, 1), m=32))
    np.testing.assert_array_equal(library.get(y), want)


@pytest.mark.parametrize("name", ["numpy", "cupy"])  # PyTorch has no negative strides
def test_negative_strides(rng, name):
    library = LIBRARIES[name]()
    a = rng.random((20, 30))
    y = library.put(np.full((20, 30), np.nan))
    copy_2d(library.put(a)[::-1, ::-1], y, 20, 30, opts=on_gpu(n=20, m=32))
    np.testing.assert_array_equal(library.get(y), a[::-1, ::-1])


def test_written_strided_host_array_leaves_its_gaps(rng):
    a, x = rng.random((9, 10)), rng.random((9, 5))
    want = a.copy()
    want[:, ::2] = x
    copy_2d(x, a[:, ::2], 9, 5, opts=on_gpu(n=9, m=32))
    np.testing.assert_array_equal(a, want)


def test_broadcast_arrays(library, rng):
    row = rng.random(50)
    x = {
        "numpy": lambda a: np.broadcast_to(a, (40, 50)),
        "torch": lambda a: a.expand(40, 50),
        "cupy": lambda a: a[None, :].repeat(40, 0),
    }[library.name](library.put(row))
    y = library.put(np.full((40, 50), np.nan))
    copy_2d(x, y, 40, 50, opts=on_gpu(n=40, m=64))
    np.testing.assert_array_equal(library.get(y), np.broadcast_to(row, (40, 50)))


def test_read_only_host_array(rng):
    x, y = rng.random((4, 5)), np.zeros((4, 5))
    x.flags.writeable = False
    copy_2d(x, y, 4, 5, opts=on_gpu(n=4, m=32))
    np.testing.assert_array_equal(x, y)


@parpy.jit
def shift(x, y, n):
    parpy.label("n")
    for i in range(n):
        y[i] = x[i] + 1


def test_host_arrays_that_overlap():
    a = np.arange(100.0)
    shift(a[:50], a[50:], 50, opts=on_gpu(n=50))
    np.testing.assert_array_equal(a, np.concatenate([np.arange(50.0), np.arange(50.0) + 1]))


class OnlyDlpack:
    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, **keywords):
        return self.tensor.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


class OnlyInterface:
    def __init__(self, tensor):
        self.tensor = tensor
        self.__cuda_array_interface__ = tensor.__cuda_array_interface__


@pytest.mark.parametrize("wrap", [OnlyDlpack, OnlyInterface])
def test_protocols(device_library, rng, wrap):
    x = rng.random(1001)
    on_device = device_library.put(x), device_library.put(np.zeros(1001))
    shift(*map(wrap, on_device), 1001, opts=on_gpu(n=1001))
    np.testing.assert_array_equal(device_library.get(on_device[1]), x + 1)


def test_jax_arrays_are_read(rng):
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("this JAX has no GPU")
    x, y = rng.random(1001).astype(np.float32), np.zeros(1001, np.float32)
    shift(jax.numpy.asarray(x), y, 1001, opts=on_gpu(n=1001))
    np.testing.assert_array_equal(y, x + 1)


def test_host_and_device_arrays_in_one_call(device_library, rng):
    x, y = rng.random(1001), np.zeros(1001)
    shift(device_library.put(x), y, 1001, opts=on_gpu(n=1001))
    np.testing.assert_array_equal(y, x + 1)


# ------------------------------------------------------------------ streams

N = 1_000_001


def slow_start(library, stream):
    """An array that holds ones only after a pause on `stream`."""
    x = library.put(np.zeros(N))
    library.sleep(stream)
    with library.use(stream):
        x += 1
    return x


def check_order(library, call):
    warm = library.put(np.zeros(N)), library.put(np.zeros(N))
    shift(*warm, N, opts=on_gpu(n=N))
    y = library.put(np.zeros(N))
    stream = library.stream()
    slow_start(library, stream)  # the library's own kernels are loaded at their first use, which waits for the GPU
    _native.synchronize()
    x = slow_start(library, stream)
    call(x, y, stream)
    assert not library.idle(stream), "the call waited for the GPU"
    library.wait(stream)
    np.testing.assert_array_equal(library.get(y), 2)


def test_current_stream_of_the_library(device_library):
    def call(x, y, stream):
        with device_library.use(stream):
            shift(x, y, N, opts=on_gpu(n=N))

    check_order(device_library, call)


@pytest.mark.parametrize("form", ["object", "handle"])
def test_stream_option(device_library, form):
    def call(x, y, stream):
        opts = on_gpu(n=N)
        opts.stream = stream if form == "object" else device_library.handle(stream)
        shift(x, y, N, opts=opts)

    check_order(device_library, call)


def test_host_results_are_there_on_return(rng):
    x, y = rng.random(30_000_001), np.zeros(30_000_001)  # large enough for the staging buffers
    shift(x, y, x.size, opts=on_gpu(n=x.size))
    np.testing.assert_array_equal(y, x + 1)


def test_capture_in_a_cuda_graph(rng):
    torch = pytest.importorskip("torch")
    x, y = torch.rand(1000, device="cuda"), torch.zeros(1000, device="cuda")
    opts = on_gpu(n=1000)
    shift(x, y, 1000, opts=opts)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        shift(x, y, 1000, opts=opts)
    x.fill_(41)
    graph.replay()
    torch.cuda.synchronize()
    assert bool((y == 42).all())


def test_threads_call_at_once(rng):
    x = rng.random(200_003)
    failures = []

    def work():
        for _ in range(20):
            y = np.zeros_like(x)
            shift(x, y, x.size, opts=on_gpu(n=x.size))
            if not np.array_equal(y, x + 1):
                failures.append("wrong result")

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


# ------------------------------------------------------------------ errors


def test_out_of_memory_is_an_error_and_no_more(tmp_path):
    """A sparse file is used as an array that is too large for any GPU."""
    try:
        huge = np.memmap(tmp_path / "huge", np.uint8, "w+", shape=(1 << 42,))
    except OSError as error:
        pytest.skip(f"no sparse file of that size here: {error}")
    y = np.zeros(100, np.uint8)
    with pytest.raises(parpy.BackendError, match=r"(?s)P528.*out of memory.*4398046 MB.*help"):
        shift(huge, y, 100, opts=on_gpu(n=100))
    x = np.arange(100, dtype=np.uint8)
    shift(x, y, 100, opts=on_gpu(n=100))
    np.testing.assert_array_equal(y, x + 1)


def in_a_new_process(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs code that may lose its CUDA context; it can use the functions of this file."""
    paths = [str(Path(__file__).parent), *sys.path]
    text = "import numpy as np, os, sys\nimport parpy\nfrom test_gpu import *\n" + textwrap.dedent(code)
    return subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment},
    )


@parpy.jit
def store_at(y, where, n):
    parpy.label("n")
    for i in range(n):
        y[where[i]] = 1.0


FAULT = """
y, where = np.zeros(32), np.full(32, 1 << 50)
def attempt():
    try:
        store_at(y, where, 32, opts=on_gpu(n=32))
    except parpy.BackendError as error:
        print(error)
    else:
        print('no error')
attempt()
attempt()
"""


def test_a_fault_is_reported_and_says_that_the_context_is_lost():
    run = in_a_new_process(FAULT)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("P530") == 2 and "no error" not in run.stdout, run.stdout
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in run.stdout and "store_at" in run.stdout
    assert "start a new process" in run.stdout


def test_a_fault_of_device_arrays_shows_at_the_next_wait():
    run = in_a_new_process("""
        library = cupy_library()
        y, where = library.put(np.zeros(32)), library.put(np.full(32, 1 << 50))
        store_at(y, where, 32, opts=on_gpu(n=32))
        try:
            parpy.sync()
        except parpy.BackendError as error:
            print(error)
        os._exit(0)
        """)
    assert "P530" in run.stdout and "store_at" in run.stdout, run.stdout + run.stderr


def test_forked_processes_are_told():
    run = in_a_new_process("""
        x, y = np.zeros(8), np.zeros(8)
        shift(x, y, 8, opts=on_gpu(n=8))
        if os.fork() == 0:
            try:
                shift(x, y, 8, opts=on_gpu(n=8))
            except parpy.BackendError as error:
                print(error, flush=True)
            os._exit(0)
        os.wait()
        """)
    assert "P534" in run.stdout and "spawn" in run.stdout, run.stdout + run.stderr


def test_processes_share_the_disk_cache(tmp_path):
    code = """
        x, y = np.zeros(1000), np.zeros(1000)
        shift(x, y, 1000, opts=on_gpu(n=1000))
        assert (y == 1).all()
        """
    environment = {"PARPY_CACHE_DIR": str(tmp_path), "PARPY_CACHE": "1"}
    assert in_a_new_process(code, **environment).returncode == 0
    entries = sorted(p.name for p in tmp_path.rglob("cuda-*"))
    assert len(entries) == 1
    assert in_a_new_process(code, **environment).returncode == 0
    assert sorted(p.name for p in tmp_path.rglob("cuda-*")) == entries


def test_missing_driver():
    run = in_a_new_process(
        "shift(np.zeros(8), np.zeros(8), 8, opts=on_gpu(n=8))",
        PARPY_CUDA_DRIVER="libno_such_driver.so",
    )
    assert "P520" in run.stderr and "libno_such_driver.so" in run.stderr and "CompileBackend.Cpu" in run.stderr


def test_what_fails_while_it_runs():
    """Runs the tests of failures on this GPU instead of the emulated one."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    command += ["-o", "pythonpath=tests/python"]  # the package under test, not the source tree's
    command.extend(map(str, FILES))
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**inherited, "FAKE_CUDA_EMULATE": "1"}
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


# ---------------------------------------------------------------- fast mathematics


@pytest.mark.parametrize("order", [(False, True, False), (True, False, True)])
def test_fast_and_exact_programs_of_one_text(order, tmp_path):
    """NVRTC has a cache of its own, which must not confuse the two: only exact programs keep subnormal numbers."""
    program = f"""
        import numpy as np
        import parpy

        @parpy.jit
        def halve(x, y, n):
            parpy.label("i")
            for i in range(n):
                y[i] = x[i] * np.float32(0.5) + np.float32({len(order)}{int(order[0])}e-44)

        x, y = np.full(64, 1e-38, np.float32), np.zeros(64, np.float32)
        for fast in {order}:
            halve(x, y, 64, opts=parpy.CompileOptions(
                parallelize={{"i": parpy.threads(64)}}, backend=parpy.CompileBackend.Cuda, fast_math=fast))
            assert (y[0] == 0) == fast, (fast, y[0])
    """
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(program))
    environment = {**os.environ, "PARPY_CACHE": "0"}
    subprocess.run([sys.executable, file], check=True, env=environment)
