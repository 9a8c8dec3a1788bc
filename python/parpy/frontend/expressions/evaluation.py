"""Lowers several expressions in the order in which Python evaluates them.

A lowered expression belongs to one place of the tree; what is needed twice is lowered twice, or, where that would run a
call twice, held in a temporary assigned before the statement.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import partial

from ... import _native
from ...syntax.patterns import is_literal
from ..lowering import lower
from ..scope import FunctionScope
from .effects import has_effects, reads_elements

Lower = Callable[[FunctionScope, ast.expr], _native.Expr]


def in_order(
    fn: FunctionScope, left: _native.Expr, node: ast.expr, make: Callable[[], _native.Expr]
) -> tuple[_native.Expr, _native.Expr]:
    """`left`, which is `node`, and what `make` makes, evaluated in this order: statements that
    the second needs in front must not change what the first reads."""
    before = len(fn.out)
    right = make()
    if len(fn.out) > before and reads_elements(fn, node):
        left = fn.module.read(fn.hold(left, node, before), fn.span(node))
    return left, right


def lower_all(fn: FunctionScope, nodes: list[ast.expr], make: Lower = lower) -> list[_native.Expr]:
    """`nodes` as values, each made by `make`, evaluated from the left."""
    values: list[_native.Expr] = []
    for index, node in enumerate(nodes):
        before = len(fn.out)
        value = make(fn, node)
        for i in reversed(range(index)) if len(fn.out) > before else ():
            if reads_elements(fn, nodes[i]):
                values[i] = fn.module.read(fn.hold(values[i], nodes[i], before), fn.span(nodes[i]))
        values.append(value)
    return values


def lower_arguments(
    fn: FunctionScope, given: dict[str, ast.expr], parameters: Iterable[str], make: Lower = lower
) -> dict[str, _native.Expr]:
    """Arguments by parameter, each made by `make`, evaluated in the order of `given`, that of the call; compiled code
    evaluates operands in the order of the `parameters`."""
    nodes = list(given.values())
    in_order = list(given) == [name for name in parameters if name in given]
    if in_order or not any(has_effects(fn, node) for node in nodes):
        return dict(zip(given, lower_all(fn, nodes, make), strict=True))
    values = {}
    for name, node in given.items():
        value = make(fn, node)
        if has_effects(fn, node) or reads_elements(fn, node):
            value = fn.module.read(fn.hold(value, node), fn.span(node))
        values[name] = value
    return values


def lower_twice(fn: FunctionScope, node: ast.expr) -> tuple[_native.Expr, Callable[[], _native.Expr]]:
    """`node`, and a function that makes the same value once more without its effects."""
    if not has_effects(fn, node):
        return lower(fn, node), lambda: lower(fn, node)
    var = fn.hold(lower(fn, node), node)
    span = fn.span(node)
    return fn.module.read(var, span), lambda: fn.module.read(var, span)


def lower_settled(fn: FunctionScope, node: ast.expr) -> Callable[[], _native.Expr]:
    """A function that makes the value that `node` has now, whatever later calls write."""
    if not reads_elements(fn, node):
        return lambda: lower(fn, node)
    var = fn.hold(lower(fn, node), node)
    return lambda: fn.module.read(var, fn.span(node))


def lower_held(fn: FunctionScope, node: ast.expr, shown: str = "") -> Callable[[], _native.Expr]:
    """A function that makes the value of `node`, evaluated now, as often as wanted. Messages call it `shown`."""
    if is_literal(node):
        return lambda: lower(fn, node)
    var = fn.hold(lower(fn, node), node, shown=shown)
    return partial(fn.module.read, var, fn.span(node))


def held_for(
    fn: FunctionScope, target: ast.expr, make: Callable[[], _native.Expr], source: ast.expr | None, node: ast.stmt
) -> Callable[[], _native.Expr]:
    """A function that makes again what `make` makes now of `source`, for `target` of the statement `node`.

    The name of a variable may turn out to be that of an array: then it is the statement that is refused.
    """
    if source is not None and is_literal(source):
        return make
    place = node if source is None or isinstance(source, ast.Name) else source
    var = fn.hold(make(), place, shown=ast.unparse(target))
    return partial(fn.module.read, var, fn.span(place))
