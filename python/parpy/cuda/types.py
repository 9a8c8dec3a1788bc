"""The types of signatures, as objects: ``void(float32[:], int64)``, ``float32[:, ::1]``, ``CPointer(int32)``."""

from ._types import (
    CPointer,
    boolean,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    void,
)

__all__ = [
    "CPointer", "boolean", "complex64", "complex128", "float16", "float32", "float64", "int8", "int16", "int32",
    "int64", "uint8", "uint16", "uint32", "uint64", "void",
]  # fmt: skip
