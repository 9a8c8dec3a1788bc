"""Python functions that the host part of a compiled function calls."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any


class Callback:
    """A Python function that jit functions may call where no loop runs in parallel; see `callback`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__wrapped__ = function
        update_wrapper(self, function)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.__wrapped__(*args, **keywords)

    def __repr__(self) -> str:
        return f"<parpy.callback {self.__wrapped__!r}>"


def callback(function: Callable[..., Any]) -> Callback:
    """Lets jit functions call ``function`` from the code that runs on the host.

    Python runs it, with the arrays and numbers as they are at that point; what stands around the call in a jit function
    is compiled. Loops around it run one iteration after the other.
    """
    if not callable(function):
        raise TypeError(f"callback takes a function, not {type(function).__name__}")
    return function if isinstance(function, Callback) else Callback(function)
