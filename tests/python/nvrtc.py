"""CUDA text to machine code: needs NVRTC (a wheel or a toolkit), but neither driver nor GPU."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

import parpy
from parpy import _native

EMITTED = sorted((Path(__file__).parents[1] / "golden/emit").glob("*/cuda.cu"))
DEVICE_MARKER = "// ---- device code ----"
HOST_MARKER = "// ---- host code ----"


def device_part(text: str) -> str:
    """What NVRTC gets of a program as print_compiled and the golden files show it."""
    after = text.split(DEVICE_MARKER)[-1]
    return after.split(HOST_MARKER)[0]


@functools.cache
def why_missing() -> str:
    """Empty where NVRTC is installed."""
    try:
        _native.compile_cuda("")
    except parpy.BackendError as error:
        return str(error).splitlines()[0]
    return ""


def cubin(text: str, architecture: str = "sm_90", fast_math: bool = False) -> bytes:
    """The machine code of the device part of ``text``; skips the test where NVRTC is missing."""
    if why_missing():
        pytest.skip(why_missing())
    return bytes(_native.compile_cuda(device_part(text), "kernel.cu", architecture, fast_math))
