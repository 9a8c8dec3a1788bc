"""The exceptions of CudaPy, under ParPy's: each is also the class that the rest of ParPy raises for such mistakes."""

from __future__ import annotations

from ..calls.errors import BackendError


class CudaPyError(TypeError):
    """A call or a launch that does not fit the signature, or a function without one."""


class CudaTypeError(CudaPyError):
    """A type or signature that cannot be read."""


class TemplateError(CudaPyError):
    """A template that cannot be filled in."""


CudaError = BackendError
"""What went wrong on the device."""
