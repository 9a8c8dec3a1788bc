"""Attributes of objects that are arguments, `p.dt`, as entries of dicts, `p["dt"]`, which calls read alike.

A parameter is such an object if the function reads an attribute of it that neither arrays nor numbers have, and does
nothing else with it than to read attributes and to pass it on.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Set

import numpy as np

_Function = ast.FunctionDef | ast.AsyncFunctionDef

OF_VALUES = frozenset({*dir(np.ndarray), *dir(np.float64), *dir(np.random.Generator), *dir(np.random.RandomState)})


def with_fields(node: _Function) -> _Function:
    """The function with subscripts in the place of these attributes; `node` itself if it has none."""
    given = {each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    found = {
        part.value.id
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute)
        and isinstance(part.value, ast.Name)
        and part.value.id in given
        and part.attr not in OF_VALUES
    }
    records = found - _used_otherwise(node) if found else found
    if not records:
        return node
    made = copy.deepcopy(node)
    made.body = [_Fields(records).visit(each) for each in made.body]
    return made


def with_entries(node: _Function, objects: Set[str]) -> _Function:
    """The function with subscripts in the place of all attributes of these objects: `p.f(x)` is `p["f"](x)`."""
    made = copy.deepcopy(node)
    made.body = [_Fields(objects).visit(each) for each in made.body]
    return made


def _used_otherwise(node: _Function) -> set[str]:
    """Names of which more is done than to read attributes and to pass them on."""
    allowed: set[ast.AST] = set()
    called: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute):
            allowed.add(part.value)
        elif isinstance(part, ast.Call):
            allowed.update(part.args)
            allowed.update(keyword.value for keyword in part.keywords)
            if isinstance(part.func, ast.Attribute) and isinstance(part.func.value, ast.Name):
                called.add(part.func.value.id)
    return called | {
        part.id
        for statement in node.body
        for part in ast.walk(statement)
        if isinstance(part, ast.Name) and (part not in allowed or not isinstance(part.ctx, ast.Load))
    }


class _Fields(ast.NodeTransformer):
    def __init__(self, records: Set[str]) -> None:
        self._records = records

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        inner = isinstance(node.value, ast.Subscript) and _is_entry(node.value) and node.attr not in OF_VALUES
        if not inner and not (isinstance(node.value, ast.Name) and node.value.id in self._records):
            return node
        key = ast.copy_location(ast.Constant(node.attr), node)
        made = ast.copy_location(ast.Subscript(node.value, key, node.ctx), node)
        setattr(made, _WRITTEN, node.attr)
        return made


_WRITTEN = "_parpy_attribute"


class _Attributes(ast.NodeTransformer):
    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        name = getattr(node, _WRITTEN, None)
        return node if name is None else ast.copy_location(ast.Attribute(node.value, name, node.ctx), node)


def as_written(node: ast.FunctionDef) -> ast.FunctionDef:
    """The function with attributes where these were before they became subscripts; `node` itself is changed."""
    made: ast.FunctionDef = _Attributes().visit(node)
    return made


def _is_entry(node: ast.Subscript) -> bool:
    return isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
