"""The decorator of Python functions that jit functions call; they receive arrays as buffers."""

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

    The function receives numbers and arrays with their values at the call. The code around the call is compiled; loops
    around it run sequentially. Arrays are passed as ``parpy.buffer.Buffer`` objects of the same shape and type that
    share the memory, also when plain Python makes the call; ``x.numpy()`` returns the NumPy array. Arrays with element
    types that buffers do not support are passed unchanged.
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
