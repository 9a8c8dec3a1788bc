"""Parts of strip-mined programs: vectors of subscripts and partial reductions."""

from __future__ import annotations

import ast

from ..syntax.patterns import names_in
from ..syntax.walks import copy_of

IDENTITIES = {"sum": "0", "prod": "1", "max": "float('-inf')", "min": "float('inf')"}


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def shifted(name: str, offset: int) -> str:
    """The text of name + offset."""
    return name if offset == 0 else f"{name} {'+' if offset > 0 else '-'} {abs(offset)}"


def vector(index: str, length: str, bound: str, offset: int = 0) -> ast.expr:
    """`appy.vidx(index, length, bound)`, moved by a constant."""
    moved = bound if offset == 0 else f"({bound}) {'+' if offset > 0 else '-'} {abs(offset)}"
    return expression(f"appy.vidx({shifted(index, offset)}, {length}, {moved})")


def offset_of(node: ast.expr, variable: str) -> int | None:
    """The constant c of `variable + c`; None for other expressions."""
    if isinstance(node, ast.Name):
        return 0 if node.id == variable else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        left, right = node.left, node.right
        if isinstance(node.op, ast.Add) and isinstance(left, ast.Constant):
            left, right = right, left
        if not isinstance(left, ast.Name) or left.id != variable or not isinstance(right, ast.Constant):
            return None
        if isinstance(right.value, int):
            return right.value if isinstance(node.op, ast.Add) else -right.value
    return None


def mentions(node: ast.AST, names: set[str]) -> bool:
    return not names_in(node).isdisjoint(names)


def accumulation(target: str, operator: str, value: ast.expr) -> ast.stmt:
    """The statement that accumulates a vector into a reduction."""
    partial = f"appy.{operator}({ast.unparse(value)})"
    if operator in ("sum", "prod"):
        return ast.parse(f"{target} {'+' if operator == 'sum' else '*'}= {partial}").body[0]
    return ast.parse(f"{target} = {operator}({target}, {partial})").body[0]


def loop(variable: str, low: str, high: str, step: str, body: list[ast.stmt]) -> ast.stmt:
    """The loop ``for variable in range(low, high, step): body``."""
    bounds = f"{low}, {high}" + (f", {step}" if step != "1" else "")
    made = ast.parse(f"for {variable} in range({bounds}):\n    pass").body[0]
    assert isinstance(made, ast.For)
    made.body = body
    return made


def copied(node: ast.expr) -> ast.expr:
    return copy_of(node)
