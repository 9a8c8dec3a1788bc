"""Variables that may have no value at the beginning of compiled code. Marks tell at its end whether they have one."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from ..syntax.walks import children, copy_of, walk

NO_VALUE = "__parpy_no_value__"  # the name of the value in place of a missing one


def never_assigned(names: Iterable[str]) -> list[ast.stmt]:
    """Statements that make the names local variables without assigning to them."""
    return [ast.If(ast.Constant(False), [_assignment(each, 0)], []) for each in sorted(names)]


def marked(nodes: Sequence[ast.stmt], marks: Mapping[str, str]) -> list[ast.stmt]:
    """The statements, with assignments that set the variable `marks[name]` when `name` gets a value."""
    out: list[ast.stmt] = [at(_assignment(mark, False), nodes[0]) for mark in marks.values()]
    for node in nodes:
        made = _Marked(marks).visit(copy_of(node))
        out += made if isinstance(made, list) else [made]
    return out


def without_arrays(
    nodes: Sequence[ast.stmt], names: frozenset[str], spare: str, is_label: Callable[[ast.stmt], bool]
) -> list[ast.stmt]:
    """The statements for the case that the arrays with these names have no value: a statement that would use one only
    reads the name into the variable `spare`, which raises the error."""
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
    """The fields of a compound statement that are evaluated before its body."""
    if isinstance(node, ast.For):
        return ("iter",)
    if isinstance(node, ast.With):
        return ()
    return ("test",) if isinstance(node, ast.If | ast.While) else None


def _used(node: ast.AST, names: frozenset[str]) -> str | None:
    found = (part.id for part in walk(node) if isinstance(part, ast.Name))
    return next((name for name in found if name in names), None)


def _reading(name: str, spare: str, place: ast.stmt, labels: Sequence[ast.stmt]) -> list[ast.stmt]:
    """A statement that reads the variable, in loops with these `labels`, innermost first."""
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

    def visit(self, node: ast.AST) -> Any:
        if not isinstance(node, ast.stmt):
            return super().visit(node)
        heads = [part for part in children(node) if not isinstance(part, ast.stmt)]
        named = [name for part in heads for name in _certainly_named(part)]
        if isinstance(node, ast.Assign | ast.AnnAssign):
            named += _stored(node.targets if isinstance(node, ast.Assign) else [node.target])
        self.generic_visit(node)
        if isinstance(node, ast.For):
            node.body = self._set([*named, *_stored([node.target])], node) + node.body
        if isinstance(node, ast.If | ast.While | ast.Return):
            return [*self._set(named, node), node]
        return [node, *self._set(named, node)]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        node.values[1:] = self._behind_marks(node.values[1:])
        node.values[0] = self.visit(node.values[0])
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        node.comparators[1:] = self._behind_marks(node.comparators[1:])
        node.left, node.comparators[0] = self.visit(node.left), self.visit(node.comparators[0])
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """`(a := v) if c else (b := w)` gets the test `(c and (a_is_set := True)) or not (b_is_set := True)`."""
        chosen, other = self._expressions(node.body), self._expressions(node.orelse)
        self.generic_visit(node)
        if chosen:
            node.test = at(ast.BoolOp(ast.And(), [node.test, *chosen]), node.test)
        if other:
            never = [ast.UnaryOp(ast.Not(), each) for each in other]
            node.test = at(ast.BoolOp(ast.Or(), [node.test, *never]), node.test)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        node.ifs = self._behind_marks(node.ifs)
        node.iter = self.visit(node.iter)
        return node

    def _of_values(self, node: Any) -> ast.AST:
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        marks = [each for part in parts for each in self._expressions(part)]
        self.generic_visit(node)
        node.generators[-1].ifs += marks
        return cast(ast.AST, node)

    visit_GeneratorExp = visit_ListComp = visit_SetComp = visit_DictComp = _of_values

    def _set(self, names: Sequence[str], place: ast.stmt) -> list[ast.stmt]:
        return [at(_assignment(mark, True), place) for name, mark in self._marks.items() if name in names]

    def _expressions(self, node: ast.expr) -> list[ast.expr]:
        """`(x_is_set := True)` for each name that the evaluation of `node` certainly assigns."""
        marks = [self._marks[name] for name in sorted(_certainly_named(node) & self._marks.keys())]
        return [at(ast.NamedExpr(ast.Name(mark, ast.Store()), ast.Constant(True)), node) for mark in marks]

    def _behind_marks(self, nodes: Sequence[ast.expr]) -> list[ast.expr]:
        """`(x_is_set := True) and node` for operands that may not be evaluated."""
        marks = [self._expressions(node) for node in nodes]
        made = [self.visit(node) for node in nodes]
        pairs = zip(marks, made, strict=True)
        return [at(ast.BoolOp(ast.And(), [*before, node]), node) if before else node for before, node in pairs]


def _stored(targets: Sequence[ast.expr]) -> list[str]:
    parts = [part for each in targets for part in walk(each)]
    return [part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]


def _certainly_named(node: ast.AST) -> set[str]:
    """The names that expressions `(x := v)` in `node` assign at every evaluation."""
    if isinstance(node, ast.Lambda):
        return set()
    parts: list[ast.AST] = [*children(node)]
    if isinstance(node, ast.BoolOp):
        parts = [node.values[0]]
    elif isinstance(node, ast.IfExp):
        parts = [node.test]
    elif isinstance(node, ast.Compare):
        parts = [node.left, node.comparators[0]]
    elif isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp):
        parts = [node.generators[0].iter]
    own = {node.target.id} if isinstance(node, ast.NamedExpr) else set()
    return own.union(*map(_certainly_named, parts))
