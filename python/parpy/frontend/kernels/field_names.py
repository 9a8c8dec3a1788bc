"""Names for fields of records: ``r[i][FIELD]`` becomes ``r[i]['x']``, where the name stands for one text alone."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import Any

from ...syntax.names import Binding, Scope

Function = ast.FunctionDef | ast.AsyncFunctionDef


def with_field_names(node: Function, scope: Scope) -> tuple[Function, list[Binding]]:
    """The function with texts in place of names in subscripts, and the objects outside of it that it relies on. Names
    are globals, variables of functions around, elements of tuples among these by constants, and local variables that
    get one such text."""
    found = _Texts(node, scope)
    used = [part for part in ast.walk(node) if isinstance(part, ast.Subscript) and found.text(part.slice) is not None]
    if not used:
        return node, []
    made: Function = _Written(found.text).visit(copy.deepcopy(node))
    return made, found.relied


class _Texts:
    """The texts that expressions of one function stand for."""

    def __init__(self, node: Function, scope: Scope) -> None:
        self._scope = scope
        self._values: dict[str, list[ast.expr | None]] = {}  # of local variables; None: something else
        self.relied: list[Binding] = []
        for part in ast.walk(node):
            if isinstance(part, ast.Assign):
                value = part.value if len(part.targets) == 1 else None
                for target in part.targets:
                    if isinstance(target, ast.Name):
                        self._values.setdefault(target.id, []).append(value)
        stores = [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
        for name in stores:
            if stores.count(name) != 1:
                self._values[name] = [None]

    def text(self, node: ast.expr) -> str | None:
        """The text that the expression stands for; None if it is something else, or a text that is written out."""
        if isinstance(node, ast.Name) and node.id in self._scope.locals:
            values = self._values.get(node.id, [None])
            value = values[0] if len(values) == 1 else None
            if isinstance(value, ast.Constant):
                return value.value if isinstance(value.value, str) else None
            return None if value is None else self.text(value)
        value = self._outside(node)
        return value if isinstance(value, str) else None

    def _outside(self, node: ast.expr) -> Any:
        """The object outside the function that a name, or an element of a tuple, stands for."""
        if isinstance(node, ast.Name) and node.id not in self._scope.locals:
            binding = self._scope.lookup(node.id)
            if binding is None or not isinstance(binding.value, str | tuple):
                return None
            self.relied.append(binding)
            return binding.value
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            whole, place = self._outside(node.value), node.slice.value
            if isinstance(whole, tuple) and type(place) is int and -len(whole) <= place < len(whole):
                return whole[place]
        return None


class _Written(ast.NodeTransformer):
    def __init__(self, text: Callable[[ast.expr], str | None]) -> None:
        self._text = text

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        text = self._text(node.slice)
        if text is not None:
            node.slice = ast.copy_location(ast.Constant(text), node.slice)
        return self.generic_visit(node)
