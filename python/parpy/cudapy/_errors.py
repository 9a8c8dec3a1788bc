"""The exceptions of CudaPy, subclasses of those that the rest of ParPy raises for such mistakes."""

from __future__ import annotations

from ..calls.errors import BackendError


class CudaPyError(TypeError):
    """The error of a call or a launch that does not fit its signature, or of a function without a signature."""


class CudaTypeError(CudaPyError):
    """The error of a type or a signature that cannot be read."""


class TemplateError(CudaPyError):
    """The error of a failed substitution, or of a function that ``map`` and the other ready templates refuse."""


CudaError = BackendError
"""The error of a failed operation on the device."""
