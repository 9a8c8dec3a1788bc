"""The entries of a dict that is an argument, as texts and subscripts: `d.items()` is `(("a", d["a"]), …)`."""

from __future__ import annotations

import ast
import copy

from ..forms import RecordKind
from ..patterns import string_key
from ..scope import FunctionScope

_WAYS = ("items", "keys", "values")


def entries_of(fn: FunctionScope, node: ast.expr) -> list[ast.expr] | None:
    """What `d.items()`, `d.keys()`, `d.values()` and `d` give; None of others."""
    owner, way = _owner(node)
    kind = fn.program.known_kinds.get(owner.id) if owner is not None and fn.entry else None
    if owner is None or not isinstance(kind, RecordKind) or not kind.is_whole or is_assigned(fn.node, owner.id):
        return None
    found: list[ast.expr] = []
    for name in kind.names:
        key: ast.expr = ast.Constant(name)
        value: ast.expr = ast.Subscript(copy.copy(owner), key, ast.Load())
        found.append(ast.Tuple([key, value], ast.Load()) if way == "items" else key if way == "keys" else value)
    for part in (part for each in found for part in ast.walk(each)):
        ast.copy_location(part, node)
    return found


def _owner(node: ast.expr) -> tuple[ast.Name | None, str]:
    """The variable, and which of the entries."""
    way = "keys"
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        func = node.func
        if not isinstance(func, ast.Attribute | ast.Subscript):
            return None, ""
        way = func.attr if isinstance(func, ast.Attribute) else string_key(func) or ""
        node = func.value
    return (node if isinstance(node, ast.Name) and way in _WAYS else None), way


def is_assigned(node: ast.AST, name: str) -> bool:
    """Whether something in `node` gives the variable a value."""
    return any(isinstance(p, ast.Name) and p.id == name and not isinstance(p.ctx, ast.Load) for p in ast.walk(node))
