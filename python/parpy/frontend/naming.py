"""Assignments that give a name to records or a tuple, which are no values of the program, and how many dimensions
the arrays have that others name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from .records import assign_record, is_record_value
from .scope import FunctionScope
from .tuples import array_dimensions, form_of, held_tuple, is_shape, numbers_in, tuple_form
from .uses import TupleForm, named


def record_assignment(fn: FunctionScope, target: ast.expr, value: ast.expr, _: ast.stmt) -> bool:
    """`p = r[i]` of records: whether the assignment names some."""
    if not isinstance(target, ast.Name) or not _is_record_value(fn, target, value):
        return False
    assign_record(fn, target, value)
    return True


def _is_record_value(fn: FunctionScope, target: ast.Name, value: ast.expr) -> bool:
    return fn.aggregates and is_record_value(fn, target, value)


@contextmanager
def known_ranks(fn: FunctionScope, target: ast.expr, value: ast.expr) -> Iterator[None]:
    """While the targets get the values: how many dimensions the arrays have that get names, where functions are told
    that."""
    ranks: dict[str, int | None] = {}
    if fn.program.knows_all:
        stored = (part for part in ast.walk(target) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
        ranks = {part.id: None for part in stored}
        ranks |= {name.id: array_dimensions(fn, given) for name, given in named(target, value)}
    yield
    fn.ranks.update({fn.variables[name]: rank for name, rank in ranks.items() if name in fn.variables})


def tuple_assignment(fn: FunctionScope, target: ast.expr, value: ast.expr, _: ast.stmt) -> bool:
    """`pos = (i, j)`: whether the assignment makes a tuple."""
    if not isinstance(target, ast.Name) or (form := tuple_form(fn, value)) is None:
        return False
    found = held_tuple(fn, value, target.id)
    known = fn.tuples.get(target.id)
    fn.assigned.add(target.id)
    if fn.may_rebind(target.id):
        fn.stand_for_nothing(target.id)
        fn.tuples[target.id] = found
    elif known is not None and form_of(known) == form:
        span = fn.span(target)
        for var, new in zip(numbers_in(known), numbers_in(found), strict=True):
            fn.out.append(fn.module.assign(var, fn.module.read(new, span), None, span))
    else:
        fn.error("P016", target, f"'{target.id}' is something else elsewhere", "give the tuple a name of its own")
    return True


def unpacks_tuples(fn: FunctionScope, target: ast.expr, value: ast.expr) -> bool:
    """Whether `pos, n = (i, j), 3` gives names to tuples."""
    if not isinstance(target, ast.Tuple | ast.List):
        return tuple_form(fn, value) is not None
    if isinstance(value, ast.Tuple | ast.List):
        same = len(value.elts) == len(target.elts)
        return same and any(unpacks_tuples(fn, *pair) for pair in zip(target.elts, value.elts, strict=True))
    form = None if is_shape(fn, value) else tuple_form(fn, value)
    return form is not None and _has_tuples(target, form)


def names_records(fn: FunctionScope, target: ast.Tuple | ast.List, value: ast.expr) -> bool:
    """Whether `p, q = r[i], r[j]` names records, and none of the names stands on the right as well."""
    if not isinstance(value, ast.Tuple | ast.List) or len(value.elts) != len(target.elts):
        return False
    found = [part.id for one in target.elts for part in ast.walk(one) if isinstance(part, ast.Name)]
    names, plain = set(found), all(isinstance(one, ast.Name | ast.Tuple | ast.List) for one in target.elts)
    on_right = any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(value))
    if not plain or len(names) < len(found) or on_right:
        return False
    pairs = zip(target.elts, value.elts, strict=True)
    return any(isinstance(one, ast.Name) and _is_record_value(fn, one, part) for one, part in pairs)


def _has_tuples(target: ast.Tuple | ast.List, form: TupleForm) -> bool:
    """Whether some target that is not taken apart gets a tuple."""
    pairs = zip(target.elts, form.parts, strict=False)
    return any(
        part is not None and (not isinstance(one, ast.Tuple | ast.List) or _has_tuples(one, part))
        for one, part in pairs
    )
