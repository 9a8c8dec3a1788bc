"""Arguments of kernels that are None: `y is None` is known when the kernel is parsed, and what it rules out is left
out. Such a name has no variable and no surface parameter.
"""

from __future__ import annotations

import ast

from .records import Records


class Nones(Records):
    """What is None in one function."""

    def is_none(self, node: ast.expr) -> bool:
        """Whether `node` is None, or names what is."""
        if not (self.has_views and self.program.kernel):
            return False
        if isinstance(node, ast.Constant):
            return node.value is None
        if isinstance(node, ast.Name) and node.id in self.scope.locals:
            return node.id in self.nones
        binding = self.resolve(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if binding is None or binding.value is not None:
            return False
        self.rely_on(binding)
        return True

    def take_none(self, name: str) -> None:
        """The parameter is None."""
        self.nones.add(name)
        self.absent.add(name)

    def known_truth(self, node: ast.expr) -> bool | None:
        """Whether a condition holds that compares with None; None of others."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            known = self.known_truth(node.operand)
            return None if known is None else not known
        if isinstance(node, ast.BoolOp):
            left = self.undecided(node)
            return self.known_truth(left[0]) if len(left) == 1 else isinstance(node.op, ast.And) if not left else None
        if not (self.has_views and self.program.kernel) or not isinstance(node, ast.Compare) or len(node.ops) > 1:
            return None
        sides, is_not = (node.left, node.comparators[0]), isinstance(node.ops[0], ast.IsNot)
        others = [side for side in sides if not (isinstance(side, ast.Constant) and side.value is None)]
        if not isinstance(node.ops[0], ast.Is | ast.IsNot) or len(others) != 1:
            return None
        operand = others[0]
        if not isinstance(operand, ast.Name | ast.Attribute):
            return None
        if isinstance(operand, ast.Name) and operand.id in self.scope.locals:
            return (operand.id in self.nones) is not is_not if self.is_assigned(operand) else None
        binding = self.resolve(operand)
        if binding is None and isinstance(operand, ast.Name):
            self.find(operand)  # which tells that there is none
            return is_not
        if binding is None:
            return None
        self.rely_on(binding)
        return (binding.value is None) is not is_not

    def undecided(self, node: ast.BoolOp) -> list[ast.expr]:
        """The operands that decide a condition: without those that are known and change nothing, and what follows one
        that settles it."""
        settles = isinstance(node.op, ast.Or)
        left: list[ast.expr] = []
        for value in node.values:
            known = self.known_truth(value)
            if known is None or known is settles:
                left.append(value)
            if known is settles:
                break
        return left

    def chosen(self, node: ast.expr) -> ast.expr:
        """`x if y is None else y` as what it is."""
        while isinstance(node, ast.IfExp) and (known := self.known_truth(node.test)) is not None:
            node = node.body if known else node.orelse
        return node

    def refuse_none(self, node: ast.Name) -> None:
        name = node.id
        self.error(
            "P204", node, f"argument '{name}' is None here", f"compare it before it is used: if {name} is not None"
        )
