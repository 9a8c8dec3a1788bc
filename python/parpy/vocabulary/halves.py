"""CUDA's functions of floats of 16 bits, written once for both types: `cuda/fp16.py` and `cuda/bf16.py` have them."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import device


def functions_of(module: str, short: Any) -> tuple[Any, ...]:
    """The functions as those of this module, in the order of their definitions, for device functions to be made of
    them. Their arguments become numbers of the type `short`, and so do results."""

    def hadd(a: Any, b: Any) -> Any:
        """a + b."""
        return short(a) + short(b)

    def hsub(a: Any, b: Any) -> Any:
        """a - b."""
        return short(a) - short(b)

    def hmul(a: Any, b: Any) -> Any:
        """a * b."""
        return short(a) * short(b)

    def hdiv(a: Any, b: Any) -> Any:
        """a / b."""
        return short(a) / short(b)

    def hfma(a: Any, b: Any, c: Any) -> Any:
        """a * b + c, rounded once."""
        return device.fma(short(a), short(b), short(c))

    def hneg(a: Any) -> Any:
        """-a."""
        return -short(a)

    def habs(a: Any) -> Any:
        """The absolute value."""
        return abs(short(a))

    def heq(a: Any, b: Any) -> Any:
        """Whether a == b."""
        return short(a) == short(b)

    def hne(a: Any, b: Any) -> Any:
        """Whether a != b, also where one of them is NaN."""
        return short(a) != short(b)

    def hlt(a: Any, b: Any) -> Any:
        """Whether a < b."""
        return short(a) < short(b)

    def hle(a: Any, b: Any) -> Any:
        """Whether a <= b."""
        return short(a) <= short(b)

    def hgt(a: Any, b: Any) -> Any:
        """Whether a > b."""
        return short(a) > short(b)

    def hge(a: Any, b: Any) -> Any:
        """Whether a >= b."""
        return short(a) >= short(b)

    def hmax(a: Any, b: Any) -> Any:
        """The greater of both; that which is no NaN."""
        return np.fmax(short(a), short(b))

    def hmin(a: Any, b: Any) -> Any:
        """The lesser of both; that which is no NaN."""
        return np.fmin(short(a), short(b))

    def hsin(a: Any) -> Any:
        """The sine."""
        return np.sin(short(a))

    def hcos(a: Any) -> Any:
        """The cosine."""
        return np.cos(short(a))

    def htanh(a: Any) -> Any:
        """The hyperbolic tangent."""
        return np.tanh(short(a))

    def hexp(a: Any) -> Any:
        """e to this power."""
        return np.exp(short(a))

    def hexp2(a: Any) -> Any:
        """2 to this power."""
        return np.exp2(short(a))

    def hexp10(a: Any) -> Any:
        """10 to this power."""
        return short(np.float32(10) ** np.float32(short(a)))

    def hlog(a: Any) -> Any:
        """The natural logarithm."""
        return np.log(short(a))

    def hlog2(a: Any) -> Any:
        """The logarithm to base 2."""
        return np.log2(short(a))

    def hlog10(a: Any) -> Any:
        """The logarithm to base 10."""
        return np.log10(short(a))

    def hsqrt(a: Any) -> Any:
        """The square root."""
        return np.sqrt(short(a))

    def hrsqrt(a: Any) -> Any:
        """One divided by the square root."""
        return device.rsqrt(short(a))

    def hrcp(a: Any) -> Any:
        """1 / a."""
        return short(1) / short(a)

    def hceil(a: Any) -> Any:
        """The next whole number above."""
        return np.ceil(short(a))

    def hfloor(a: Any) -> Any:
        """The next whole number below."""
        return np.floor(short(a))

    def hrint(a: Any) -> Any:
        """The nearest whole number, the even one of two."""
        return np.rint(short(a))

    def htrunc(a: Any) -> Any:
        """The next whole number towards 0."""
        return np.trunc(short(a))

    functions: tuple[Any, ...] = (
        hadd, hsub, hmul, hdiv, hfma, hneg, habs, heq, hne, hlt, hle, hgt, hge, hmax, hmin, hsin, hcos, htanh,
        hexp, hexp2, hexp10, hlog, hlog2, hlog10, hsqrt, hrsqrt, hrcp, hceil, hfloor, hrint, htrunc,
    )  # fmt: skip
    for each in functions:
        each.__module__, each.__qualname__ = module, each.__name__
    return functions
