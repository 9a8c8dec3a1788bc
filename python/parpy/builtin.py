"""Operators of compiled code beyond Python's own. All of them also work in plain Python."""

from .vocabulary.operators import (
    convert,
    gpu,
    inf,
    inline,
    label,
    maximum,
    minimum,
    static_backend_eq,
    static_fail,
    static_types_eq,
)

__all__ = [
    "convert",
    "gpu",
    "inf",
    "inline",
    "label",
    "maximum",
    "minimum",
    "static_backend_eq",
    "static_fail",
    "static_types_eq",
]
