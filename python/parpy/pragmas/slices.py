"""Compares the dimensions in a pragma with the slices of its statement: they run over the same range if both bounds
differ by the same constant."""

from __future__ import annotations

import ast
from collections import Counter

from .words import Dim

Bound = ast.expr | None


def runs_over(dim: Dim, part: ast.Slice) -> bool | None:
    """Whether the slice runs over the dimension; None if this is unknown, because a bound is missing or counts from the
    end."""
    if part.step is not None and constant_of(part.step) != 1:
        return False
    low, high = _difference(part.lower, dim.low), _difference(part.upper, dim.high) if part.upper else None
    if part.upper is None or (constant_of(part.upper) or 0) < 0 or (constant_of(part.lower) or 0) < 0:
        return None
    return low is not None and low == high


def constant_of(node: Bound) -> int | None:
    terms = _terms(node)
    return terms.get("", 0) if not set(terms) - {""} else None


def _difference(a: Bound, b: Bound) -> int | None:
    """The difference a - b if it is a constant, otherwise None; a missing bound counts as 0."""
    left, right = _terms(a), _terms(b)
    found = {key: left.get(key, 0) - right.get(key, 0) for key in (*left, *right)}
    return found.pop("", 0) if not any(value for key, value in found.items() if key) else None


def _terms(node: Bound) -> Counter[str]:
    """The expression as a sum: the coefficient of each term; the term '' is the constant 1."""
    if node is None:
        return Counter()
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return Counter({"": int(node.value)})
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return Counter({key: -value for key, value in _terms(node.operand).items()})
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        sign = 1 if isinstance(node.op, ast.Add) else -1
        made = Counter(_terms(node.left))
        for key, value in _terms(node.right).items():
            made[key] += sign * value
        return made
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for factor, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(factor, ast.Constant) and isinstance(factor.value, int):
                return Counter({key: factor.value * value for key, value in _terms(other).items()})
    return Counter({ast.unparse(node): 1})
