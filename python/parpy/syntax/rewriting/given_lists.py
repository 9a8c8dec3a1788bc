"""Lists and tuples that are written out as arguments of functions of NumPy, or as operands beside arrays, as arrays:
`np.argmin([a, b])` is `np.argmin(np.array([a, b]))`, and `x - [a, b]` is `x - np.array([a, b])`. Operators that lists
and tuples have stay as they are: whether `t[1:] + (a, b)` is a sum depends on t."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

import numpy as np

from ..imports import imports_of
from ..patterns import Function
from ..vectors import outside
from ..walks import copy_of, walk

_REDUCTIONS = (
    "all amax amin any argmax argmin argsort average count_nonzero cumprod cumsum diff max mean median min nanmax "
    "nanmean nanmin nanstd nansum nanvar percentile prod ptp quantile sort std sum trapezoid unique var"
)
# Functions of which every argument may be an array.
_OTHERS = "allclose array_equal around clip convolve cross dot einsum inner isclose isin kron outer round vdot where"
_NOT_OF_LISTS = ast.Sub | ast.Div | ast.FloorDiv | ast.Pow
_BY_ONE = frozenset(getattr(np, name) for name in _REDUCTIONS.split() if hasattr(np, name)) | {np.linalg.norm}
_BY_ALL = frozenset(getattr(np, name) for name in _OTHERS.split())


def with_arrays(node: Function, function: FunctionType) -> Function:
    """A copy of the function with arrays in place of such lists."""
    if not any(isinstance(part, ast.List | ast.Tuple) and isinstance(part.ctx, ast.Load) for part in walk(node)):
        return node
    visitor = _Arrays(function)
    made: Function = visitor.visit(copy_of(node))
    return made if visitor.has_made else node


def _is_spelled_out(node: ast.expr) -> bool:
    """Whether it is a display of numbers, or of rows of numbers."""
    if not isinstance(node, ast.List | ast.Tuple) or not node.elts:
        return False
    others = ast.Starred | ast.ListComp | ast.GeneratorExp | ast.Dict | ast.Set | ast.JoinedStr
    return all(
        not isinstance(part, others) and not (isinstance(part, ast.Constant) and isinstance(part.value, str))
        for part in node.elts
    ) and (not isinstance(node.elts[0], ast.List | ast.Tuple) or all(map(_is_spelled_out, node.elts)))


class _Arrays(ast.NodeTransformer):
    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self.has_made = False

    def _numpy(self) -> str | None:
        """A name of NumPy outside of the function."""
        code = self._function.__code__
        for name in (*code.co_names, *code.co_freevars, *imports_of(self._function)):
            if outside(ast.Name(name, ast.Load()), self._function) is np:
                return name
        return None

    def _array(self, node: ast.expr) -> ast.expr:
        name = self._numpy()
        if name is None:
            return node
        self.has_made = True
        made = ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "array", ast.Load()), [node], [])
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def _called(self, node: ast.expr) -> Any:
        return outside(node.func, self._function) if isinstance(node, ast.Call) else None

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = self._called(node)
        by_one = _is_among(called, _BY_ONE)
        if by_one or isinstance(called, np.ufunc) or _is_among(called, _BY_ALL):
            count = 1 if by_one else len(node.args)
            given = [self._array(each) if _is_spelled_out(each) else each for each in node.args[:count]]
            node.args = [*given, *node.args[count:]]
        return node

    def _is_array(self, node: ast.expr) -> bool:
        """Whether the text shows that it is an array which NumPy makes."""
        return self._called(node) is np.array

    def _is_beside_array(self, node: ast.expr, other: ast.expr, operator: ast.operator) -> bool:
        """Whether a display is an operand beside an array: lists and tuples themselves have no such operator, or the
        other operand is an array."""
        alone = isinstance(operator, _NOT_OF_LISTS) and isinstance(node, ast.List)
        alone = (alone or isinstance(operator, ast.MatMult)) and isinstance(other, ast.Name | ast.BinOp | ast.Subscript)
        return _is_spelled_out(node) and (alone or self._is_array(other))

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if self._is_beside_array(node.right, node.left, node.op):
            node.right = self._array(node.right)
        elif self._is_beside_array(node.left, node.right, node.op):
            node.left = self._array(node.left)
        return node


def _is_among(value: Any, functions: frozenset[Any]) -> bool:
    return any(value is each for each in functions)
