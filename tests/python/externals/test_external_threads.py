"""parpy.external(…, parallelize=…): that many threads of a block make each call."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
from nvrtc import cubin, device_part
from parpy import CompileBackend, Target
from parpy.builtin import static_backend_eq
from parpy.types import F64, I64, buffer, symbol

N, M = symbol(), symbol()

DEVICE = """
static __device__ double warp_sum(const double* x, long long i, long long m) {
    double s = 0;
    for (long long j = threadIdx.x; j < m; j += 32) s += x[i * m + j];
    for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
    return s;
}
static __device__ double block_sum(const double* x, long long i, long long m) {
    __shared__ double parts[128];
    double s = 0;
    for (long long j = threadIdx.x; j < m; j += 128) s += x[i * m + j];
    parts[threadIdx.x] = s;
    for (int d = 64; d > 0; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d) parts[threadIdx.x] += parts[threadIdx.x + d];
    }
    __syncthreads();
    s = parts[0];
    __syncthreads();
    return s;
}
static __device__ double shared_sum(const double* x, long long i, long long m) {
    __shared__ double parts[32];
    __syncthreads();
    parts[threadIdx.x] = threadIdx.x < m ? x[i * m + threadIdx.x] : 0;
    __syncthreads();
    double s = 0;
    for (int j = 0; j < 32; ++j) s += parts[j];
    return s;
}
static __device__ void count_calls(long long* y, long long i) {
    atomicAdd((unsigned long long*)&y[i], 1ull);
}
static __device__ double thread_count() { return __popc(__ballot_sync(0xffffffffu, 1)); }
"""
HOST = """
static inline double row_sum(const double* x, long long i, long long m) {
    double s = 0;
    for (long long j = 0; j < m; ++j) s += x[i * m + j];
    return s;
}
static inline void count_calls(long long* y, long long i) { ++y[i]; }
"""


def row_sum_on(backend, name, threads, header):
    @parpy.external(name, backend, Target.Device, header=header, parallelize=threads)
    def row_sum(x: buffer(F64, [N, M]), i: I64, m: I64) -> F64:
        return x[i, :m].sum()

    return row_sum


def counter_on(backend, header):
    @parpy.external("count_calls", backend, Target.Device, header=header, parallelize=parpy.threads(40))
    def count_calls(y: buffer(I64, [N]), i: I64):
        y[i] += 1

    return count_calls


CUDA, CPU = CompileBackend.Cuda, CompileBackend.Cpu
warp_sum = row_sum_on(CUDA, "warp_sum", parpy.threads(32), "rows.cuh")
block_sum = row_sum_on(CUDA, "block_sum", parpy.threads(128), "rows.cuh")
shared_sum = row_sum_on(CUDA, "shared_sum", parpy.threads(32), "rows.cuh")
host_sum = row_sum_on(CPU, "row_sum", parpy.threads(32), "rows.h")
count_cuda, count_cpu = counter_on(CUDA, "rows.cuh"), counter_on(CPU, "rows.h")


@parpy.external("thread_count", CUDA, Target.Device, header="rows.cuh", parallelize=parpy.threads(32))
def thread_count() -> F64:
    return 1.0


@pytest.fixture(scope="module")
def headers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("headers")
    (folder / "rows.cuh").write_text(DEVICE)
    (folder / "rows.h").write_text(HOST)
    return str(folder)


def opts_of(backend, headers, **loops):
    opts = options(backend, loops)
    opts.includes = [headers]
    return opts


@pytest.fixture(params=[0, 1])
def seed(request):
    parpy.cuda.sim.seed = request.param
    yield
    parpy.cuda.sim.seed = 0


@parpy.jit
def row_sums(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        if static_backend_eq(CUDA):
            y[i] = 2 * warp_sum(x, i, x.shape[1]) + 1
        else:
            y[i] = 2 * host_sum(x, i, x.shape[1]) + 1


@parpy.jit
def row_sums_by_blocks(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        y[i] = block_sum(x, i, x.shape[1])


@parpy.jit
def row_sums_in_shared_memory(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        y[i] = shared_sum(x, i, x.shape[1])


DEVICES = [backend for backend in TARGETS if backend != "cpu"]


def sums(rows, columns):
    x = np.random.default_rng(0).integers(-9, 10, (rows, columns)).astype(float)
    return x, np.zeros(rows)


@pytest.mark.parametrize("threads", [1, 3, 50])
@pytest.mark.parametrize("backend", TARGETS)
def test_a_row_for_each_warp(backend, headers, threads, seed):
    x, y = sums(50, 77)
    row_sums(x, y, opts=opts_of(backend, headers, i=threads))
    assert (y == 2 * x.sum(1) + 1).all()
    row_sums(x, y := np.zeros(50), seq=True)
    assert (y == 2 * x.sum(1) + 1).all()


@pytest.mark.parametrize("function", [row_sums_by_blocks, row_sums_in_shared_memory])
@pytest.mark.parametrize("backend", DEVICES)
def test_functions_with_barriers_and_memory_of_the_block(backend, headers, function, seed):
    """Results are right also in grids so large that blocks of one warp would be packed."""
    for rows in (5, 9000):
        x, y = sums(rows, 30)
        function(x, y, opts=opts_of(backend, headers, i=rows))
        assert (y == x.sum(1)).all()


@pytest.mark.parametrize("backend", TARGETS)
def test_every_thread_calls_once(backend, headers, seed):
    @parpy.jit
    def counted(y):
        parpy.label("i")
        for i in range(y.shape[0]):
            if static_backend_eq(CUDA):
                count_cuda(y, i)
            else:
                count_cpu(y, i)

    @parpy.jit
    def counted_once(y):
        with parpy.gpu:
            if static_backend_eq(CUDA):
                count_cuda(y, 1)
            else:
                count_cpu(y, 1)
            y[0] = y[1] + 1

    calls = 1 if backend == "cpu" else 40
    counted(y := np.zeros(6, np.int64), opts=opts_of(backend, headers, i=4))
    assert (y == calls).all()
    counted_once(y, opts=opts_of(backend, headers))
    assert y[:2].tolist() == [2 * calls + 1, 2 * calls]


@pytest.mark.parametrize("backend", DEVICES)
def test_results_are_used_once(backend, headers, seed):
    """Updates, reductions and atomic updates use a result once; some functions use fewer threads than the block has."""

    @parpy.jit
    def collect(x, where, y, total, counts):
        parpy.label("i")
        for i in range(x.shape[0]):
            s = warp_sum(x, i, x.shape[1])
            b = block_sum(x, i, x.shape[1])
            if s == b:
                counts[where[i]] += 1
            y[i] += s + b - thread_count()
            total[0] += s

    x, y = sums(40, 60)
    where = np.arange(40) % 3
    counts, total = np.zeros(3, np.int64), np.ones(1)
    collect(x, where, y, total, counts, opts=opts_of(backend, headers, i=40))
    assert counts.tolist() == [14, 13, 13] and total[0] == x.sum() + 1
    assert (y == 2 * x.sum(1) - 32).all()


@pytest.mark.parametrize("backend", DEVICES)
def test_calls_in_conditions_bounds_and_loops(backend, headers, seed):
    @parpy.jit
    def branches(x, y):
        parpy.label("i")
        for i in range(x.shape[0]):
            for k in range(2):
                if i > 2 and warp_sum(x, i, x.shape[1]) > 0:
                    y[i] += 1 if k == 0 else warp_sum(x, i - 1, x.shape[1])
                else:
                    y[i] -= block_sum(x, i, x.shape[1])
            n = 0
            while n < abs(warp_sum(x, i, x.shape[1])):
                n += 1
            parpy.label("j")
            for j in range(int(abs(warp_sum(x, i, x.shape[1])))):
                y[i] += 1
            y[i] += n

    x, y = sums(20, 60)
    want = y.copy()
    branches(x, want, seq=True)
    branches(x, y, opts=opts_of(backend, headers, i=7))
    assert (y == want).all()
    y[:] = 0
    branches(x, y, opts=opts_of(backend, headers, i=7, j=64))
    assert (y == want).all()


def test_the_text(headers):
    x, y = sums(50, 77)
    text = parpy.print_compiled(row_sums, (x, y), opts_of("cuda", headers, i=50))
    assert "parpy_launch(context, 0, 50, 1, 1, 32, 1, 1" in text
    device = device_part(text).replace('#include "rows.cuh"', DEVICE)
    assert "if ((int)threadIdx.x == 0)" in device and cubin(device).startswith(b"\x7fELF")


@parpy.jit
def doubled_sum(x, i):
    return 2 * warp_sum(x, i, x.shape[1])


def test_calls_in_helpers(headers):
    @parpy.jit
    def by_call(x, y):
        parpy.label("i")
        for i in range(x.shape[0]):
            y[i] = doubled_sum(x, i)

    @parpy.jit
    def inlined(x, y):
        parpy.label("i")
        for i in range(x.shape[0]):
            y[i] = parpy.builtin.inline(doubled_sum(x, i))

    x, y = sums(5, 40)
    opts = opts_of("sim", headers, i=5)
    with pytest.raises(parpy.CompileError, match=r"P029.*'warp_sum' is called by 32 threads, but is in the helper"):
        by_call(x, y, opts=opts)
    inlined(x, y, opts=opts)
    assert (y == 2 * x.sum(1)).all()


def test_automatic_mappings(headers):
    x, y = sums(5, 40)
    opts = parpy.CompileOptions(automatic=True, backend=CompileBackend.Sim, includes=[headers])
    row_sums(x, y, opts=opts)
    assert (y == 2 * x.sum(1) + 1).all()


def test_the_program_is_printed(headers, capsys):
    x, y = sums(5, 40)
    row_sums(x, y, opts=opts_of("sim", headers, i=5), debug=True)
    assert "foreign warp_sum(" in capsys.readouterr().out


def test_checked_programs(headers):
    """Checks do not watch the accesses of foreign functions."""
    x, y = sums(5, 40)
    for check in ("bounds", "races", "all"):
        for backend in ("cpu", "sim"):
            opts = opts_of(backend, headers, i=5)
            opts.check = check
            row_sums(x, y, opts=opts)
            assert (y == 2 * x.sum(1) + 1).all()


def test_more_threads_than_a_block_has():
    for loop in (parpy.threads(1025), parpy.threads(64).tpb(32)):
        with pytest.raises(ValueError, match="the threads of one block make the call"):
            parpy.external("f", CUDA, Target.Device, parallelize=loop)
