"""Decides where a library call runs, and copies its operands to that place."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..arrays.libraries import HOST, as_operand, copied, is_c_contiguous, is_on_device, library_of, memory_of
from ..buffer import Buffer
from ..calls.options import CompileBackend
from ..cuda import to_device
from ..cuda._arrays import DeviceNDArray
from ..cuda._backend import has_gpu

_simulated_types = (DeviceNDArray, Buffer)


def runs_on_gpu(*arrays: Any) -> bool:
    """Whether a call with these operands runs on a GPU: an operand is there, or the machine has a GPU and no operand is
    on the simulator. Raises TypeError if operands are on a GPU and elsewhere."""
    there = [each for each in arrays if is_on_device(each) and not _is_simulated(each)]
    if not there:
        return has_gpu() and not any(map(_is_simulated, arrays))
    for each in arrays:
        if library_of(each) is not None and not is_on_device(each):
            raise TypeError(
                f"some arrays are on the GPU, but one of type {type(each).__name__} is on the host; copy it with "
                "parpy.cuda.to_device"
            )
    return True


def _is_simulated(array: Any) -> bool:
    if isinstance(array, Buffer):
        return array.backend is not CompileBackend.Cuda
    return isinstance(array, DeviceNDArray) and not array.on_gpu


def host_view(array: Any) -> Any:
    """A NumPy array that shares the memory of an array on the host or on the simulator."""
    if isinstance(array, _simulated_types):
        return array._view
    if type(array).__module__.partition(".")[0] == "torch":
        return array.numpy()
    return np.asarray(as_operand(array))


def like(array: Any, result: Any) -> Any:
    """A NumPy result as an array of the operand's library."""
    found = library_of(array)
    if found is None or found is HOST:
        return result
    made = found.empty(result.shape, result.dtype, array, None)
    host_view(made)[...] = result
    return made


def on_the_gpu(array: Any, stream: int) -> Any:
    """The array itself if it is on the GPU, otherwise a copy there."""
    return array if is_on_device(array) else to_device(np.ascontiguousarray(as_operand(array)))


def address(array: Any) -> ctypes.c_void_p:
    found = memory_of(array)
    assert found is not None
    return ctypes.c_void_p(found.address)


def contiguous(array: Any, stream: Any) -> Any:
    """The array itself, or a copy in C order if it is not contiguous in that order."""
    if is_c_contiguous(array):
        return array
    library = library_of(array) or HOST
    if library.name == "torch":
        return array.contiguous()
    if library.name == "cupy":
        return array.copy(order="C")
    return copied(array, library, stream)


def require_writable(*arrays: Any) -> None:
    """Raises ValueError if one of the arrays is read-only."""
    for each in arrays:
        found = memory_of(each)
        if found is not None and found.read_only:
            raise ValueError("an array that the call stores to is read-only")
