"""Replaces methods of a dict that is an argument by texts and subscripts: `d.items()` is `(("a", d["a"]), …)`, and
`d.get("b", 0)` is 0 if there is no such entry."""

from __future__ import annotations

import ast
import copy

from ...syntax.patterns import got_entry, string_key
from ...syntax.walks import walk
from ..forms import RecordKind
from ..scope import FunctionScope

_WAYS = ("items", "keys", "values")


def entries_of(fn: FunctionScope, node: ast.expr) -> list[ast.expr] | None:
    """The elements of `d.items()`, `d.keys()`, `d.values()` or `d`; None for other expressions."""
    owner, way = _owner(node)
    names = names_in(fn, owner)
    if owner is None or names is None:
        return None
    found: list[ast.expr] = []
    for name in names:
        key: ast.expr = ast.Constant(name)
        value: ast.expr = ast.Subscript(copy.copy(owner), key, ast.Load())
        found.append(ast.Tuple([key, value], ast.Load()) if way == "items" else key if way == "keys" else value)
    for part in (part for each in found for part in walk(each)):
        ast.copy_location(part, node)
    return found


def names_in(fn: FunctionScope, node: ast.expr | None) -> tuple[str, ...] | None:
    """The keys of a dict that is an argument; None for other expressions."""
    kind = fn.program.known_kinds.get(node.id) if isinstance(node, ast.Name) and fn.entry else None
    known = isinstance(node, ast.Name) and isinstance(kind, RecordKind) and kind.is_whole
    return kind.names if known and not is_assigned(fn.node, node.id) else None  # type: ignore[union-attr]


def entry_or_default(fn: FunctionScope, node: ast.Call) -> ast.expr | None:
    """The value of `d.get("k", v)`; None for other calls."""
    if (got := got_entry(node)) is None or (names := names_in(fn, got.owner)) is None:
        return None
    made = got.default or ast.Constant(None)
    if got.key in names:
        made = ast.Subscript(copy.copy(got.owner), ast.Constant(got.key), ast.Load())
    return ast.fix_missing_locations(ast.copy_location(made, node))


def _owner(node: ast.expr) -> tuple[ast.Name | None, str]:
    """The variable of the dict, and the method: "keys", "values" or "items"."""
    way = "keys"
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        func = node.func
        if not isinstance(func, ast.Attribute | ast.Subscript):
            return None, ""
        way = func.attr if isinstance(func, ast.Attribute) else string_key(func) or ""
        node = func.value
    return (node if isinstance(node, ast.Name) and way in _WAYS else None), way


def is_assigned(node: ast.AST, name: str) -> bool:
    """Whether `node` contains an assignment to the variable."""
    return any(isinstance(p, ast.Name) and p.id == name and not isinstance(p.ctx, ast.Load) for p in walk(node))
