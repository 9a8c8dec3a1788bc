"""Whether a function uses a variable as an array: subscripts it, asks for its shape, or hands it to one that does.

Read off the text, for views: nothing else tells `row = x[i]` from an element before types are known.
"""

from __future__ import annotations

import ast
import builtins
from types import FunctionType
from typing import Any

from ._device import DeviceFunction, ForeignFunction
from ._names import MISSING, Scope, jit_source
from ._source import FunctionSource

Uses = dict[tuple[FunctionType, str], bool]
"""What is known, by function and variable; False as well while it is being found out."""

_ATTRIBUTES = ("shape", "ndim", "size", "dtype")


def takes_array(found: object, parameter: str, known: Uses) -> bool:
    """Whether the function `found` uses its parameter as an array."""
    source = found if isinstance(found, FunctionSource) else jit_source(found)
    return source is not None and used_as_array(source.tree(), parameter, source.function, known)


def used_as_array(tree: ast.AST, name: str, function: FunctionType, known: Uses) -> bool:
    """Whether `function`, whose text is `tree`, uses its variable `name` as an array."""
    key = function, name
    if key not in known:
        known[key] = False
        scope = Scope(function)
        known[key] = any(_is_such_use(part, name, scope, function, tree, known) for part in ast.walk(tree))
    return known[key]


def _is_such_use(part: ast.AST, name: str, scope: Scope, function: FunctionType, tree: ast.AST, known: Uses) -> bool:
    def is_it(node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == name

    match part:
        case ast.Subscript(value=value):
            return is_it(value)
        case ast.Attribute(value=value, attr=attr):
            return attr in _ATTRIBUTES and is_it(value)
        case ast.Assign(targets=[ast.Name(id=other)], value=value):
            return is_it(value) and other != name and used_as_array(tree, other, function, known)
        case ast.Call(func=func, args=arguments, keywords=keywords):
            called = _value(func, scope)
            if called is builtins.len or (isinstance(called, DeviceFunction) and called.name.startswith("atomic.")):
                return bool(arguments) and is_it(arguments[0])
            if isinstance(called, ForeignFunction):
                return any(is_it(a) and kind.endswith("*") for a, kind in zip(arguments, called.types, strict=False))
            source = jit_source(called)
            if source is None:
                return False
            names = source.function.__code__.co_varnames
            given = [*zip(names, arguments, strict=False), *((k.arg, k.value) for k in keywords if k.arg)]
            return any(is_it(node) and takes_array(source, str(parameter), known) for parameter, node in given)
    return False


def _value(node: ast.expr, scope: Scope) -> Any:
    """What a name or a chain of attributes stands for outside the function; MISSING if it is local or undefined."""
    if isinstance(node, ast.Name):
        binding = None if node.id in scope.locals else scope.lookup(node.id)
        return MISSING if binding is None else binding.value
    if isinstance(node, ast.Attribute):
        return getattr(_value(node.value, scope), node.attr, MISSING)
    return MISSING


def returned_length(source: FunctionSource, known: dict[FunctionType, int]) -> int:
    """How many numbers a function returns as a tuple; 0: it returns one or none."""
    function = source.function
    if function not in known:
        known[function] = 0
        scope, tree = Scope(function), source.tree()
        returns = [part.value for part in ast.walk(tree) if isinstance(part, ast.Return) and part.value is not None]
        known[function] = max((_length(value, scope, tree, known) for value in returns), default=0)
    return known[function]


def _length(node: ast.expr, scope: Scope, tree: ast.AST, known: dict[FunctionType, int], deeper: bool = True) -> int:
    if isinstance(node, ast.Tuple):
        return len(node.elts)
    if isinstance(node, ast.Name) and deeper:
        values = [
            part.value
            for part in ast.walk(tree)
            if isinstance(part, ast.Assign)
            and any(isinstance(target, ast.Name) and target.id == node.id for target in part.targets)
        ]
        return max((_length(value, scope, tree, known, False) for value in values), default=0)
    if isinstance(node, ast.Call):
        called = _value(node.func, scope)
        source = jit_source(called)
        if source is not None:
            return returned_length(source, known)
        count = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else 0
        if isinstance(called, DeviceFunction) and called.lowering == "grid" and isinstance(count, int):
            return count if count > 1 else 0
    return 0
