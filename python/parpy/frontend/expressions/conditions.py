"""Lowers expressions whose parts are evaluated only under a condition: conditions, `and`, `or`, `a if c else b`."""

from __future__ import annotations

import ast
from functools import partial

from ... import _native
from ...syntax.patterns import chooses_place
from ..lowering import lower
from ..scope import FunctionScope
from .effects import has_effects


def condition(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    """The truth of `node`. Only the truth counts, so operands of `and` and `or` need no common type."""
    if isinstance(node, ast.BoolOp):
        result = _truth(fn, node.values[0])
        for value in node.values[1:]:
            right = fn.branch(partial(_truth, fn, value))
            result = short_circuit(fn, _word(node), result, right, node)
        return result
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return fn.module.op("not", [condition(fn, node.operand)], fn.span(node))
    return _lower_place(fn, node)


def _lower_place(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    """A value whose truth counts, perhaps an object."""
    if chooses_place(node):
        fn.program.attributes.add("__bool__")
    return lower(fn, node)


def lower_bool_op(fn: FunctionScope, node: ast.BoolOp) -> _native.Expr:
    """`a and b` as a value, which is the value of one of the operands, as in Python."""
    if all(_is_boolean(value) for value in node.values):
        return condition(fn, node)
    result = _once(fn, node.values[0])
    for value in node.values[1:]:
        right = fn.branch(partial(_once, fn, value))
        result = short_circuit(fn, _word(node), result, right, node)
    return result


def _once(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    """`node` as an expression that may be lowered twice: held in a temporary if it has effects."""
    if has_effects(fn, node):
        return fn.module.read(fn.hold(lower(fn, node), node), fn.span(node))
    return _lower_place(fn, node)


def _truth(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    """bool(node), for an operand of `and` or `or` in a condition."""
    if isinstance(node, ast.BoolOp) or _is_boolean(node):
        return condition(fn, node)
    return fn.module.op("truth", [_lower_place(fn, node)], fn.span(node))


def short_circuit(
    fn: FunctionScope, word: str, left: _native.Expr, right: tuple[_native.Expr, list[_native.Stmt]], node: ast.expr
) -> _native.Expr:
    """`left and right` or `left or right`. The statements of right run only if right is evaluated."""
    value, statements = right
    span = fn.span(node)
    if not statements:
        return fn.module.op(word, [left, value], span)
    var = fn.temporary(span)
    fn.out.append(fn.module.assign(var, left, None, span))
    test = fn.module.read(var, span)
    if word == "or":
        test = fn.module.op("not", [test], span)
    more = [*statements, fn.module.assign(var, value, None, span)]
    fn.out.append(fn.module.if_(test, more, [], span))
    return fn.module.read(var, span)


def lower_ternary(fn: FunctionScope, node: ast.IfExp, named: bool = False) -> _native.Expr:
    """`a if c else b`. With `named`, the result is a name of the chosen array rather than a new array."""
    test = condition(fn, node.test)
    chosen, before_chosen = fn.branch(lambda: lower(fn, node.body))
    other, before_other = fn.branch(lambda: lower(fn, node.orelse))
    return choose(fn, test, (chosen, before_chosen), (other, before_other), node, named)


def choose(
    fn: FunctionScope,
    test: _native.Expr,
    chosen: tuple[_native.Expr, list[_native.Stmt]],
    other: tuple[_native.Expr, list[_native.Stmt]],
    node: ast.expr,
    named: bool = False,
) -> _native.Expr:
    """test ? chosen : other. This is an if statement before the current one if `named`, or if a side has statements."""
    span = fn.span(node)
    if not named and not chosen[1] and not other[1]:
        return fn.module.op("select", [test, chosen[0], other[0]], span)
    var = fn.temporary(span)
    bodies = [[*statements, fn.module.assign(var, value, None, span)] for value, statements in (chosen, other)]
    fn.out.append(fn.module.if_(test, bodies[0], bodies[1], span))
    return fn.module.read(var, span)


def _is_boolean(node: ast.expr) -> bool:
    """Whether `node` is a bool for all types of its operands."""
    if isinstance(node, ast.Compare):
        return True
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.BoolOp):
        return all(_is_boolean(value) for value in node.values)
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _word(node: ast.BoolOp) -> str:
    return "and" if isinstance(node.op, ast.And) else "or"
