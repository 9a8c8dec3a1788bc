"""CUDA's own functions of numbers, for kernels: ``libdevice.fast_sinf(x)``, ``libdevice.fadd_rd(x, y)``.

Names and types are those of NVIDIA's libdevice: functions of float64 and, with an ``f`` after the name, of float32;
arguments are converted to these types. Those with several results return a tuple.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..vocabulary.libdevice import LIBDEVICE
from ._decorators import jit

_device: Callable[[Callable[..., Any]], Any] = jit(device=True)


class _OfTable:
    """The functions as attributes, for those below."""


for _name, _function in LIBDEVICE.items():
    setattr(_OfTable, _name, _function)

_Names: Any = _OfTable


@_device
def sincos(x: Any) -> Any:
    """The sine and the cosine of a float64."""
    return _Names.sin(x), _Names.cos(x)


@_device
def sincosf(x: Any) -> Any:
    """The sine and the cosine of a float32."""
    return _Names.sinf(x), _Names.cosf(x)


@_device
def sincospi(x: Any) -> Any:
    """The sine and the cosine of a float64 times pi."""
    return _Names.sinpi(x), _Names.cospi(x)


@_device
def sincospif(x: Any) -> Any:
    """The sine and the cosine of a float32 times pi."""
    return _Names.sinpif(x), _Names.cospif(x)


@_device
def fast_sincosf(x: Any) -> Any:
    """The sine and the cosine of a float32, as the fast instructions have them."""
    return _Names.fast_sinf(x), _Names.fast_cosf(x)


@_device
def modf(x: Any) -> Any:
    """The fraction of a float64 and its whole part, both with its sign."""
    return np.modf(np.float64(x))


@_device
def modff(x: Any) -> Any:
    """The fraction of a float32 and its whole part, both with its sign."""
    return np.modf(np.float32(x))


@_device
def frexp(x: Any) -> Any:
    """A float64 from 0.5 to 1 and the power of 2 that it is multiplied by."""
    return np.frexp(np.float64(x))


@_device
def frexpf(x: Any) -> Any:
    """A float32 from 0.5 to 1 and the power of 2 that it is multiplied by."""
    return np.frexp(np.float32(x))


@_device
def remquo(x: Any, y: Any) -> Any:
    """The IEEE remainder of two float64 values, and the lowest bits of their quotient, with its sign."""
    rest = _Names.remainder(x, y)
    quotient = np.rint((np.float64(x) - rest) / np.float64(y))
    return rest, np.int32(np.fmod(quotient, np.float64(8)))


@_device
def remquof(x: Any, y: Any) -> Any:
    """The same of two float32 values."""
    rest = _Names.remainderf(x, y)
    quotient = np.rint((np.float64(x) - np.float64(rest)) / np.float64(y))
    return rest, np.int32(np.fmod(quotient, np.float64(8)))


globals().update(LIBDEVICE)
__all__ = [
    *LIBDEVICE, "fast_sincosf", "frexp", "frexpf", "modf", "modff", "remquo", "remquof", "sincos", "sincosf",
    "sincospi", "sincospif",
]  # fmt: skip
