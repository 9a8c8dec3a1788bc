"""Streams, events and devices, and the errors of the driver."""

from .._devices import Context, Device
from .._missing import CudaAPIError, LinkerError
from .._streams import Event, Stream
from .error import CudaDriverError, CudaSupportError

__all__ = [
    "Context", "CudaAPIError", "CudaDriverError", "CudaSupportError", "Device", "Event", "LinkerError", "Stream",
]  # fmt: skip
