"""Tuples, None, shapes and lengths as values. The frontend translates the text; the core determines the elements
of each value and replaces the value by them (lower_aggregates)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from functools import partial

from ... import _native
from ..lowering import lower
from ..scope import FunctionScope
from .effects import acts
from .evaluation import Lower, lower_all


def lower_tuple(fn: FunctionScope, node: ast.Tuple, make: Lower = lower) -> _native.Expr:
    """`(i, j)`, `(*t, k)`, with elements made by `make`."""
    span = fn.span(node)
    if not any(isinstance(part, ast.Starred) for part in node.elts):
        return fn.module.op("tuple", lower_all(fn, node.elts, make), span)
    values = lower_all(fn, [part.value if isinstance(part, ast.Starred) else part for part in node.elts], make)
    result = fn.module.op("tuple", [], span)
    for part, value in zip(node.elts, values, strict=True):
        more = value if isinstance(part, ast.Starred) else fn.module.op("tuple", [value], span)
        result = fn.module.op("+", [result, more], span)
    return result


def lower_compared(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    """An operand of a comparison. All elements of a tuple are evaluated, also if the first ones decide the result."""
    if isinstance(node, ast.Tuple):
        return lower_tuple(fn, node, lower_compared)
    value = lower(fn, node)
    return fn.module.read(fn.hold(value, node), fn.span(node)) if acts(fn, node) else value


def new_array(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    """np.array(node), where node is a list or tuple display, a tuple or an array."""
    return fn.op("array_of", node, spelled_out(fn, node))


def number_or_list(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    """A number, or an array of numbers, which may be a list display: `x[[i, j]]`."""
    return new_array(fn, node) if isinstance(node, ast.List) else lower(fn, node)


def spelled_out(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    """The value of `node`, with tuples in place of list displays."""
    if isinstance(node, ast.List | ast.Tuple) and not any(isinstance(part, ast.Starred) for part in node.elts):
        return fn.op("tuple", node, *lower_all(fn, node.elts, spelled_out))
    return lower(fn, node)


def none(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    return fn.op("none", node)


def parts_given(node: ast.expr) -> list[ast.expr]:
    """The elements of a tuple or list display, with the operands of stars among them, as operands of an operator on a
    tuple; for other expressions the value, which may be a tuple."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
    return [part.value if isinstance(part, ast.Starred) else part for part in parts]


def items_of(
    fn: FunctionScope, node: ast.expr, count: int, stored: Collection[str]
) -> list[Callable[[], _native.Expr]]:
    """Functions that make the elements into which `node`, a tuple or an array, is unpacked. The first call evaluates
    `node`, unless `node` is a variable that is not in `stored`, the variables that the unpacking assigns."""
    if isinstance(node, ast.Name) and node.id in fn.scope.locals and node.id not in stored:
        return [partial(_item, fn, partial(lower, fn, node), node, index, count) for index in range(count)]
    return items_of_value(fn, partial(lower, fn, node), node, count)


def _item(fn: FunctionScope, make: Callable[[], _native.Expr], node: ast.expr, index: int, count: int) -> _native.Expr:
    return fn.op("item", node, make(), fn.integer(index, node), fn.integer(count, node))


def items_of_value(
    fn: FunctionScope, make: Callable[[], _native.Expr], node: ast.expr, count: int
) -> list[Callable[[], _native.Expr]]:
    """Functions that make the elements of the value that `make` makes, a part of `node`."""
    found: list[_native.Var] = []

    def item(index: int) -> _native.Expr:
        if not found:
            found.append(fn.hold(make(), node, shown=ast.unparse(node)))
        return _item(fn, partial(fn.module.read, found[0], fn.span(node)), node, index, count)

    return [partial(item, index) for index in range(count)]
