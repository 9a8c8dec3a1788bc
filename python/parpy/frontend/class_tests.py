"""Tests of the classes of arguments, `isinstance(k, (int, float))` and `type(k) is tuple`, which are decided before a
function is compiled."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

from ..syntax.imports import imports_of
from ..syntax.patterns import names_in, node_parameters
from ..syntax.rebuilt import rebuilt
from ..syntax.source import FunctionSource
from ..syntax.walks import copy_of, walk

_BRANCHING = ast.If | ast.IfExp
_BLOCKS = ("body", "orelse", "finalbody")


class ClassTests:
    """The tests of a function on parameters that it never assigns. Parts of functions have no tests, because the
    classes of their arguments may differ from Python's."""

    def __init__(self, source: FunctionSource) -> None:
        self._source, self._node = source, source.tree()
        parts = () if source.part else walk(self._node)
        asked = dict.fromkeys(ast.unparse(part) for part in parts if self._is_one(part))
        self.texts = tuple(asked)
        self._ask = self._asking() if asked and isinstance(self._node, ast.FunctionDef) else None

    def _is_one(self, part: ast.AST) -> bool:
        match part:
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), classes], keywords=[]):
                asking = "isinstance"
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=name)], keywords=[]),
                ops=[ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq()],
                comparators=[classes],
            ):
                asking = "type"
            case _:
                return False
        function = self._source.function
        code = function.__code__
        own = {*code.co_varnames, *code.co_cellvars} - imports_of(function).keys()
        stored = {each.id for each in walk(self._node) if isinstance(each, ast.Name) and not _is_read(each)}
        pure = ast.Name | ast.Attribute | ast.Tuple | ast.BinOp | ast.BitOr | ast.Load
        return (
            asking not in {*own, *code.co_freevars, *function.__globals__}
            and name in node_parameters(self._node)
            and name not in stored
            and own.isdisjoint(names_in(classes))
            and all(isinstance(each, pure) for each in ast.walk(classes))
        )

    def _asking(self) -> Callable[..., tuple[bool, ...]]:
        given = ast.arguments([], [ast.arg(each) for each in node_parameters(self._node)], None, [], [], None, [])
        answers = ast.Tuple([ast.parse(each, mode="eval").body for each in self.texts], ast.Load())
        node = ast.FunctionDef("asked", given, [ast.Return(answers)], [], None, None)
        return rebuilt(self._source.function, ast.copy_location(node, self._node))

    def answers(self, values: tuple[Any, ...]) -> tuple[bool, ...]:
        """The answers for a call with these values of the parameters, in the order of `texts`."""
        try:
            return () if self._ask is None else self._ask(*values)
        except Exception:  # the function itself raises it where it asks
            return ()

    def answered(self, answers: tuple[bool, ...]) -> FunctionSource:
        """The function for arguments with these answers, without the statements that they rule out."""
        made = copy(self._source)
        node = _Answering(dict(zip(self.texts, answers, strict=True))).visit(copy_of(self._node))
        made._plain = ast.fix_missing_locations(node)
        return made


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


class _Answering(ast.NodeTransformer):
    def __init__(self, answers: Mapping[str, bool]) -> None:
        self._answers = answers

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Call | ast.Compare) and (answer := self._answers.get(ast.unparse(node))) is not None:
            return ast.copy_location(ast.Constant(answer), node)
        made = super().visit(node)
        if isinstance(made, ast.stmt):
            for name in _BLOCKS:
                block = getattr(made, name, None)
                if isinstance(block, list) and (block or name == "body"):
                    setattr(made, name, _reached(block) or [ast.copy_location(ast.Pass(), made)])
        if isinstance(made, _BRANCHING) and isinstance(made.test, ast.Constant):
            taken = made.body if made.test.value else made.orelse
            return taken if isinstance(made, ast.IfExp) or taken else ast.copy_location(ast.Pass(), made)
        return made

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant):
            return ast.copy_location(ast.Constant(not node.operand.value), node)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        decides = isinstance(node.op, ast.Or)
        left: list[ast.expr] = []
        for each in node.values:
            known = each.value if isinstance(each, ast.Constant) else None
            if not isinstance(known, bool) or known is decides or each is node.values[-1]:
                left.append(each)
            if known is decides:
                break
        node.values = left
        return left[0] if len(left) == 1 else node


def _reached(block: list[ast.stmt]) -> list[ast.stmt]:
    """The statements up to the first one that leaves the block."""
    leaving = ast.Return | ast.Raise | ast.Break | ast.Continue
    ends = [place for place, each in enumerate(block) if isinstance(each, leaving)]
    return block[: ends[0] + 1] if ends else block
