"""Metal text: complete for any program, with the results of the interpreter. Without a Mac it is compiled against a
replacement of Metal's standard library that is made of CUDA's names, and run on the simulator.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import parpy
from parpy import CompileBackend, Target, threads
from parpy.calls.interface import sealed
from parpy.types import F32, buffer, symbol

STANDIN = """
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned short ushort;
#define F1(name, builtin) static __device__ inline float name(float x) { return builtin(x); }
F1(sqrt, sqrtf) F1(exp, expf) F1(exp2, exp2f) F1(log, logf) F1(log2, log2f) F1(log10, log10f) F1(sin, sinf)
F1(cos, cosf)
F1(tan, tanf) F1(asin, asinf) F1(acos, acosf) F1(atan, atanf) F1(sinh, sinhf) F1(cosh, coshf) F1(tanh, tanhf)
F1(asinh, asinhf) F1(acosh, acoshf) F1(atanh, atanhf) F1(floor, floorf) F1(ceil, ceilf) F1(trunc, truncf)
F1(rint, rintf)
F1(fabs, fabsf)
static __device__ inline float pow(float a, float b) { return powf(a, b); }
static __device__ inline float atan2(float a, float b) { return atan2f(a, b); }
static __device__ inline float fmod(float a, float b) { return fmodf(a, b); }
static __device__ inline float copysign(float a, float b) { return copysignf(a, b); }
static __device__ inline bool isinf(float a) { return a == a && a - a != 0; }
template <class T> static __device__ inline T simd_shuffle_xor(T v, ushort lanes) {
    return __shfl_xor_sync(0xffffffffu, v, lanes);
}
template <class T> static __device__ inline T simd_shuffle_down(T v, ushort lanes) {
    return __shfl_down_sync(0xffffffffu, v, lanes);
}
template <class T> struct atomic { T value; };
enum { memory_order_relaxed };
template <class T> static __device__ inline T atomic_fetch_add_explicit(atomic<T>* at, T value, int) {
    return atomicAdd(&at->value, value);
}
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fc00000)
"""


def as_cuda(text: str) -> str:
    """Metal text with CUDA's names instead of Metal's."""
    text = sealed(re.sub("// checksum.*\n", "", text.replace("// back end: metal", "// back end: cuda")))
    text = text.replace("#include <metal_stdlib>\nusing namespace metal;\n", STANDIN)
    bounded = r"\[\[max_total_threads_per_threadgroup\((\d+)\)\]\] kernel void "
    text = re.sub(bounded, r'extern "C" __global__ void __launch_bounds__(\1) ', text)
    text = re.sub(r"^kernel void ", 'extern "C" __global__ void ', text, flags=re.M)
    text = re.sub(r",?\s*uint3 \w+ \[\[\w+\]\]", "", text)
    text = re.sub(r" \[\[buffer\(\d+\)\]\]", "", text)
    text = re.sub(r"\bconstant (\w+)&", r"\1", text)
    text = re.sub(r"\bdevice (?=const|\w+\*|\w+<|T\*|atomic)", "", text)
    text = re.sub(r"\bthreadgroup (?=\w+ \w+\[)", "__shared__ ", text)
    text = text.replace("static inline\n", "static __device__ inline\n")
    for metal, cuda in {
        "thread_id.": "threadIdx.",
        "block_id.": "blockIdx.",
        "block_size.": "blockDim.",
        "grid_size.": "gridDim.",
        "threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup)": "__syncthreads()",
        "simdgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup)": "__syncwarp()",
        "atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device)": "__threadfence()",
    }.items():
        text = text.replace(metal, cuda)
    return text


def metal(**loops):
    return parpy.CompileOptions(parallelize=loops, backend=CompileBackend.Metal)


@parpy.jit
def axpy(a, x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        y[i] = a * x[i] + y[i]


@parpy.jit
def row_sums(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        parpy.label("j")
        for j in range(x.shape[1]):
            y[i] += x[i, j]


@parpy.jit
def softmax(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        parpy.label("j")
        m = parpy.max(x[i, :])
        parpy.label("j")
        y[i, :] = parpy.math.exp(x[i, :] - m)
        parpy.label("j")
        y[i, :] /= parpy.sum(y[i, :])


@parpy.jit
def helper(x, i):
    return x[i] * 2 if i % 2 == 0 else x[-1 - i]


@parpy.jit
def calls(x, y, times):
    for t in range(times):
        parpy.label("i")
        for i in range(x.shape[0]):
            y[i] += helper(x, i) + t


@parpy.jit
def functions(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        v = x[i]
        y[i] = np.sqrt(v) + np.exp(v) + np.log(v) + np.sin(v) * np.cos(v) + np.tanh(v) + np.cbrt(v) + np.hypot(v, v)
        y[i] += np.expm1(v) + np.log1p(v) + v**1.5 + np.arctan2(v, v + 1) + parpy.math.erf(v) + np.floor(v) + v % 0.3
        y[i] += parpy.math.gamma(v) + parpy.math.lgamma(v + 1) + abs(v) + min(v, 0.5) + np.maximum(v, 0.25)


@parpy.jit
def integers(k, y):
    parpy.label("i")
    for i in range(k.shape[0]):
        y[i] = (k[i] // 3) * (k[i] % 5) + (k[i] << 2) + (k[i] >> 1) - (k[i] & 6) + int(k[i] * 0.5)


@parpy.jit
def histogram(k, h):
    parpy.label("i")
    for i in range(k.shape[0]):
        h[k[i]] += 1


@parpy.jit
def in_order(x, y):
    with parpy.gpu:
        y[0] = x[0]
        for i in range(1, x.shape[0]):
            y[i] = y[i - 1] + x[i]


F = np.float32
CASES = {
    axpy: (lambda r: (2.5, r.random(100, F), r.random(100, F)), {"i": threads(64)}),
    row_sums: (lambda r: (r.random((5, 300), F), np.zeros(5, F)), {"i": threads(5), "j": threads(128).reduce()}),
    softmax: (lambda r: (r.random((4, 70), F), np.zeros((4, 70), F)), {"i": threads(4), "j": threads(32)}),
    calls: (lambda r: (r.random(40, F), np.zeros(40, F), 3), {"i": threads(32)}),
    functions: (lambda r: (r.random(60, F) + F(0.1), np.zeros(60, F)), {"i": threads(64)}),
    integers: (lambda r: (r.integers(-50, 50, 60).astype(np.int32), np.zeros(60, np.int32)), {"i": threads(64)}),
    histogram: (lambda r: (r.integers(0, 8, 500).astype(np.int32), np.zeros(8, np.int32)), {"i": threads(256)}),
    in_order: (lambda r: (r.random(30, F), np.zeros(30, F)), {}),
}


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_computes_what_the_interpreter_does(function):
    make, loops = CASES[function]
    arguments, want = (make(np.random.default_rng(2)) for _ in range(2))
    function(*want, seq=True)
    text = parpy.print_compiled(function, arguments, metal(**loops))
    run = parpy.compile_string(function.__name__, as_cuda(text), parpy.CompileOptions(backend=CompileBackend.Sim))
    run(*arguments)
    for a, b in zip(arguments, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5)


def test_sums_over_blocks():
    x, y = np.random.default_rng(0).random((2, 9000), F), np.zeros(2, F)
    text = parpy.print_compiled(row_sums, [x, y], metal(i=threads(2), j=threads(4096).reduce()))
    parpy.compile_string("row_sums", as_cuda(text), parpy.CompileOptions(backend=CompileBackend.Sim))(x, y)
    np.testing.assert_allclose(y, x.sum(1), rtol=1e-5)


def test_text_is_complete_and_plain_metal():
    for function, (make, loops) in CASES.items():
        text = parpy.print_compiled(function, make(np.random.default_rng(2)), metal(**loops))
        device = text.split("// ---- device code ----")[1].split("// ---- host code ----")[0]
        assert "#include <metal_stdlib>" in device and "kernel void" in device and "parpy_launch" in text
        assert "[[buffer(0)]]" in device and "[[thread_position_in_threadgroup]]" in device
        code = re.sub(r"//[^\n]*", "", device)
        assert not re.search(r"__|\bdouble\b|threadIdx|blockIdx|long long|extern", code), code


def test_numbers_are_32_bits_wide():
    text = parpy.print_compiled(axpy, [2.5, np.ones(9, F), np.ones(9, F)], metal(i=threads(32)))
    assert "2.5f" in text
    wide = metal(i=threads(32))
    wide.force_int_size = parpy.types.I64
    assert wide.force_int_size is parpy.types.I64


def test_it_does_not_run_here():
    with pytest.raises(parpy.BackendError, match="can be generated, but not run"):
        axpy(2.5, np.ones(9, F), np.ones(9, F), opts=metal())
    text = parpy.print_compiled(axpy, [2.5, np.ones(9, F), np.ones(9, F)], metal(i=threads(32)))
    with pytest.raises(parpy.BackendError, match="Mac"):
        parpy.compile_string("axpy", text)
    assert CompileBackend.Metal in parpy.backend.backends()
    assert CompileBackend.Metal not in parpy.backend.available()


def test_double_precision_is_refused():
    with pytest.raises(TypeError, match=r"'x' has elements of double precision.*\n.*\n.*\n.*astype\(np.float32\)"):
        parpy.print_compiled(axpy, [2.5, np.ones(9), np.ones(9, F)], metal(i=threads(32)))


# ---------------------------------------------------------------- as users of the published ParPy write it

N, M = symbol(), symbol()


@parpy.jit
def slice_sums(x: buffer(F32, [N, M]), y: buffer(F32, [N])):
    for i in range(N):
        y[i] = parpy.reduce.sum(x[i, :])


@parpy.jit
def scalar_reductions(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        s = 0.0
        m = -parpy.builtin.inf
        parpy.label("j")
        for j in range(x.shape[1]):
            s += x[i, j]
            m = parpy.builtin.maximum(m, x[i, j])
        y[i] = s / m


@parpy.jit
def softmax_of_slices(x: buffer(F32, [N, M]), y: buffer(F32, [N, M])):
    for i in range(N):
        m = parpy.max(x[i, :])
        y[i, :] = parpy.math.exp(x[i, :] - m)
        s = parpy.sum(y[i, :])
        y[i, :] /= s


@parpy.jit
def triangle(A, B):
    for i in range(A.shape[0]):
        parpy.label("i")
        for j in range(B.shape[1]):
            parpy.label("j")
            for k in range(i + 1, A.shape[0]):
                B[i, j] += A[k, i] * B[k, j]


@parpy.jit
def all_of_it(x, y):
    parpy.label("i")
    parpy.label("j")
    y[0] = parpy.sum(x[:, :])
    parpy.label("i")
    parpy.label("j")
    y[1] = parpy.min(x[:, :] * 2.0)


@parpy.jit
def in_turns(a, b, steps):
    src, dst = a, b
    for _ in range(steps):
        parpy.label("i")
        for i in range(1, a.shape[0] - 1):
            dst[i] = 0.5 * (src[i - 1] + src[i + 1])
        src, dst = dst, src


@parpy.jit
def shrunk(x: buffer(F32, [N]), y: buffer(F32, [N])):
    for i in range(1, N - 1):
        y[i] = x[i - 1] + x[i + 1]


@parpy.jit
def by_kind(x: buffer(F32, [N])):
    for i in range(N):
        if parpy.builtin.static_backend_eq(CompileBackend.Metal):
            x[i] = parpy.builtin.convert(i, F32) + 0.5
        else:
            x[i] = i + 0.5


@parpy.jit
def entries(d):
    parpy.label("i")
    for i in range(d["x"].shape[0]):
        d["x"][i] = scaled(d, i)


@parpy.jit
def scaled(d, i):
    return d["x"][i] * d["a"] + d["y"][i]


@parpy.jit
def siblings(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        parpy.label("j")
        for j in range(x.shape[1]):
            x[i, j] += 1.0
        parpy.label("k")
        for j in range(x.shape[1]):
            y[i, j] = x[i, x.shape[1] - 1 - j]


def rows(*shapes):
    return lambda r: tuple(r.random(shape, F) for shape in shapes)


PUBLISHED = {
    "slice_sums": (slice_sums, rows((5, 700), 5), {"N": threads(5), "M": threads(256)}),
    "slice_sums_in_many_blocks": (slice_sums, rows((3, 9000), 3), {"N": threads(3), "M": threads(4096)}),
    "small_blocks": (slice_sums, rows((3, 900), 3), {"N": threads(3), "M": threads(512).tpb(64)}),
    "scalar_reductions": (scalar_reductions, rows((4, 5000), 4), {"i": threads(4), "j": threads(2048)}),
    "softmax_of_slices": (softmax_of_slices, rows((4, 3000), (4, 3000)), {"N": threads(4), "M": threads(2048)}),
    "triangle": (triangle, rows((9, 9), (9, 7)), {"i": threads(7), "j": threads(32)}),
    "all_of_it": (all_of_it, rows((30, 40), 2), {"i": threads(8), "j": threads(64)}),
    "in_turns": (in_turns, lambda r: (r.random(50, F), r.random(50, F), 5), {"i": threads(64)}),
    "shrunk": (shrunk, rows(40, 40), {"N": threads(64)}),
    "by_kind": (by_kind, rows(40), {"N": threads(64)}),
    "siblings": (siblings, rows((5, 90), (5, 90)), {"i": threads(5), "j": threads(2048), "k": threads(64)}),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_forms(name):
    function, make, loops = PUBLISHED[name]
    arguments, want = (make(np.random.default_rng(2)) for _ in range(2))
    function(*want, seq=True)
    text = parpy.print_compiled(function, arguments, metal(**loops))
    code = re.sub(r"//[^\n]*", "", text.split("// ---- device code ----")[1].split("// ---- host code ----")[0])
    assert not re.search(r"__|\bdouble\b|threadIdx|blockIdx|long long|extern", code), code
    run = parpy.compile_string(function.__name__, as_cuda(text), parpy.CompileOptions(backend=CompileBackend.Sim))
    run(*arguments)
    for a, b in zip(arguments, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=5e-5)


def test_slice_reductions_use_the_blocks_that_are_asked_for():
    x, y = np.ones((10, 32 * 1024), F), np.zeros(10, F)
    found = parpy.explain(slice_sums, x, y, opts=metal(N=threads(10), M=threads(32 * 1024)))
    assert [kernel["grid"] for kernel in found.facts["kernels"]] == [(32, 10, 1)]
    assert "on one Apple" in str(found)


@parpy.external("metal::fast::exp", CompileBackend.Metal, Target.Device)
def quick(x: F32) -> F32:
    return np.exp(x)


def test_functions_of_metals_library():
    @parpy.jit
    def f(x):
        parpy.label("i")
        x[:] = quick(x[:])

    assert "metal::fast::exp(x[i])" in parpy.print_compiled(f, [np.ones(9, F)], metal(i=threads(32)))


def test_entries_of_dicts():
    given = {"x": np.ones(9, F), "y": np.ones(9, F), "a": 2.0}
    text = parpy.print_compiled(entries, [given], metal(i=threads(32)))
    assert "kernel void" in text and "double" not in text.split("// ---- host code ----")[0]


def test_arrays_of_doubles_that_a_function_makes_are_refused():
    @parpy.jit
    def made(x):
        t = np.zeros(x.shape[0])
        parpy.label("i")
        for i in range(x.shape[0]):
            t[i] = x[i] * 2
        return t

    with pytest.raises(TypeError, match=r"P551.*'t' has elements of double precision"):
        parpy.print_compiled(made, [np.ones(9, F)], metal(i=threads(32)))


def test_numbers_of_double_precision_are_computed_in_single_precision():
    @parpy.jit
    def doubled(x):
        parpy.label("i")
        for i in range(x.shape[0]):
            x[i] = np.float64(x[i]) * 2

    assert "x[i] * 2.0f;" in parpy.print_compiled(doubled, [np.ones(9, F)], metal(i=threads(32)))
