"""The unit tests' driver without a GPU (tests/unit/fake_cuda/), and requests that make its functions fail."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import parpy

LIBRARY = Path(os.environ.get("PARPY_OPT", "build/parpy-opt")).resolve().parent / "libfake_cuda.so"
ENVIRONMENT = {"PARPY_CUDA_DRIVER": str(LIBRARY), "PARPY_NVRTC": str(LIBRARY)}


class _Launch(ctypes.Structure):
    _fields_ = (
        ("kernel", ctypes.c_char_p),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("arguments", ctypes.c_void_p),
        ("device", ctypes.c_int),
    )


class _State(ctypes.Structure):
    """FakeCuda of fake_cuda.h."""

    _fields_ = (
        ("counts", ctypes.c_int * 8),
        ("copied", ctypes.c_size_t * 2),
        ("dynamic_shared", ctypes.c_int),
        ("stack_size", ctypes.c_size_t),
        ("last_launch", _Launch),
        ("captures", ctypes.c_int * 3),
        ("events", ctypes.c_int * 2),
        ("last_free", ctypes.c_void_p),
        ("peer_copies", ctypes.c_int),
        ("page_bytes", ctypes.c_size_t),
        ("static_shared", ctypes.c_int),
        ("on_launch", ctypes.c_void_p),
        ("failing", ctypes.c_char * 64),
        ("failure", ctypes.c_int),
        ("after", ctypes.c_int),
        ("times", ctypes.c_int),
        ("nvrtc_result", ctypes.c_int),
        ("headers", ctypes.c_int),
        ("header", ctypes.c_char_p),
        ("capturing", ctypes.c_bool),
        ("no_peer_access", ctypes.c_bool),
    )


def state() -> _State:
    """The state of the driver in this process, which ENVIRONMENT made ParPy load."""
    get = ctypes.CDLL(str(LIBRARY)).fake_cuda
    get.restype = ctypes.POINTER(_State)
    found: _State = get().contents
    return found


def set_up(request: str) -> None:
    """Sets the driver's behaviour. "FUNCTION RESULT": each call of this function of it, or nvrtcCompileProgram, returns
    this result; "capturing": all streams are being captured into graphs; "as it is": no change."""
    function, _, result = request.partition(" ")
    if request == "capturing":
        state().capturing = True
    elif function == "nvrtcCompileProgram":
        state().nvrtc_result = int(result)
    elif request != "as it is":
        state().failing, state().failure, state().times = function.encode(), int(result), -1


def run_emulated(script: str) -> subprocess.CompletedProcess[str]:
    """Runs the text in a process of its own whose GPU is the emulated one."""
    paths = [Path(parpy.__file__).parents[1], Path(__file__).parent]
    environment = {
        **os.environ, **ENVIRONMENT, "FAKE_CUDA_EMULATE": "1", "PYTHONPATH": os.pathsep.join(map(str, paths)),
    }  # fmt: skip
    command = [sys.executable, "-W", "ignore", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
