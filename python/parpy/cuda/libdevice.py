"""CUDA's own functions of numbers, for kernels: ``libdevice.fast_sinf(x)``, ``libdevice.fadd_rd(x, y)``.

Names and types are those of NVIDIA's libdevice: functions of float64 and, with an ``f`` after the name, of float32;
arguments are converted to these types. A function with several results returns a tuple.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..vocabulary.libdevice import LIBDEVICE
from ._decorators import jit

_device: Callable[[Callable[..., Any]], Any] = jit(device=True)


def _sine_and_cosine(name: str, sine: Any, cosine: Any) -> Any:
    def both(x: Any) -> Any:
        """Returns the sine and the cosine."""
        return sine(x), cosine(x)

    return _named(both, name)


def _functions_of(number: Any, remainder: Any, ending: str) -> list[Any]:
    """The functions with two results of this type of numbers."""

    def modf(x: Any) -> Any:
        """Returns the fraction and the integral part, both with the sign of the number."""
        return np.modf(number(x))

    def frexp(x: Any) -> Any:
        """Returns m and e with x = m * 2**e and 0.5 <= abs(m) < 1."""
        return np.frexp(number(x))

    def remquo(x: Any, y: Any) -> Any:
        """Returns the IEEE remainder, and the lowest three bits of the quotient with its sign."""
        rest = remainder(x, y)
        quotient = np.rint((np.float64(x) - np.float64(rest)) / np.float64(y))
        return rest, np.int32(np.fmod(quotient, np.float64(8)))

    return [_named(each, each.__name__ + ending) for each in (modf, frexp, remquo)]


def _named(function: Any, name: str) -> Any:
    """The device function of this name."""
    function.__module__, function.__name__, function.__qualname__ = __name__, name, name
    return _device(function)


sincos, sincosf, sincospi, sincospif, fast_sincosf = (
    _sine_and_cosine(f"{kind}sincos{ending}", LIBDEVICE[f"{kind}sin{ending}"], LIBDEVICE[f"{kind}cos{ending}"])
    for kind, ending in (("", ""), ("", "f"), ("", "pi"), ("", "pif"), ("fast_", "f"))
)
modf, frexp, remquo = _functions_of(np.float64, LIBDEVICE["remainder"], "")
modff, frexpf, remquof = _functions_of(np.float32, LIBDEVICE["remainderf"], "f")

globals().update(LIBDEVICE)
__all__ = [
    *LIBDEVICE, "fast_sincosf", "frexp", "frexpf", "modf", "modff", "remquo", "remquof", "sincos", "sincosf",
    "sincospi", "sincospif",
]  # fmt: skip
