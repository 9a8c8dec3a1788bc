"""CUDA text to machine code: needs NVRTC (a wheel or a toolkit), but neither driver nor GPU."""

from __future__ import annotations

import ctypes
import functools
import glob
import importlib.util

import pytest

import parpy
import places
from parpy import _native

EMITTED = sorted((places.TESTS / "golden/emit").glob("*/cuda.cu"))
DEVICE_MARKER = "// ---- device code ----"
HOST_MARKER = "// ---- host code ----"


def device_part(text: str) -> str:
    """The part for NVRTC of a program in the form of print_compiled and of the golden files."""
    after = text.split(DEVICE_MARKER)[-1]
    return after.split(HOST_MARKER)[0]


@functools.cache
def why_missing() -> str:
    """The reason why NVRTC is missing; empty if it is installed."""
    try:
        _native.compile_cuda("")
    except parpy.BackendError as error:
        return str(error).splitlines()[0]
    return ""


@functools.cache
def why_not_linked() -> str:
    """The reason why NVRTC or nvJitLink is missing; empty if both are installed."""
    try:
        image = _native.compile_cuda("__global__ void k() {}", extra_flags=["--relocatable-device-code=true"])
        _native.link_device_code(image, [])
    except parpy.BackendError as error:
        return str(error).splitlines()[0]
    return ""


def cubin(text: str, architecture: str = "sm_90", fast_math: bool = False) -> bytes:
    """The machine code of the device part of ``text``; skips the test if NVRTC is missing."""
    if why_missing():
        pytest.skip(why_missing())
    return bytes(_native.compile_cuda(device_part(text), "kernel.cu", architecture, fast_math))


@functools.cache
def library() -> ctypes.CDLL | None:
    """The pip package's or the system's NVRTC, or None."""
    found = importlib.util.find_spec("nvidia")
    roots = found.submodule_search_locations if found else []
    places = [path for root in roots for path in glob.glob(f"{root}/**/libnvrtc.so*", recursive=True)]
    for name in [*sorted(places), "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def ptx(text: str) -> str:
    """The PTX of the device part of ``text`` for sm_90; skips the test if NVRTC is missing."""
    nvrtc = library()
    if nvrtc is None:
        pytest.skip("no NVRTC")
    program = ctypes.c_void_p()
    device = device_part(text)
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), device.encode(), b"kernels.cu", 0, None, None)
    options = [b"--gpu-architecture=sm_90", b"--std=c++17", b"--fmad=false"]
    status = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    assert status == 0, log.value.decode() + device
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    result = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, result)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return result.value.decode()
