"""The tables of docs/from_numba_cuda.md and docs/from_cudapy.md have every public name."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import parpy.cudapy as cp
from parpy import _device, cuda
from parpy.cuda import types
from parpy.cuda._devices import Context, Device
from parpy.cuda._kernel import Kernel
from parpy.cudapy._functions import CONSTANTS, MATH

DOCS = Path(__file__).parents[2] / "docs"


def words(page):
    table = (DOCS / page).read_text().split("## Every name")[1]
    return set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", table))))


def members(kind):
    return {name for name in vars(kind) if not name.startswith("_") and not inspect.isclass(vars(kind)[name])}


def test_numba_cuda():
    known = words("from_numba_cuda.md")
    wanted = set(cuda.__all__) - {"Event", "Stream", "cg"}
    for kind in (cuda.DeviceNDArray, cuda.Stream, cuda.Event, Kernel, Device, Context):
        wanted |= members(kind)
    for group in ("shared", "local", "const", "atomic"):
        wanted |= {name for name in vars(getattr(_device, group)) if not name.startswith("_")}
    internal = {
        "best_block",
        "frontend",
        "has_records",
        "launch",
        "native",
        "options",
        "parse",
        "prepared",
        "program",
        "specialize",
        "variant",
        "with_fields",
    }
    assert sorted(wanted - known - internal) == []
    assert set(types.__all__) >= {"float32", "int64", "void", "CPointer"}


def test_cudapy():
    known = words("from_cudapy.md")
    wanted = {*cp.__all__, *CONSTANTS, *members(cp.CudaArray), *members(cp.Launcher)} - {"signature"}
    assert sorted(wanted - known) == []
    text = (DOCS / "from_cudapy.md").read_text()
    assert sorted(name for name in MATH if not re.search(rf"\b{name}\b", text)) == []
