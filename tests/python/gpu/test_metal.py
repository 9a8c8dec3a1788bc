"""Metal text: complete for any program, and it computes what the interpreter does. Where there is no Mac it is compiled
against a stand-in for Metal's standard library that is made of CUDA's names, and run on the simulator.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import parpy
from parpy import CompileBackend, threads
from parpy.calls.interface import sealed

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
    """Metal text with CUDA's words for Metal's."""
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
    with pytest.raises(parpy.BackendError, match="cannot run here"):
        axpy(2.5, np.ones(9, F), np.ones(9, F), opts=metal())
    text = parpy.print_compiled(axpy, [2.5, np.ones(9, F), np.ones(9, F)], metal(i=threads(32)))
    with pytest.raises(parpy.BackendError, match="Mac"):
        parpy.compile_string("axpy", text)
    assert CompileBackend.Metal in parpy.backend.backends()
    assert CompileBackend.Metal not in parpy.backend.available()


def test_double_precision_is_refused():
    with pytest.raises(TypeError, match=r"'x' has elements of double precision.*\n.*\n.*\n.*astype\(np.float32\)"):
        parpy.print_compiled(axpy, [2.5, np.ones(9), np.ones(9, F)], metal(i=threads(32)))
