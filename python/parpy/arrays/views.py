"""Views of memory that NumPy describes and must not touch, because it may be a GPU's."""

from __future__ import annotations

from typing import Any

import numpy as np

_KNOWS_COPY = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


def reshaped(view: Any, shape: tuple[int, ...]) -> Any:
    """The same elements with another shape; ValueError where only a copy could have it. No element is read."""
    if _KNOWS_COPY:
        return np.reshape(view, shape, copy=False)
    result = view.view()
    try:
        result.shape = shape
    except AttributeError:
        raise ValueError(f"an array of strides {view.strides} has no view of shape {shape}") from None
    return result
