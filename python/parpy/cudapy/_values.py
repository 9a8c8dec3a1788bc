"""The names that CudaPy kernels can use without an import, and the C types of values from outside of a kernel:
globals, NumPy's numbers and arrays, functions of libraries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..syntax.names import is_array
from ..vocabulary import device
from ..vocabulary.operators import scalar_name
from ._types import Bool, CType, Double, Float, Int, Pointer, Type


class GridIndex:
    """``idx``, ``idy`` or ``idz``: the index of the thread among all threads along one axis."""

    def __init__(self, axis: str) -> None:
        self.axis = axis


CONSTANTS: dict[str, Any] = {
    "idx": GridIndex("x"), "idy": GridIndex("y"), "idz": GridIndex("z"), "threadIdx": device.threadIdx,
    "blockIdx": device.blockIdx, "blockDim": device.blockDim, "gridDim": device.gridDim,
    "warpSize": device.warpsize, "xrange": range,
}  # fmt: skip

# name: the number of arguments and the operator; an empty operator calls CUDA's function of that name. The names with
# the suffix f are the float functions.
MATH = {
    **{name: (1, name) for name in (
        "acosh", "acos", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf", "erfc", "exp", "exp2",
        "expm1", "floor", "lgamma", "log", "log10", "log1p", "log2", "rint", "rsqrt", "sin", "sinh", "sqrt", "tan",
        "tanh", "trunc",
    )},
    "fabs": (1, "abs"), "tgamma": (1, "gamma"), "nearbyint": (1, "rint"), "atan2": (2, "atan2"),
    "copysign": (2, "copysign"), "fmax": (2, "fmax"), "fmin": (2, "fmin"), "fmod": (2, "fmod"), "hypot": (2, "hypot"),
    "nextafter": (2, "nextafter"), "pow": (2, "**"), "fma": (3, "fma"), "fdivide": (2, "/"),
    # Functions that only CUDA has; the IR has no operator for them.
    **dict.fromkeys((
        "cospi", "erfcinv", "erfcx", "erfinv", "exp10", "j0", "j1", "logb", "rcbrt", "round", "sinpi", "y0", "y1",
    ), (1, "")),
    "fdim": (2, ""), "remainder": (2, ""),
}  # fmt: skip

_BY_SCALAR = {each.scalar: each for each in (Bool, Int, Float, Double)}
_INSTEAD = {
    "round": "write math.rint(x), or int(math.rint(x))", "pow": "write math.pow(x, y)",
    "divmod": "write a / b and a % b", "where": "write x if c else y", "complex": "write the parts one by one",
    "sum": "write the loop",
}  # fmt: skip


def type_named_by(value: object) -> Type | None:
    """The C type of a type such as np.float32; None if there is none."""
    return None if value is float else _BY_SCALAR.get(scalar_name(value) or "")


def type_of(value: Any) -> CType | None:
    """The C type of a value; None if it has none. Python's floats are ``float``, like literals."""
    if isinstance(value, np.generic):
        return type_named_by(value.dtype)
    if isinstance(value, bool):
        return Bool
    if isinstance(value, int | device.Register | GridIndex):
        return Int
    if isinstance(value, float):
        return Float
    if is_array(value) and getattr(value, "ndim", 0) == 1:
        element = type_named_by(getattr(value, "dtype", None))
        return None if element is None else Pointer(element)
    return None


def instead_of(name: str) -> str:
    """Advice for a call of a Python or NumPy function that has no C type: the expression to write instead of it."""
    name = name.rpartition(".")[2]
    if name in _INSTEAD:
        return _INSTEAD[name]
    name = {"arctan2": "atan2", "absolute": "fabs"}.get(name, name.replace("arc", "a"))
    return f"write math.{name}(x) of doubles, math.{name}f(x) of floats" if name in MATH else ""
