"""Finds the ways in which control leaves statements."""

from __future__ import annotations

import ast


def ends(body: list[ast.stmt]) -> bool:
    """Whether every path through the statements returns, or raises an exception."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return ends(last.body) and ends(last.orelse)
    if isinstance(last, ast.With):
        return ends(last.body)
    if isinstance(last, ast.While):
        always = isinstance(last.test, ast.Constant) and bool(last.test.value)
        return always and not any(isinstance(part, ast.Break) for part in ast.walk(last))
    return isinstance(last, ast.Return | ast.Raise)


def leaves(body: list[ast.stmt]) -> bool:
    """Whether control never reaches the end of the statements."""
    return any(isinstance(stmt, ast.Break | ast.Continue) or ends([stmt]) for stmt in body)


def breaks(body: list[ast.stmt]) -> bool:
    """Whether the statements, the body of a loop, contain a break of this loop."""
    return _jumps(body, ast.Break)


def continues(body: list[ast.stmt]) -> bool:
    """Whether the statements, the body of a loop, contain a continue of this loop."""
    return _jumps(body, ast.Continue)


def _jumps(body: list[ast.stmt], kind: type[ast.stmt]) -> bool:
    for stmt in body:
        inner = isinstance(stmt, ast.For | ast.While)
        parts = [getattr(stmt, field, []) for field in (("orelse",) if inner else ("body", "orelse"))]
        if isinstance(stmt, kind) or any(_jumps(part, kind) for part in parts):
            return True
    return False
