"""Runs the CUDA program of a jit function on the CPU (tests/simt/simt.h), and compiles it with NVRTC.

What is run is the text that ``parpy.print_compiled`` shows, device and host part; of its PTX, what C++ says instead.
"""

from __future__ import annotations

import ctypes
import functools
import glob
import importlib.util
import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import parpy

HEADER = Path(__file__).resolve().parents[1] / "simt" / "simt.h"
COMPILER = shutil.which("clang++-19") or shutil.which("clang++") or shutil.which("g++")
FLAGS = ["-std=c++20", "-w", "-fwrapv", "-ffp-contract=off", "-fPIC"]


PTX = {
    'asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));': "bits = simt::to_half(x);",
    'asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));': "x = simt::from_half(bits);",
}


def cuda_text(function: Any, arguments: tuple[Any, ...], mapping: Mapping[str, Any]) -> str:
    loops = {label: n if isinstance(n, parpy.LoopPar) else parpy.threads(n) for label, n in mapping.items()}
    options = parpy.CompileOptions(parallelize=loops, backend=parpy.CompileBackend.Cuda)
    return parpy.print_compiled(function, arguments, options)


def split(text: str) -> tuple[str, str]:
    device, host = text.split("// ---- host code ----", 1)
    return device.split("// ---- device code ----", 1)[1], host


def kernels(device: str) -> list[str]:
    return re.findall(r'extern "C" __global__ void[^(]*(?:\(\d+\))?\s*(\w+)\(', device)


@functools.cache
def precompiled() -> str:
    """The header, parsed once per process."""
    output = Path(tempfile.mkdtemp()) / "simt.pch"
    subprocess.run([COMPILER, *FLAGS, "-x", "c++-header", str(HEADER), "-o", str(output)], check=True)
    return str(output)


@functools.cache
def build(text: str) -> ctypes.CDLL:
    """The whole program as a library of this machine."""
    device, host = split(text)
    for instruction, meaning in PTX.items():
        device = device.replace(instruction, meaning)
    names = kernels(device)
    table = ",\n".join(f"    [](void** values) {{ simt::call(device::{name}, values); }}" for name in names)
    source = (
        f"namespace device {{\n{device}\n#undef INLINE\n}}\n"
        f"void (*const simt_kernels[])(void**) = {{\n{table}\n}};\n{host}\n"
        'extern "C" int simt_run(const u64* slots) {\n    ParpyContext context;\n    simt::failed = false;\n'
        f"    return {entry_name(host)}_slots(&context, slots);\n}}\n"
    )
    folder = Path(tempfile.mkdtemp())
    (folder / "program.cpp").write_text(source)
    include = ["-include-pch", precompiled()] if "clang" in COMPILER else ["-include", str(HEADER)]
    command = [COMPILER, *FLAGS, *include, "-shared", str(folder / "program.cpp"), "-o", str(folder / "program.so")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + text
    return ctypes.CDLL(str(folder / "program.so"))


def entry_name(host: str) -> str:
    return re.search(r'extern "C" int (\w+)_slots\(', host)[1]


def parameters(host: str) -> list[tuple[str, str]]:
    """Type and name of each parameter of the host function, without the context."""
    listed = re.search(rf'extern "C" int {entry_name(host)}\(([^)]*)\)', host)[1]
    split_up = [re.sub(r"\b(const|__restrict(__)?)\b", "", p).strip() for p in listed.split(",")[1:]]
    return [(p[: -len(re.search(r"\w+$", p)[0])].strip(), re.search(r"\w+$", p)[0]) for p in split_up]


def slot(kind: str, value: Any) -> int:
    if kind.endswith("*"):
        return value.ctypes.data
    if kind == "double":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    if kind == "float":
        return struct.unpack("<I", struct.pack("<f", value))[0]
    return int(value) & (2**64 - 1)


def run(
    function: Any,
    arguments: tuple[Any, ...],
    mapping: Mapping[str, Any],
    edit: Callable[[str], str] = lambda text: text,
) -> str:
    """Runs the function's CUDA program, edited if wanted, on NumPy arrays, in place, and returns its text."""
    text = edit(cuda_text(function, arguments, mapping))
    _, host = split(text)
    wrapped = function.__wrapped__
    given = dict(zip(wrapped.__code__.co_varnames, arguments, strict=False))
    slots = []
    for kind, name in parameters(host):
        shape = re.fullmatch(r"(\w+)_(extent|stride)(\d+)", name)
        if name in given:
            slots.append(slot(kind, given[name]))
        elif shape[2] == "extent":
            slots.append(given[shape[1]].shape[int(shape[3])])
        else:
            array = given[shape[1]]
            slots.append(array.strides[int(shape[3])] // array.itemsize)
    status = build(text).simt_run((ctypes.c_uint64 * len(slots))(*slots))
    assert status == 0, "threads of one block wait at different barriers:\n" + text
    return text


# ---------------------------------------------------------------- NVRTC


@functools.cache
def nvrtc() -> ctypes.CDLL | None:
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


def compile_with_nvrtc(text: str) -> str:
    """Compiles the device part for sm_90 and returns the PTX; fails with the compiler's log."""
    library = nvrtc()
    program = ctypes.c_void_p()
    device, _ = split(text)
    library.nvrtcCreateProgram(ctypes.byref(program), device.encode(), b"kernels.cu", 0, None, None)
    options = [b"--gpu-architecture=sm_90", b"--std=c++17", b"--fmad=false"]
    status = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    assert status == 0, log.value.decode() + device
    library.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    library.nvrtcGetPTX(program, ptx)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return ptx.value.decode()


def copies(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)
