"""Calls through ctypes the few functions of CUDA's driver that only Python code needs."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any


@cache
def _driver() -> Any:
    return ctypes.CDLL(os.environ.get("PARPY_CUDA_DRIVER") or "libcuda.so.1")


def _call(name: str, *arguments: Any) -> None:
    status = getattr(_driver(), name)(*arguments)
    if status:
        raise RuntimeError(f"{name} of CUDA's driver fails with error {status}")


def driver_version() -> tuple[int, int]:
    """The version of CUDA that the driver supports."""
    found = ctypes.c_int()
    _call("cuDriverGetVersion", ctypes.byref(found))
    return found.value // 1000, found.value % 1000 // 10


def device_uuid(number: int) -> bytes:
    """The UUID of a GPU, 16 bytes."""
    device, found = ctypes.c_int(), ctypes.create_string_buffer(16)
    _call("cuDeviceGet", ctypes.byref(device), number)
    _call("cuDeviceGetUuid_v2", found, device)
    return found.raw


def profiler(start: bool) -> None:
    """Starts or stops the recording of a profiler such as Nsight."""
    _call("cuProfilerStart" if start else "cuProfilerStop")
