"""Reductions of slices: parpy.sum(x[:, :], axis=1) and its kin, also as parpy.reduce.sum(…).

In compiled code they become loops; run by the interpreter they are NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Axis = int | tuple[int, ...] | None


def _reduction(name: str, summary: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def reduction(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        return function(x, axis=axis, keepdims=keepdims)

    reduction.__name__ = reduction.__qualname__ = name
    reduction.__doc__ = (
        f"{summary} of the elements of `x`: of all, or along `axis` (an int, or a tuple; negative counts from the "
        "end).\n\n    With `keepdims` the reduced dimensions stay, with size 1. The result has NumPy's type."
    )
    return reduction


sum = _reduction("sum", "The sum")
prod = _reduction("prod", "The product")
min = _reduction("min", "The least")
max = _reduction("max", "The greatest")
any = _reduction("any", "Whether any is true")
all = _reduction("all", "Whether all are true")
mean = _reduction("mean", "The mean")
