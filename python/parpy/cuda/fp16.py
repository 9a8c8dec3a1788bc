"""float16 in kernels, under CUDA's names: ``fp16.hadd(a, b)``. Arguments and results are converted to float16.

Operators and NumPy's functions do the same with float16 values. Functions are computed in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..vocabulary.halves import functions_of
from ._decorators import jit

_device: Callable[[Callable[..., Any]], Any] = jit(device=True)

(
    hadd, hsub, hmul, hdiv, hfma, hneg, habs, heq, hne, hlt, hle, hgt, hge, hmax, hmin, hsin, hcos, htanh, hexp,
    hexp2, hexp10, hlog, hlog2, hlog10, hsqrt, hrsqrt, hrcp, hceil, hfloor, hrint, htrunc,
) = map(_device, functions_of(__name__, np.float16))  # fmt: skip

__all__ = [
    "habs", "hadd", "hceil", "hcos", "hdiv", "heq", "hexp", "hexp2", "hexp10", "hfloor", "hfma", "hge", "hgt",
    "hle", "hlog", "hlog2", "hlog10", "hlt", "hmax", "hmin", "hmul", "hne", "hneg", "hrcp", "hrint", "hrsqrt",
    "hsin", "hsqrt", "hsub", "htanh", "htrunc",
]  # fmt: skip
