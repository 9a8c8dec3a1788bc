"""Finds the array and the subscripts of an expression: a whole array, a part of an array, or a field of records."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial

from ... import _native
from ...syntax.names import Binding
from ...syntax.patterns import is_ellipsis, string_key, subscripts_of
from ...vocabulary.device import Register
from ..kernels.records import dimensions_of, field_of, is_record, record_extent, record_of, record_path
from ..lowering import lower
from ..scope import FunctionScope
from .arrays import (
    captured_array,
    dict_entry,
    index_part,
    is_array_name,
    is_attribute,
    is_subscript,
    numbers_of,
    refuse_store,
    refuses_item,
    subscripts_array,
)
from .evaluation import lower_all, lower_settled
from .tuples import new_array, number_or_list

# Expressions that may be subscripted though they are no names.
_VALUES = ast.Call | ast.BinOp | ast.UnaryOp | ast.Compare | ast.BoolOp | ast.IfExp | ast.Tuple


def array_of(fn: FunctionScope, node: ast.expr) -> _native.Var | None:
    """The variable that `node` names (x, d['k'], module.x), or a new variable for the value of `node`, which may be a
    part of an array. None after an error."""
    if isinstance(node, ast.Name):
        if node.id not in fn.records and record_path(fn, node) is not None:
            fn.error("P204", node, f"the records '{node.id}' are used as numbers", f"take a field, {node.id}[0].x")
            return None
        if node.id in fn.scope.locals:
            return fn.local(node)
        binding = fn.find(node)
        return None if binding is None else _outside(fn, binding, node.id, node)
    if isinstance(node, ast.Subscript):
        field, at = _field_of_records(fn, node)
        if field is not None and not at:
            return field
        key = string_key(node)
        if key is not None and field is None:
            return dict_entry(fn, node, key)
        item = fn.item(node)
        if item is not None:
            return _outside(fn, item, ast.unparse(node), node)
        if field is not None or subscripts_array(fn, node):
            return _named(fn, node)
    elif isinstance(node, ast.Attribute):
        binding = fn.resolve(node)
        if binding is not None:
            return _outside(fn, binding, ast.unparse(node), node)
        known = ("T", "shape", "flat", "strides") if fn.kernel else ("T", "shape")
        if (node.attr in known and fn.names_arrays) or is_attribute(fn, node):
            return _named(fn, node)
        if fn.starts_undefined(node):
            lower(fn, node)
            return None
    elif isinstance(node, _VALUES) and fn.names_arrays:
        return _named(fn, node)
    fn.error(
        "P025",
        node,
        "only a variable can be subscripted",
        "assign the value to a variable first, or subscript an array",
    )
    return None


def _outside(fn: FunctionScope, binding: Binding, shown: str, node: ast.expr) -> _native.Var | None:
    """The variable of an array outside the function, or a new variable with the value of a tuple there."""
    if isinstance(binding.value, tuple) and fn.tuple_of(node) is not None:
        return _named(fn, node)
    return captured_array(fn, binding, shown, node)


def _named(fn: FunctionScope, node: ast.expr) -> _native.Var:
    return fn.hold(lower(fn, node), node, shown=ast.unparse(node))


def elements_of(fn: FunctionScope, node: ast.expr) -> _native.Var | None:
    """An array whose elements have the type of the elements of `node`, which may be a part of the array. None after an
    error."""
    while isinstance(node, ast.Subscript) and subscripts_array(fn, node) and is_subscript(fn, node):
        node = node.value
    field = _field_of_records(fn, node)[0]
    return array_of(fn, node) if field is None else field


def _field_of_records(fn: FunctionScope, node: ast.expr) -> tuple[_native.Var | None, tuple[_native.Var, ...]]:
    """The variable of a field r['x'] of named records, and the subscripts of these records; None for others."""
    path = record_path(fn, node) if isinstance(node, ast.Subscript) else None
    if path is None or path.key_node is not node or path.root.id not in fn.records:
        return None, ()
    record = fn.records[path.root.id]
    return (field_of(fn, record, path.key, node) if fn.is_assigned(path.root) else None), record.at


# ------------------------------------------------------------ shapes


def extent_of(fn: FunctionScope, owner: ast.expr, index: int, node: ast.expr) -> _native.Expr:
    """owner.shape[index] in `node`"""
    if is_record(fn, owner):
        path, record = record_path(fn, owner), record_of(fn, owner)
        return fn.poison(node) if path is None or record is None else record_extent(fn, record, path, index, node)
    array = array_of(fn, owner)
    return fn.poison(node) if array is None else fn.module.extent(array, index, fn.span(node))


def unpack_shape(fn: FunctionScope, value: ast.expr, count: int) -> list[Callable[[], _native.Expr]] | None:
    """`n, m = x.shape`: the extents, for an array of exactly that rank; None for other values, [] after an
    error."""
    if not isinstance(value, ast.Attribute) or value.attr != "shape" or not is_array_name(fn, value.value):
        return None
    if is_record(fn, value.value):
        return _extents_of_records(fn, value.value, value, count)
    array = array_of(fn, value.value)
    if array is None:
        return []
    return [partial(fn.module.extent, array, index, fn.span(value), count) for index in range(count)]


def _extents_of_records(
    fn: FunctionScope, owner: ast.expr, node: ast.expr, count: int
) -> list[Callable[[], _native.Expr]]:
    """`n, m = r.shape`"""
    path, record = record_path(fn, owner), record_of(fn, owner)
    known = None if record is None else dimensions_of(record)
    if path is None or record is None:
        return []
    if known is None:
        fn.want_kinds(node)
        return []
    if known != count:
        fn.error("P017", node, f"{known} extents cannot be assigned to {count} targets")
        return []
    return [partial(record_extent, fn, record, path, index, node) for index in range(count)]


# ------------------------------------------------------------ elements


def element_of(fn: FunctionScope, node: ast.Subscript) -> tuple[_native.Var | None, list[_native.Expr]]:
    """The array and the subscripts of `x[i, j]`, also written x[i][j]."""
    array, at, parts = _subscripts_of(fn, node)
    values = lower_all(fn, [n for part in parts for n in numbers_of(fn, part)], number_or_list)
    return array, _all_subscripts(fn, at, parts, iter(values), node)


def held_element(fn: FunctionScope, node: ast.Subscript) -> tuple[_native.Var | None, Callable[[], list[_native.Expr]]]:
    """The array, and a function that makes the subscripts any number of times. The subscripts are evaluated now."""
    array, at, parts = _subscripts_of(fn, node)
    makers = [_settled_subscript(fn, n) for part in parts for n in numbers_of(fn, part)]
    return array, lambda: _all_subscripts(fn, at, parts, iter([make() for make in makers]), node)


def _is_number(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether an expression is a number for all types of variables, because it consists of constants, lengths, and
    variables of loops over ranges."""
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    if isinstance(node, ast.Name):
        return node.id in fn.scope.locals and node.id in fn.counters()
    if isinstance(node, ast.UnaryOp):
        return _is_number(fn, node.operand)
    if isinstance(node, ast.BinOp):
        return _is_number(fn, node.left) and _is_number(fn, node.right)
    if isinstance(node, ast.Call):
        binding = fn.resolve(node.func)
        return binding is not None and (binding.value is len or binding.value is int)
    if isinstance(node, ast.Attribute):
        binding = fn.resolve(node)
        return node.attr in ("size", "ndim") or (binding is not None and isinstance(binding.value, Register | int))
    return False


def _settled_subscript(fn: FunctionScope, node: ast.expr) -> Callable[[], _native.Expr]:
    if not isinstance(node, ast.List):
        return lower_settled(fn, node)
    return partial(fn.module.read, fn.hold(new_array(fn, node), node), fn.span(node))


def _all_subscripts(
    fn: FunctionScope,
    at: tuple[_native.Var, ...],
    parts: list[ast.expr],
    values: Iterator[_native.Expr],
    node: ast.expr,
) -> list[_native.Expr]:
    """The subscripts `at` of the records, followed by `parts` with the `values` of their numbers."""
    place = fn.span(parts[0] if parts else node)
    return [*(fn.module.read(var, place) for var in at), *(index_part(fn, part, values) for part in parts)]


def _subscripts_of(
    fn: FunctionScope, node: ast.Subscript
) -> tuple[_native.Var | None, tuple[_native.Var, ...], list[ast.expr]]:
    """The array, the subscripts of the records, and the other subscripts."""
    parts: list[ast.expr] = []
    base: ast.expr = node
    while isinstance(base, ast.Subscript) and is_subscript(fn, base):
        if refuses_item(fn, base):
            return None, (), []
        own = subscripts_of(base)
        sliced = any(isinstance(part, ast.Slice) or is_ellipsis(part) for part in own)
        joins = all(_is_number(fn, part) for part in own) or (not sliced and record_path(fn, base) is not None)
        if parts and fn.names_arrays and not joins:
            return _named(fn, base), (), parts  # x[k][j] equals x[k, j] only if k is a number
        if parts and sliced:
            fn.error("P025", base, "a slice is subscripted again", "give all subscripts at once: x[i, 1:]")
        parts[:0] = own
        base = base.value
    if base is node and fn.item(node) is not None:
        refuse_store(fn, node)
        return None, (), []
    field, at = _field_of_records(fn, base)
    array = array_of(fn, base) if field is None else field
    if parts and is_ellipsis(parts[-1]) and not any(map(is_ellipsis, parts[:-1])):
        parts.pop()  # a trailing ellipsis has no effect
    return array, at, parts
