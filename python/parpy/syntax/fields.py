"""Rewrites attributes of objects that are arguments, `p.dt`, to entries of dicts, `p["dt"]`, which calls read alike.

A parameter is such an object if the function reads an attribute that neither arrays nor numbers have, and uses the
parameter only to read attributes and to pass it on.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Set
from types import FunctionType

import numpy as np

from ..vocabulary.generators import OF_GENERATORS
from .patterns import Function, node_parameters
from .walks import copy_of, walk

_AMBIGUOUS = OF_GENERATORS - {*dir(np.ndarray)} | {
    "choose", "compress", "put", "resize", "sort", "take",
}  # fmt: skip
OF_VALUES = frozenset({*dir(np.ndarray), *dir(np.float64), *OF_GENERATORS})


def with_fields(node: Function) -> Function:
    """The function with subscripts in place of these attributes; `node` itself if it has none."""
    given = {*node_parameters(node)}
    found = {
        part.value.id
        for part in walk(node)
        if isinstance(part, ast.Attribute)
        and isinstance(part.value, ast.Name)
        and part.value.id in given
        and part.attr not in OF_VALUES
    }
    records = found - _used_otherwise(node) if found else found
    if not records:
        return node
    made = copy_of(node)
    made.body = [_Fields(records).visit(each) for each in made.body]
    return made


def with_methods(node: Function, function: FunctionType) -> Function:
    """The function with a mark at `p.laplace` in `p.laplace(x)` if the text shows that `p` is an object: `p` has
    attributes that neither arrays nor generators have, or is the self of a method. Without the mark, this is a draw of
    random numbers or a method of an array."""
    given = node_parameters(node)
    names = [part for part in walk(node) if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name)]
    called = {part.func for part in walk(node) if isinstance(part, ast.Call)}
    if not any(part.attr in _AMBIGUOUS or part in called for part in names):
        return node
    objects = {part.value.id for part in names if part.attr not in OF_VALUES}  # type: ignore[attr-defined]
    if given and "." in function.__qualname__.rpartition("<locals>.")[2]:
        objects.add(given[0])
    objects &= {*given}
    objects -= {part.id for part in walk(node) if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
    if not objects:
        return node
    made = copy_of(node)
    called = {part.func for part in walk(made) if isinstance(part, ast.Call)}
    for part in walk(made):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id in objects:
            setattr(part, _OF_OBJECT, part.attr in _AMBIGUOUS or part in called)
    return made


def is_of_value(node: ast.Attribute) -> bool:
    """Whether arrays, numbers or generators have such an attribute and the text does not show an object."""
    return node.attr in OF_VALUES and not is_of_object(node)


def is_of_object(node: ast.Attribute) -> bool:
    """Whether the text shows that this is an attribute of an object."""
    return getattr(node, _OF_OBJECT, False)


def as_call_of_object(node: ast.Call) -> ast.Call:
    """The call of a method with the mark that it is one of an object."""
    func = copy.copy(node.func)
    setattr(func, _OF_OBJECT, True)
    return ast.copy_location(ast.Call(func, node.args, node.keywords), node)


def with_entries(node: Function, objects: Set[str]) -> Function:
    """The function with subscripts in place of all attributes of these objects: `p.f(x)` is `p["f"](x)`."""
    made = copy_of(node)
    made.body = [_Fields(objects).visit(each) for each in made.body]
    return made


def _used_otherwise(node: Function) -> set[str]:
    """The names that are used for more than to read attributes and to pass them on."""
    allowed: set[ast.AST] = set()
    called: set[str] = set()
    for part in walk(node):
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
        for part in walk(statement)
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
_OF_OBJECT = "_parpy_of_object"


class _Attributes(ast.NodeTransformer):
    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        name = getattr(node, _WRITTEN, None)
        return node if name is None else ast.copy_location(ast.Attribute(node.value, name, node.ctx), node)


def as_written(node: ast.FunctionDef) -> ast.FunctionDef:
    """The function with the subscripts changed back to attributes; this changes `node` itself."""
    made: ast.FunctionDef = _Attributes().visit(node)
    return made


def _is_entry(node: ast.Subscript) -> bool:
    return isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
