"""Finds pure functions, which only compute a value, so that calls may be moved, repeated or dropped."""

from __future__ import annotations

import ast
from types import FunctionType, ModuleType
from typing import Any

from ...syntax.names import Scope, callable_source
from ...syntax.source import FunctionSource
from ...syntax.walks import walk
from ..calls.intrinsics import intrinsic_of

_STATEMENTS = (ast.Assign, ast.AugAssign, ast.Return, ast.If, ast.For, ast.While, ast.Break, ast.Continue, ast.Pass)
_NEW = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare)  # values that are no alias of an array


def only_computes(source: FunctionSource, seen: frozenset[FunctionType] = frozenset()) -> bool:
    """Whether the function only assigns to variables and returns a value, by operators and other pure functions."""
    function = source.function
    if function in seen:
        return True
    seen |= {function}
    tree, scope = source.tree(), Scope(function)
    body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
    return all(_is_pure(part, tree, scope, seen) for node in body for part in walk(node))


def _is_pure(part: ast.AST, tree: ast.AST, scope: Scope, seen: frozenset[FunctionType]) -> bool:
    if isinstance(part, ast.stmt):
        targets = part.targets if isinstance(part, ast.Assign) else []
        targets = [part.target] if isinstance(part, ast.AugAssign | ast.For) else targets
        named = all(isinstance(target, ast.Name) for target in targets)
        return isinstance(part, _STATEMENTS) and named and not _changes_array(part, tree)
    if isinstance(part, ast.NamedExpr | ast.Lambda | ast.Await | ast.Yield | ast.YieldFrom | ast.comprehension):
        return False
    if not isinstance(part, ast.Call):
        return True
    found = _found(part.func, scope)
    known = intrinsic_of(found)
    if known is not None:
        return not known.effect and not any(keyword.arg in (None, "out") for keyword in part.keywords)
    called = callable_source(found)
    return called is not None and only_computes(called, seen)


def _changes_array(node: ast.stmt, tree: ast.AST) -> bool:
    """Whether `a += b` may change an array that has other names."""
    if not isinstance(node, ast.AugAssign) or not isinstance(node.target, ast.Name):
        return False
    given = [
        part.value
        for part in walk(tree)
        if isinstance(part, ast.Assign) and any(ast.dump(target) == ast.dump(node.target) for target in part.targets)
    ]
    return not given or not all(isinstance(value, _NEW) for value in given)


def _found(node: ast.expr, scope: Scope) -> Any:
    """The object that a called name from outside, or an attribute of a module, refers to."""
    if isinstance(node, ast.Name):
        binding = None if node.id in scope.locals else scope.lookup(node.id)
        return None if binding is None else binding.value
    owner = _found(node.value, scope) if isinstance(node, ast.Attribute) else None
    return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None  # type: ignore[attr-defined]
