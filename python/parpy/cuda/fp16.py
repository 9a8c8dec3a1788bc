"""float16 in kernels, under CUDA's names: ``fp16.hadd(a, b)``. Arguments become float16, and so do results.

Operators and NumPy's functions do the same with float16 values. Functions are computed in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..vocabulary import device as cuda
from ._decorators import jit

_device: Callable[[Callable[..., Any]], Any] = jit(device=True)


@_device
def hadd(a: Any, b: Any) -> Any:
    """a + b."""
    return np.float16(a) + np.float16(b)


@_device
def hsub(a: Any, b: Any) -> Any:
    """a - b."""
    return np.float16(a) - np.float16(b)


@_device
def hmul(a: Any, b: Any) -> Any:
    """a * b."""
    return np.float16(a) * np.float16(b)


@_device
def hdiv(a: Any, b: Any) -> Any:
    """a / b."""
    return np.float16(a) / np.float16(b)


@_device
def hfma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""
    return cuda.fma(np.float16(a), np.float16(b), np.float16(c))


@_device
def hneg(a: Any) -> Any:
    """-a."""
    return -np.float16(a)


@_device
def habs(a: Any) -> Any:
    """The absolute value."""
    return abs(np.float16(a))


@_device
def heq(a: Any, b: Any) -> Any:
    """Whether a == b."""
    return np.float16(a) == np.float16(b)


@_device
def hne(a: Any, b: Any) -> Any:
    """Whether a != b, also where one of them is NaN."""
    return np.float16(a) != np.float16(b)


@_device
def hlt(a: Any, b: Any) -> Any:
    """Whether a < b."""
    return np.float16(a) < np.float16(b)


@_device
def hle(a: Any, b: Any) -> Any:
    """Whether a <= b."""
    return np.float16(a) <= np.float16(b)


@_device
def hgt(a: Any, b: Any) -> Any:
    """Whether a > b."""
    return np.float16(a) > np.float16(b)


@_device
def hge(a: Any, b: Any) -> Any:
    """Whether a >= b."""
    return np.float16(a) >= np.float16(b)


@_device
def hmax(a: Any, b: Any) -> Any:
    """The greater of both; that which is no NaN."""
    return np.fmax(np.float16(a), np.float16(b))


@_device
def hmin(a: Any, b: Any) -> Any:
    """The lesser of both; that which is no NaN."""
    return np.fmin(np.float16(a), np.float16(b))


@_device
def hsin(a: Any) -> Any:
    """The sine."""
    return np.sin(np.float16(a))


@_device
def hcos(a: Any) -> Any:
    """The cosine."""
    return np.cos(np.float16(a))


@_device
def htanh(a: Any) -> Any:
    """The hyperbolic tangent."""
    return np.tanh(np.float16(a))


@_device
def hexp(a: Any) -> Any:
    """e to this power."""
    return np.exp(np.float16(a))


@_device
def hexp2(a: Any) -> Any:
    """2 to this power."""
    return np.exp2(np.float16(a))


@_device
def hexp10(a: Any) -> Any:
    """10 to this power."""
    return np.float16(np.float32(10) ** np.float32(np.float16(a)))


@_device
def hlog(a: Any) -> Any:
    """The natural logarithm."""
    return np.log(np.float16(a))


@_device
def hlog2(a: Any) -> Any:
    """The logarithm to base 2."""
    return np.log2(np.float16(a))


@_device
def hlog10(a: Any) -> Any:
    """The logarithm to base 10."""
    return np.log10(np.float16(a))


@_device
def hsqrt(a: Any) -> Any:
    """The square root."""
    return np.sqrt(np.float16(a))


@_device
def hrsqrt(a: Any) -> Any:
    """One divided by the square root."""
    return cuda.rsqrt(np.float16(a))


@_device
def hrcp(a: Any) -> Any:
    """1 / a."""
    return np.float16(1) / np.float16(a)


@_device
def hceil(a: Any) -> Any:
    """The next whole number above."""
    return np.ceil(np.float16(a))


@_device
def hfloor(a: Any) -> Any:
    """The next whole number below."""
    return np.floor(np.float16(a))


@_device
def hrint(a: Any) -> Any:
    """The nearest whole number, the even one of two."""
    return np.rint(np.float16(a))


@_device
def htrunc(a: Any) -> Any:
    """The next whole number towards 0."""
    return np.trunc(np.float16(a))


__all__ = [
    "habs",
    "hadd",
    "hceil",
    "hcos",
    "hdiv",
    "heq",
    "hexp",
    "hexp2",
    "hexp10",
    "hfloor",
    "hfma",
    "hge",
    "hgt",
    "hle",
    "hlog",
    "hlog2",
    "hlog10",
    "hlt",
    "hmax",
    "hmin",
    "hmul",
    "hne",
    "hneg",
    "hrcp",
    "hrint",
    "hrsqrt",
    "hsin",
    "hsqrt",
    "hsub",
    "htanh",
    "htrunc",
]  # fmt: skip
