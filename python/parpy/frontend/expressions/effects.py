"""The effects of an expression besides its value: it may call functions, read memory and run over slices."""

from __future__ import annotations

import ast

from ...calls.external import External
from ...library import is_update, stores_method
from ...syntax.names import callable_source
from ...syntax.patterns import string_key
from ...syntax.walks import children, walk
from ...vocabulary.device import DeviceFunction, ForeignFunction
from ..scope import FunctionScope
from .outputs import output_of
from .pure_functions import only_computes


def over_slices(fn: FunctionScope, node: ast.AST) -> bool:
    """Whether `node` is an operation over slices. Slices that are arguments, or subscripted again, do not count."""
    left = [node]
    while left:
        part = left.pop()
        if isinstance(part, ast.Slice):
            return True
        called = fn.resolve(part.func) if isinstance(part, ast.Call) else None
        if isinstance(part, ast.Subscript):
            left.append(part.slice)
        elif (called is None or not fn.is_function(called.value)) and not _is_applied(fn, part):
            left.extend(children(part))
    return False


def _is_applied(fn: FunctionScope, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and fn.is_applied(node)


def reads_elements(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether `node`, or a function that it calls, may read elements of arrays, attributes of objects that are assigned
    to, or variables that expressions assign."""
    return any(_reads_memory(fn, part) for part in walk(node)) and not over_slices(fn, node)


def _reads_memory(fn: FunctionScope, node: ast.AST) -> bool:
    if isinstance(node, ast.Subscript):
        return string_key(node) is None or bool(fn.program.known_kinds)
    if isinstance(node, ast.Name):
        return node.id in fn.named_inside
    if isinstance(node, ast.Attribute):
        return bool(fn.program.known_kinds) and fn.resolve(node.value) is None
    return isinstance(node, ast.Call)


def has_effects(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether evaluating `node` may have effects: it calls a jit function, changes memory, or assigns."""
    return any(_acts(fn, part) or _function_of(fn, part) is not None for part in walk(node))


def acts(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether evaluating `node` may have effects, where calls of functions that only compute a value have none."""
    for part in walk(node):
        called = _function_of(fn, part)
        source = None if called is None or fn.kernel else callable_source(called)
        if _acts(fn, part) or (called is not None and (source is None or not only_computes(source))):
            return True
    return False


def _function_of(fn: FunctionScope, part: ast.AST) -> object | None:
    """The called function if it is compiled together with this one; otherwise None."""
    called = fn.resolve(part.func) if isinstance(part, ast.Call) else None
    return called.value if called is not None and fn.is_function(called.value) else None


def _acts(fn: FunctionScope, part: ast.AST) -> bool:
    if isinstance(part, ast.NamedExpr):
        return True
    if not isinstance(part, ast.Call) or _function_of(fn, part) is not None:
        return False
    called = fn.resolve(part.func)
    if called is None and isinstance(part.func, ast.Attribute) and stores_method(part.func.attr, part):
        return True
    if fn.is_applied(part) or output_of(fn, part) is not None or (called is not None and is_update(called.value)):
        return True
    if fn.streams and fn.program.draws.drawn(part, fn.scope) is not None:
        return True
    known = None if called is None else called.value
    return isinstance(known, DeviceFunction | ForeignFunction | External) and known.effect
