"""NVRTC takes what ParPy emits, and says what is wrong with what it does not take."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

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
    kernels = re.findall(r"__global__ void (?:__launch_bounds__\(\w+\) )?(\w+)\(", device_part(text))
    image = cubin(text)
    assert kernels and image.startswith(b"\x7fELF")
    assert [k for k in kernels if f".text.{k}".encode() not in image] == []


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
    """With the wheel in the environment, the other tests of this file must not be skipped."""
    pytest.importorskip("nvidia.cu13", reason="the nvidia-cuda-nvrtc wheel is not installed")
    assert why_missing() == ""
