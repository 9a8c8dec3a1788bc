"""Arguments of kernels that are None: `y is None` is known when the kernel is parsed, and what it rules out is left
out. Such a name has no variable and no surface parameter.
"""

from __future__ import annotations

import ast

from .scope import FunctionScope


def is_none(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether `node` is None, or names what is."""
    if not fn.aggregates:
        return False
    if isinstance(node, ast.Constant):
        return node.value is None
    if isinstance(node, ast.Name) and node.id in fn.scope.locals:
        return node.id in fn.nones
    binding = fn.resolve(node) if isinstance(node, ast.Name | ast.Attribute) else None
    if binding is None or binding.value is not None:
        return False
    fn.rely_on(binding)
    return True


def take_none(fn: FunctionScope, name: str) -> None:
    """The parameter is None."""
    fn.nones.add(name)
    fn.absent.add(name)


def known_truth(fn: FunctionScope, node: ast.expr) -> bool | None:
    """Whether a condition holds that compares with None; None of others."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        known = known_truth(fn, node.operand)
        return None if known is None else not known
    if isinstance(node, ast.BoolOp):
        left = undecided(fn, node)
        return known_truth(fn, left[0]) if len(left) == 1 else isinstance(node.op, ast.And) if not left else None
    if not fn.aggregates or not isinstance(node, ast.Compare) or len(node.ops) > 1:
        return None
    sides, is_not = (node.left, node.comparators[0]), isinstance(node.ops[0], ast.IsNot)
    others = [side for side in sides if not (isinstance(side, ast.Constant) and side.value is None)]
    if not isinstance(node.ops[0], ast.Is | ast.IsNot) or len(others) != 1:
        return None
    operand = others[0]
    if not isinstance(operand, ast.Name | ast.Attribute):
        return None
    if isinstance(operand, ast.Name) and operand.id in fn.scope.locals:
        return (operand.id in fn.nones) is not is_not if fn.is_assigned(operand) else None
    binding = fn.resolve(operand)
    if binding is None and isinstance(operand, ast.Name):
        fn.find(operand)  # which tells that there is none
        return is_not
    if binding is None:
        return None
    fn.rely_on(binding)
    return (binding.value is None) is not is_not


def undecided(fn: FunctionScope, node: ast.BoolOp) -> list[ast.expr]:
    """The operands that decide a condition: without those that are known and change nothing, and what follows one
    that settles it."""
    settles = isinstance(node.op, ast.Or)
    left: list[ast.expr] = []
    for value in node.values:
        known = known_truth(fn, value)
        if known is None or known is settles:
            left.append(value)
        if known is settles:
            break
    return left


def decided(fn: FunctionScope, node: ast.expr) -> ast.expr:
    """`x if y is None else y` as what it is."""
    while isinstance(node, ast.IfExp) and (known := known_truth(fn, node.test)) is not None:
        node = node.body if known else node.orelse
    return node
