"""bfloat16 in kernels, under CUDA's names: ``bf16.hadd(a, b)``. Arguments and results are converted to bfloat16.

Operators and NumPy's functions do the same with bfloat16 values. Functions are computed in float32 and rounded once.
``bf16.bfloat16(x)`` converts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..vocabulary import signatures
from ..vocabulary.halves import functions_of
from ._decorators import jit

bfloat16: Any = signatures.bfloat16
_device: Callable[[Callable[..., Any]], Any] = jit(device=True)

(
    hadd, hsub, hmul, hdiv, hfma, hneg, habs, heq, hne, hlt, hle, hgt, hge, hmax, hmin, hsin, hcos, htanh, hexp,
    hexp2, hexp10, hlog, hlog2, hlog10, hsqrt, hrsqrt, hrcp, hceil, hfloor, hrint, htrunc,
) = map(_device, functions_of(__name__, bfloat16))  # fmt: skip


@_device
def float32_to_bfloat16(a: Any) -> Any:
    """Returns the bfloat16 nearest to a float32."""
    return bfloat16(np.float32(a))


@_device
def float64_to_bfloat16(a: Any) -> Any:
    """Returns the bfloat16 nearest to a float64."""
    return bfloat16(np.float64(a))


@_device
def bfloat16_to_float32(a: Any) -> Any:
    """Returns the same number as a float32."""
    return np.float32(bfloat16(a))


__all__ = [
    "bfloat16", "bfloat16_to_float32", "float32_to_bfloat16", "float64_to_bfloat16", "habs", "hadd", "hceil", "hcos",
    "hdiv", "heq", "hexp", "hexp2", "hexp10", "hfloor", "hfma", "hge", "hgt", "hle", "hlog", "hlog2", "hlog10", "hlt",
    "hmax", "hmin", "hmul", "hne", "hneg", "hrcp", "hrint", "hrsqrt", "hsin", "hsqrt", "hsub", "htanh", "htrunc",
]  # fmt: skip
