"""Vectors of subscripts that are written by hand, `v = appy.vidx(i, appy.MVL, n)`, as the slices that they are: `v`
becomes the number `i`, and `x[v]` is `x[v : min(n, v + appy.MVL)]`."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from types import FunctionType, ModuleType
from typing import Any

from ..vocabulary import workers
from .imports import imports_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
_MISSING: Any = object()


def with_slices(node: Function, function: FunctionType) -> Function:
    """The function without calls of vidx; the tree that is given is left as it is."""
    if not any(isinstance(part, ast.Call) and _is_vidx(part, function) for part in ast.walk(node)):
        return node
    made: Function = _Slices(function, node).visit(copy.deepcopy(node))
    return made


def _is_vidx(call: ast.Call, function: FunctionType) -> bool:
    return len(call.args) in (2, 3) and not call.keywords and _outside(call.func, function) is workers.vidx


def _outside(node: ast.expr, function: FunctionType) -> Any:
    """What a name or an attribute of a module stands for, outside of the function."""
    if isinstance(node, ast.Attribute):
        owner = _outside(node.value, function)
        return getattr(owner, node.attr, _MISSING) if isinstance(owner, ModuleType) else _MISSING
    if not isinstance(node, ast.Name):
        return _MISSING
    code, name = function.__code__, node.id
    if name in imports_of(function):
        container, key = imports_of(function)[name]
        return container.get(key, _MISSING)
    if name in code.co_varnames or name in code.co_cellvars:
        return _MISSING
    for free, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        if free == name:
            try:
                return cell.cell_contents
            except ValueError:  # it has no value yet
                return _MISSING
    return function.__globals__.get(name, _MISSING)


class _Slices(ast.NodeTransformer):
    def __init__(self, function: FunctionType, node: Function) -> None:
        self._function = function
        stores = Counter(p.id for p in ast.walk(node) if isinstance(p, ast.Name) and not isinstance(p.ctx, ast.Load))
        vectors = [found for part in ast.walk(node) if (found := self._given(part)) is not None]
        counts = Counter(name for name, _ in vectors)
        forms: dict[str, set[str]] = {}
        for name, call in vectors:
            forms.setdefault(name, set()).add(", ".join(map(ast.unparse, call.args[1:])))
        # Those whose length and bound are the same wherever they are used.
        self._vectors: dict[str, ast.Call] = {
            name: call
            for name, call in vectors
            if counts[name] == stores[name]
            and len(forms[name]) == 1
            and all(stores[each] <= 1 for each in _names(call.args[1:]))
        }

    def _given(self, node: ast.AST) -> tuple[str, ast.Call] | None:
        """The name and the call of `v = vidx(…)`."""
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            return None
        call = node.value
        return (node.targets[0].id, call) if isinstance(call, ast.Call) and _is_vidx(call, self._function) else None

    def visit_Assign(self, node: ast.Assign) -> Any:
        given = self._given(node)
        if given is None or given[0] not in self._vectors:
            return self.generic_visit(node)
        node.value = given[1].args[0]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        node.value = self.visit(node.value)
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = [self._part(part) for part in node.slice.elts]
        else:
            node.slice = self._part(node.slice)
        return node

    def _part(self, part: ast.expr) -> ast.expr:
        if isinstance(part, ast.Name) and part.id in self._vectors:
            return _slice(part, self._vectors[part.id].args[1:], part)
        if isinstance(part, ast.Call) and _is_vidx(part, self._function):
            return _slice(part.args[0], part.args[1:], part)
        visited: ast.expr = self.visit(part)
        return visited


def _names(nodes: list[ast.expr]) -> set[str]:
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


def _slice(begin: ast.expr, more: list[ast.expr], place: ast.expr) -> ast.expr:
    """begin : min(bound, begin + step)"""
    step, *bound = more
    end: ast.expr = ast.BinOp(begin, ast.Add(), step)
    if bound:
        end = ast.IfExp(ast.Compare(end, [ast.Lt()], [bound[0]]), end, bound[0])
    made = copy.deepcopy(ast.Slice(begin, end))
    for part in ast.walk(made):
        if isinstance(part, ast.expr):
            ast.copy_location(part, place)
    return made
