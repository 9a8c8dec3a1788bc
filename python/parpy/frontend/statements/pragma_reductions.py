"""Finds the dimensions that the reductions and contractions in an expression over slices reduce, for the pragmas that
name them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from ...pragmas.words import StatementPragma
from ...syntax.patterns import integer_constant, is_none, slices_of
from ...syntax.walks import children
from ..calls.intrinsics import REDUCTIONS, Intrinsic, intrinsic_of
from ..calls.tensors import reduced_axes
from ..scope import FunctionScope

Dimension = ast.Slice | None
"""The slice that runs over it; None where an array without slices does."""

_SUMS = ("sum", "mean")  # the functions for which a pragma has the word sum


class Reduced(NamedTuple):
    """A reduced dimension, and the operator; '' if the operator is unknown."""

    part: Dimension
    operator: str


class Reductions:
    """The reductions in the value of a statement. `without_axis` is called for NumPy functions that reduce more
    dimensions than the pragma names."""

    def __init__(
        self, fn: FunctionScope, pragma: StatementPragma, without_axis: Callable[[ast.Call, str, list[int]], None]
    ) -> None:
        self._fn, self._pragma, self._without_axis = fn, pragma, without_axis

    def of(self, node: ast.AST) -> list[Reduced]:
        """The reduced dimensions in the order of their loops."""
        found: list[Reduced] = []
        factors = self._factors(node)
        if factors is not None:
            found.append(Reduced((self._dimensions(factors[0]) or [None])[-1], "sum"))
        elif isinstance(node, ast.Call) and (call := self._reduction(node)) is not None:
            operand, operator, axes = call
            dimensions = self._dimensions(operand)
            parts = dimensions if axes is None else [dimensions[each % len(dimensions)] for each in axes if dimensions]
            found += [Reduced(part, operator) for part in parts or [None]]
        return found + [each for part in children(node) for each in self.of(part)]

    def _known(self, call: ast.Call) -> Intrinsic | None:
        binding = self._fn.resolve(call.func)
        return None if binding is None else intrinsic_of(binding.value)

    def _factors(self, node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
        """The factors of `A @ x`, mv(A, x), np.dot(A, x); None for other expressions."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return node.left, node.right
        if isinstance(node, ast.Call) and len(node.args) == 2:
            known = self._known(node)
            if known is not None and known.op == "matmul":
                return node.args[0], node.args[1]
        return None

    def _reduction(self, call: ast.Call) -> tuple[ast.expr, str, list[int] | None] | None:
        """The operand, the operator, and the reduced axes, None for all of them; None for other calls."""
        known = self._known(call)
        method = call.func if isinstance(call.func, ast.Attribute) and call.func.attr in REDUCTIONS else None
        if known is None and method is not None and self._fn.resolve(method) is None:
            return method.value, _named(method.attr), self._axes(call, call.args)
        if known is None or not call.args:
            return None
        if known.lowering == "reduce":
            axes = self._axes(call, call.args[1:])
            if axes is None:
                self._check(call, known)
            return call.args[0], _named(known.op), axes
        if known.lowering not in ("sum", "extreme") or len(call.args) > 1 or call.keywords:
            return None
        named = reduced_axes(_slices(self._dimensions(call.args[0])), self._pragma)
        return call.args[0], known.name, named or None

    def _axes(self, call: ast.Call, positional: list[ast.expr]) -> list[int] | None:
        given = [each.value for each in call.keywords if each.arg == "axis"] or positional[:1]
        if not given or is_none(given[0]):
            return None
        numbers = [integer_constant(each) for each in (given[0].elts if isinstance(given[0], ast.Tuple) else given)]
        return [number for number in numbers if number is not None]

    def _check(self, call: ast.Call, known: Intrinsic) -> None:
        dimensions = self._dimensions(call.args[0])
        axes = reduced_axes(_slices(dimensions), self._pragma)
        if len(_slices(dimensions)) == len(dimensions) and axes and len(axes) < len(dimensions):
            self._without_axis(call, known.name, axes)

    def _dimensions(self, node: ast.expr) -> list[Dimension]:
        """The dimensions of an expression's value; [] if no slice shows them."""
        if isinstance(node, ast.Attribute) and node.attr == "T":
            return self._dimensions(node.value)[::-1]
        if (factors := self._factors(node)) is not None:
            left, right = (self._dimensions(each) for each in factors)
            return left[:-1] + (right[:-2] + right[-1:] if len(right) > 1 else [])
        if isinstance(node, ast.Call) and (call := self._reduction(node)) is not None:
            operand, _, axes = call
            dimensions = self._dimensions(operand)
            gone = set() if axes is None else {each % len(dimensions) for each in axes if dimensions}
            return [] if axes is None else [each for number, each in enumerate(dimensions) if number not in gone]
        if isinstance(node, ast.Subscript):
            return [*slices_of(node)]
        parts = (part for part in children(node) if isinstance(part, ast.expr))
        return max(map(self._dimensions, parts), key=len, default=[])


def _slices(dimensions: list[Dimension]) -> list[ast.Slice]:
    return [each for each in dimensions if each is not None]


def _named(operator: str) -> str:
    return "sum" if operator in _SUMS else operator
