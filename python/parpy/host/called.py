"""The functions that Python calls for a function that it runs in parts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, MutableSequence, Set
from functools import partial
from types import FunctionType, MethodType
from typing import Any, Protocol

from .. import _native
from ..calls.options import CompileOptions
from ..syntax.names import callable_source, source_of
from ..syntax.source import FunctionSource
from .foreign_calls import is_universal
from .labels import labels_of, restricted

_OF_PYTHON = (MutableSequence, Set, bytes)


class Small(Protocol):
    """The driver of a function that Python runs as a whole, apart from small statements."""

    def as_python(self, opts: CompileOptions | None, called: Called) -> FunctionType | None: ...


class Called:
    """The replacements for the functions in the calls of a driver, with these options.

    `small_driver` makes, for the values of the parameters, the driver of a function whose small statements Python runs.
    Such a driver accepts arguments of any kind, so it is called without inspecting them.
    """

    def __init__(
        self,
        opts: CompileOptions | None,
        jit: Callable[[FunctionSource], _native.JitFunction],
        small_driver: Callable[[FunctionSource, tuple[Any, ...]], Small | None],
    ) -> None:
        self._opts = opts
        self._jit = jit
        self._small_driver = small_driver
        self._compiled: dict[Callable[..., Any], Callable[..., Any]] = {}
        self._python: dict[Callable[..., Any], FunctionType | None] = {}  # functions that Python runs as a whole

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if type(function) is MethodType and isinstance(function.__func__, FunctionType | _native.JitFunction):
            python = self._python.get(function.__func__)
            if python is not None:
                return MethodType(python, function.__self__)
            return partial(self._call, function.__func__, function.__self__)
        source = callable_source(function)
        if source is None or is_universal(function):
            return function
        return self._python.get(function) or partial(self._unless_lists, function, source)

    def _unless_lists(self, function: Callable[..., Any], source: FunctionSource, *given: Any, **named: Any) -> Any:
        """Calls the function; with arguments such as lists, which compiled code does not have, the Python function."""
        if any(isinstance(each, _OF_PYTHON) for each in (*given, *named.values())):
            return source.function(*given, **named)
        return self._call(function, *given, **named)

    def _call(self, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        if function not in self._python:
            self._python[function] = self._as_python(function, given, named)
        python = self._python[function]
        if python is not None:
            return python(*given, **named)
        if function not in self._compiled:
            compiled = self._jit(source_of(function)) if isinstance(function, FunctionType) else function
            self._compiled[function] = partial(compiled, opts=nested(self._opts, function))
        return self._compiled[function](*given, **named)

    def _as_python(
        self, function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]
    ) -> FunctionType | None:
        source = callable_source(function)
        if source is None:
            return None
        bound = inspect.signature(source.function).bind(*given, **named)
        bound.apply_defaults()
        driver = self._small_driver(source, tuple(bound.arguments.values()))
        return None if driver is None else driver.as_python(nested(self._opts, function), self)


def nested(opts: CompileOptions | None, function: Callable[..., Any]) -> CompileOptions | None:
    """The options for a called jit function that Python also runs in parts."""
    source = callable_source(function)
    if opts is None or source is None:
        return opts
    return restricted(opts, labels_of(source))
