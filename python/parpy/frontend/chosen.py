"""Calls in compiled code that hand constants of the program to a function: functions, types, texts, None."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from ..syntax.constant_arguments import constant_parameters, takes, with_constants
from ..syntax.source import FunctionSource
from .arguments import bound_arguments
from .patterns import integer_constant
from .scope import FunctionScope

_VARIES: Any = object()


def chosen(fn: FunctionScope, node: ast.Call, source: FunctionSource) -> tuple[ast.Call, FunctionSource] | None:
    """The function for the constants among the arguments, and the call of it with the other ones; None after an
    error."""
    names = () if fn.kernel else constant_parameters(source)
    if not names:
        return node, source
    given = bound_arguments(fn, node, source.function)
    if given is None:
        return None
    parameters = inspect.signature(source.function, follow_wrapped=False).parameters
    constants = {}
    for name in names:
        value = _constant(fn, source, given[name]) if name in given else parameters[name].default
        if value is not _VARIES and takes(source, value):
            constants[name] = value
    rest = [ast.keyword(name, argument) for name, argument in given.items() if name not in constants]
    call = ast.copy_location(ast.Call(node.func, [], rest), node)
    return call, with_constants(source, constants, set(names) - constants.keys())


def _constant(fn: FunctionScope, source: FunctionSource, node: ast.expr) -> object:
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str)):
        return node.value
    number = integer_constant(node)
    if number is not None:
        return number
    if isinstance(node, ast.Name | ast.Attribute):
        binding = fn.resolve(node)
        if binding is not None and takes(source, binding.value):
            fn.rely_on(binding)
            return binding.value
    return _VARIES
