"""Lowers assignments that name records. Records are no values of the program."""

from __future__ import annotations

import ast

from ...syntax.patterns import names_in
from ...syntax.walks import walk
from ..scope import FunctionScope
from .records import assign_record, is_record_value


def record_assignment(fn: FunctionScope, target: ast.expr, value: ast.expr, _: ast.stmt) -> bool:
    """`p = r[i]`: whether the assignment names records."""
    if not isinstance(target, ast.Name) or not _is_record_value(fn, target, value):
        return False
    assign_record(fn, target, value)
    return True


def _is_record_value(fn: FunctionScope, target: ast.Name, value: ast.expr) -> bool:
    return fn.has_records and is_record_value(fn, target, value)


def names_records(fn: FunctionScope, target: ast.Tuple | ast.List, value: ast.expr) -> bool:
    """Whether `p, q = r[i], r[j]` names records and no name occurs on both sides."""
    if not isinstance(value, ast.Tuple | ast.List) or len(value.elts) != len(target.elts):
        return False
    found = [part.id for one in target.elts for part in walk(one) if isinstance(part, ast.Name)]
    names, plain = set(found), all(isinstance(one, ast.Name | ast.Tuple | ast.List) for one in target.elts)
    on_right = not names_in(value).isdisjoint(names)
    if not plain or len(names) < len(found) or on_right:
        return False
    pairs = zip(target.elts, value.elts, strict=True)
    return any(isinstance(one, ast.Name) and _is_record_value(fn, one, part) for one, part in pairs)
