"""Small statements between those that Python runs: without loops, calls and arithmetic on whole arrays, they do not
justify a call of compiled code. Python runs them, and checks that compiled code would have the same results.

Each statement is in a `try`. If compiled code would not have its exception or its result, nothing has been stored yet,
and a region of this one statement runs in its place (small_regions.py). The cases are:

- an exception: compiled code divides by zero, and its messages say where a subscript is out of bounds;
- a Python integer beyond 64 bits, also one in the middle of an expression, wraps around there;
- an array among the operands;
- an attribute, or an entry of a dict, that is assigned a number of another type.

The remaining differences are those between plain Python and compiled code: numbers keep NumPy's types, while a region
returns a float for a float64; names need no common type on different paths; NumPy may warn of an overflow; integers
beyond 2**53 are divided exactly.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence

import numpy as np

from ..syntax.names import is_array, is_scalar
from ..syntax.patterns import subscripts_of
from ..syntax.walks import copy_of, walk
from .checks import LEAST, MOST, Checks, named, own
from .liveness import Names
from .python_parts import Resolver
from .unset import at

_CONDITION = own("condition")
_OPERATORS = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr,
    ast.BitXor,
)  # fmt: skip
_COMPARISONS = ast.Eq | ast.NotEq | ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.Is | ast.IsNot
_FUNCTIONS = (abs, int, float, bool, len, math.sqrt)  # functions with equal results in Python and compiled code
_NAMES = (
    "acos acosh asin asinh atan atanh cbrt ceil cos cosh degrees erf erfc exp exp2 expm1 fabs floor gamma isfinite "
    "isinf isnan lgamma log log10 log1p log2 radians sin sinh tan tanh trunc"
)
_UFUNCS = (
    "abs absolute arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh deg2rad exp exp2 expm1 fabs floor "
    "isfinite isinf isnan log log10 log1p log2 rad2deg sign sin sinh sqrt square tan tanh trunc"
)
_OF_ONE = (*_FUNCTIONS, *(getattr(math, n) for n in _NAMES.split()), *(getattr(np, n) for n in _UFUNCS.split()))
_OF_TWO = (math.atan2, math.copysign, math.fmod, math.hypot, np.arctan2, np.hypot, np.maximum, np.minimum)
_LARGEST_EXPONENT = 16


class Small(ast.If):
    """Small statements under a test whether Python runs them; the else branch runs them as a region."""


class SmallStatements:
    """Finds the small statements of a function, and makes the code that Python runs in their place."""

    def __init__(self, resolver: Resolver, others: Names) -> None:
        """`others` are the variables that may have another type in compiled code."""
        self._resolver = resolver
        self._others = others

    # ------------------------------------------------------------ finding small statements

    def are(self, nodes: Sequence[ast.stmt]) -> bool:
        return all(map(self._is_small, nodes))

    def is_condition(self, node: ast.expr) -> bool:
        return self._takes(node, True)

    def _is_small(self, node: ast.stmt) -> bool:
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return True
            case ast.If():
                return self._takes(node.test, True) and self.are(node.body) and self.are(node.orelse)
            case ast.AugAssign(target=ast.Name(id=name)):
                return self._takes(ast.BinOp(ast.Name(name, ast.Load()), node.op, node.value))
            case ast.AugAssign():
                return self._is_target(node.target) and self._takes(ast.BinOp(node.target, node.op, node.value))
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                if not all(isinstance(each, ast.Name) and each.id not in self._others for each in targets):
                    return False
                if isinstance(value, ast.Tuple):
                    return len(value.elts) == len(targets) and all(map(self._takes, value.elts))
                return self._takes(value)
            case ast.Assign(targets=[target], value=value):
                return self._is_target(target) and self._takes(value)
        return False

    def _is_target(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id not in self._others
        return isinstance(node, ast.Attribute | ast.Subscript) and self._takes(node)

    def _takes(self, node: ast.expr, is_test: bool = False) -> bool:
        match node:
            case ast.Name(id=name):
                found = self._resolver.find(node)
                is_number = found is None or is_scalar(found.value)
                return is_number and name not in self._resolver.arrays() and self._is_known(node)
            case ast.Constant(value=value):
                return not isinstance(value, bytes) and value is not Ellipsis and not _is_long(value)
            case ast.Attribute(value=value):
                found = self._resolver.find(node)
                return self._is_base(value) if found is None else is_scalar(found.value)
            case ast.Subscript(value=value):
                return self._is_base(value) and all(map(self._is_index, subscripts_of(node)))
            case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=exponent)):
                return type(exponent) is int and 0 < exponent <= _LARGEST_EXPONENT and self._takes(left)
            case ast.BinOp(left=left, op=op, right=right):
                if isinstance(op, ast.LShift) and not (isinstance(right, ast.Constant) and right.value in range(64)):
                    return False
                return isinstance(op, _OPERATORS) and self._takes(left) and self._takes(right)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._takes(operand, True)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return self._takes(operand)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return all(isinstance(op, _COMPARISONS) for op in ops) and all(map(self._takes, (left, *comparators)))
            case ast.BoolOp(values=values):
                return (is_test or all(map(_is_condition, values))) and all(self._takes(each, True) for each in values)
            case ast.Call(func=func, args=[argument], keywords=[]):
                if not self._calls(func, _OF_ONE):
                    return False
                return self._is_base(argument) if self._calls(func, (len,)) else self._takes(argument)
            case ast.Call(func=func, args=[_, _, *more] as arguments, keywords=[]):
                known = self._calls(func, (min, max)) or (not more and self._calls(func, _OF_TWO))
                return known and all(map(self._takes, arguments))
        return False

    def _is_index(self, node: ast.expr) -> bool:
        constant = node.value if isinstance(node, ast.Constant) else 0
        return type(constant) in (int, str) and not isinstance(node, ast.Compare | ast.BoolOp) and self._takes(node)

    def _is_base(self, node: ast.expr) -> bool:
        """Whether the node may have attributes and elements that are numbers."""
        return self._is_known(node) if isinstance(node, ast.Name) else self._takes(node)

    def _is_known(self, node: ast.Name) -> bool:
        if node.id in self._resolver.scope.locals or node.id.startswith("result_"):
            return node.id not in self._others and self._resolver.find(node) is None
        found = self._resolver.find(node)
        return found is not None and (is_scalar(found.value) or is_array(found.value))

    def _calls(self, func: ast.expr, functions: Sequence[object]) -> bool:
        found = self._resolver.find(func)
        return found is not None and any(found.value is each for each in functions)

    # ------------------------------------------------------------ code for Python

    def by_python(
        self, nodes: Sequence[ast.stmt], again: Callable[[ast.stmt], list[ast.stmt]], light: bool = False
    ) -> list[ast.stmt]:
        """`again` makes the code that runs a statement as a region; `light` also admits arithmetic on arrays."""
        out: list[ast.stmt] = []
        for node in nodes:
            if isinstance(node, ast.If):
                before, test = self.condition(node, again)
                body, orelse = (self.by_python(each, again, light) for each in (node.body, node.orelse))
                out += [*before, at(ast.If(test, body, orelse), node)]
            elif isinstance(node, ast.Assign | ast.AugAssign):
                made = at(Checks(self._calls, "light" if light else "number").statement(copy_of(node)), node)
                handler = ast.ExceptHandler(named("exception"), None, again(node))
                out.append(at(ast.Try([made], [handler], [], []), node))
            else:
                out.append(node)
        return out

    def condition(self, node: ast.If, again: Callable[[ast.stmt], list[ast.stmt]]) -> tuple[list[ast.stmt], ast.expr]:
        """The statements that compute the condition of a branch, and the condition."""
        if not any(isinstance(part, ast.BinOp | ast.Subscript | ast.Call) for part in walk(node.test)):
            return [], node.test
        computed = at(ast.Assign([ast.Name(_CONDITION, ast.Store())], node.test), node)
        return self.by_python([computed], again), ast.Name(_CONDITION, ast.Load())


def _is_long(value: object) -> bool:
    return isinstance(value, int) and not LEAST <= value <= MOST


def _is_condition(node: ast.expr) -> bool:
    if isinstance(node, ast.BoolOp):
        return all(map(_is_condition, node.values))
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
