"""Lowers the functions of numbers, of `math`, of `np` and builtin ones: one method `lower_<lowering>` for each kind of
row in _intrinsics.py.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from . import _native
from ._frontend_arrays import with_axis
from ._frontend_expressions import Expressions
from ._intrinsics import Intrinsic

_FLOAT_STRINGS = ("inf", "+inf", "-inf", "infinity", "-infinity", "+infinity", "nan")


class Functions(Expressions):
    """Functions of numbers."""

    def lower_where(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        """np.where(c, a, b), whose `a` and `b` are both evaluated."""
        if any(self.has_effects(argument) for argument in node.args):
            values = [self.lower_settled(argument)() for argument in node.args]
        else:
            values = self.lower_all(node.args)
        return self.module.op("select", values, self.span(node))

    def lower_op(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        operands = self.lower_all(node.args)
        return self.module.op(intrinsic.op, operands, self.span(node))

    def lower_float_op(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        operands = self.lower_all(node.args, self.python_float)
        return self.module.op(intrinsic.op, operands, self.span(node))

    def python_float(self, node: ast.expr) -> _native.Expr:
        """float(node), as the functions of `math` take their operands."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return self.constant(float(node.value), node)
        return self.module.op("float", [self.lower(node)], self.span(node))

    def lower_float(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        argument = node.args[0]
        text = argument.value if isinstance(argument, ast.Constant) else None
        if isinstance(text, str) and text.strip().lower() in _FLOAT_STRINGS:
            return self.constant(float(text), node)
        known = self.whole(argument)
        if isinstance(known, int) and known.bit_length() < 1024:
            return self.constant(float(known), node)
        return self.module.op("float", [self.lower(argument)], self.span(node))

    def lower_whole(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        """round(x), math.floor(x), …: a Python integer."""
        span = self.span(node)
        rounded = self.module.op(intrinsic.op, [self.lower(node.args[0])], span)
        return self.module.op("int", [rounded], span)

    def lower_fold(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        return self._fold(node, intrinsic.op, self.lower_all(node.args))

    def lower_index_fold(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        operands = [
            self.python_index(value, part) for value, part in zip(self.lower_all(node.args), node.args, strict=True)
        ]
        return self._fold(node, intrinsic.op, operands)

    def python_index(self, value: _native.Expr, node: ast.expr) -> _native.Expr:
        """operator.index(node), as the functions of `math` on integers take their operands."""
        return self.module.op("as_index", [value], self.span(node))

    def lower_float_fold(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        operands = self.lower_all(node.args, self.python_float)
        if len(operands) == 1:
            return self.module.op("abs", operands, self.span(node))
        return self._fold(node, intrinsic.op, operands)

    def _fold(self, node: ast.Call, op: str, operands: list[_native.Expr]) -> _native.Expr:
        result = operands[0]
        for operand in operands[1:]:
            result = self.module.op(op, [result, operand], self.span(node))
        return result

    # Functions of `math` that others express; what they need more than once is held.

    def _held(self, value: _native.Expr, node: ast.expr) -> Callable[[], _native.Expr]:
        var, span = self.hold(value, node), self.span(node)
        return lambda: self.module.read(var, span)

    def lower_isclose(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        """With the default tolerance; infinities are close to themselves alone."""
        op, span = self.module.op, self.span(node)
        a, b = (self._held(self.python_float(part), part) for part in node.args)
        gap = self._held(op("abs", [op("-", [a(), b()], span)], span), node)
        most = op("max", [op("abs", [a()], span), op("abs", [b()], span)], span)
        near = op("<=", [gap(), op("*", [most, self.module.constant(1e-9, span)], span)], span)
        near = op("and", [near, op("isfinite", [gap()], span)], span)
        return op("or", [op("==", [a(), b()], span), near], span)

    def lower_isqrt(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        """The root of the number as a float is off by one at most."""
        op, span = self.module.op, self.span(node)
        number = self._held(self.python_index(self.lower(node.args[0]), node), node)
        near = op("floor", [op("sqrt", [op("float", [number()], span)], span)], span)
        root = self._held(op("int", [near], span), node)

        def shifted(by: int) -> _native.Expr:
            return op("+", [root(), self.module.constant(by, span)], span)

        grown = op("<=", [op("*", [shifted(1), shifted(1)], span), number()], span)
        shrunk = op(">", [op("*", [root(), root()], span), number()], span)
        return op("select", [shrunk, shifted(-1), op("select", [grown, shifted(1), root()], span)], span)

    def lower_ldexp(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        """x * 2**i in two steps: neither power leaves the range where the product does not."""
        op, span = self.module.op, self.span(node)
        x, power = self.lower_all(node.args)
        whole = self._held(op("int", [power], span), node)
        half = self._held(op("//", [whole(), self.module.constant(2, span)], span), node)
        for part in (half(), op("-", [whole(), half()], span)):
            x = op("*", [x, op("exp2", [op("float", [part], span)], span)], span)
        return x

    def lower_fabs(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        """np.fabs: as abs, but integers become floats. `True` as the sign leaves the type to the number."""
        span = self.span(node)
        return self.module.op("copysign", [self.lower(node.args[0]), self.module.constant(True, span)], span)

    def lower_log(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        span = self.span(node)
        parts = [self.module.op("log", [value], span) for value in self.lower_all(node.args, self.python_float)]
        return parts[0] if len(parts) == 1 else self.module.op("/", parts, span)

    def lower_logical(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        span = self.span(node)
        truths = [self.module.op("truth", [value], span) for value in self.lower_all(node.args)]
        return self.module.op(intrinsic.op, truths, span)

    def lower_clip(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        value, low, high = self.lower_all(node.args)
        span = self.span(node)
        return self.module.op("minimum", [self.module.op("maximum", [value, low], span), high], span)

    def lower_outer(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        """np.outer(a, b): a[:, None] * b[None, :]."""
        column, row = (with_axis(part, first) for part, first in zip(node.args, (False, True), strict=True))
        if column is None or row is None:
            self.error(
                "P023",
                node,
                "'np.outer' takes arrays and slices of one dimension",
                "write it out: a[:, None] * b[None, :]",
            )
            return self.poison(node)
        return self.module.op("*", self.lower_all([column, row]), self.span(node))
