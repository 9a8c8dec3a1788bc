"""Functions with any number of arguments, `def f(a, *rest)`. In compiled code the starred parameter is a plain one that
gets a tuple, `def f(a, rest=())`."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from .rebuilt import rebuilt
from .source import FunctionSource
from .walks import copy_of


def takes_rest(function: FunctionType) -> bool:
    """Whether the function has a starred parameter."""
    return bool(function.__code__.co_flags & inspect.CO_VARARGS)


def takes_rest_alone(function: FunctionType) -> bool:
    """Whether the function has a starred parameter and no parameter `**names`, which is refused."""
    return takes_rest(function) and not function.__code__.co_flags & inspect.CO_VARKEYWORDS


def packed_values(function: FunctionType, values: Sequence[Any]) -> tuple[Any, ...]:
    """The positional arguments of a call in the form in which compiled code gets them: those of the starred parameter
    are one tuple."""
    count = function.__code__.co_argcount
    if not takes_rest_alone(function) or len(values) < count:
        return tuple(values)
    return (*values[:count], tuple(values[count:]))


def without_star(source: FunctionSource) -> FunctionSource:
    """The function with a plain parameter in place of the starred one; `source` itself if it has none."""
    function = source.function
    if not takes_rest(function) or not isinstance(source.written(), ast.FunctionDef):
        return source
    known = getattr(function, _PLAIN, None)
    if isinstance(known, FunctionSource) and known.name == source.name:
        return known
    node = copy_of(source.written())
    assert isinstance(node, ast.FunctionDef) and node.args.vararg is not None
    node.decorator_list, node.returns = [], None
    node.args.args.append(ast.copy_location(ast.arg(node.args.vararg.arg), node.args.vararg))
    node.args.vararg, node.args.defaults = None, []
    plain = copy_of(node)
    plain.args.kw_defaults = [None for _ in plain.args.kwonlyargs]
    for each in (*plain.args.posonlyargs, *plain.args.args, *plain.args.kwonlyargs):
        each.annotation = None
    made = rebuilt(function, plain)
    made.__defaults__ = (*(function.__defaults__ or ()), ())
    made.__kwdefaults__ = function.__kwdefaults__
    made.__module__ = function.__module__
    names = made.__code__.co_varnames[: made.__code__.co_argcount - 1]
    kept = (*names, *made.__code__.co_varnames[made.__code__.co_argcount :], "return")
    made.__annotations__ = {name: each for name, each in function.__annotations__.items() if name in kept}
    own = FunctionSource(made, source.name, source.text, source.first_line, node)
    own.declared, own.arrays, own.defaults = source.declared, source.arrays, source.defaults
    setattr(function, _PLAIN, own)
    return own


def packed(call: ast.Call, function: FunctionType) -> ast.Call:
    """The call of such a function, with a tuple of the arguments for the starred parameter."""
    count = function.__code__.co_argcount
    rest = call.args[count:]
    if not rest:
        return call
    whole = rest[0].value if len(rest) == 1 and isinstance(rest[0], ast.Starred) else ast.Tuple(rest, ast.Load())
    arguments = [*call.args[:count], ast.copy_location(whole, call)]
    return ast.copy_location(ast.Call(call.func, arguments, call.keywords), call)


def hands_on_rest(call: ast.Call, function: FunctionType) -> bool:
    """Whether the call passes a starred tuple to the starred parameter: `f(a, *rest)`."""
    starred = [place for place, each in enumerate(call.args) if isinstance(each, ast.Starred)]
    named = all(each.arg is not None for each in call.keywords)
    return bool(starred) and named and takes_rest(function) and starred[0] >= function.__code__.co_argcount


_PLAIN = "__parpy_without_star__"
