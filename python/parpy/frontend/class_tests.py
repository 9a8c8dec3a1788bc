"""Questions about arguments that are answered before a function is compiled: tests of classes,
`isinstance(k, (int, float))` and `type(k) is tuple`, and the lengths of tuples in calls, `f(t, y, *args)`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from typing import Any

from ..syntax.imports import imports_of
from ..syntax.lazy import lazy
from ..syntax.names import callable_source
from ..syntax.patterns import names_in, node_parameters
from ..syntax.rebuilt import rebuilt
from ..syntax.source import FunctionSource
from ..syntax.starred import takes_rest
from ..syntax.vectors import outside
from ..syntax.walks import copy_of, walk

_BRANCHING = ast.If | ast.IfExp
_MOST_STARRED = 32  # the longest tuple that is written out in a call
_BLOCKS = ("body", "orelse", "finalbody")


class ClassTests:
    """The questions of a function about parameters that it never assigns. Parts of functions have none, because the
    classes of their arguments may differ from Python's."""

    def __init__(self, source: FunctionSource) -> None:
        self._source, self._node = source, source.tree()
        parts = () if source.part else [*walk(self._node)]
        asked = dict.fromkeys(ast.unparse(part) for part in parts if self._is_one(part))
        starred = dict.fromkeys(name for part in parts for name in self._starred(part))
        self._starred_names = tuple(starred)
        self.texts = (*asked, *(f"len({name}) if type({name}) is tuple else None" for name in starred))
        self._ask = self._asking() if self.texts and isinstance(self._node, ast.FunctionDef) else None

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
        pure = ast.Name | ast.Attribute | ast.Tuple | ast.BinOp | ast.BitOr | ast.Load
        return (
            asking not in {*own, *code.co_freevars, *function.__globals__}
            and name in self._never_assigned
            and own.isdisjoint(names_in(classes))
            and all(isinstance(each, pure) for each in ast.walk(classes))
        )

    @lazy
    def _never_assigned(self) -> frozenset[str]:
        stored = {each.id for each in walk(self._node) if isinstance(each, ast.Name) and not _is_read(each)}
        return frozenset(node_parameters(self._node)) - stored

    def _starred(self, part: ast.AST) -> Iterator[str]:
        """The parameters that a call gets as starred arguments, unless the called function has a starred parameter."""
        if not isinstance(part, ast.Call):
            return
        called = callable_source(outside(part.func, self._source.function))
        if called is not None and takes_rest(called.function):
            return
        names = (each.value for each in part.args if isinstance(each, ast.Starred))
        yield from (each.id for each in names if isinstance(each, ast.Name) and each.id in self._never_assigned)

    def _asking(self) -> Callable[..., tuple[Any, ...]]:
        given = ast.arguments([], [ast.arg(each) for each in node_parameters(self._node)], None, [], [], None, [])
        answers = ast.Tuple([ast.parse(each, mode="eval").body for each in self.texts], ast.Load())
        node = ast.FunctionDef("asked", given, [ast.Return(answers)], [], None, None)
        return rebuilt(self._source.function, ast.copy_location(node, self._node))

    def answers(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The answers for a call with these values of the parameters, in the order of `texts`."""
        try:
            return () if self._ask is None else self._ask(*values)
        except Exception:  # the function itself raises it where it asks
            return ()

    def answered(self, answers: tuple[Any, ...]) -> FunctionSource:
        """The function for arguments with these answers, without the statements that they rule out and without stars
        before tuples."""
        made = copy(self._source)
        count = len(answers) - len(self._starred_names)
        lengths = dict(zip(self._starred_names, answers[count:], strict=True))
        node = _Answering(dict(zip(self.texts, answers[:count], strict=False)), lengths).visit(copy_of(self._node))
        made._plain = ast.fix_missing_locations(node)
        return made


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


class _Answering(ast.NodeTransformer):
    def __init__(self, answers: Mapping[str, bool], lengths: Mapping[str, int | None]) -> None:
        self._answers, self._lengths = answers, lengths

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

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.args = [part for each in node.args for part in self._written_out(each)]
        return node

    def _written_out(self, given: ast.expr) -> Iterator[ast.expr]:
        whole = given.value if isinstance(given, ast.Starred) else None
        count = self._lengths.get(whole.id) if isinstance(whole, ast.Name) else None
        if whole is None or count is None or count > _MOST_STARRED:
            yield given
            return
        for place in range(count):
            part = ast.Subscript(copy_of(whole), ast.Constant(place), ast.Load())
            yield ast.fix_missing_locations(ast.copy_location(part, given))

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
