"""Mathematics for compiled code, which keeps the type of its operand: float32 in, float32 out.

In plain Python the functions work on scalars and NumPy arrays, element by element. Most are the
NumPy function itself. Where Python's `math` has the same name the value is the same.
"""

from __future__ import annotations

import math as _math
from collections.abc import Callable
from typing import Any

import numpy as _np

abs = _np.absolute
fabs = _np.fabs
sqrt = _np.sqrt
cbrt = _np.cbrt
exp = _np.exp
exp2 = _np.exp2
expm1 = _np.expm1
log = _np.log
log2 = _np.log2
log10 = _np.log10
log1p = _np.log1p
sin = _np.sin
cos = _np.cos
tan = _np.tan
asin = _np.arcsin
acos = _np.arccos
atan = _np.arctan
atan2 = _np.arctan2
sinh = _np.sinh
cosh = _np.cosh
tanh = _np.tanh
asinh = _np.arcsinh
acosh = _np.arccosh
atanh = _np.arctanh
hypot = _np.hypot
pow = _np.power
fmod = _np.fmod
copysign = _np.copysign
nextafter = _np.nextafter
floor = _np.floor
ceil = _np.ceil
trunc = _np.trunc
rint = _np.rint
degrees = _np.degrees
radians = _np.radians
gcd = _np.gcd
lcm = _np.lcm
isnan = _np.isnan
isclose = _math.isclose
isqrt = _math.isqrt
ldexp = _np.ldexp
remainder = _math.remainder
ulp = _math.ulp
comb = _math.comb
perm = _math.perm
factorial = _math.factorial
dist = _math.dist
prod = _math.prod
frexp = _np.frexp
modf = _np.modf
isinf = _np.isinf
isfinite = _np.isfinite
pi = _math.pi
e = _math.e
tau = _math.tau
inf = _math.inf
nan = _math.nan


def _elementwise(function: Callable[[float], float], poles: float) -> Callable[[Any], Any]:
    """`function` for arrays, in the operand's float type. The result is `poles` where `function` raises ValueError."""

    def at(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return poles
        except OverflowError:
            return _math.inf

    over = _np.vectorize(at, otypes=[_np.float64])

    def apply(x: Any) -> Any:
        result = _np.exp(_np.zeros((), _np.asarray(x).dtype)).dtype
        return over(x).astype(result)[()]

    apply.__name__ = apply.__qualname__ = function.__name__
    apply.__doc__ = f"{function.__name__} of a scalar or array, with its float type."
    return apply


erf = _elementwise(_math.erf, _math.nan)
erfc = _elementwise(_math.erfc, _math.nan)
gamma = _elementwise(_math.gamma, _math.nan)
lgamma = _elementwise(_math.lgamma, _math.inf)
