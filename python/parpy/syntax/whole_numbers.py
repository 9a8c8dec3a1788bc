"""Exact arithmetic on integer constants of any size, as in Python."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

_WHOLE: dict[type[ast.operator] | type[ast.unaryop], Callable[..., int | float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
}  # fmt: skip
MOST_BITS = 4096  # the most bits of an integer in computations of constants


def computed(node: ast.expr, whole: Callable[[ast.expr], int | float | None]) -> int | float | None:
    """The value of `node` if `whole` gives integers for its operands; otherwise None.

    Raises:
        OverflowError: The value has more than MOST_BITS bits.
    """
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.UnaryOp) and type(node.op) in _WHOLE:
        value = whole(node.operand)
        return _WHOLE[type(node.op)](value) if isinstance(value, int) else None
    if not isinstance(node, ast.BinOp):
        return None
    left = whole(node.left)
    right = whole(node.right) if isinstance(left, int) else None
    return combined(node.op, left, right) if isinstance(left, int) and isinstance(right, int) else None


def combined(op: ast.operator, left: int, right: int) -> int | float | None:
    """The result of an operator on two integers; None if it is an error. Raises OverflowError for too many bits."""
    bits = 0
    if type(op) not in _WHOLE or (isinstance(op, ast.Pow | ast.LShift | ast.RShift) and right < 0):
        return None
    if isinstance(op, ast.Pow) and abs(left) > 1:
        bits = left.bit_length() * right
    elif isinstance(op, ast.LShift) and left != 0:
        bits = left.bit_length() + right
    elif isinstance(op, ast.Mult):
        bits = left.bit_length() + right.bit_length()
    if bits > MOST_BITS:
        raise OverflowError
    divides = isinstance(op, ast.FloorDiv | ast.Mod | ast.Div)
    return None if right == 0 and divides else _WHOLE[type(op)](left, right)
