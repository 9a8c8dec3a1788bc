"""Reductions of slices, such as parpy.sum(x[:, :], axis=1), which is also parpy.reduce.sum(…).

In compiled code they become loops; in plain Python they call NumPy.
"""

from __future__ import annotations

import sys
from typing import Any, Protocol

import numpy as np

Axis = int | tuple[int, ...] | None


class Reduction(Protocol):
    """A reduction of all elements of an array, or along axes. The result has NumPy's type."""

    def __call__(self, x: Any, axis: Axis = None, keepdims: bool = False) -> Any: ...


def _is_foreign(x: Any) -> bool:
    """Whether `x` is an array of a library, such as PyTorch, whose methods NumPy's functions cannot call."""
    kind = type(x)
    if issubclass(kind, np.ndarray | np.generic) or hasattr(kind, "__array_function__"):
        return False
    return hasattr(kind, "__dlpack__") or hasattr(kind, "__array__") or hasattr(kind, "__array_interface__")


def _on_host(x: Any) -> Any:
    """The elements of an array of another library as a NumPy array."""
    if hasattr(x, "detach") and hasattr(x, "cpu"):  # PyTorch's, which may lie on a GPU and have a gradient
        x = x.detach().cpu()
    direct = hasattr(x, "__array__") or hasattr(x, "__array_interface__")
    return np.asarray(x) if direct else np.from_dlpack(x)


def _as_theirs(result: Any, x: Any) -> Any:
    """NumPy's result as an array of the library of `x`, if the library can make one, so that it fits its arrays."""
    library = sys.modules.get(type(x).__module__.partition(".")[0])
    convert = getattr(library, "from_dlpack", None)
    if convert is None:
        return result
    theirs = convert(np.asarray(result))
    return theirs.to(x.device) if hasattr(theirs, "to") and hasattr(x, "device") else theirs


def _reduction(name: str, summary: str) -> Reduction:
    function = getattr(np, name)

    def reduction(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        if not _is_foreign(x):
            return function(x, axis=axis, keepdims=keepdims)
        return _as_theirs(function(_on_host(x), axis=axis, keepdims=keepdims), x)

    reduction.__name__ = reduction.__qualname__ = name
    reduction.__doc__ = (
        f"Returns {summary}. `x` is an array of any shape and of any library.\n\n"
        "    `axis` is an int or a tuple of ints, and negative numbers count from the end; without it all elements\n"
        "    are reduced. With `keepdims` the reduced dimensions stay, with size 1. The result has NumPy's type.\n\n"
        "    Raises the same errors as NumPy for an axis that `x` does not have, and for the minimum or maximum\n"
        "    of no elements."
    )
    return reduction


sum: Reduction = _reduction("sum", "the sum of the elements of `x`")
prod: Reduction = _reduction("prod", "the product of the elements of `x`")
min: Reduction = _reduction("min", "the least of the elements of `x`")
max: Reduction = _reduction("max", "the greatest of the elements of `x`")
any: Reduction = _reduction("any", "whether any element of `x` is true")
all: Reduction = _reduction("all", "whether all elements of `x` are true")
mean: Reduction = _reduction("mean", "the mean of the elements of `x`")
