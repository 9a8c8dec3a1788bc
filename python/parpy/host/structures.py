"""Calls some of whose arguments are tuples, None, functions, types or texts: what is compiled depends on what these
consist of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from .. import _native
from ..calls.elements import Elements, comes_apart, tuple_kind
from ..calls.options import CompileOptions
from ..frontend.forms import Single, TupleKind
from ..syntax.names import Guard
from ..syntax.source import FunctionSource, node_parameters

_MOST = 256  # functions that are kept for their arguments


class Structures:
    """What a call of such a function runs: the function made for arguments of these forms, with what is in them."""

    guards: tuple[Guard, ...] = ()

    def __init__(
        self, source: FunctionSource, make: Callable[[Mapping[str, TupleKind | Single]], _native.JitFunction]
    ) -> None:
        self.wanted = False  # a call has passed such arguments
        self._make = make
        self._function = source.function
        self._parameters = node_parameters(source.tree())
        self._positional = len(self._parameters) - len(source.tree().args.kwonlyargs)
        self._made: dict[tuple[tuple[str, TupleKind | Single], ...], _native.JitFunction] = {}

    def __call__(self, values: tuple[Any, ...], opts: CompileOptions | None, debug: bool) -> Any:
        function, given = self._chosen(values)
        named = dict(zip(self._parameters[self._positional :], given[self._positional :], strict=True))
        return function(*given[: self._positional], **named, opts=opts, debug=debug)

    def inspect(self, values: tuple[Any, ...], opts: CompileOptions | None, look: Callable[..., Any]) -> list[Any]:
        """`look(function, arguments, opts)` for the function that a call runs."""
        bound = signature(self._function).bind(*values)
        bound.apply_defaults()
        function, given = self._chosen(tuple(bound.arguments.values()))
        return [look(function, tuple(given), opts)]

    def _chosen(self, values: tuple[Any, ...]) -> tuple[_native.JitFunction, list[Any]]:
        pairs = zip(self._parameters, values, strict=True)
        kinds = {name: tuple_kind(value) for name, value in pairs if comes_apart(value)}
        key = tuple(kinds.items())
        made = self._made.get(key)
        if made is None:
            if len(self._made) == _MOST:
                self._made.clear()
            made = self._made[key] = self._make(kinds)
        return made, [Elements(value) if comes_apart(value) else value for value in values]
