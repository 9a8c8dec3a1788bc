"""Calls of heapq in loops over memory for lists (library/heaps.py)."""

from __future__ import annotations

import ast
import heapq
from collections.abc import Container

from ..lookup import Lookup

_METHODS = {"heappush": heapq.heappush, "heappop": heapq.heappop, "heapify": heapq.heapify}


class _Methods(ast.NodeTransformer):
    def __init__(self, names: Container[str], lookup: Lookup) -> None:
        self._names, self._lookup = names, lookup

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        owner = node.args[0] if node.args and not node.keywords else None
        if not isinstance(owner, ast.Name) or owner.id not in self._names:
            return node
        found = self._lookup.find(node.func)
        method = next((name for name, each in _METHODS.items() if found is not None and found.value is each), None)
        if found is None or method is None or len(node.args) != 1 + (method == "heappush"):
            return node
        self._lookup.rely_on(node.func, found)
        node.func = ast.copy_location(ast.Attribute(owner, method, ast.Load()), node.func)
        node.args = node.args[1:]
        return node


def with_methods(node: ast.stmt, names: Container[str], lookup: Lookup) -> ast.stmt:
    """The statement, changed, with calls of heapq for the lists with these names as calls of methods of the lists,
    `h.heappush(v)`."""
    made: ast.stmt = _Methods(names, lookup).visit(node)
    return made


def method_called(node: ast.AST) -> str | None:
    """The name of such a method, if the node is a call of one."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr=name)) if name in _METHODS:
            return name
    return None
