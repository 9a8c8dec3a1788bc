"""The names that CudaPy kernels know without importing them."""

from __future__ import annotations

from typing import Any

from ..vocabulary import device


class GridIndex:
    """``idx``, ``idy``, ``idz``: this thread's place among all threads, along one axis."""

    def __init__(self, axis: str) -> None:
        self.axis = axis


CONSTANTS: dict[str, Any] = {
    "idx": GridIndex("x"), "idy": GridIndex("y"), "idz": GridIndex("z"), "threadIdx": device.threadIdx,
    "blockIdx": device.blockIdx, "blockDim": device.blockDim, "gridDim": device.gridDim,
    "warpSize": device.warpsize, "xrange": range,
}  # fmt: skip

# name: how many arguments, and the operator; without one CUDA's function of that name is called. With an f behind the
# name they are the float functions.
MATH = {
    **{name: (1, name) for name in (
        "acosh", "acos", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf", "erfc", "exp", "exp2",
        "expm1", "floor", "lgamma", "log", "log10", "log1p", "log2", "rint", "rsqrt", "sin", "sinh", "sqrt", "tan",
        "tanh", "trunc",
    )},
    "fabs": (1, "abs"), "tgamma": (1, "gamma"), "nearbyint": (1, "rint"), "atan2": (2, "atan2"),
    "copysign": (2, "copysign"), "fmax": (2, "fmax"), "fmin": (2, "fmin"), "fmod": (2, "fmod"), "hypot": (2, "hypot"),
    "nextafter": (2, "nextafter"), "pow": (2, "**"), "fma": (3, "fma"), "fdivide": (2, "/"),
    # Those that only CUDA has: no operator of ours.
    **dict.fromkeys((
        "cospi", "erfcinv", "erfcx", "erfinv", "exp10", "j0", "j1", "logb", "rcbrt", "round", "sinpi", "y0", "y1",
    ), (1, "")),
    "fdim": (2, ""), "remainder": (2, ""),
}  # fmt: skip
