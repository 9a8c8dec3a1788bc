"""Inspects a call of a function that Python runs in parts without running the compiled parts (host/driver.py)."""

from __future__ import annotations

import ast
from typing import Any

from .small_statements import Small
from .unset import at

_MOST_CALLS = 100  # the most further calls of functions that were inspected already


class Seen:
    """The inspected functions. The limit ends recursions that depend on numbers which only a run would compute."""

    def __init__(self) -> None:
        self.drivers: dict[object, Any] = {}
        self._left = _MOST_CALLS

    def ends(self) -> bool:
        """Whether the limit is reached, so that an inspected function is not called again."""
        self._left -= 1
        return self._left < 0


def nothing(*_: Any, **__: Any) -> int:
    return 0


# The methods by which Python's containers change.
_CHANGES = {
    *("add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert", "pop", "popitem", "popleft"),
    *("remove", "reverse", "setdefault", "sort", "update"),
}


class Once(ast.NodeTransformer):
    """Rewrites a driver so that each loop runs once and small statements are regions. Containers in attributes and
    entries, `self.log.append(x)`, do not change."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        nothing_else: ast.AST = at(ast.Pass(), node)
        called = node.value.func if isinstance(node.value, ast.Call) else None
        if isinstance(called, ast.Call) and called.args:  # the driver decides about the call
            called = called.args[0]
        match called:  # attributes of arguments are entries (syntax/fields.py)
            case ast.Attribute(ast.Attribute() | ast.Subscript(), name) if name in _CHANGES:
                return nothing_else
            case ast.Subscript(ast.Attribute() | ast.Subscript(), ast.Constant(str(name))) if name in _CHANGES:
                return nothing_else
        return node

    def visit_Small(self, node: Small) -> list[ast.stmt]:
        self.generic_visit(node)
        return node.orelse

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        first = ast.Slice(None, ast.Constant(1), None)
        node.iter = at(ast.Subscript(node.iter, first, ast.Load()), node)
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        span = ast.Tuple([ast.Constant(0)], ast.Load())
        once: ast.AST = at(ast.For(ast.Name("_", ast.Store()), span, node.body, []), node)
        return once
