"""``cuda.fp16`` and ``cuda.bf16``: CUDA's functions of short floats, against float32 results that are rounded once."""

from __future__ import annotations

import numpy as np
import pytest

import kernel_places
from nvrtc import cubin
from parpy import builtin, cuda, types
from parpy.cuda import bf16, fp16

backend = kernel_places.backend

ONE = {
    "habs": np.abs, "hceil": np.ceil, "hcos": np.cos, "hexp": np.exp, "hexp10": lambda x: np.float32(10) ** x,
    "hexp2": np.exp2, "hfloor": np.floor, "hlog": np.log, "hlog10": np.log10, "hlog2": np.log2, "hneg": np.negative,
    "hrcp": lambda x: 1 / x, "hrint": np.rint, "hrsqrt": lambda x: 1 / np.sqrt(x), "hsin": np.sin, "hsqrt": np.sqrt,
    "htanh": np.tanh, "htrunc": np.trunc,
}  # fmt: skip
TWO = {
    "hadd": np.add, "hsub": np.subtract, "hmul": np.multiply, "hdiv": np.divide, "hmax": np.fmax, "hmin": np.fmin,
    "heq": np.equal, "hne": np.not_equal, "hlt": np.less, "hle": np.less_equal, "hgt": np.greater,
    "hge": np.greater_equal,
}  # fmt: skip
COMPILED = ("hadd", "hexp10", "hfloor", "hmax", "hrsqrt", "htanh")  # NVRTC compiles these too
X = np.array([0.3, 1.25, 2.0, 7.7, 0.01, 3.0], np.float32)
Y = np.array([1.5, 1.25, 0.1, 2.0, 0.01, 5.0], np.float32)


def apply(function, dtype, *given):
    """The function's values for float32 numbers converted to `dtype`, as float32."""
    short = getattr(types, dtype)

    if len(given) == 1:

        @cuda.jit
        def kernel(x, out):
            i = cuda.grid(1)
            if i < x.shape[0]:
                out[i] = function(builtin.convert(x[i], short))
    else:

        @cuda.jit
        def kernel(x, y, out):
            i = cuda.grid(1)
            if i < x.shape[0]:
                out[i] = function(builtin.convert(x[i], short), builtin.convert(y[i], short))

    out = np.zeros(len(X), np.float32)
    kernel.forall(len(X))(*given, out)
    if cuda.sim.enabled and function.__name__ in COMPILED:
        cubin(kernel.inspect_source(*given, out))
    return out


def rounded(x, dtype):
    return np.asarray(builtin.convert(np.asarray(x, np.float32), getattr(types, dtype)), np.float32)


@pytest.mark.parametrize("module, dtype, step", [(fp16, "F16", 2**-10), (bf16, "BF16", 2**-7)])
def test_functions(module, dtype, step):
    x, y = rounded(X, dtype), rounded(Y, dtype)
    for name, numpy in ONE.items():
        found, wanted = apply(getattr(module, name), dtype, X), rounded(numpy(x), dtype)
        np.testing.assert_allclose(found, wanted, rtol=step, err_msg=name)
        np.testing.assert_array_equal(rounded(found, dtype), found, err_msg=name)
    for name, numpy in TWO.items():
        found = apply(getattr(module, name), dtype, X, Y)
        np.testing.assert_array_equal(found, rounded(numpy(x, y), dtype), err_msg=name)


def test_every_name_is_tried():
    assert {*fp16.__all__} == {*ONE, *TWO, "hfma"}
    others = {"bfloat16", "float32_to_bfloat16", "float64_to_bfloat16", "bfloat16_to_float32"}
    assert {*bf16.__all__} == {*fp16.__all__} | others


@cuda.jit
def fused(x, out):
    out[0] = fp16.hfma(x[0], x[1], x[2])
    out[1] = bf16.hfma(x[0], x[1], x[2])
    out[2] = bf16.bfloat16_to_float32(bf16.float32_to_bfloat16(x[3]))
    out[3] = bf16.bfloat16(x[3])
    out[4] = bf16.float64_to_bfloat16(1.00390625 + 2.0**-40)


def test_fused_and_conversions():
    x, out = np.array([1.0009765625, 1.0009765625, -1.0, 1.00390625], np.float32), np.zeros(5, np.float32)
    fused[1, 1](x, out)
    cubin(fused.inspect_source(x, out)) if cuda.sim.enabled else None
    assert out[0] == np.float16(float(x[0]) ** 2 - 1)
    assert out[1:].tolist() == [0, 1, 1, 1.0078125]


def test_arrays_of_float16():
    @cuda.jit
    def kernel(a, b, out):
        i = cuda.grid(1)
        out[i] = fp16.hadd(fp16.hmul(a[i], b[i]), b[i])

    a, b = np.arange(8).astype(np.float16), np.full(8, 0.5, np.float16)
    out = np.zeros(8, np.float16)
    kernel[1, 8](a, b, out)
    np.testing.assert_array_equal(out, a * b + b)
