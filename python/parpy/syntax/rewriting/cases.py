"""`match` statements become `if` statements if Python would run these with the same effect: their patterns are values,
names, `None`, alternatives, and sequences of them where the subject is a tuple that is written out.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import count
from types import FunctionType
from typing import NamedTuple

from ..patterns import Function, names_in
from ..turns import note_variables
from ..walks import copy_of, walk

_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)


def with_cases(node: Function) -> Function:
    """The function with such statements rewritten; `node` itself if it has none."""
    if not any(isinstance(each, ast.Match) for each in walk(node)):
        return node
    made = copy_of(node)
    taken = names_in(made) | {each.arg for each in ast.walk(made.args) if isinstance(each, ast.arg)} | _bound(made)
    cases = _Cases(made, taken)
    made.body = cases.statements(made.body)
    return ast.fix_missing_locations(made)


def note_subjects(function: FunctionType, text: str, node: ast.AST | None) -> None:
    """Notes the variables that `with_cases` adds for subjects among those of the function."""
    if "match" in text and isinstance(node, Function):
        note_variables(function, frozenset(names_in(with_cases(node)) - names_in(node) - _bound(node)))


class _Refused(Exception):
    """The statement has another pattern."""


class _Matched(NamedTuple):
    """What a pattern asks of a subject, None for nothing, and the names that it binds, with their values."""

    test: ast.expr | None
    bound: dict[str, ast.expr]


class _Cases(ast.NodeTransformer):
    def __init__(self, function: Function, taken: set[str]) -> None:
        self._function, self._taken = function, taken
        self._numbers = count(1)

    def statements(self, nodes: list[ast.stmt]) -> list[ast.stmt]:
        found = [self.visit(each) for each in nodes]
        return [part for each in found for part in (each if isinstance(each, list) else [each])]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node  # nested functions are rewritten when they are compiled

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_Match(self, node: ast.Match) -> ast.AST | list[ast.stmt]:
        try:
            before, subject = self._subject(node)
            cases = [(self._matched(each.pattern, subject, node), each) for each in node.cases]
            for matched, case in cases:
                self._require_apart(node, case, matched)
        except _Refused:
            self.generic_visit(node)
            return node
        self.generic_visit(node)
        rest: list[ast.stmt] = []
        for matched, case in reversed(cases):
            rest = self._branch(matched, case, rest)
        return [*before, *(rest or [ast.copy_location(ast.Pass(), node)])]

    def _subject(self, node: ast.Match) -> tuple[list[ast.stmt], ast.expr | list[ast.expr]]:
        """The subject as names and constants that the cases do not change, or a list of them for a tuple, and the
        statements before the cases that assign these names."""
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
            raise _Refused  # a walrus may assign a name of the subject between the cases
        bound = _bound(node)
        values = node.subject.elts if isinstance(node.subject, ast.Tuple) else [node.subject]
        if any(isinstance(each, ast.Starred) for each in values):
            raise _Refused
        kept: list[ast.expr] = []
        before: list[ast.stmt] = []
        for value in values:
            if isinstance(value, ast.Constant) or (isinstance(value, ast.Name) and value.id not in bound):
                kept.append(value)
                continue
            name = next(each for n in self._numbers if (each := f"subject_{n}") not in self._taken)
            before.append(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), value))
            kept.append(ast.copy_location(ast.Name(name, ast.Load()), value))
        return before, kept if isinstance(node.subject, ast.Tuple) else kept[0]

    def _matched(self, pattern: ast.pattern, subject: ast.expr | list[ast.expr], node: ast.Match) -> _Matched:
        if isinstance(pattern, ast.MatchSequence):
            if not isinstance(subject, list) or any(isinstance(each, ast.MatchStar) for each in pattern.patterns):
                raise _Refused
            if len(pattern.patterns) != len(subject):
                return _Matched(ast.Constant(False), {})
            parts = [self._matched(each, value, node) for each, value in zip(pattern.patterns, subject, strict=True)]
            return _Matched(_all(parts), {name: value for each in parts for name, value in each.bound.items()})
        if isinstance(pattern, ast.MatchOr):
            parts = [self._matched(each, subject, node) for each in pattern.patterns]
            if any(each.bound for each in parts):
                raise _Refused
            tests = [each.test for each in parts if each.test is not None]
            return _Matched(None if len(tests) < len(parts) else ast.BoolOp(ast.Or(), tests), {})
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is None and pattern.name is None:
            return _Matched(None, {})
        if isinstance(subject, list):
            raise _Refused
        if isinstance(pattern, ast.MatchAs):
            inner = _Matched(None, {}) if pattern.pattern is None else self._matched(pattern.pattern, subject, node)
            return _Matched(inner.test, inner.bound | ({} if pattern.name is None else {pattern.name: subject}))
        if isinstance(pattern, ast.MatchValue):
            return _Matched(ast.Compare(copy_of(subject), [ast.Eq()], [pattern.value]), {})
        if isinstance(pattern, ast.MatchSingleton) and pattern.value is None:
            return _Matched(ast.Compare(copy_of(subject), [ast.Is()], [ast.Constant(None)]), {})
        raise _Refused

    def _require_apart(self, node: ast.Match, case: ast.match_case, matched: _Matched) -> None:
        """Raises _Refused if a guard that fails leaves names bound that are read elsewhere, or if the guard cannot read
        the subject in their place."""
        if case.guard is None or not matched.bound:
            return
        if any(isinstance(each, _SCOPES) for each in ast.walk(case.guard)):
            raise _Refused
        allowed = [*ast.walk(case)]
        if not any(isinstance(each, ast.For | ast.While) for each in ast.walk(self._function)):
            allowed += ast.walk(node.subject)  # evaluated before the guard
        for other in node.cases:
            if not matched.bound.keys() - _bound(other.pattern):
                allowed += ast.walk(other)
        known = set(map(id, allowed))
        for each in ast.walk(self._function):
            name = each.target if isinstance(each, ast.AugAssign) else each
            reads = isinstance(name, ast.Name) and (name is not each or isinstance(name.ctx, ast.Load))
            if isinstance(name, ast.Name) and reads and name.id in matched.bound and id(name) not in known:
                raise _Refused

    def _branch(self, matched: _Matched, case: ast.match_case, rest: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a case, followed by those of the cases after it."""
        if isinstance(matched.test, ast.Constant):  # a sequence of another length
            return rest
        tests = [] if matched.test is None else [matched.test]
        if case.guard is not None:
            tests.append(_Read(matched.bound).visit(copy_of(case.guard)))
        body = case.body
        if matched.bound:
            names: list[ast.expr] = [ast.Name(name, ast.Store()) for name in matched.bound]
            values = [copy_of(each) for each in matched.bound.values()]
            several = len(names) > 1
            targets = ast.Tuple(names, ast.Store()) if several else names[0]
            value = ast.Tuple(values, ast.Load()) if several else values[0]
            body = [ast.copy_location(ast.Assign([targets], value), case.pattern), *body]
        if not tests:
            return body
        test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
        return [ast.copy_location(ast.If(ast.copy_location(test, case.pattern), body, rest), case.pattern)]


class _Read(ast.NodeTransformer):
    """Replaces names by the expressions that they are bound to."""

    def __init__(self, bound: dict[str, ast.expr]) -> None:
        self._bound = bound

    def visit_Name(self, node: ast.Name) -> ast.AST:
        found = self._bound.get(node.id)
        return node if found is None else ast.copy_location(copy_of(found), node)


def _all(parts: Sequence[_Matched]) -> ast.expr | None:
    tests = [each.test for each in parts if each.test is not None]
    return None if not tests else tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


def _bound(node: ast.AST) -> set[str]:
    """The names that patterns bind."""
    return {each.name for each in ast.walk(node) if isinstance(each, ast.MatchAs) and each.name is not None}
