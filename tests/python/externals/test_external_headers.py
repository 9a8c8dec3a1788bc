"""Names that headers of external functions use: those of the C library's integers, functions of the host, CUDA's
headers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nvrtc
import parpy
from backends import options
from parpy import CompileBackend, Target
from parpy.types import F16, F32, F64, I64, U8, buffer, symbol

N = symbol()
TOOLKIT = any((Path(place) / "include/cuda_fp16.h").exists() for place in ("/usr/local/cuda", "/opt/cuda"))


def compiled(function, given, header, tmp_path, backend="sim"):
    """Runs the function on the simulator; NVRTC also compiles it if it is installed."""
    name = "device.cuh" if backend == "sim" else "device.h"
    (tmp_path / name).write_text(header)
    opts = options(backend, {"i": 32})
    opts.includes = [str(tmp_path)]
    function(*given, opts=opts)
    if backend == "sim" and not nvrtc.why_missing():
        opts = options("cuda", {"i": 32})
        opts.includes = [str(tmp_path)]
        text = nvrtc.device_part(parpy.print_compiled(function, given, opts))
        return text.replace('#include "device.cuh"', "#include <stddef.h>\n" + header)  # NVRTC gets no include folders
    return ""


def device(name, backend=CompileBackend.Cuda):
    header = "device.h" if backend is CompileBackend.Cpu else "device.cuh"
    return parpy.external(name, backend, Target.Device, header=header)


@device("total")
def total(x: buffer(I64, [N]), n: I64) -> I64:
    return int(x[:n].sum())


@device("total", CompileBackend.Cpu)
def total_on_cpu(x: buffer(I64, [N]), n: I64) -> I64:
    return int(x[:n].sum())


INTEGERS = """
static PLACE inline int64_t total(const int64_t* x, int64_t n) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; ++i) sum += x[i];
    return sum + (int64_t)sizeof(uint8_t) - 1;
}
static double of_the_host(double x) { return x * 2; }
"""


@parpy.jit
def totals(x, y):
    parpy.label("i")
    for i in range(y.shape[0]):
        y[i] = total(x, i)


@parpy.jit
def totals_on_cpu(x, y):
    parpy.label("i")
    for i in range(y.shape[0]):
        y[i] = total_on_cpu(x, i)


@pytest.mark.parametrize("backend", ["sim", "cpu"])
@pytest.mark.parametrize("include", ["", "#include <stdint.h>\n", "#include <cstdint>\n#include <cmath>\n"])
def test_standard_integers(include, backend, tmp_path):
    given = np.arange(10), np.zeros(5, np.int64)
    header = include + INTEGERS.replace("PLACE", "__device__" if backend == "sim" else "")
    text = compiled(totals if backend == "sim" else totals_on_cpu, given, header, tmp_path, backend)
    assert (given[1] == [0, 0, 1, 3, 6]).all()
    if text:
        assert parpy._native.compile_cuda(text, "kernel.cu", "sm_90", False)


@device("doubled")
def doubled(x: F64) -> F64:
    return 2 * x


@parpy.jit
def doubles(x):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = doubled(x[i])


HOST = """
#include <math.h>
double half_of_it(double x) { return 0.5 * x; }
static inline int counted() { static int n = 0; return ++n; }
__host__ double of_the_host(double x) { return x + counted(); }
__host__ __device__ inline double twice(double x) { return 2 * x; }
static const double kTwo = 2;
__device__ double doubled(double x) { return twice(x); }
"""


def test_functions_of_the_host_do_no_harm(tmp_path):
    text = compiled(doubles, (x := np.ones(4),), HOST, tmp_path)
    assert (x == 2).all()
    if text:
        assert parpy._native.compile_cuda(text, "kernel.cu", "sm_90", False)


@device("weighted")
def weighted(x: F16, w: F32) -> F16:
    return np.float16(x * np.float16(w) + np.float16(1))


@device("first_half")
def first_half(x: buffer(F16, [N])) -> F16:
    return x[0]


@parpy.jit
def halves(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        y[i] = weighted(x[i], 0.5) + first_half(x)


HALVES = """
#include <cuda_fp16.h>
static __device__ __half weighted(__half x, float w) {
    half2 both = __halves2half2(__hfma(x, __float2half(w), __half(1.0f)), x);
    return __low2half(both);
}
static __device__ __half first_half(const __half* x) { return __hadd(x[0], __float2half(0.0f)); }
"""


def test_halves(tmp_path):
    x = np.linspace(0, 4, 9).astype(np.float16)
    got, want = np.zeros_like(x), np.zeros_like(x)
    halves(x, want, seq=True)
    text = compiled(halves, (x, got), HALVES, tmp_path)
    np.testing.assert_array_equal(got, want)
    if text and TOOLKIT:
        assert parpy._native.compile_cuda(text, "kernel.cu", "sm_90", False)


GROUPS = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
static __device__ double block_sum(const double* x, int64_t n) {
    __shared__ double parts[32];
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    double sum = 0;
    for (int64_t i = block.thread_rank(); i < n; i += block.size()) sum += x[i];
    sum = cg::reduce(warp, sum, cg::plus<double>());
    block.sync();
    if (warp.thread_rank() == 0) parts[warp.meta_group_rank()] = sum;
    cg::sync(block);
    sum = warp.thread_rank() < warp.meta_group_size() ? parts[warp.thread_rank()] : 0.0;
    for (int by = warp.size() / 2; by > 0; by /= 2) sum += warp.shfl_xor(sum, by);
    return sum;
}
"""


@parpy.external("block_sum", CompileBackend.Cuda, Target.Device, header="device.cuh", parallelize=parpy.threads(128))
def block_sum(x: buffer(F64, [N]), n: I64) -> F64:
    return x[:n].sum()


@parpy.jit
def block_sums(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        y[i] = block_sum(x[i], x.shape[1])


def test_cooperative_groups(tmp_path):
    x, y = np.random.default_rng(0).random((5, 300)), np.zeros(5)
    text = compiled(block_sums, (x, y), GROUPS, tmp_path)
    np.testing.assert_allclose(y, x.sum(axis=1))
    if text and TOOLKIT:
        assert parpy._native.compile_cuda(text, "kernel.cu", "sm_90", False)


@device("flags")
def flags(x: U8) -> U8:
    return x


@parpy.jit
def flagged(x):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = flags(x[i])


def test_a_header_that_does_not_compile(tmp_path):
    (tmp_path / "device.cuh").write_text("\n__device__ uint8_t flags(uint8_t x) { return missing(x); }\n")
    for backend in ("sim", "cuda"):
        opts = options(backend, {"i": 32})
        opts.includes = [str(tmp_path)]
        if backend == "sim":
            with pytest.raises(parpy.BackendError, match=r"device\.cuh:2:\d+: error: .*'missing'"):
                flagged(np.zeros(3, np.uint8), opts=opts)


def test_a_header_that_is_not_there():
    with pytest.raises(parpy.BackendError, match=r"'device\.cuh' file not found"):
        flagged(np.zeros(3, np.uint8), opts=options("sim", {"i": 32}))


BROKEN = """
static __device__ inline float halved(float x) { return x / 2; }
static __device__ inline double halved(double x) { return x / 2; }
"""


@device("halved")
def halved_integers(x: I64) -> I64:
    return x // 2


@device("missing")
def missing(x: F32) -> F32:
    return x


@parpy.jit
def of_wrong_type(x):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = halved_integers(int(x[i]))


@parpy.jit
def of_no_function(x):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = missing(x[i])


@pytest.mark.parametrize(
    ("function", "header", "told", "place"),
    [
        (of_wrong_type, BROKEN, "call to 'halved' is ambiguous", "x[i] = halved_integers(int(x[i]))"),
        (of_no_function, BROKEN, "use of undeclared identifier 'missing'", "x[i] = missing(x[i])"),
        (
            of_no_function,
            BROKEN + "int f() { return y; }",
            "device.cuh:4:18: error: use of undeclared identifier 'y'",
            "",
        ),
    ],
)
def test_errors_of_the_compiler_say_where_the_function_is_called(function, header, told, place, tmp_path):
    with pytest.raises(parpy.BackendError, match=r"P510") as caught:
        compiled(function, (np.ones(4, np.float32),), header, tmp_path)
    text = str(caught.value)
    assert text.startswith(f"{__file__}:") and told in text and "is an external function" in text and place in text


def test_a_header_that_is_not_in_the_folders(tmp_path):
    (tmp_path / "device.cuh").write_text(BROKEN)
    with pytest.raises(parpy.BackendError, match=r"device\.cuh' file not found[\s\S]*check its header, and"):
        of_no_function(np.ones(4, np.float32), opts=options("sim", {"i": 32}))


@parpy.external("halved", CompileBackend.Cuda, Target.Device, header="<device.cuh>")
def halved(x: F32) -> F32:
    return x / 2


@device("halved")
def halved_doubles(x: F64) -> F64:
    return x / 2


def test_a_header_is_included_once_however_it_is_written(tmp_path):
    @parpy.jit
    def both(x, y):
        parpy.label("i")
        for i in range(x.shape[0]):
            x[i] = halved(x[i])
            y[i] = halved_doubles(y[i])

    x, y = np.ones(4, np.float32), np.ones(4)
    compiled(both, (x, y), BROKEN, tmp_path)
    assert (x == 0.5).all() and (y == 0.5).all()
