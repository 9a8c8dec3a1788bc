"""Arithmetic of integer constants of any size, as Python computes it."""

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
MOST_BITS = 4096  # of the integers that constants are computed with


def computed(node: ast.expr, whole: Callable[[ast.expr], int | float | None]) -> int | float | None:
    """What `node` is if `whole` knows its operands and they are integers; None if they are not.

    Raises:
        OverflowError: it has thousands of bits.
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
    """What Python makes of two whole numbers; None where that is an error. OverflowError: of too many bits."""
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
