"""Rewrites explicit vectors of subscripts, `v = appy.vidx(i, appy.MVL, n)`, to slices: `v` becomes the number `i`, and
`x[v]` becomes `x[v : min(n, v + appy.MVL)]`."""

from __future__ import annotations

import ast
from collections import Counter
from types import FunctionType, ModuleType
from typing import Any

from ..vocabulary import workers
from .imports import imports_of
from .patterns import Function, names_in
from .walks import copy_of, walk

_MISSING: Any = object()


def with_slices(node: Function, function: FunctionType) -> Function:
    """A copy of the function without calls of vidx."""
    if not any(isinstance(part, ast.Call) and _is_vidx(part, function) for part in walk(node)):
        return node
    made = copy_of(node)
    visited: Function = _Slices(function, made).visit(made)
    return visited


def _is_vidx(call: ast.Call, function: FunctionType) -> bool:
    return outside(call.func, function) is workers.vidx and len(_arguments(call)) > 1


def _arguments(call: ast.Call) -> list[ast.expr]:
    """The start, the length and, if given, the bound of a call of vidx; empty if the arguments do not fit."""
    words = {each.arg: each.value for each in call.keywords}
    names = ("start", "stepsize", "bound")[len(call.args) :]
    given = [*call.args, *(words.pop(name) for name in names if name in words)]
    fits = not words and 2 <= len(given) <= 3 and not any(isinstance(each, ast.Starred) for each in given)
    return given if fits and (len(given) == 3 or "bound" not in {each.arg for each in call.keywords}) else []


def outside(node: ast.expr, function: FunctionType) -> Any:
    """The object outside of the function that a name or an attribute of a module refers to."""
    if isinstance(node, ast.Attribute):
        owner = outside(node.value, function)
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
            except ValueError:  # the variable has no value yet
                return _MISSING
    return function.__globals__.get(name, _MISSING)


class _Slices(ast.NodeTransformer):
    def __init__(self, function: FunctionType, node: Function) -> None:
        self._function = function
        stores = Counter(p.id for p in walk(node) if isinstance(p, ast.Name) and not isinstance(p.ctx, ast.Load))
        vectors = [found for part in walk(node) if (found := self._given(part)) is not None]
        counts = Counter(name for name, _ in vectors)
        parameters = {part.arg for part in walk(node.args) if isinstance(part, ast.arg)}
        changing = {name for loop in walk(node) if isinstance(loop, ast.For | ast.While) for name in _stored(loop)}
        forms: dict[str, set[str]] = {}
        for name, call in vectors:
            forms.setdefault(name, set()).add(", ".join(map(ast.unparse, _arguments(call)[1:])))
        names = {name for name in forms if counts[name] == stores[name]}  # names that are always vectors
        self._uses: dict[int, ast.Call] = {}
        self._unclear: set[str] = set()
        self._walk(node.body, {}, names)
        # Also names with one length and bound at all uses, made of variables with one value in a call.
        several = {name for name in stores if stores[name] + (name in parameters) > 1} | changing
        same = {
            name: call
            for name, call in vectors
            if len(forms[name]) == 1 and not names_in(*_arguments(call)[1:]) & several
        }
        self._same = {name: call for name, call in same.items() if name in self._unclear}
        self._vectors = (names - self._unclear) | (names & same.keys())

    def _walk(self, body: list[ast.stmt], known: dict[str, ast.Call], names: set[str]) -> None:
        """Notes the vector of each use of a name; `known` has the vector of each name before the statements."""
        for each in body:
            inner = [block for name in ("body", "orelse", "finalbody") if (block := getattr(each, name, None))]
            if isinstance(each, ast.For | ast.While):
                _forget(each, known)
            within = {id(part) for block in inner for statement in block for part in walk(statement)}
            for part in walk(each):
                if not isinstance(part, ast.Name) or part.id not in names or id(part) in within:
                    continue
                if isinstance(part.ctx, ast.Load) and part.id in known:
                    self._uses[id(part)] = known[part.id]
                elif isinstance(part.ctx, ast.Load):
                    self._unclear.add(part.id)
            for block in inner:
                self._walk(block, dict(known), names)
            _forget(each, known)
            given = self._given(each)
            if given is not None:
                known[given[0]] = given[1]

    def _given(self, node: ast.AST) -> tuple[str, ast.Call] | None:
        """The name and the call of `v = vidx(…)`; None for other nodes."""
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            return None
        call = node.value
        return (node.targets[0].id, call) if isinstance(call, ast.Call) and _is_vidx(call, self._function) else None

    def visit_Assign(self, node: ast.Assign) -> Any:
        given = self._given(node)
        if given is None or given[0] not in self._vectors:
            return self.generic_visit(node)
        node.value = _arguments(given[1])[0]
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
            call = self._same.get(part.id) or self._uses[id(part)]
            return _slice(part, _arguments(call)[1:], part)
        if isinstance(part, ast.Call) and _is_vidx(part, self._function):
            start, *more = _arguments(part)
            return _slice(start, more, part)
        visited: ast.expr = self.visit(part)
        return visited


def _stored(node: ast.stmt) -> set[str]:
    return {part.id for part in walk(node) if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}


def _forget(node: ast.stmt, known: dict[str, ast.Call]) -> None:
    """Removes the vectors that the statement assigns, and those whose length or bound it changes."""
    stored = _stored(node)
    for name, call in [*known.items()]:
        if name in stored or names_in(*_arguments(call)[1:]) & stored:
            del known[name]


def _slice(begin: ast.expr, more: list[ast.expr], place: ast.expr) -> ast.expr:
    """The slice begin : min(bound, begin + step)."""
    step, *bound = more
    end: ast.expr = ast.BinOp(begin, ast.Add(), step)
    if bound:
        end = ast.IfExp(ast.Compare(end, [ast.Lt()], [bound[0]]), end, bound[0])
    made = copy_of(ast.Slice(begin, end))
    for part in walk(made):
        if isinstance(part, ast.expr):
            ast.copy_location(part, place)
    return made
