"""Lowers the else branches of loops, in kernels: a variable tells whether a break has left the loop."""

from __future__ import annotations

import ast

from .. import _native
from .labels import Labels


class Loops(Labels):
    """Else branches of loops in one function."""

    def head(self, node: ast.For | ast.While) -> tuple[int, int, int, int, int]:
        """The place of the first line of a loop."""
        raise NotImplementedError

    def body(self, nodes: list[ast.stmt]) -> list[_native.Stmt]:
        raise NotImplementedError

    def before_else(self, node: ast.For | ast.While) -> None:
        """In front of a loop with an else branch: a variable that tells whether it was left by a break."""
        if node.orelse and not self.program.kernel:
            self._refuse_else(node)
        elif node.orelse:
            span = self.span(node.orelse[0])
            var = self.left_by_break[node] = self.temporary(span)
            self.out.append(self.module.assign(var, self.module.constant(False, span), None, span))

    def lower_else(self, node: ast.For | ast.While) -> None:
        var = self.left_by_break.get(node)
        if var is None:
            return
        span = self.span(node.orelse[0])
        self.conditions += 1
        body = self.body(node.orelse)
        self.conditions -= 1
        self.out.append(self.module.if_(self.module.read(var, span), [], body, span))

    def _refuse_else(self, node: ast.For | ast.While) -> None:
        word = "for" if isinstance(node, ast.For) else "while"
        self.error(
            "P012",
            self.span(node.orelse[0]),
            f"the else branch of a {word} loop cannot be compiled",
            "set a variable before 'break' and test it after the loop",
            [(self.head(node), "of this loop")],
        )

    def note_break(self, node: ast.Break) -> None:
        """In front of a break."""
        var = self.left_by_break.get(self.loops[-1][0]) if self.loops else None
        if var is not None:
            span = self.span(node)
            self.out.append(self.module.assign(var, self.module.constant(True, span), None, span))
