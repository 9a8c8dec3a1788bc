"""Python functions that the host part of a compiled function calls; arrays/callbacks.py has the decorator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)

_shown: ContextVar[bool] = ContextVar("_shown", default=False)


@contextmanager
def shown() -> Iterator[None]:
    """Prints each call of a callback (``opts.debug_callbacks``)."""
    token = _shown.set(True)
    try:
        yield
    finally:
        _shown.reset(token)


class Callback(Generic[_P, _R]):
    """A Python function that jit functions may call where no loop runs in parallel.

    `given` converts an argument before the Python function gets it.
    """

    __name__: str
    __wrapped__: Callable[_P, _R]

    def __init__(self, function: Callable[_P, _R], given: Callable[[Any], Any]) -> None:
        self.__wrapped__, self._given = function, given
        update_wrapper(self, function)

    def __call__(self, *args: _P.args, **keywords: _P.kwargs) -> _R:
        values: Any = [self._given(each) for each in args]
        named: Any = {name: self._given(each) for name, each in keywords.items()}
        if not _shown.get():
            return self.__wrapped__(*values, **named)
        given = ", ".join([*map(repr, values), *(f"{name}={each!r}" for name, each in named.items())])
        name = getattr(self.__wrapped__, "__name__", repr(self.__wrapped__))
        print(f"callback {name}({given})", flush=True)
        result = self.__wrapped__(*values, **named)
        print(f"callback {name} returned {result!r}", flush=True)
        return result

    def __repr__(self) -> str:
        return f"<parpy.callback {self.__wrapped__!r}>"
