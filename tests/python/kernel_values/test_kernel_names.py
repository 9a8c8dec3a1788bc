"""The tables of docs/coming_from/numba_cuda.md and docs/coming_from/cudapy.md have every public name."""

from __future__ import annotations

import inspect
import re

import parpy.cudapy as cp
import places
from parpy import cuda
from parpy.cuda import bf16, fp16, random, types
from parpy.cuda._devices import Context, Device
from parpy.cuda._kernel import Kernel
from parpy.cudapy._values import CONSTANTS, MATH
from parpy.vocabulary import device as _device
from parpy.vocabulary.vectors import FUNCTIONS

PAGES = places.ROOT / "docs" / "coming_from"


def words(page):
    table = (PAGES / page).read_text().split("## Every name")[1]
    return set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", table))))


def members(kind):
    return {name for name in vars(kind) if not name.startswith("_") and not inspect.isclass(vars(kind)[name])}


def test_numba_cuda():
    known = words("numba_cuda.md")
    wanted = set(cuda.__all__) - {"Event", "Stream", "cg"} - (FUNCTIONS.keys() - {"float32x2", "int32x4", "uchar3"})
    wanted = (wanted - {*types.__all__}) | {*fp16.__all__, *bf16.__all__}  # types are listed as a group
    for kind in (cuda.DeviceNDArray, cuda.Stream, cuda.Event, Kernel, Device, Context):
        wanted |= members(kind)
    for group in ("shared", "local", "const", "atomic"):
        wanted |= {name for name in vars(getattr(_device, group)) if not name.startswith("_")}
    internal = {
        "asks_all",
        "check_signatures",
        "declared",
        "options_for_gpu",
        "surface_anew",
        "taken",
        "best_block",
        "frontend",
        "has_records",
        "is_callable",
        "launch",
        "launched_with_dates",
        "matched",
        "native",
        "options",
        "parse",
        "prepared",
        "program",
        "variant",
        "with_fields",
        "with_signature",
        "with_views",
        "options_on",
        "names",
    }
    assert sorted(wanted - known - internal) == []
    assert set(types.__all__) >= {"float32", "int64", "void", "CPointer"}


# Public names that numba.cuda's documentation lists, beyond those that parpy.cuda has.
NUMBA = """
Archive BaseCUDAMemoryManager CUSource Cubin CudaAPIError CudaSupportError Fatbin GetIpcHandleMixin
HostOnlyCUDAMemoryManager In InOut IpcHandle LTOIR LinkableCode LinkerError MappedMemory MemoryInfo MemoryPointer
Object Out PTXSource PinnedMemory compile compile_all compile_for_current_device compile_ptx
compile_ptx_for_current_device cuda_error cuda_paths defer_cleanup extending float32x2 float2 fp16
from_cuda_array_interface get_memory_info guvectorize habs hadd hceil hcos hdiv heq hexp hexp10 hexp2 hfloor hfma
hge hgt hle hlog hlog10 hlog2 hlt hmax hmin hmul hne hneg hrcp hrint hrsqrt hsin hsqrt hsub htrunc implementation
initialize inspect_llvm inspect_sass inspect_types int32x4 int4 intrinsic is_bfloat16_supported
is_float16_supported is_supported_version legacy_default_stream libdevice managed_array mapped
max_cooperative_grid_blocks models open_ipc_array open_ipc_handle overload overloads per_thread_default_stream
profile_start profile_stop profiling require_context runtime set_memory_manager shfl_sync_intrinsic simulator
specialize test vectorize vote_sync_intrinsic
"""


def test_names_of_numba_cuda_that_are_not_here():
    known = words("numba_cuda.md")
    assert sorted(name for name in NUMBA.split() if name not in known) == []
    assert sorted(name for name in vars(random) if "xoroshiro" in name and name not in known) == []


def test_cudapy():
    known = words("cudapy.md")
    wanted = {*cp.__all__, *CONSTANTS, *members(cp.CudaArray), *members(cp.Launcher)} - {"signature"}
    assert sorted(wanted - known) == []
    text = (PAGES / "cudapy.md").read_text()
    assert sorted(name for name in MATH if not re.search(rf"\b{name}\b", text)) == []
