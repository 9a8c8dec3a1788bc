"""Arrays of records in kernels: ``r[i].x`` and ``r[i]['x']`` are elements of the field ``r['x']``, an array of its own.

A field of a structured array is a view with the same shape, so a record argument is treated like a dict of arrays
(_frontend_arrays), and no record ever exists in compiled code.
"""

from __future__ import annotations

import ast

Function = ast.FunctionDef | ast.AsyncFunctionDef
# Of numbers and of views, not of records.
_OF_NUMBERS = ("real", "imag", "conjugate", "dtype", "shape", "ndim")
_OF_ARRAYS = ("shape", "size", "ndim")


def separate_fields(node: Function) -> Function:
    """The function with its record parameters taken apart."""
    names = {argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    fields: dict[str, str] = {}
    for part in ast.walk(node):
        found = _field(part, names)
        if found is not None:
            fields.setdefault(*found)
    if not fields:
        return node
    made = _Separate(fields).visit(node)
    assert isinstance(made, Function)
    return made


def _field(node: ast.AST, names: set[str]) -> tuple[str, str] | None:
    """The parameter and the field of `r[i].x` or `r[i]['x']`."""
    if isinstance(node, ast.Attribute) and node.attr not in _OF_NUMBERS:
        element, name = node.value, node.attr
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        element, name = node.value, node.slice.value
    else:
        return None
    if not isinstance(element, ast.Subscript) or not isinstance(element.value, ast.Name):
        return None
    if isinstance(element.slice, ast.Constant) and isinstance(element.slice.value, str):
        return None
    return (element.value.id, name) if element.value.id in names else None


class _Separate(ast.NodeTransformer):
    """``fields``: of each record parameter the field that stands for it where its shape is asked for."""

    def __init__(self, fields: dict[str, str]) -> None:
        self._fields = fields

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr in _OF_ARRAYS:
            node.value = self._whole(node.value)
        return self._separated(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return self._separated(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
            node.args = [self._whole(node.args[0])]
        return self.generic_visit(node)

    def _whole(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Name) and node.id in self._fields:
            return _entry(node, self._fields[node.id])
        return node

    def _separated(self, node: ast.Attribute | ast.Subscript) -> ast.AST:
        found = _field(node, set(self._fields))
        if found is None:
            return self.generic_visit(node)
        element = node.value
        assert isinstance(element, ast.Subscript)
        index = self.visit(element.slice)
        return ast.copy_location(ast.Subscript(_entry(element.value, found[1]), index, node.ctx), node)


def _entry(node: ast.expr, field: str) -> ast.Subscript:
    key = ast.copy_location(ast.Constant(field), node)
    return ast.copy_location(ast.Subscript(node, key, ast.Load()), node)
