"""Assignments that give a name to a view, records or a tuple, which are no values of the program."""

from __future__ import annotations

import ast
from functools import partial

from .arrays import may_be_array, subscripts_array
from .conditions import condition
from .forms import View
from .record_paths import has_slice
from .records import assign_record, is_record_value
from .scope import FunctionScope
from .subscripts import is_view, make_view, view_of
from .tuples import form_of, held_tuple, is_shape, numbers_in, tuple_form
from .uses import TupleForm
from .views import refuse_kinds, stand_for


def view_assignment(fn: FunctionScope, target: ast.expr, value: ast.expr, _: ast.stmt) -> bool:
    """`row = x[i]` where `row` is used as an array, `p = r[i]` of records: whether the assignment makes a view."""
    if not fn.aggregates or not isinstance(target, ast.Name):
        return False
    if is_record_value(fn, target, value):
        assign_record(fn, target, value)
        return True
    if _is_tuple_value(fn, value) or not _is_array_value(fn, target, value):
        return False
    made = _chosen_view(fn, value, target) if isinstance(value, ast.IfExp) else _view_as(fn, value, target.id)
    fn.assigned.add(target.id)
    if made is not None:
        stand_for(fn, target, made)
    return True


def _is_view_value(fn: FunctionScope, target: ast.Name, value: ast.expr) -> bool:
    """Whether `target = value` makes a view or a record."""
    if not fn.aggregates or _is_tuple_value(fn, value):
        return False
    return is_record_value(fn, target, value) or _is_array_value(fn, target, value)


def _is_tuple_value(fn: FunctionScope, value: ast.expr) -> bool:
    return isinstance(value, ast.Name | ast.Subscript) and tuple_form(fn, value) is not None


def _is_array_value(fn: FunctionScope, target: ast.Name, value: ast.expr) -> bool:
    """Whether `target = value` makes a view of an array."""
    if isinstance(value, ast.IfExp):
        return _array_name(fn, target)
    if subscripts_array(fn, value):
        return has_slice(value) or _array_name(fn, target)
    alias = isinstance(value, ast.Name | ast.Attribute | ast.Subscript) and may_be_array(fn, value)
    return alias and (is_view(fn, value) or _array_name(fn, target))


def _chosen_view(fn: FunctionScope, node: ast.IfExp, target: ast.Name) -> View | None:
    """`x[i] if c else x[j]`, of views of one array that have one form."""
    span = fn.span(node)
    test = condition(fn, node.test)
    (one, before_one), (other, before_other) = (
        fn.branch(partial(_view_as, fn, part, target.id)) for part in (node.body, node.orelse)
    )
    if one is None or other is None:
        return None
    if (one.array, one.form) != (other.array, other.form):
        refuse_kinds(fn, target)
        return None
    held = [fn.temporary(span, target.id) for _ in one.variables]
    for view, before in ((one, before_one), (other, before_other)):
        for var, value in zip(held, view.variables, strict=True):
            before.append(fn.module.assign(var, fn.module.read(value, span), None, span))
    fn.out.append(fn.module.if_(test, before_one, before_other, span))
    return one.of_variables(held)


def _view_as(fn: FunctionScope, node: ast.expr, shown: str) -> View | None:
    """The view that `node` names or makes, which messages call `shown`."""
    named = isinstance(node, ast.Name) and node.id in fn.views
    return view_of(fn, node) if named else make_view(fn, node, shown)


def _array_name(fn: FunctionScope, node: ast.Name) -> bool:
    return fn.program.uses.takes_array(fn.source, node.id)


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


def names_views(fn: FunctionScope, target: ast.Tuple | ast.List, value: ast.expr) -> bool:
    """Whether `row, col = x[i], x[:, j]` makes views, and none of the names stands on the right as well."""
    if not isinstance(value, ast.Tuple | ast.List) or len(value.elts) != len(target.elts):
        return False
    found = [part.id for one in target.elts for part in ast.walk(one) if isinstance(part, ast.Name)]
    names, plain = set(found), all(isinstance(one, ast.Name | ast.Tuple | ast.List) for one in target.elts)
    on_right = any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(value))
    if not plain or len(names) < len(found) or on_right:
        return False
    pairs = zip(target.elts, value.elts, strict=True)
    return any(isinstance(one, ast.Name) and _is_view_value(fn, one, part) for one, part in pairs)


def _has_tuples(target: ast.Tuple | ast.List, form: TupleForm) -> bool:
    """Whether some target that is not taken apart gets a tuple."""
    pairs = zip(target.elts, form.parts, strict=False)
    return any(
        part is not None and (not isinstance(one, ast.Tuple | ast.List) or _has_tuples(one, part))
        for one, part in pairs
    )
