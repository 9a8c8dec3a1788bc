"""What evaluating an expression does besides giving a value: it may call functions, read memory, run over slices."""

from __future__ import annotations

import ast

from ...calls.external import External
from ...vocabulary.device import DeviceFunction, ForeignFunction
from ..patterns import string_key
from ..scope import FunctionScope


def over_slices(fn: FunctionScope, node: ast.AST) -> bool:
    """Whether `node` is computed over slices; those that functions get or that are subscripted again get names."""
    left = [node]
    while left:
        part = left.pop()
        if isinstance(part, ast.Slice):
            return True
        called = fn.resolve(part.func) if isinstance(part, ast.Call) else None
        if isinstance(part, ast.Subscript):
            left.append(part.slice)
        elif (called is None or not fn.is_function(called.value)) and not _is_applied(fn, part):
            left.extend(ast.iter_child_nodes(part))
    return False


def _is_applied(fn: FunctionScope, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and fn.is_applied(node)


def reads_elements(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether `node` may read elements of arrays, directly or in a function that it calls."""
    parts = ast.walk(node)
    reads = any(
        isinstance(part, ast.Call) or (isinstance(part, ast.Subscript) and string_key(part) is None) for part in parts
    )
    return reads and not over_slices(fn, node)


def has_effects(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether evaluating `node` may do more than give a value: it calls a jit function, or changes memory."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            called = fn.resolve(part.func)
            if (called is not None and fn.is_function(called.value)) or fn.is_applied(part):
                return True
            if fn.streams and fn.program.draws.drawn(part, fn.scope) is not None:
                return True
            known = None if called is None else called.value
            if isinstance(known, DeviceFunction | ForeignFunction | External) and known.effect:
                return True
    return False
