"""Parameters of kernels whose bytes are read as other elements, ``x.view(np.int32)``. In compiled code each such view
is a parameter of its own after the others; the launch passes the view that Python makes."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

import numpy as np

from ..vocabulary.signatures import Scalar
from .names import Scope
from .patterns import node_parameters
from .rebuilt import rebuilt
from .source import FunctionSource
from .walks import copy_of, walk


class View(NamedTuple):
    """A view of the parameter with this number as elements of another type."""

    place: int
    dtype: np.dtype[Any]


def with_views(source: FunctionSource) -> tuple[FunctionSource, tuple[View, ...]]:
    """The function with such parameters, and the views; the function itself if there are none."""
    node = source.written()
    if not isinstance(node, ast.FunctionDef) or ".view(" not in source.text or node.args.vararg is not None:
        return source, ()
    stored = {part.id for part in walk(node) if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
    names = {name: place for place, name in enumerate(node_parameters(node)) if name not in stored}
    found = _Views(names, Scope(source.function))
    tree = found.visit(copy_of(node))
    if not found.made:
        return source, ()
    tree.decorator_list, tree.returns = [], None
    tree.args.args += [ast.copy_location(ast.arg(name), node) for name in found.made.values()]
    plain = copy_of(tree)
    plain.args.defaults = []
    for each in (*plain.args.posonlyargs, *plain.args.args, *plain.args.kwonlyargs):
        each.annotation = None
    tree.args.defaults = []
    function = rebuilt(source.function, plain)
    function.__module__ = source.function.__module__
    function.__annotations__ = source.function.__annotations__
    made = FunctionSource(function, source.name, source.text, source.first_line, tree)
    made.declared, made.arrays = source.declared, source.arrays
    return made, tuple(found.made)


class _Views(ast.NodeTransformer):
    def __init__(self, names: dict[str, int], scope: Scope) -> None:
        self._names, self._scope = names, scope
        self.made: dict[View, str] = {}

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="view"), args=[asked], keywords=[]):
                dtype = self._dtype(asked) if name in self._names else None
                if dtype is not None:
                    spelled = self.made.setdefault(View(self._names[name], dtype), f"{name}_as_{dtype.name}")
                    return ast.copy_location(ast.Name(spelled, ast.Load()), node)
        return node

    def _dtype(self, node: ast.expr) -> np.dtype[Any] | None:
        value = node.value if isinstance(node, ast.Constant) else self._outside(node)
        if isinstance(value, Scalar):
            return value.dtype
        try:
            return np.dtype(value) if isinstance(value, str | type | np.dtype) else None
        except TypeError:
            return None

    def _outside(self, node: ast.expr) -> Any:
        """The object outside the function that a name, or a chain of attributes of a module, refers to."""
        if isinstance(node, ast.Attribute):
            return getattr(self._outside(node.value), node.attr, None)
        if not isinstance(node, ast.Name) or node.id in self._scope.locals:
            return None
        binding = self._scope.lookup(node.id)
        return None if binding is None else binding.value
