"""Finds the variable that an expression names (an array, an entry of a dict, an element of a tuple), and lowers its
subscripts.

The frontend does not distinguish scalars from arrays; infer_types does. A dict argument is not a value:
each of its entries is a parameter."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import _native
from ...syntax.fields import is_of_value
from ...syntax.names import NO_PLACE, Binding, is_array, is_scalar, jit_source
from ...syntax.patterns import first_name, integer_constant, is_ellipsis, string_key
from ..forms import DictParam
from ..lowering import lower
from ..program import identifier
from ..scope import FunctionScope, describe
from .effects import has_effects
from .entries import entries_of
from .objects import field

_MOST_ITEMS = 2**31


# ------------------------------------------------------------ the variable of an expression


def is_subscript(fn: FunctionScope, node: ast.Subscript) -> bool:
    """Whether the node subscripts an array, rather than naming an entry or an element that is an array."""
    return string_key(node) is None and fn.item(node) is None


def is_field_of_element(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether `node` is p['x'], and p is an element of an array of records."""
    base = node.value if isinstance(node, ast.Subscript) and string_key(node) is not None else None
    return isinstance(base, ast.Name) and base.id in fn.records and bool(fn.records[base.id].at)


def may_be_array(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether `node` names a local variable, or an array outside the function."""
    if isinstance(node, ast.Name) and node.id in fn.scope.locals:
        return True
    if isinstance(node, ast.Subscript) and string_key(node) is not None:
        return True
    binding = fn.resolve(node)
    return is_attribute(fn, node) or (binding is not None and is_array(binding.value))


def is_attribute(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether `node` is an attribute of an object inside the function, rather than an attribute of an array."""
    if fn.kernel or not isinstance(node, ast.Attribute) or is_of_value(node) or fn.starts_undefined(node):
        return False
    return fn.resolve(node.value) is None


def is_array_name(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether `node` names something that may be an array, rather than a module or function."""
    if isinstance(node, ast.Name) and node.id in fn.scope.locals:
        return True
    if isinstance(node, ast.Subscript) and string_key(node) is not None:
        return True
    if is_attribute(fn, node):
        return True
    binding = fn.resolve(node)
    known = binding is not None and (is_array(binding.value) or is_scalar(binding.value))
    return known or subscripts_array(fn, node)


def subscripts_array(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether `node` is x[…] of an array: a part or an element of it."""
    if not fn.names_arrays or not isinstance(node, ast.Subscript):
        return False
    base: ast.expr = node
    while isinstance(base, ast.Subscript) and is_subscript(fn, base):
        base = base.value
    return base is not node and may_be_array(fn, base)


# ------------------------------------------------------------ the parts of a subscript


def numbers_of(fn: FunctionScope, part: ast.expr) -> list[ast.expr]:
    """The expressions of a subscript that have values: the subscript itself, or the bounds of a slice."""
    if isinstance(part, ast.Slice):
        return [bound for bound in (part.lower, part.upper, part.step) if fn.is_given(bound)]
    if isinstance(part, ast.Starred):
        return [part.value]
    return [] if fn.is_new_axis(part) or is_ellipsis(part) else [part]


def _bound(fn: FunctionScope, node: ast.expr, values: Iterator[_native.Expr]) -> _native.Expr | None:
    """The next value, a bound of a slice, which is used several times; a bound with effects is held in a temporary."""
    if not fn.is_given(node):
        return None
    value = next(values)
    return fn.module.read(fn.hold(value, node), fn.span(node)) if has_effects(fn, node) else value


def index_part(fn: FunctionScope, part: ast.expr, values: Iterator[_native.Expr]) -> _native.Expr:
    """One part of a subscript, which uses the next of the `values` if it has values."""
    if isinstance(part, ast.Slice):
        bounds = (part.lower, part.upper, part.step)
        begin, end, step = (_bound(fn, bound, values) if bound is not None else None for bound in bounds)
        return fn.module.slice(begin, end, step, fn.span(part))
    if is_ellipsis(part):
        return fn.op("ellipsis", part)
    if fn.is_new_axis(part):
        return fn.module.op("newaxis", [], fn.span(part))
    return next(values)


# ------------------------------------------------------------ objects outside the function


def captured_array(fn: FunctionScope, binding: Binding, shown: str, node: ast.expr) -> _native.Var | None:
    """The variable of an array outside the function; None after an error."""
    if is_array(binding.value) and binding.container is not NO_PLACE:
        return fn.captured(binding, shown, node)
    if isinstance(binding.value, dict):
        fix = "take one entry with a string constant: d['key']"
    else:
        fix = "only arrays can be subscripted and have a shape"
    fn.error("P103", node, f"'{shown}' is {describe(binding.value)}, not an array", fix)
    return None


def outside_spelled_out(fn: FunctionScope, value: ast.expr) -> ast.expr:
    """If `value` names a tuple outside the function, a tuple display of its elements; otherwise `value` itself."""
    known = fn.tuple_of(value)
    if known is None:
        return value
    places = [ast.copy_location(ast.Constant(index), value) for index in range(len(known))]
    items: list[ast.expr] = [ast.copy_location(ast.Subscript(value, at, ast.Load()), value) for at in places]
    return ast.copy_location(ast.Tuple(items, ast.Load()), value)


def outside_items(fn: FunctionScope, node: ast.expr) -> list[ast.expr] | None:
    """The elements of a tuple or list display or of a named tuple object outside the function, or the entries of a dict
    that is an argument; None for other expressions."""
    if (entries := entries_of(fn, node)) is not None:
        return entries
    node = outside_spelled_out(fn, node)
    if not isinstance(node, ast.Tuple | ast.List):
        return None
    items: list[ast.expr] = []
    for part in node.elts:
        inner = outside_items(fn, part.value) if isinstance(part, ast.Starred) else [part]
        if inner is None:
            return None
        items += inner
    return items


def refuses_item(fn: FunctionScope, node: ast.Subscript) -> bool:
    """Reports a subscript that selects no element of a tuple outside the function; False if nothing is reported."""
    binding = fn.resolve(node.value)
    if binding is None or not isinstance(binding.value, tuple):
        return False
    shown, count = ast.unparse(node.value), len(binding.value)
    index = integer_constant(node.slice, _MOST_ITEMS)
    if fn.tuple_of(node.value) is None:
        not_a_value(fn, binding.value, shown, node.value)
    elif index is None:
        return False  # the subscript is chosen at run time, or is a slice
    else:
        fn.error(
            "P025",
            node.slice,
            f"the tuple '{shown}' has no element {index}",
            f"constants from {-count} to {count - 1} are possible" if count else "it is empty",
        )
    return True


def refuse_store(fn: FunctionScope, node: ast.expr) -> None:
    """Reports a store `t[0] = 1` to a tuple outside the function."""
    fn.error(
        "P016",
        node,
        f"'{ast.unparse(node)}' is an element of a tuple, which cannot be assigned to",
        "use an array, whose elements can be assigned to",
    )


# ------------------------------------------------------------ dicts


def entry_outside(fn: FunctionScope, node: ast.expr) -> Binding | None:
    """The object `d["k"]` of a dict outside the function; None for other expressions."""
    key = string_key(node) if isinstance(node, ast.Subscript) else None
    if key is None or not isinstance(node, ast.Subscript):
        return None
    owner = fn.resolve(node.value) or entry_outside(fn, node.value)
    if owner is None or not isinstance(owner.value, dict) or key not in owner.value:
        return None
    fn.rely_on(owner)
    return Binding(owner.value[key], owner.value, key)


def dict_entry(fn: FunctionScope, node: ast.Subscript, key: str) -> _native.Var | None:
    """The variable of d['k']: a surface parameter if d is a parameter, and a captured value if d is a global dict."""
    base = node.value
    if isinstance(base, ast.Name) and base.id in fn.scope.locals:
        return _dict_param(fn, node, base, key)
    binding = fn.resolve(base) or entry_outside(fn, base)
    if binding is None or not isinstance(binding.value, dict):
        if binding is None and fn.starts_undefined(base):
            lower(fn, first_name(base))
        elif binding is None and not fn.kernel:
            return fn.hold(field(fn, lower(fn, base), key, node), node, shown=ast.unparse(node))
        else:
            fn.error(
                "P104",
                node,
                "only a dict argument or a global dict has a string subscript",
                "index arrays with integers",
            )
        return None
    fn.rely_on(binding)
    shown = ast.unparse(node)
    if key not in binding.value:
        fn.error("P101", node, f"the dict '{ast.unparse(base)}' has no key '{key}'")
        return None
    entry = Binding(binding.value[key], binding.value, key)
    if is_scalar(entry.value) or is_array(entry.value):
        return fn.captured(entry, shown, node)
    not_a_value(fn, entry.value, shown, node)
    return None


def _dict_param(fn: FunctionScope, node: ast.Subscript, base: ast.Name, key: str) -> _native.Var | None:
    name, holder = base.id, fn
    while name in holder.around and holder.outer is not None:
        holder = holder.outer
    if holder is not fn and holder.entry and name in holder.parameter_names() and name not in holder.tuple_params:
        var = _dict_param(holder, node, base, key)
        return None if var is None else fn.of_function_around(holder, var, ast.unparse(node), node)
    if name not in fn.parameter_names() or not fn.entry or name in fn.tuple_params:
        owner = fn.local(base)  # the core decides whether the variable is None
        if owner is None:
            return None
        entry = field(fn, fn.module.read(owner, fn.span(base)), key, node)
        return fn.hold(entry, node, shown=ast.unparse(node))
    if name in fn.plain_uses:
        fn.error(
            "P104",
            fn.plain_uses[name],
            f"'{name}' is used as a dict elsewhere, so it must be followed by a string subscript",
            f"write {name}['key'], or pass the value as an argument of its own",
            [(fn.span(node), f"'{name}' is a dict here")],
        )
        del fn.plain_uses[name]
    param = fn.dict_params.setdefault(name, DictParam({}, node))
    if key not in param.entries:
        shown = fn.unique_name(identifier(f"{name}_{key}"))
        written = f"{name}.{key}" if fn.has_records else f"{name}[{key!r}]"
        param.entries[key] = fn.module.variable(shown, fn.span(node), written)
    return param.entries[key]


# ------------------------------------------------------------ expressions without a value


def refuse_shape(fn: FunctionScope, node: ast.expr) -> None:
    """Reports an attribute such as `(x + y).shape` of an expression."""
    if fn.starts_undefined(node):
        lower(fn, first_name(node))
        return
    fn.error("P026", node, "only whole arrays have a shape", "take an extent of the array itself: x.shape[1]")


def not_a_value(fn: FunctionScope, value: object, shown: str, node: ast.expr) -> None:
    """Reports an object outside the function that compiled code has no value for."""
    if jit_source(value) is not None:
        message, fix = f"'{shown}' is a function, not a value", f"call it: {shown}(…)"
    elif callable(value):
        message, fix = f"'{shown}' is {describe(value)}, not a value", "call it"
    elif is_scalar(value) or is_array(value) or (isinstance(value, tuple) and fn.tuple_of(node) is None):
        message = f"'{shown}' is computed at each access, so it cannot be a constant"
        fix = "assign it to a global variable, or pass it as an argument"
    else:
        message = f"'{shown}' is {describe(value)}, which compiled code cannot use"
        fix = "numbers, NumPy scalars and arrays can be used; pass the parts of other values as arguments"
        if isinstance(value, tuple):
            fix = f"take its elements by constants, {shown}[0], or all of them: a, b = {shown}"
    fn.error("P103", node, message, fix)
