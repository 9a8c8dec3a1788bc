"""Calls of functions some of whose arguments are constants of the program (syntax/constant_arguments.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _native
from ..calls.options import CompileOptions
from ..syntax.chosen_source import node_parameters
from ..syntax.constant_arguments import constant_parameters, identity, is_constant, with_constants
from ..syntax.names import Guard
from ..syntax.source import FunctionSource

_MOST = 256  # functions that are kept for their constants


class Choice:
    """What a call of such a function runs: the function made for these constants, with the other arguments."""

    guards: tuple[Guard, ...] = ()

    def __init__(
        self, source: FunctionSource, names: tuple[str, ...], make: Callable[[FunctionSource], _native.JitFunction]
    ) -> None:
        self._source = source
        self._make = make
        self._parameters = node_parameters(source.tree())
        self._places = [self._parameters.index(name) for name in names]
        self._keyword_only = {each.arg for each in source.tree().args.kwonlyargs}
        self._made: dict[tuple[object, ...], _native.JitFunction] = {}

    def __call__(self, values: tuple[Any, ...], opts: CompileOptions | None, debug: bool) -> Any:
        function, rest, named = self._chosen(values)
        return function(*rest, **named, opts=opts, debug=debug)

    def inspect(self, values: tuple[Any, ...], opts: CompileOptions | None, look: Callable[..., Any]) -> list[Any]:
        """`look(function, arguments, opts)` for the function that a call runs."""
        function, rest, named = self._chosen(values)
        return [look(function, (*rest, *named.values()), opts)]

    def _chosen(self, values: tuple[Any, ...]) -> tuple[_native.JitFunction, list[Any], dict[str, Any]]:
        constant = [place for place in self._places if is_constant(values[place])]
        key = tuple((place, identity(values[place])) for place in constant)
        made = self._made.get(key)
        if made is None:
            if len(self._made) == _MOST:
                self._made.clear()
            constants = {self._parameters[place]: values[place] for place in constant}
            others = {self._parameters[place] for place in self._places} - constants.keys()
            made = self._made[key] = self._make(with_constants(self._source, constants, others))
        rest, named = [], {}
        for place, value in enumerate(values):
            if place in constant:
                continue
            if self._parameters[place] in self._keyword_only:
                named[self._parameters[place]] = value
            else:
                rest.append(value)
        return made, rest, named


def choice_of(source: FunctionSource, make: Callable[[FunctionSource], _native.JitFunction]) -> Choice | None:
    """What runs calls of the function, of which `make` makes jit functions; None where no argument may be a
    constant."""
    names = constant_parameters(source)
    return Choice(source, names, make) if names else None
