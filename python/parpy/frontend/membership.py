"""Lowers `a in (1, 2)` and `a in x`: whether a number is one of several, or an element of an array."""

from __future__ import annotations

import ast
from collections.abc import Callable

from .. import _native
from .arrays import outside_items
from .evaluation import lower_all, lower_held
from .lowering import lower
from .scope import FunctionScope
from .tuples import tuple_form, tuple_values


def lower_membership(fn: FunctionScope, node: ast.Compare) -> _native.Expr:
    """`a in given`, `a not in given`."""
    if len(node.ops) > 1:
        fn.error("P011", node, "'in' stands in a chain of comparisons", "write several comparisons, joined by 'and'")
        return fn.poison(node)
    result = _among_numbers(fn, node, node.comparators[0]) if fn.aggregates else _contained(fn, node)
    return result if isinstance(node.ops[0], ast.In) else fn.module.op("not", [result], fn.span(node))


def _contained(fn: FunctionScope, node: ast.Compare) -> _native.Expr:
    given = node.comparators[0]
    items = given.elts if isinstance(given, ast.Set) else outside_items(fn, given)
    span, again = fn.span(node), lower_held(fn, node.left, ast.unparse(node.left))
    if items is not None:
        return _equals_one(fn, node, again, lower_all(fn, items))
    array = fn.hold(lower(fn, given), given, shown=ast.unparse(given))
    elements = fn.module.load(array, [fn.module.slice(None, None, None, span)], fn.span(given))
    found = fn.module.reduce("any", fn.module.op("==", [elements, again()], span), [], False, span)
    return fn.module.op("truth", [found], span)


def _among_numbers(fn: FunctionScope, node: ast.Compare, given: ast.expr) -> _native.Expr:
    """`i in (1, 3)`, `i in x.shape` in a kernel."""
    if isinstance(given, ast.List | ast.Set):
        given = ast.copy_location(ast.Tuple(given.elts, ast.Load()), given)
    form = tuple_form(fn, given)
    if form is None or any(part is not None for part in form.parts):
        what, fix = "what a number is looked for in is no tuple of numbers", "look for it in an array by a loop"
        fn.error("P011", given, what, fix)
        return fn.poison(node)
    again = lower_held(fn, node.left, ast.unparse(node.left))
    return _equals_one(fn, node, again, tuple_values(fn, given))


def _equals_one(
    fn: FunctionScope, node: ast.Compare, again: Callable[[], _native.Expr], values: list[_native.Expr]
) -> _native.Expr:
    """Whether one of the values, all of which are evaluated, equals what `again` makes."""
    span = fn.span(node)
    result = fn.module.constant(False, span)
    for value in values:
        equal = fn.module.op("truth", [fn.module.op("==", [again(), value], span)], span)
        result = fn.module.op("or", [result, equal], span)
    return result
