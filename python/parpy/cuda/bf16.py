"""bfloat16 in kernels, under CUDA's names: ``bf16.hadd(a, b)``. Arguments become bfloat16, and so do results.

Operators and NumPy's functions do the same with bfloat16 values. Functions are computed in float32 and rounded once.
``bf16.bfloat16(x)`` converts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..vocabulary import device, signatures
from ._decorators import jit

bfloat16: Any = signatures.bfloat16
_device: Callable[[Callable[..., Any]], Any] = jit(device=True)


@_device
def float32_to_bfloat16(a: Any) -> Any:
    """The nearest bfloat16."""
    return bfloat16(np.float32(a))


@_device
def float64_to_bfloat16(a: Any) -> Any:
    """The nearest bfloat16."""
    return bfloat16(np.float64(a))


@_device
def bfloat16_to_float32(a: Any) -> Any:
    """The same number as a float32."""
    return np.float32(bfloat16(a))


@_device
def hadd(a: Any, b: Any) -> Any:
    """a + b."""
    return bfloat16(a) + bfloat16(b)


@_device
def hsub(a: Any, b: Any) -> Any:
    """a - b."""
    return bfloat16(a) - bfloat16(b)


@_device
def hmul(a: Any, b: Any) -> Any:
    """a * b."""
    return bfloat16(a) * bfloat16(b)


@_device
def hdiv(a: Any, b: Any) -> Any:
    """a / b."""
    return bfloat16(a) / bfloat16(b)


@_device
def hfma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""
    return device.fma(bfloat16(a), bfloat16(b), bfloat16(c))


@_device
def hneg(a: Any) -> Any:
    """-a."""
    return -bfloat16(a)


@_device
def habs(a: Any) -> Any:
    """The absolute value."""
    return abs(bfloat16(a))


@_device
def heq(a: Any, b: Any) -> Any:
    """Whether a == b."""
    return bfloat16(a) == bfloat16(b)


@_device
def hne(a: Any, b: Any) -> Any:
    """Whether a != b, also where one of them is NaN."""
    return bfloat16(a) != bfloat16(b)


@_device
def hlt(a: Any, b: Any) -> Any:
    """Whether a < b."""
    return bfloat16(a) < bfloat16(b)


@_device
def hle(a: Any, b: Any) -> Any:
    """Whether a <= b."""
    return bfloat16(a) <= bfloat16(b)


@_device
def hgt(a: Any, b: Any) -> Any:
    """Whether a > b."""
    return bfloat16(a) > bfloat16(b)


@_device
def hge(a: Any, b: Any) -> Any:
    """Whether a >= b."""
    return bfloat16(a) >= bfloat16(b)


@_device
def hmax(a: Any, b: Any) -> Any:
    """The greater of both; that which is no NaN."""
    return np.fmax(bfloat16(a), bfloat16(b))


@_device
def hmin(a: Any, b: Any) -> Any:
    """The lesser of both; that which is no NaN."""
    return np.fmin(bfloat16(a), bfloat16(b))


@_device
def hsin(a: Any) -> Any:
    """The sine."""
    return np.sin(bfloat16(a))


@_device
def hcos(a: Any) -> Any:
    """The cosine."""
    return np.cos(bfloat16(a))


@_device
def htanh(a: Any) -> Any:
    """The hyperbolic tangent."""
    return np.tanh(bfloat16(a))


@_device
def hexp(a: Any) -> Any:
    """e to this power."""
    return np.exp(bfloat16(a))


@_device
def hexp2(a: Any) -> Any:
    """2 to this power."""
    return np.exp2(bfloat16(a))


@_device
def hexp10(a: Any) -> Any:
    """10 to this power."""
    return bfloat16(np.float32(10) ** np.float32(bfloat16(a)))


@_device
def hlog(a: Any) -> Any:
    """The natural logarithm."""
    return np.log(bfloat16(a))


@_device
def hlog2(a: Any) -> Any:
    """The logarithm to base 2."""
    return np.log2(bfloat16(a))


@_device
def hlog10(a: Any) -> Any:
    """The logarithm to base 10."""
    return np.log10(bfloat16(a))


@_device
def hsqrt(a: Any) -> Any:
    """The square root."""
    return np.sqrt(bfloat16(a))


@_device
def hrsqrt(a: Any) -> Any:
    """One divided by the square root."""
    return device.rsqrt(bfloat16(a))


@_device
def hrcp(a: Any) -> Any:
    """1 / a."""
    return bfloat16(1) / bfloat16(a)


@_device
def hceil(a: Any) -> Any:
    """The next whole number above."""
    return np.ceil(bfloat16(a))


@_device
def hfloor(a: Any) -> Any:
    """The next whole number below."""
    return np.floor(bfloat16(a))


@_device
def hrint(a: Any) -> Any:
    """The nearest whole number, the even one of two."""
    return np.rint(bfloat16(a))


@_device
def htrunc(a: Any) -> Any:
    """The next whole number towards 0."""
    return np.trunc(bfloat16(a))


__all__ = [
    "bfloat16", "bfloat16_to_float32", "float32_to_bfloat16", "float64_to_bfloat16", "habs", "hadd", "hceil", "hcos",
    "hdiv", "heq", "hexp", "hexp2", "hexp10", "hfloor", "hfma", "hge", "hgt", "hle", "hlog", "hlog2", "hlog10", "hlt",
    "hmax", "hmin", "hmul", "hne", "hneg", "hrcp", "hrint", "hrsqrt", "hsin", "hsqrt", "hsub", "htanh", "htrunc",
]  # fmt: skip
