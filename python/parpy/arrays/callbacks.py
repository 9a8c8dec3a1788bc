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
    """Lets jit functions call ``function`` from the code that runs on the host.

    Python runs it, with the numbers and arrays as they are at that point; what stands around the call in a jit function
    is compiled. Loops around it run one iteration after the other. Arrays are given to it as ``parpy.buffer.Buffer``
    over the same memory, with the shape and type that they have, in plain Python, too; ``x.numpy()`` is NumPy's array.
    Arrays of types that buffers do not have are given as they are.
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
