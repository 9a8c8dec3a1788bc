"""Lowers the functions of numbers, of `math`, of `np` and builtin ones: one method `lower_<lowering>` for each kind of
row in intrinsics.py.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from .. import _native
from .arrays import with_axis
from .expressions import Expressions
from .intrinsics import Intrinsic

_MOST_DIGITS = 22  # powers of ten up to there are floats exactly
_FLOAT_STRINGS = ("inf", "+inf", "-inf", "infinity", "-infinity", "+infinity", "nan")


class Functions(Expressions):
    """Functions of numbers."""

    def lower_where(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        """np.where(c, a, b), whose `a` and `b` are both evaluated."""
        if any(self.has_effects(argument) for argument in node.args):
            values = [self.lower_settled(argument)() for argument in node.args]
        else:
            values = self.lower_all(node.args)
        return self.by_numpy(self.module.op("select", values, self.span(node)), node)

    def by_numpy(self, value: _native.Expr, node: ast.expr) -> _native.Expr:
        """`value` as a function of NumPy gives it: of Python numbers alone its operator makes NumPy's."""
        return self.module.op("numpy", [value], self.span(node))

    def lower_ufunc(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        return self.by_numpy(self.lower_op(node, intrinsic), node)

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

    def lower_complex_op(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        return self.module.op(intrinsic.op, self.lower_all(node.args, self.python_complex), self.span(node))

    def lower_complex(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        return self.python_complex(node.args[0]) if len(node.args) == 1 else self.lower_float_op(node, intrinsic)

    def python_complex(self, node: ast.expr) -> _native.Expr:
        """complex(node), as the functions of `cmath` take their operands."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex):
            return self.constant(complex(node.value), node)
        again, span = self.lower_held(node), self.span(node)
        parts = [self.module.op("float", [self.module.op(name, [again()], span)], span) for name in ("real", "imag")]
        return self.module.op("complex", parts, span)

    def lower_pair(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        self.error(
            "P011",
            node,
            f"the two results of '{intrinsic.name}' are not assigned to two variables",
            f"write a, b = {ast.unparse(node)}",
        )
        return self.poison(node)

    def lower_float(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        argument = node.args[0]
        text = argument.value if isinstance(argument, ast.Constant) else None
        if isinstance(text, str) and text.strip().lower() in _FLOAT_STRINGS:
            return self.constant(float(text), node)
        known = self.whole(argument)
        if isinstance(known, int) and known.bit_length() < 1024:
            return self.constant(float(known), node)
        return self.module.op("float", [self.lower(argument)], self.span(node))

    def lower_round(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        """round(x) is a Python integer; round(x, n) and np.round(x, n) have the type of `x`."""
        span = self.span(node)
        name = intrinsic.keywords[0]
        digits = node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords), None)
        if len(node.args) > 1 and node.keywords:
            self.error("P023", node, f"'{intrinsic.name}' gets two values for '{name}'", "leave one out")
        by_numpy = intrinsic.op == "numpy"
        absent = digits is None or (not by_numpy and isinstance(digits, ast.Constant) and digits.value is None)
        count = 0 if digits is None or absent else self.whole(digits)
        if not isinstance(count, int) or abs(count) > _MOST_DIGITS:
            self.error(
                "P023",
                digits or node,
                f"'{intrinsic.name}' takes an integer constant as its number of digits in compiled code, "
                f"from -{_MOST_DIGITS} to {_MOST_DIGITS}",
                f"write for example {intrinsic.name}({ast.unparse(node.args[0])}, 2)",
            )
            return self.poison(node)
        make = partial(self.lower, node.args[0]) if by_numpy or absent else self.lower_held(node.args[0])
        rounded = self.module.op("round", [make(), self.module.constant(count, span)], span)
        if by_numpy:
            return self.by_numpy(rounded, node)
        if absent:
            return self.module.op("int", [rounded], span)
        return rounded if count >= 0 or self.program.kernel else self._in_range(make, rounded, node)

    def _in_range(self, number: Callable[[], _native.Expr], rounded: _native.Expr, node: ast.Call) -> _native.Expr:
        """What round(number, -1) gives. Of Python integers it has the other sign where 64 bits are too few. -2**63 is
        no multiple of ten: NumPy's numbers become it."""
        span, module = self.span(node), self.module
        result = self.hold(rounded, node)
        real = partial(module.op, "real")  # of complex numbers there is an error already

        def test(left: _native.Expr, op: str, right: int) -> _native.Expr:
            return module.op(op, [left, module.constant(right, span)], span)

        above = [test(real([number()], span), ">", 2**62), test(module.read(result, span), "<", 0)]
        below = [test(real([number()], span), "<", -(2**62)), test(module.read(result, span), ">", 0)]
        wraps = module.op("or", [module.op("and", above, span), module.op("and", below, span)], span)
        is_wrong = module.op("and", [wraps, test(module.read(result, span), "!=", -(2**63))], span)
        fail = module.fail("P428", "the rounded integer needs more than 64 bits", [], span)
        self.out.append(module.if_(is_wrong, [fail], [], span))
        return module.read(result, span)

    def lower_whole(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        """math.floor(x), …: a Python integer."""
        span = self.span(node)
        rounded = self.module.op(intrinsic.op, [self.lower(node.args[0])], span)
        return self.module.op("int", [rounded], span)

    def lower_fold(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        return self._fold(node, intrinsic.op, self.lower_all(node.args))

    def lower_index_fold(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        """math.gcd and math.lcm. Magnitudes: all of them are numbers of 64 bits without a sign."""
        span = self.span(node)
        operands = [
            self.module.op("abs", [self.python_index(value, part)], span)
            for value, part in zip(self.lower_all(node.args), node.args, strict=True)
        ]
        return self.module.op("int", [self._fold(node, intrinsic.op, operands)], span)

    def python_index(self, value: _native.Expr, node: ast.expr) -> _native.Expr:
        """operator.index(node), as the functions of `math` on integers take their operands."""
        return self.module.op("as_index", [value], self.span(node))

    def lower_float_fold(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        operands = self.lower_all(node.args, self.python_float)
        if len(operands) == 1:
            return self.module.op("abs", operands, self.span(node))
        return self.module.op("float", [self._fold(node, intrinsic.op, operands)], self.span(node))

    def _fold(self, node: ast.Call, op: str, operands: list[_native.Expr]) -> _native.Expr:
        result = operands[0]
        for operand in operands[1:]:
            result = self.module.op(op, [result, operand], self.span(node))
        return result

    def lower_fabs(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        """np.fabs: as abs, but integers become floats. `True` as the sign leaves the type to the number."""
        span = self.span(node)
        sign = self.module.constant(True, span)
        return self.by_numpy(self.module.op("copysign", [self.lower(node.args[0]), sign], span), node)

    def lower_log(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        span = self.span(node)
        parts = [self.module.op("log", [value], span) for value in self.lower_all(node.args, self.python_float)]
        return parts[0] if len(parts) == 1 else self.module.op("/", parts, span)

    def lower_logical(self, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
        span = self.span(node)
        truths = [self.module.op("truth", [value], span) for value in self.lower_all(node.args)]
        return self.by_numpy(self.module.op(intrinsic.op, truths, span), node)

    def lower_clip(self, node: ast.Call, _: Intrinsic) -> _native.Expr:
        """np.clip(x, low, high), which makes an array of `x` first: a Python number counts as NumPy's."""
        value, low, high = self.lower_all(node.args)
        span = self.span(node)
        raised = self.module.op("maximum", [self.by_numpy(value, node.args[0]), low], span)
        return self.module.op("minimum", [raised, high], span)

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
