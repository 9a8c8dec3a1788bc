"""Variables that may have no value where compiled code begins: marks tell whether they have one where it ends."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Mapping, Sequence


def never_assigned(names: Iterable[str]) -> list[ast.stmt]:
    """Statements that make the names those of local variables."""
    return [ast.If(ast.Constant(False), [_assignment(each, 0)], []) for each in sorted(names)]


def marked(nodes: Sequence[ast.stmt], marks: Mapping[str, str]) -> list[ast.stmt]:
    """The statements, which also set the variable `marks[name]` where `name` gets a value."""
    out: list[ast.stmt] = [_at(_assignment(mark, False), nodes[0]) for mark in marks.values()]
    for node in nodes:
        made = _Marked(marks).visit(copy.deepcopy(node))
        out += made if isinstance(made, list) else [made]
    return out


def _assignment(name: str, value: int) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value))


def _at(node: ast.stmt, place: ast.stmt) -> ast.stmt:
    return ast.fix_missing_locations(ast.copy_location(node, place))


class _Marked(ast.NodeTransformer):
    def __init__(self, marks: Mapping[str, str]) -> None:
        self._marks = marks

    def _behind(self, targets: Sequence[ast.expr], place: ast.stmt) -> list[ast.stmt]:
        parts = [part for each in targets for part in ast.walk(each)]
        names = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        return [_at(_assignment(mark, True), place) for name, mark in self._marks.items() if name in names]

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        return [node, *self._behind(node.targets, node)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        return [node, *self._behind([node.target], node)]

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.body = self._behind([node.target], node) + node.body
        return node
