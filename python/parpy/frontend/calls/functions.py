"""Lowers functions of numbers: builtins, and functions of `math` and `np`. languages.py lists these functions for the
rows of intrinsics.py.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from ... import _native
from ...syntax.names import source_of
from ...syntax.patterns import is_none
from ...syntax.source import FunctionSource
from ..expressions.constants import constant_of, whole_number
from ..expressions.effects import has_effects
from ..expressions.evaluation import lower_all, lower_held, lower_settled
from ..expressions.subscripts import array_of
from ..lowering import lower
from ..scope import FunctionScope
from .intrinsics import Intrinsic

_MOST_DIGITS = 22  # 10**22 is the largest power of ten that a float64 represents exactly
_FLOAT_STRINGS = ("inf", "+inf", "-inf", "infinity", "-infinity", "+infinity", "nan")


def call_library(
    fn: FunctionScope, function: Callable[..., Any], operands: list[_native.Expr], node: ast.expr
) -> _native.Expr:
    """A call of a library function that is itself compiled from Python."""
    callee = fn.helper(_source(function))
    span = fn.span(node)
    call = fn.module.call(callee.function, operands, span)
    fn.calls.append((call, callee, span))
    return call


@cache
def _source(function: Callable[..., Any]) -> FunctionSource:
    return source_of(function)


def lower_where(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """np.where(c, a, b), which evaluates both `a` and `b`."""
    if any(has_effects(fn, argument) for argument in node.args):
        values = [lower_settled(fn, argument)() for argument in node.args]
    else:
        values = lower_all(fn, node.args)
    return by_numpy(fn, fn.module.op("select", values, fn.span(node)), node)


def by_numpy(fn: FunctionScope, value: _native.Expr, node: ast.expr) -> _native.Expr:
    """`value` with the type of a NumPy function's result: a NumPy scalar even if all operands are Python numbers."""
    return fn.module.op("numpy", [value], fn.span(node))


def lower_ufunc(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    return by_numpy(fn, lower_op(fn, node, intrinsic), node)


def lower_op(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    operands = lower_all(fn, node.args)
    return fn.module.op(intrinsic.op, operands, fn.span(node))


def lower_dot(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """np.dot(a, b), which is `a @ b` if `b` has at most two dimensions."""
    product = lower_op(fn, node, intrinsic)
    fn.module.set_dot(product)
    return product


def lower_float_op(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    operands = lower_all(fn, node.args, _python_float)
    return fn.module.op(intrinsic.op, operands, fn.span(node))


def _python_float(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    """float(node), as the functions of `math` take their operands."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return constant_of(fn, float(node.value), node)
    return fn.module.op("float", [lower(fn, node)], fn.span(node))


def lower_complex_op(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    return fn.module.op(intrinsic.op, lower_all(fn, node.args, _python_complex), fn.span(node))


def lower_complex(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    return _python_complex(fn, node.args[0]) if len(node.args) == 1 else lower_float_op(fn, node, intrinsic)


def _python_complex(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    """complex(node), as the functions of `cmath` take their operands."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex):
        return constant_of(fn, complex(node.value), node)
    again, span = lower_held(fn, node), fn.span(node)
    parts = [fn.module.op("float", [fn.module.op(name, [again()], span)], span) for name in ("real", "imag")]
    return fn.module.op("complex", parts, span)


def lower_float(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    argument = node.args[0]
    text = argument.value if isinstance(argument, ast.Constant) else None
    if isinstance(text, str) and text.strip().lower() in _FLOAT_STRINGS:
        return constant_of(fn, float(text), node)
    known = whole_number(fn, argument)
    if isinstance(known, int) and known.bit_length() < 1024:
        return constant_of(fn, float(known), node)
    return fn.module.op("float", [lower(fn, argument)], fn.span(node))


def lower_round(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """round(x) is a Python integer; round(x, n) and np.round(x, n) have the type of `x`."""
    span = fn.span(node)
    name = intrinsic.keywords[0]
    digits = node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords), None)
    if len(node.args) > 1 and node.keywords:
        fn.error("P023", node, f"'{intrinsic.name}' gets two values for '{name}'", "leave one out")
    of_numpy = intrinsic.op == "numpy"
    absent = digits is None or (not of_numpy and is_none(digits))
    count = 0 if digits is None or absent else whole_number(fn, digits)
    if not isinstance(count, int) or abs(count) > _MOST_DIGITS:
        fn.error(
            "P023",
            digits or node,
            f"'{intrinsic.name}' takes an integer constant as its number of digits in compiled code, "
            f"from -{_MOST_DIGITS} to {_MOST_DIGITS}",
            f"write for example {intrinsic.name}({ast.unparse(node.args[0])}, 2)",
        )
        return fn.poison(node)
    make = partial(lower, fn, node.args[0]) if of_numpy or absent else lower_held(fn, node.args[0])
    rounded = fn.module.op("round", [make(), fn.module.constant(count, span)], span)
    if of_numpy:
        return by_numpy(fn, rounded, node)
    if absent:
        return fn.module.op("int", [rounded], span)
    return rounded if count >= 0 or fn.kernel else _in_range(fn, make, rounded, node)


def _in_range(
    fn: FunctionScope, number: Callable[[], _native.Expr], rounded: _native.Expr, node: ast.Call
) -> _native.Expr:
    """The result of round(number, -1). For Python integers, a changed sign shows that 64 bits are too few. NumPy's
    integers wrap around, and -2**63 is no multiple of ten."""
    span, module = fn.span(node), fn.module
    result = fn.hold(rounded, node)
    real = partial(module.op, "real")  # an error for complex numbers is reported elsewhere

    def test(left: _native.Expr, op: str, right: int) -> _native.Expr:
        return module.op(op, [left, module.constant(right, span)], span)

    above = [test(real([number()], span), ">", 2**62), test(module.read(result, span), "<", 0)]
    below = [test(real([number()], span), "<", -(2**62)), test(module.read(result, span), ">", 0)]
    wraps = module.op("or", [module.op("and", above, span), module.op("and", below, span)], span)
    is_wrong = module.op("and", [wraps, test(module.read(result, span), "!=", -(2**63))], span)
    fail = module.fail("P428", "the rounded integer needs more than 64 bits", [], span)
    fn.out.append(module.if_(is_wrong, [fail], [], span))
    return module.read(result, span)


def lower_whole(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """math.floor(x), math.ceil(x) and math.trunc(x), which return a Python integer."""
    span = fn.span(node)
    rounded = fn.module.op(intrinsic.op, [lower(fn, node.args[0])], span)
    return fn.module.op("int", [rounded], span)


def lower_fold(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    return _fold(fn, node, intrinsic.op, lower_all(fn, node.args))


def lower_index_fold(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """math.gcd and math.lcm of the magnitudes, as unsigned numbers of 64 bits."""
    span = fn.span(node)
    operands = [
        fn.module.op("abs", [_python_index(fn, value, part)], span)
        for value, part in zip(lower_all(fn, node.args), node.args, strict=True)
    ]
    return fn.module.op("int", [_fold(fn, node, intrinsic.op, operands)], span)


def _python_index(fn: FunctionScope, value: _native.Expr, node: ast.expr) -> _native.Expr:
    """operator.index(node), as the functions of `math` on integers take their operands."""
    return fn.module.op("as_index", [value], fn.span(node))


def lower_float_fold(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    operands = lower_all(fn, node.args, _python_float)
    if len(operands) == 1:
        return fn.module.op("abs", operands, fn.span(node))
    return fn.module.op("float", [_fold(fn, node, intrinsic.op, operands)], fn.span(node))


def _fold(fn: FunctionScope, node: ast.Call, op: str, operands: list[_native.Expr]) -> _native.Expr:
    result = operands[0]
    for operand in operands[1:]:
        result = fn.module.op(op, [result, operand], fn.span(node))
    return result


def lower_fabs(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    """np.fabs: abs with a float result also for integers. The sign `True` does not affect the type of copysign."""
    span = fn.span(node)
    sign = fn.module.constant(True, span)
    return by_numpy(fn, fn.module.op("copysign", [lower(fn, node.args[0]), sign], span), node)


def lower_log(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    span = fn.span(node)
    parts = [fn.module.op("log", [value], span) for value in lower_all(fn, node.args, _python_float)]
    return parts[0] if len(parts) == 1 else fn.module.op("/", parts, span)


def lower_logical(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    span = fn.span(node)
    truths = [fn.module.op("truth", [value], span) for value in lower_all(fn, node.args)]
    return by_numpy(fn, fn.module.op(intrinsic.op, truths, span), node)


def lower_clip(fn: FunctionScope, node: ast.Call, _: Intrinsic) -> _native.Expr:
    """np.clip(x, low, high), which treats a Python number `x` as a NumPy scalar; None is no bound."""
    bounds: dict[str, ast.expr] = dict(zip(("maximum", "minimum"), node.args[1:], strict=False))
    for each in node.keywords:
        bounds["maximum" if each.arg in ("a_min", "min") else "minimum"] = each.value
    bounds = {op: bound for op, bound in bounds.items() if not is_none(bound)}
    value, *limits = lower_all(fn, [node.args[0], *bounds.values()])
    value = by_numpy(fn, value, node.args[0])
    for op, limit in sorted(zip(bounds, limits, strict=True), key=lambda bound: bound[0]):
        value = fn.module.op(op, [value, limit], fn.span(node))
    return value


def lower_outer(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """np.outer(a, b), which is a[:, None] * b[None, :], and np.add.outer(a, b)."""
    span = fn.span(node)
    arrays = [array_of(fn, part) for part in node.args]
    found = [array for array in arrays if array is not None]
    for array in found:
        has_one = fn.op("==", node, fn.module.rank(array, span), fn.integer(1, node))
        message = f"'{intrinsic.name}' takes arrays of one dimension here"
        fail = fn.module.fail("P232", message, [], span, python_may_call=True)
        fn.out.append(fn.module.if_(has_one, [], [fail], span))
    if len(found) < 2:
        return fn.poison(node)
    axes = [fn.op("newaxis", node) for _ in found]
    whole = [fn.module.slice(None, None, None, span) for _ in found]
    column = fn.module.load(found[0], [whole[0], axes[0]], span)
    row = fn.module.load(found[1], [axes[1], whole[1]], span)
    return fn.module.op(intrinsic.op, [column, row], span)
