"""Lowers `a in t`, where t is a tuple, an array or a dict."""

from __future__ import annotations

import ast

from ... import _native
from ..scope import FunctionScope
from .entries import names_in
from .evaluation import lower_all


def lower_membership(fn: FunctionScope, node: ast.Compare) -> _native.Expr:
    """`a in given`, `a not in given`."""
    if len(node.ops) > 1:
        fn.error("P011", node, "'in' is part of a chain of comparisons", "write several comparisons, joined by 'and'")
        return fn.poison(node)
    given = node.comparators[0]
    keys = names_in(fn, given)
    if keys is not None:
        given = ast.copy_location(ast.Tuple([ast.copy_location(ast.Constant(key), given) for key in keys]), given)
    if isinstance(given, ast.List | ast.Set):  # a display that is only searched may be a tuple
        given = ast.copy_location(ast.Tuple(given.elts, ast.Load()), given)
    result = fn.op("in", node, *lower_all(fn, [node.left, given]))
    return result if isinstance(node.ops[0], ast.In) else fn.op("not", node, result)
