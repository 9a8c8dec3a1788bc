"""The decorator of Python functions that jit functions call: they get arrays as buffers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..buffer import Buffer, from_array
from ..calls.callback import Callback
from ..syntax.names import is_array
from ..types import elem_size

_P = ParamSpec("_P")
_R = TypeVar("_R")


def callback(function: Callable[_P, _R]) -> Callback[_P, _R]:
    """Lets compiled functions call the Python function ``function`` from code that runs on the host.

    The function gets the numbers and arrays with their values at that point; the code around the call is compiled, and
    loops around the call run one iteration after the other. Arrays arrive as ``parpy.buffer.Buffer`` objects that share
    the memory and have the same shape and type, also in plain Python; ``x.numpy()`` returns the NumPy array. Arrays
    with element types that buffers do not have arrive unchanged.
    """
    if not callable(function):
        raise TypeError(f"callback takes a function, not {type(function).__name__}")
    return function if isinstance(function, Callback) else Callback(function, _given)


def _given(value: Any) -> Any:
    if isinstance(value, Buffer) or not is_array(value) or getattr(value, "ndim", 1) == 0:
        return value
    if isinstance(value, np.ndarray) and elem_size(value.dtype) is None:
        return value
    return from_array(value)
