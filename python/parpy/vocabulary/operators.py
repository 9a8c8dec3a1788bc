"""The operators of ParPy that neither Python nor NumPy has, as plain Python functions.

The frontend recognises them by identity, under any name. In the interpreter (`seq=True`, or outside
of jit functions) they have the effects of the compiled code.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

# parpy.builtin exports these names.
__all__ = [
    "convert", "gpu", "inf", "inline", "label", "maximum", "minimum", "static_backend_eq", "static_fail",
    "static_types_eq",
]  # fmt: skip

inf: float = float("inf")


def label(name: str) -> None:
    """Names the loop that follows, so that `opts` can map it. It has no effect in plain Python."""
    if not isinstance(name, str):
        raise TypeError(f"a label is a string, not {type(name).__name__}")


class Gpu:
    """`with parpy.gpu:` runs its body on one thread of the device. It has no effect in plain Python."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None

    def __repr__(self) -> str:
        return "parpy.gpu"


gpu: Gpu = Gpu()


def inline(value: Any) -> Any:
    """`inline(f(x))` replaces the call by the body of the jit function `f`, so that `opts` can map its labels.

    In plain Python it returns the value of the call.
    """
    return value


def static_backend_eq(backend: Any) -> bool:
    """Returns whether code for this back end is generated. This is decided at compile time, and the other branch of an
    `if` need not be valid. The simulator counts as CUDA, and Python's interpreter as the CPU.
    """
    from ..calls.options import CompileBackend

    if not isinstance(backend, CompileBackend):
        raise TypeError(f"static_backend_eq takes a parpy.CompileBackend, not {backend!r}")
    return backend is CompileBackend.Cpu


def static_types_eq(a: Any, b: Any) -> bool:
    """Returns whether two types are equal, decided at compile time. Each is a type of parpy.types or NumPy, the
    `dtype` of an array, a type variable of the annotations, or a parameter, whose type is then compared.
    """
    return bool(_dtype_of(a) == _dtype_of(b))


def _dtype_of(found: Any) -> Any:
    if scalar_name(found) is not None:
        return scalar_name(found)
    if hasattr(found, "dtype"):
        return scalar_name(np.dtype(found.dtype))
    if isinstance(found, bool | int | float | complex):
        return scalar_name(np.asarray(found).dtype)
    raise TypeError(f"static_types_eq compares types, not {found!r}")


def static_fail(message: str) -> None:
    """Refuses to compile a function that reaches this call. In plain Python it raises RuntimeError with the message."""
    raise RuntimeError(message)


def maximum(a: Any, b: Any) -> Any:
    """Returns the greater of two scalars or arrays, element by element; NaN if one is NaN, as np.maximum does."""
    return np.maximum(a, b)


def minimum(a: Any, b: Any) -> Any:
    """Returns the smaller of two scalars or arrays, element by element; NaN if one is NaN, as np.minimum does."""
    return np.minimum(a, b)


def convert(x: Any, to: Any) -> Any:
    """Returns `x` converted to `to`: a NumPy scalar type or dtype, a type of parpy.types, or int, float, bool.

    A value that an integer type cannot hold wraps around or becomes the lowest value of the type, as
    docs/reference/math.md describes for floats. Complex numbers can be converted only to complex types and bool. A
    bfloat16 is returned as the numpy.float32 of its value. Raises TypeError if `to` is no scalar type.
    """
    name = scalar_name(to if scalar_name(to) is not None else getattr(to, "dtype", None))
    if name is None:
        raise TypeError(f"convert to a scalar type, not {to!r}")
    dtype = np.dtype(DTYPE_OF.get(name, "float32"))
    value = np.asarray(x)
    if value.dtype.kind == "c" and dtype.kind not in "cb":
        raise TypeError(f"a {value.dtype} cannot become a {dtype}; take the real part (.real) or abs(…) first")
    with np.errstate(all="ignore"):
        if dtype.kind in "iu" and value.dtype.kind == "f":
            converted = _whole(value.astype(np.float64), dtype)
        elif name == "bf16":
            converted = _rounded_to_bf16(value)
        else:
            converted = value.astype(dtype)
    return converted[()]


def _rounded_to_bf16(value: Any) -> Any:
    """The nearest float32 values whose lower 16 bits are 0, ties to even."""
    single = value.astype(np.float32)
    if value.dtype == np.float64:  # rounds only once: a number between two float32 values is no tie
        toward_zero = np.where(np.abs(single) > np.abs(value), np.nextafter(single, np.float32(0)), single)
        single = (toward_zero.view(np.uint32) | ((toward_zero != value) & ~np.isnan(value))).view(np.float32)
    bits = single.view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(single), single, rounded.astype(np.uint32).view(np.float32))


def _whole(value: Any, dtype: np.dtype[Any]) -> Any:
    """Converts doubles to integers as compiled code does. Types of up to 32 bits get the low bits of a 32-bit integer.
    For unsigned values beyond the signed type of the same size, half the range is subtracted and added again."""
    signed: type[np.signedinteger[Any]] = np.int64 if dtype.itemsize == 8 else np.int32
    lowest = np.iinfo(signed).min
    upper = (value >= -float(lowest)) & (dtype.kind == "u") & (dtype.itemsize >= 4)
    lower = np.where(upper, value + float(lowest), value)
    inside = (lower >= float(lowest)) & (lower < -float(lowest))
    whole = np.where(inside, np.where(inside, lower, 0).astype(signed), lowest).astype(signed)
    return np.where(upper, whole ^ lowest, whole).astype(dtype)


DTYPE_OF = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
}  # fmt: skip
NAME_OF = {dtype: name for name, dtype in DTYPE_OF.items()} | {"bfloat16": "bf16"}


def is_torch_dtype(found: object) -> bool:
    """Whether the object is one of PyTorch's element types; PyTorch need not be installed."""
    return (type(found).__module__, type(found).__name__) == ("torch", "dtype")


def is_numba(found: object) -> bool:
    """Whether the object is one of Numba's, such as a type or a compiled function; Numba need not be installed."""
    return type(found).__module__.partition(".")[0] in ("numba", "numba_cuda")


def scalar_of_text(text: str) -> str | None:
    """The name in IR text of the scalar type with NumPy's name `text` ("float32", "<f4"); None if there is none."""
    if not _TYPE.fullmatch(text):  # NumPy would warn of some other texts
        return None
    try:
        return scalar_name(np.dtype(text))
    except TypeError:
        return None


_TYPE = re.compile(
    r"[<>=|]?([?bBhHiIlLqQpPefdgFDG]|[biufc]\d+)|(bool|u?int|float|complex|half|single|double|u?short|u?intp|u?intc)\d*_?"
)


def scalar_name(found: object) -> str | None:
    """The name in IR text ("f32") of the scalar type that `found` denotes; None if it is no scalar type.

    Accepts NumPy scalar types and dtypes, PyTorch's dtypes, Numba's types, those of parpy.types, and int, float, bool,
    complex.
    """
    if is_numba(found):
        return NAME_OF.get(str(getattr(found, "name", "")))
    if is_torch_dtype(found):
        return NAME_OF.get(str(found).removeprefix("torch."))
    name = getattr(found, "name", None) if type(found).__module__.startswith("parpy.") else None
    if isinstance(name, str):
        name = name.lower()
        return name if name in DTYPE_OF or name == "bf16" else None
    if isinstance(found, type | np.dtype):
        if isinstance(found, type) and not issubclass(found, (np.generic, int, float, complex)):
            return None
        try:
            dtype = np.dtype(found)
            return NAME_OF.get(dtype.name) if dtype.isnative else None
        except TypeError:
            return None
    return None
