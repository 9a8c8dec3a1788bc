"""The array that an expression stands for, with its subscripts: of an array, a view of one, or a field of records."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from .. import _native
from ..syntax.names import is_array
from ..syntax.source import FunctionSource
from .arrays import (
    captured_array,
    dict_entry,
    element_variable,
    is_array_name,
    is_subscript,
    is_tuple_element,
    numbers_of,
    refuse_store,
    refuses_item,
    subscripts_array,
)
from .evaluation import lower_all, lower_settled
from .forms import Axis, View
from .lowering import index_parts, lower, without_ellipsis
from .patterns import is_ellipsis, string_key
from .record_paths import has_slice
from .records import field_of, is_record, record_of, record_path, some_field
from .scope import FunctionScope
from .views import through, view_dimensions, view_extent, view_from


def array_of(fn: FunctionScope, node: ast.expr) -> _native.Var | None:
    """The variable that `node` names as a whole: x, d['k'] or module.x. None after an error."""
    if isinstance(node, ast.Name):
        if node.id not in fn.records and record_path(fn, node) is not None:
            fn.error("P204", node, f"the records '{node.id}' are used as numbers", f"take a field, {node.id}[0].x")
            return None
        if node.id in fn.scope.locals:
            return fn.local(node)
        binding = fn.find(node)
        return None if binding is None else captured_array(fn, binding, node.id, node)
    if isinstance(node, ast.Subscript):
        key = string_key(node)
        if key is not None:
            return dict_entry(fn, node, key)
        item = fn.item(node)
        if item is not None:
            return captured_array(fn, item, ast.unparse(node), node)
        if is_tuple_element(fn, node):
            return element_variable(fn, node)
    elif isinstance(node, ast.Attribute):
        binding = fn.resolve(node)
        if binding is not None:
            return captured_array(fn, binding, ast.unparse(node), node)
        if node.attr == "T" and not fn.kernel:
            return fn.hold(lower(fn, node), node, shown=ast.unparse(node))
        if fn.starts_undefined(node):
            lower(fn, node)
            return None
    elif isinstance(node, ast.Call | ast.BinOp | ast.UnaryOp | ast.Compare) and not fn.kernel:
        return fn.hold(lower(fn, node), node, shown=ast.unparse(node))
    fn.error(
        "P025",
        node,
        "only a variable can be subscripted",
        "assign the value to a variable first, or subscript an array",
    )
    return None


# ------------------------------------------------------------ what is a view


def is_view(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether `node` is a view or records: named, or made by subscripts."""
    named = isinstance(node, ast.Name) and node.id in fn.views
    return named or subscripts_array(fn, node) or is_record(fn, node)


def view_of(fn: FunctionScope, node: ast.expr) -> View | None:
    """The view that `node` names or, in a kernel, makes by subscripts; None if it is something else, or after an
    error."""
    if is_record(fn, node):
        record, path = record_of(fn, node), record_path(fn, node)
        var = None if record is None or path is None else some_field(fn, record, path)
        return None if record is None or var is None else View(var, record.axes, True, record.rank)
    if isinstance(node, ast.Name):
        return view_named(fn, node)
    return make_view(fn, node) if subscripts_array(fn, node) else None


def view_named(fn: FunctionScope, node: ast.expr) -> View | None:
    """The view that `node` names: a variable, or a field of records that have a name."""
    path = record_path(fn, node) if isinstance(node, ast.Subscript) else None
    if path is not None and path.key_node is node and path.root.id in fn.records:
        record = fn.records[path.root.id]
        var = field_of(fn, record, path.key, node) if fn.is_assigned(path.root) else None
        return None if var is None else View(var, record.axes)
    if not isinstance(node, ast.Name) or node.id not in fn.views or not fn.is_assigned(node):
        return None
    return fn.views[node.id]


def named_view(fn: FunctionScope, node: ast.expr) -> ast.Name:
    """A name that no program has for the view that `node` makes."""
    view = view_of(fn, node)
    name = fn.unique_name("(view)")
    if view is not None:
        fn.views[name] = view
        fn.assigned.add(name)
    return ast.copy_location(ast.Name(name, ast.Load()), node)


def is_view_argument(fn: FunctionScope, node: ast.expr, source: FunctionSource, parameter: str) -> bool:
    """Whether `node`, given to a parameter of a function, goes there as a view."""
    if isinstance(node, ast.Name):
        return node.id in fn.views or _is_told(fn, node)
    if not subscripts_array(fn, node):
        return _is_told(fn, node)
    return has_slice(node) or fn.program.uses.takes_array(source, parameter)


def _is_told(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether functions that get this array are told how many dimensions it has."""
    if not fn.program.knows_all:
        return False
    if not isinstance(node, ast.Name) or node.id not in fn.scope.locals:
        binding = fn.resolve(node)
        return binding is not None and is_array(binding.value)
    kind, var = fn.kind_of(node.id), fn.variables.get(node.id)
    return (kind is not None and kind.ndim > 0) or (var is not None and var in fn.ranks)


def make_view(fn: FunctionScope, node: ast.expr, shown: str = "") -> View | None:
    """The view that `node` is of its array, with its subscripts as they are now; None after an error. Messages
    call it `shown`."""
    if not isinstance(node, ast.Subscript) or not subscripts_array(fn, node):
        array = array_of(fn, node)
        return None if array is None else View(array, ())
    return view_from(fn, *_subscripts_of(fn, node), shown)


def unpack_shape(fn: FunctionScope, value: ast.expr, count: int) -> list[Callable[[], _native.Expr]] | None:
    """`n, m = x.shape`: the extents, for an array of exactly that rank; None for other values, [] after an
    error."""
    if not isinstance(value, ast.Attribute) or value.attr != "shape" or not is_array_name(fn, value.value):
        return None
    if is_view(fn, value.value):
        view = view_of(fn, value.value)
        if view is None:
            return []
        if view.of_records:
            return _extents_of_records(fn, view, value, count)
        return [partial(view_extent, fn, view, index, value, count) for index in range(count)]
    array = array_of(fn, value.value)
    if array is None:
        return []
    return [partial(fn.module.extent, array, index, fn.span(value), count) for index in range(count)]


def _extents_of_records(fn: FunctionScope, view: View, node: ast.expr, count: int) -> list[Callable[[], _native.Expr]]:
    """`n, m = r.shape`"""
    known = view_dimensions(fn, view)
    if known is None:
        fn.want_kinds(node)
        return []
    if known != count:
        fn.error("P017", node, f"{known} extents cannot be assigned to {count} targets")
        return []
    return [partial(view_extent, fn, view, index, node) for index in range(count)]


def element_of(fn: FunctionScope, node: ast.Subscript) -> tuple[_native.Var | None, list[_native.Expr]]:
    """The array and the subscripts of `x[i, j]`, also written x[i][j]."""
    array, axes, parts = _subscripts_of(fn, node)
    values = lower_all(fn, [n for part in parts for n in numbers_of(fn, part)])
    return array, through(fn, array, axes, parts, iter(values), node)


def held_element(fn: FunctionScope, node: ast.Subscript) -> tuple[_native.Var | None, Callable[[], list[_native.Expr]]]:
    """The array, and a function that makes the subscripts, evaluated now, as often as wanted."""
    array, axes, parts = _subscripts_of(fn, node)
    makers = [lower_settled(fn, n) for part in parts for n in numbers_of(fn, part)]
    return array, lambda: through(fn, array, axes, parts, iter([make() for make in makers]), node)


def _subscripts_of(
    fn: FunctionScope, node: ast.Subscript
) -> tuple[_native.Var | None, tuple[Axis, ...], list[ast.expr]]:
    """The array, how the view that is subscripted stands in it, and the subscripts."""
    parts: list[ast.expr] = []
    base: ast.expr = node
    while isinstance(base, ast.Subscript) and is_subscript(fn, base):
        if refuses_item(fn, base):
            return None, (), []
        own = index_parts(fn, base.slice)
        if parts and any(isinstance(part, ast.Slice) or is_ellipsis(part) for part in own):
            if subscripts_array(fn, base):
                view = view_of(fn, base)
                return (None, (), []) if view is None else (view.array, view.axes, parts)
            if not fn.kernel:
                return fn.hold(lower(fn, base), base, shown=ast.unparse(base)), (), without_ellipsis(fn, parts, base)
            fn.error("P025", base, "a slice is subscripted again", "give all subscripts at once: x[i, 1:]")
        parts[:0] = own
        base = base.value
    if base is node and (fn.item(node) is not None or is_tuple_element(fn, node)):
        refuse_store(fn, node)
        return None, (), []
    known = view_named(fn, base)
    array, axes = (array_of(fn, base), ()) if known is None else (known.array, known.axes)
    if parts and is_ellipsis(parts[-1]):
        parts.pop()  # all of the dimensions that are left, as without it
    return array, axes, without_ellipsis(fn, parts, base)
