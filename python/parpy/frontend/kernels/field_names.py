"""Replaces names of fields of records: ``r[i][FIELD]`` becomes ``r[i]['x']`` if the name has one text only. A loop over
a tuple of such texts, ``for field in ("x", "y")``, is unrolled.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from ...syntax.names import Binding, Scope
from ...syntax.walks import copy_of, walk

Function = ast.FunctionDef | ast.AsyncFunctionDef


def with_field_names(node: Function, scope: Scope) -> tuple[Function, list[Binding]]:
    """The function with texts in place of names in subscripts, and the objects outside that this depends on. The names
    are globals, variables of enclosing functions, elements of such tuples at constant indices, and local variables with
    one such text."""
    found = _Texts(node, scope)
    if any(isinstance(part, ast.For) for part in walk(node)):
        unrolled: Function = _Unrolled(found).visit(copy_of(node))
        if found.loops:
            node, found = unrolled, _Texts(unrolled, scope, found.relied)
    used = [part for part in walk(node) if isinstance(part, ast.Subscript) and found.text(part.slice) is not None]
    if not used:
        return node, found.relied if found.before else []
    made: Function = _Written(found.text).visit(copy_of(node))
    return made, found.relied


class _Texts:
    """The texts that are values of expressions of one function."""

    def __init__(self, node: Function, scope: Scope, relied: Sequence[Binding] = ()) -> None:
        self._scope = scope
        self.loops: list[ast.For] = []  # the loops over texts
        self.before = bool(relied)
        self._values: dict[str, list[ast.expr | None]] = {}  # by local variable; None for other assignments
        self.relied = list(relied)
        for part in walk(node):
            if isinstance(part, ast.Assign):
                value = part.value if len(part.targets) == 1 else None
                for target in part.targets:
                    if isinstance(target, ast.Name):
                        self._values.setdefault(target.id, []).append(value)
        stores = [part.id for part in walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
        for name in stores:
            if stores.count(name) != 1:
                self._values[name] = [None]

    def text(self, node: ast.expr) -> str | None:
        """The text that a name or an element has as its value; None for other expressions and for literals."""
        if isinstance(node, ast.Name) and node.id in self._scope.locals:
            values = self._values.get(node.id, [None])
            value = values[0] if len(values) == 1 else None
            if isinstance(value, ast.Constant):
                return value.value if isinstance(value.value, str) else None
            return None if value is None else self.text(value)
        value = self._outside(node)
        return value if isinstance(value, str) else None

    def texts(self, node: ast.expr) -> list[str]:
        """The texts of a tuple display or of a tuple outside the function; empty for other expressions."""
        whole = None if isinstance(node, ast.Tuple) else self._outside(node)
        found: list[Any] = [*whole] if isinstance(whole, tuple) else []
        for each in node.elts if isinstance(node, ast.Tuple) else []:
            found.append(each.value if isinstance(each, ast.Constant) else self.text(each))
        return found if all(isinstance(each, str) for each in found) else []

    def _outside(self, node: ast.expr) -> Any:
        """The object outside the function that a name, or an element of a tuple, refers to."""
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


class _Unrolled(ast.NodeTransformer):
    """Unrolls loops over texts whose bodies use the texts as names of fields."""

    def __init__(self, texts: _Texts) -> None:
        self._texts = texts

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        name = node.target.id if isinstance(node.target, ast.Name) else ""
        parts = [part for each in node.body for part in walk(each)]
        leaves = any(isinstance(part, ast.Break | ast.Continue) for part in parts)
        named = any(
            isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Name) and part.slice.id == name
            for part in parts
        )
        texts = self._texts.texts(node.iter) if named and not leaves and not node.orelse else []
        if not texts:
            return node
        self._texts.loops.append(node)
        return [_With(name, text).visit(copy_of(each)) for text in texts for each in node.body]


class _With(ast.NodeTransformer):
    def __init__(self, name: str, text: str) -> None:
        self._name, self._text = name, text

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id != self._name or not isinstance(node.ctx, ast.Load):
            return node
        return ast.copy_location(ast.Constant(self._text), node)


class _Written(ast.NodeTransformer):
    def __init__(self, text: Callable[[ast.expr], str | None]) -> None:
        self._text = text

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        text = self._text(node.slice)
        if text is not None:
            node.slice = ast.copy_location(ast.Constant(text), node.slice)
        return self.generic_visit(node)
