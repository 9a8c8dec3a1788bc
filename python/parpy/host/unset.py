"""Variables that may have no value where compiled code begins: marks tell whether they have one where it ends."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

NO_VALUE = "__parpy_no_value__"  # what stands for the value of a variable that has none


def never_assigned(names: Iterable[str]) -> list[ast.stmt]:
    """Statements that make the names those of local variables."""
    return [ast.If(ast.Constant(False), [_assignment(each, 0)], []) for each in sorted(names)]


def marked(nodes: Sequence[ast.stmt], marks: Mapping[str, str]) -> list[ast.stmt]:
    """The statements, which also set the variable `marks[name]` where `name` gets a value."""
    out: list[ast.stmt] = [at(_assignment(mark, False), nodes[0]) for mark in marks.values()]
    for node in nodes:
        made = _Marked(marks).visit(copy.deepcopy(node))
        out += made if isinstance(made, list) else [made]
    return out


def without_arrays(
    nodes: Sequence[ast.stmt], names: frozenset[str], spare: str, is_label: Callable[[ast.stmt], bool]
) -> list[ast.stmt]:
    """The statements where arrays of these names have no value: what would use one reads the name, a variable, into
    the `spare` one."""
    out: list[ast.stmt] = []
    for node in nodes:
        headers = _headers(node)
        found = _used(node, names) if headers is None else None
        if found is not None:
            labels: list[ast.stmt] = []
            while out and is_label(out[-1]):
                labels.append(out.pop())
            out += _reading(found, spare, node, labels)
            continue
        made = copy.copy(node)
        for field in () if headers is None else ("body", "orelse"):
            if hasattr(node, field):
                setattr(made, field, without_arrays(getattr(node, field), names, spare, is_label))
        for field in headers or ():
            found = _used(getattr(node, field), names)
            if found is not None:
                read: ast.expr = ast.Name(found, ast.Load())
                setattr(made, field, _up_to(read) if isinstance(node, ast.For) else read)
        out.append(at(made, node))
    return out


def _headers(node: ast.stmt) -> tuple[str, ...] | None:
    """The fields of a compound statement that are evaluated in front of its body."""
    if isinstance(node, ast.For):
        return ("iter",)
    if isinstance(node, ast.With):
        return ()
    return ("test",) if isinstance(node, ast.If | ast.While) else None


def _used(node: ast.AST, names: frozenset[str]) -> str | None:
    found = (part.id for part in ast.walk(node) if isinstance(part, ast.Name))
    return next((name for name in found if name in names), None)


def _reading(name: str, spare: str, place: ast.stmt, labels: Sequence[ast.stmt]) -> list[ast.stmt]:
    """A statement that reads the variable; `labels`, innermost first, name loops around it."""
    target = ast.Name(spare, ast.Store())
    made: list[ast.stmt] = [at(ast.Assign([target], ast.Name(name, ast.Load())), place)]
    for label in labels:
        made = [label, at(ast.For(target, _up_to(ast.Name(name, ast.Load())), made, []), place)]
    return made


def _up_to(end: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("range", ast.Load()), [end], [])


def _assignment(name: str, value: int) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value))


def at(node: Any, place: ast.stmt | ast.expr) -> Any:
    return ast.fix_missing_locations(ast.copy_location(node, place))


class _Marked(ast.NodeTransformer):
    def __init__(self, marks: Mapping[str, str]) -> None:
        self._marks = marks

    def _behind(self, targets: Sequence[ast.expr], place: ast.stmt) -> list[ast.stmt]:
        parts = [part for each in targets for part in ast.walk(each)]
        names = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        return [at(_assignment(mark, True), place) for name, mark in self._marks.items() if name in names]

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        return [node, *self._behind(node.targets, node)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        return [node, *self._behind([node.target], node)]

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.body = self._behind([node.target], node) + node.body
        return node
