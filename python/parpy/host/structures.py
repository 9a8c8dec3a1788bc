"""Calls some of whose arguments are tuples, None, functions, types or texts: what is compiled depends on what these
consist of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from .. import _native
from ..calls.elements import NO_ELEMENTS, Elements, comes_apart, tuple_kind
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
        self._made: dict[tuple[tuple[int, TupleKind | Single], ...], _native.JitFunction] = {}  # by places
        self._kinds: dict[int, tuple[Any, Single]] = {}

    def __call__(self, values: tuple[Any, ...], opts: CompileOptions | None, debug: bool) -> Any:
        function, given = self._chosen(values)
        if self._positional == len(given):
            return function(*given, opts=opts, debug=debug)
        named = dict(zip(self._parameters[self._positional :], given[self._positional :], strict=True))
        return function(*given[: self._positional], **named, opts=opts, debug=debug)

    def inspect(self, values: tuple[Any, ...], opts: CompileOptions | None, look: Callable[..., Any]) -> list[Any]:
        """`look(function, arguments, opts)` for the function that a call runs."""
        bound = signature(self._function).bind(*values)
        bound.apply_defaults()
        function, given = self._chosen(tuple(bound.arguments.values()))
        return [look(function, tuple(given), opts)]

    def _chosen(self, values: tuple[Any, ...]) -> tuple[_native.JitFunction, list[Any]]:
        given: list[Any] = list(values)
        found: list[tuple[int, TupleKind | Single]] = []
        for place, value in enumerate(values):
            if comes_apart(value):
                kind = self._kind(value)
                found.append((place, kind))
                given[place] = NO_ELEMENTS if isinstance(kind, Single) and not kind.cells else Elements(value)
        key = tuple(found)
        made = self._made.get(key)
        if made is None:
            if len(self._made) == _MOST:
                self._made.clear()
            kinds = {self._parameters[place]: kind for place, kind in found}
            made = self._made[key] = self._make(kinds)
        return made, given

    def _kind(self, value: Any) -> TupleKind | Single:
        """The kind of such an argument; of an object that has nothing in it, it is found once."""
        known = self._kinds.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        kind = tuple_kind(value)
        if isinstance(kind, Single) and not kind.cells:
            if len(self._kinds) == _MOST:
                self._kinds.clear()
            self._kinds[id(value)] = value, kind
        return kind
