"""Lowers several expressions in the order in which Python evaluates them.

A lowered expression belongs to one place of the tree. An expression that is needed twice is lowered twice or, if that
would run a call twice, held in a temporary that is assigned before the statement.
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
    """`left`, the value of `node`, and the value of `make()`, evaluated in this order. If the second value needs
    statements before it that may change elements which `node` reads, `left` is held in a temporary."""
    before = len(fn.out)
    right = make()
    if len(fn.out) > before and reads_elements(fn, node):
        left = fn.module.read(fn.hold(left, node, before), fn.span(node))
    return left, right


def lower_all(fn: FunctionScope, nodes: list[ast.expr], make: Lower = lower) -> list[_native.Expr]:
    """The values of `nodes`, each made by `make`, evaluated from left to right."""
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
    """Arguments by parameter, each made by `make`, evaluated in the order of `given`, which is that of the call. The
    operands of compiled calls are evaluated in the order of the `parameters`."""
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
    """The value of `node`, and a function that makes the same value once more without repeating effects."""
    if not has_effects(fn, node):
        return lower(fn, node), lambda: lower(fn, node)
    var = fn.hold(lower(fn, node), node)
    span = fn.span(node)
    return fn.module.read(var, span), lambda: fn.module.read(var, span)


def lower_settled(fn: FunctionScope, node: ast.expr) -> Callable[[], _native.Expr]:
    """A function that makes the present value of `node`, also after later calls have changed memory."""
    if not reads_elements(fn, node):
        return lambda: lower(fn, node)
    var = fn.hold(lower(fn, node), node)
    return lambda: fn.module.read(var, fn.span(node))


def lower_held(fn: FunctionScope, node: ast.expr, shown: str = "") -> Callable[[], _native.Expr]:
    """A function that makes the value of `node` any number of times; `node` is evaluated now. Messages use `shown`."""
    if is_literal(node):
        return lambda: lower(fn, node)
    var = fn.hold(lower(fn, node), node, shown=shown)
    return partial(fn.module.read, var, fn.span(node))


def held_for(
    fn: FunctionScope, target: ast.expr, make: Callable[[], _native.Expr], source: ast.expr | None, node: ast.stmt
) -> Callable[[], _native.Expr]:
    """A function that repeats the present value of `source`, made by `make`, for `target` of the statement `node`.

    If `source` is a name, it may turn out to be an array; the error is then located at the statement.
    """
    if source is not None and is_literal(source):
        return make
    place = node if source is None or isinstance(source, ast.Name) else source
    var = fn.hold(make(), place, shown=ast.unparse(target))
    return partial(fn.module.read, var, fn.span(place))
