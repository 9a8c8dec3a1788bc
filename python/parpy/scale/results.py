"""Finds the arrays that a call returns."""

from __future__ import annotations

import ast

from ..syntax.source import FunctionSource
from ..syntax.walks import walk


def returned_names(source: FunctionSource) -> tuple[str, ...] | None:
    """The names of the arrays that a function returns, in order; empty if it returns nothing. None if the text does not
    show them, because there are several returns or other values than names of one array each."""
    node = source.tree()
    if not isinstance(node, ast.FunctionDef):
        return None
    parts = list(walk(node))
    returns = [part for part in parts if isinstance(part, ast.Return) and part.value is not None]
    if not returns:
        return ()
    value = returns[0].value
    values = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
    if len(returns) > 1 or not all(isinstance(each, ast.Name) for each in values):
        return None
    names = tuple(each.id for each in values if isinstance(each, ast.Name))
    parameters = {each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    stored = [part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
    once = all(stored.count(name) == (0 if name in parameters else 1) for name in names)
    return names if once else None
