"""The exceptions of CudaPy, under ParPy's: each is also the class that the rest of ParPy raises for such mistakes."""

from __future__ import annotations

from ..calls.errors import BackendError


class CudaPyError(TypeError):
    """The error of a call or a launch that does not fit its signature, or of a function without a signature."""


class CudaTypeError(CudaPyError):
    """The error of a type or a signature that cannot be read."""


class TemplateError(CudaPyError):
    """The error of a template that cannot be filled in, or of a function that ``map`` and its relatives do not take."""


CudaError = BackendError
"""What went wrong on the device."""
