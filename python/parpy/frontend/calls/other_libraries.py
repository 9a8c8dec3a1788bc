"""Functions of PyTorch and CuPy with the meaning of NumPy functions, by which the frontend replaces them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

# Functions with another name than NumPy's.
_RENAMED = {"mv": "matmul", "mm": "matmul", "clamp": "clip", "pow": "power", "asin": "arcsin", "acos": "arccos"}
_ALIKE = frozenset((
    "abs", "add", "arctan2", "ceil", "cos", "cosh", "dot", "exp", "exp2", "expm1", "fabs", "floor", "hypot", "isfinite",
    "isinf", "isnan", "log", "log10", "log1p", "log2", "logical_and", "logical_not", "logical_or", "matmul", "max",
    "maximum", "mean", "min", "minimum", "multiply", "prod", "sign", "sin", "sinh", "sqrt", "square", "subtract", "sum",
    "tan", "tanh", "trunc", "where",
))  # fmt: skip


def twin_in_numpy(found: Any) -> Any:
    """The NumPy function that equals the function `found` of one of the libraries; None for other objects."""
    for library in ("torch", "cupy"):
        module = sys.modules.get(library)
        name = getattr(found, "__name__", "") if module is not None else ""
        name = name.removeprefix("cupy_") if isinstance(name, str) else ""
        if name and getattr(module, name, None) is found and (name in _ALIKE or name in _RENAMED):
            return getattr(np, _RENAMED.get(name, name))
    return None
