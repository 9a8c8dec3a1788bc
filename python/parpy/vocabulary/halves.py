"""CUDA's functions of 16-bit floats, defined once for both types, `cuda/fp16.py` and `cuda/bf16.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import device


def functions_of(module: str, short: Any) -> tuple[Any, ...]:
    """The functions as members of this module, in the order of their definitions; device functions are made of them.
    Their arguments and results are converted to the type `short`."""

    def hadd(a: Any, b: Any) -> Any:
        """Returns a + b."""
        return short(a) + short(b)

    def hsub(a: Any, b: Any) -> Any:
        """Returns a - b."""
        return short(a) - short(b)

    def hmul(a: Any, b: Any) -> Any:
        """Returns a * b."""
        return short(a) * short(b)

    def hdiv(a: Any, b: Any) -> Any:
        """Returns a / b."""
        return short(a) / short(b)

    def hfma(a: Any, b: Any, c: Any) -> Any:
        """Returns a * b + c, rounded once."""
        return device.fma(short(a), short(b), short(c))

    def hneg(a: Any) -> Any:
        """Returns -a."""
        return -short(a)

    def habs(a: Any) -> Any:
        """Returns the absolute value."""
        return abs(short(a))

    def heq(a: Any, b: Any) -> Any:
        """Returns whether a == b."""
        return short(a) == short(b)

    def hne(a: Any, b: Any) -> Any:
        """Returns whether a != b; True if one of them is NaN."""
        return short(a) != short(b)

    def hlt(a: Any, b: Any) -> Any:
        """Returns whether a < b."""
        return short(a) < short(b)

    def hle(a: Any, b: Any) -> Any:
        """Returns whether a <= b."""
        return short(a) <= short(b)

    def hgt(a: Any, b: Any) -> Any:
        """Returns whether a > b."""
        return short(a) > short(b)

    def hge(a: Any, b: Any) -> Any:
        """Returns whether a >= b."""
        return short(a) >= short(b)

    def hmax(a: Any, b: Any) -> Any:
        """Returns the greater number; if one is NaN, the other one."""
        return np.fmax(short(a), short(b))

    def hmin(a: Any, b: Any) -> Any:
        """Returns the lesser number; if one is NaN, the other one."""
        return np.fmin(short(a), short(b))

    def hsin(a: Any) -> Any:
        """Returns the sine."""
        return np.sin(short(a))

    def hcos(a: Any) -> Any:
        """Returns the cosine."""
        return np.cos(short(a))

    def htanh(a: Any) -> Any:
        """Returns the hyperbolic tangent."""
        return np.tanh(short(a))

    def hexp(a: Any) -> Any:
        """Returns e to the power a."""
        return np.exp(short(a))

    def hexp2(a: Any) -> Any:
        """Returns 2 to the power a."""
        return np.exp2(short(a))

    def hexp10(a: Any) -> Any:
        """Returns 10 to the power a."""
        return short(np.float32(10) ** np.float32(short(a)))

    def hlog(a: Any) -> Any:
        """Returns the natural logarithm."""
        return np.log(short(a))

    def hlog2(a: Any) -> Any:
        """Returns the logarithm to base 2."""
        return np.log2(short(a))

    def hlog10(a: Any) -> Any:
        """Returns the logarithm to base 10."""
        return np.log10(short(a))

    def hsqrt(a: Any) -> Any:
        """Returns the square root."""
        return np.sqrt(short(a))

    def hrsqrt(a: Any) -> Any:
        """Returns 1 / sqrt(a)."""
        return device.rsqrt(short(a))

    def hrcp(a: Any) -> Any:
        """Returns 1 / a."""
        return short(1) / short(a)

    def hceil(a: Any) -> Any:
        """Returns the least whole number that is not below a."""
        return np.ceil(short(a))

    def hfloor(a: Any) -> Any:
        """Returns the greatest whole number that is not above a."""
        return np.floor(short(a))

    def hrint(a: Any) -> Any:
        """Returns the nearest whole number; ties go to the even one."""
        return np.rint(short(a))

    def htrunc(a: Any) -> Any:
        """Returns the whole number that is nearest to a and not beyond it, towards 0."""
        return np.trunc(short(a))

    functions: tuple[Any, ...] = (
        hadd, hsub, hmul, hdiv, hfma, hneg, habs, heq, hne, hlt, hle, hgt, hge, hmax, hmin, hsin, hcos, htanh,
        hexp, hexp2, hexp10, hlog, hlog2, hlog10, hsqrt, hrsqrt, hrcp, hceil, hfloor, hrint, htrunc,
    )  # fmt: skip
    for each in functions:
        each.__module__, each.__qualname__ = module, each.__name__
    return functions
