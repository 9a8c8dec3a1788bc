"""Short vectors of kernels: `cuda.float32x3(x, y, z)`, also under CUDA's name `float3`. They are named tuples of
numbers of one type."""

from __future__ import annotations

from collections import namedtuple
from typing import NamedTuple

from .device import DeviceFunction


class Vector(NamedTuple):
    """The type of a vector: the IR name of its element type, the number of elements, and the class of the tuple."""

    scalar: str
    length: int
    of_class: type


# By NumPy's name of the elements, the name in IR text and CUDA's names.
_NAMES = {
    "int8": ("i8", ("char",)), "int16": ("i16", ("short",)), "int32": ("i32", ("int",)),
    "int64": ("i64", ("long", "longlong")), "uint8": ("u8", ("uchar",)), "uint16": ("u16", ("ushort",)),
    "uint32": ("u32", ("uint",)), "uint64": ("u64", ("ulong", "ulonglong")), "float32": ("f32", ("float",)),
    "float64": ("f64", ("double",)),
}  # fmt: skip

VECTORS: dict[str, Vector] = {}
"""The types by the names of the functions that construct them."""

FUNCTIONS: dict[str, DeviceFunction] = {}
"""The constructing functions, by all of their names."""

for _shown, (_scalar, _names) in _NAMES.items():
    for _count in range(1, 5):
        _name = f"{_shown}x{_count}"
        VECTORS[_name] = Vector(_scalar, _count, namedtuple(_name, list("xyzw"[:_count])))
        FUNCTIONS[_name] = DeviceFunction(
            _name, "vector", _name, (1, _count),
            f"{_name}({', '.join('xyzw'[:_count])}): a vector of {_shown}, from its elements, or from shorter vectors "
            "and elements, or from another vector of as many.",
        )  # fmt: skip
        FUNCTIONS.update({f"{each}{_count}": FUNCTIONS[_name] for each in _names})

globals().update(FUNCTIONS)
__all__ = [*FUNCTIONS]
