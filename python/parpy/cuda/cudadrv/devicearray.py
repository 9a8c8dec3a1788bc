"""Device arrays, and the conversion of other objects to them."""

from __future__ import annotations

from typing import Any

from .._arrays import DeviceNDArray, DeviceRecord, as_cuda_array, device_array_like, is_cuda_array, to_device

__all__ = ["DeviceNDArray", "DeviceRecord", "auto_device", "from_array_like", "is_cuda_ndarray"]

from_array_like = device_array_like


def is_cuda_ndarray(obj: Any) -> bool:
    """Returns whether ``obj`` is a device array of parpy.cuda."""
    return isinstance(obj, DeviceNDArray)


def auto_device(obj: Any, stream: Any = 0, copy: bool = True) -> tuple[Any, bool]:
    """Returns the object as a device array, and whether that array is a new copy."""
    if isinstance(obj, DeviceNDArray):
        return obj, False
    if is_cuda_array(obj):
        return as_cuda_array(obj), False
    return to_device(obj, stream=stream, copy=copy), True
