"""NVRTC compiles ParPy's CUDA text, and reports the errors in other text."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import backends
import operators
import parpy
from nvrtc import EMITTED, cubin, device_part, why_missing

AXPY = """
extern "C" __global__ void axpy(double a, const double* x, double* y, long n) {
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""


@pytest.mark.parametrize("path", EMITTED, ids=[p.parent.name for p in EMITTED])
def test_emitted_text_compiles(path):
    text = path.read_text()
    kernels = re.findall(r"__global__ void (?:__\w+__\([\w, ]+\) )*(\w+)\(", device_part(text))
    image = cubin(text)
    assert kernels and image.startswith(b"\x7fELF")
    assert [k for k in kernels if f".text.{k}".encode() not in image] == []


@pytest.mark.parametrize("case", operators.composed_cases(), ids=str)
def test_functions_that_others_express_compile(case):
    operands = [operators.edge_values(dtype) for dtype in case.dtypes]
    result = operators.quiet(case.reference, *(o[:1] for o in operands))
    text = backends.cuda_text(operators.function(case.expression, len(operands)), (*operands, result, 1), {"n": 64})
    assert cubin(text).startswith(b"\x7fELF")


@pytest.mark.parametrize("dtype", operators.FLOATS)
@pytest.mark.parametrize("name", ["nextafter", "copysign", "fmod", "power", "arctan2", "hypot", "fmin", "maximum"])
def test_operands_may_be_infinite_constants(name, dtype):
    """The constant has the type of the other operand, so that overloads are unambiguous."""
    for operands in ("x[i], -np.inf", "np.inf, x[i]", "x[i], np.nan"):
        function = operators.function(f"np.{name}({operands})", 1)
        assert cubin(backends.cuda_text(function, (np.ones(3, dtype), np.ones(3, dtype), 3), {"n": 64}))


def test_nothing_of_a_kernel_is_contracted():
    contracted, strict = cubin(AXPY, fast_math=True), cubin(AXPY)
    assert contracted != strict


def test_output_is_deterministic():
    assert cubin(AXPY) == cubin(AXPY)


def test_a_gpu_newer_than_the_compiler_gets_ptx():
    assert b".version" in cubin(AXPY, architecture="sm_990")


def test_errors_carry_the_log_and_the_line():
    cubin("")
    with pytest.raises(parpy.BackendError, match=r"(?s)P525.*kernel\.cu\(1\).*undefined_thing"):
        cubin("__global__ void f() { undefined_thing(); }")


def test_missing_compiler_says_how_to_get_it():
    code = "from parpy import _native; _native.compile_cuda('')"
    environment = {
        **os.environ,
        "PARPY_NVRTC": "/no/such/libnvrtc.so.13",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert run.returncode == 1
    assert "P523" in run.stderr and "/no/such/libnvrtc.so.13" in run.stderr
    assert "pip install nvidia-cuda-nvrtc" in run.stderr


def test_the_wheel_is_found_where_it_is_installed():
    """If the wheel is installed, the other tests of this file must not be skipped."""
    pytest.importorskip("nvidia.cu13", reason="the nvidia-cuda-nvrtc wheel is not installed")
    assert why_missing() == ""
