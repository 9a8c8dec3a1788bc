"""Whole records in kernels: `r[i], r[j] = r[j], r[i]` and `r[i] = s[j] = r[k]`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from ...vocabulary.operators import scalar_name
from ..expressions.evaluation import held_for
from ..forms import Record
from ..lowering import lower
from ..scope import FunctionScope
from ..statements.targets import assign_value
from .record_paths import leaves
from .records import copied_record, copies_record, copy_leaf, is_no_record, is_record, store_record


def record_chain(fn: FunctionScope, node: ast.Assign) -> bool:
    """`r[i] = s[j] = r[k]`: whether the assignment copies a record to several places. All places have the same type, so
    no place is a part of another one."""
    if not any(_gets_record(fn, target, node.value) for target in node.targets):
        return False
    name = next((target for target in node.targets if not isinstance(target, ast.Subscript)), None)
    if name is not None:
        _refuse_name(fn, name)
        return True
    other = next((target for target in node.targets if is_no_record(fn, target)), node.targets[0])
    source = copied_record(fn, other, node.value, node)
    if source is not None:
        for target in node.targets:
            store_record(fn, target, source, node)
    return True


def record_exchange(fn: FunctionScope, target: ast.expr, value: ast.expr, node: ast.stmt) -> bool:
    """`r[i], s[j].x = r[k], 5.0`: whether the assignment to several targets copies records. The whole right side is
    read first."""
    pairs = _single_pairs(target, value)
    if not any(_gets_record(fn, *pair) for pair in pairs):
        return False
    stores: list[Callable[[], None]] = []
    for one, part in pairs:
        if not copies_record(fn, one, part):
            if _gets_record(fn, one, part):
                _refuse_name(fn, one)
                return True
            again = held_for(fn, one, partial(lower, fn, part), part, node)
            stores.append(lambda one=one, again=again: assign_value(fn, one, again(), node))  # type: ignore[misc]
            continue
        source = copied_record(fn, one, part, node)
        held = None if source is None else _held_record(fn, source, node)
        if held is None:
            return True
        stores.append(partial(store_record, fn, one, held, node))
    for store in stores:
        store()
    return True


def _gets_record(fn: FunctionScope, target: ast.expr, value: ast.expr) -> bool:
    """Whether the target, which may be a name, becomes a record."""
    if not isinstance(target, ast.Name):
        return copies_record(fn, target, value)
    return fn.has_records and is_record(fn, value, fn.program.uses.fields(fn.source, target.id))


def _refuse_name(fn: FunctionScope, target: ast.expr) -> None:
    fn.error(
        "P016",
        target,
        "a record is copied and another target assigned in one statement",
        "write one assignment for each target",
    )


def _held_record(fn: FunctionScope, source: Record, node: ast.stmt) -> Record | None:
    """A new copy of the record; None after an error."""
    if source.dtype is None:
        fn.want_kinds(node)
        return None
    if not source.is_element:
        return source  # the store reports the error
    span = fn.span(node)
    fields = {leaf.key: fn.temporary(span) for leaf in leaves(source.dtype)}
    held = Record(fields, "", "", (), 0, source.dtype)
    for leaf in leaves(source.dtype):
        if leaf.shape:
            scalar = scalar_name(leaf.dtype)
            if scalar is not None:
                fn.add_allocation(fn.module.alloc(fields[leaf.key], scalar, "local", list(leaf.shape), None, span))
        copy_leaf(fn, held, source, leaf, node)
    return held


def _single_pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Each target with its value; an empty list if their numbers differ."""
    sequence = ast.Tuple | ast.List
    if not isinstance(target, sequence):
        return [(target, value)]
    if not isinstance(value, sequence) or len(target.elts) != len(value.elts):
        return []
    found = [_single_pairs(one, part) for one, part in zip(target.elts, value.elts, strict=True)]
    return [pair for part in found for pair in part] if all(found) else []
