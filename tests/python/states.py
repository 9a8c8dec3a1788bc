"""The contents of objects, for comparisons of objects that Python and compiled code have changed."""

from __future__ import annotations

from typing import Any

import numpy as np


def state(value: Any) -> Any:
    """The content of an object, with types."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.tolist()
    if isinstance(value, dict):
        return {key: state(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [state(each) for each in value]
    if hasattr(value, "__dict__"):
        return state(vars(value))
    value = value.item() if isinstance(value, np.float64 | np.int64 | np.bool_) else value  # elements such as x[i]
    return type(value), value
