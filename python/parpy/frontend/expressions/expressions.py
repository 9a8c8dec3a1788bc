"""Lowers Python expressions: one function for each kind of node."""

from __future__ import annotations

import ast
from collections.abc import Callable
from enum import Enum
from functools import partial
from types import FunctionType

import numpy as np

from ... import _native
from ...calls.objects import is_object
from ...library.limits import refusal
from ...syntax.names import NO_PLACE, Binding, is_array, is_scalar, is_unchanging
from ...syntax.patterns import first_name, integer_constant, operator_methods, string_key
from ...types import Symbol
from ...vocabulary.device import Register
from ...vocabulary.operators import DTYPE_OF
from ..calls.functions import call_library
from ..calls.origins import has_one_origin, may_have_two_origins
from ..calls.random_numbers import generator_value, is_generator_name
from ..draws import Root
from ..kernels.indices import lower_register
from ..kernels.records import is_record, record_extent, record_of, record_path, record_rank, record_size
from ..lowering import lower
from ..scope import FunctionScope, attribute_hint, describe
from .arrays import (
    entry_outside,
    is_array_name,
    is_attribute,
    is_field_of_element,
    not_a_value,
    outside_spelled_out,
    refuse_shape,
)
from .conditions import condition, short_circuit
from .constants import constant_of, limit_of, number_of, whole_number
from .dtypes import compared_types, is_dtype, limit_of_dtype
from .effects import has_effects
from .evaluation import in_order, lower_all, lower_twice
from .function_values import single
from .membership import lower_membership
from .objects import attribute_of_base, attribute_outside, field, object_outside
from .subscripts import array_of, element_of, extent_of
from .tuples import lower_compared, none

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^", ast.MatMult: "matmul",
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], str] = {
    ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "~", ast.Not: "not",
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_NO_COMPARE: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Is: ("is", "compare values with '=='"),
    ast.IsNot: ("is not", "compare values with '!='"),
}
_ARRAY_ATTRIBUTES = ("shape", "ndim", "size")


# ------------------------------------------------------------ leaves


def lower_constant(fn: FunctionScope, node: ast.Constant) -> _native.Expr:
    if node.value is None:
        return none(fn, node)
    if isinstance(node.value, str) and (text := single(fn, node.value, node)) is not None:
        return text
    return constant_of(fn, node.value, node)


def lower_name(fn: FunctionScope, node: ast.Name) -> _native.Expr:
    if node.id in fn.scope.locals:
        if Root(node.id) in fn.streams:
            return generator_value(fn, node)
        if type(known := fn.scope.known.get(node.id)) is int:
            return constant_of(fn, known, node)
        if isinstance(known, FunctionType) and known in fn.program.owners:  # a nested function
            made = single(fn, known, node)
            assert made is not None
            return made
        var = fn.local(node)
        return fn.poison(node) if var is None else fn.module.read(var, fn.span(node))
    binding = fn.find(node)
    return fn.poison(node) if binding is None else _value_of(fn, binding, node.id, node)


def _value_of(fn: FunctionScope, binding: Binding, shown: str, node: ast.expr) -> _native.Expr:
    """The value of an object outside the function: a constant of a library, or a captured scalar or array."""
    value, own = binding.value, fn.language.value
    if own is not None and (made := own(fn, value, node)) is not None:
        return made
    if isinstance(value, Register):
        return lower_register(fn, value, node)
    if isinstance(value, Symbol):
        fn.rely_on(binding)
        return _symbol(fn, value, shown, node)
    if is_scalar(value) and _is_constant(fn, binding, node):
        return number_of(fn, value.value if isinstance(value, Enum) else value, node)
    if value is None:
        fn.rely_on(binding)
        return none(fn, node)
    if (is_scalar(value) or is_array(value)) and binding.container is not NO_PLACE:
        return fn.module.read(fn.captured(binding, shown, node), fn.span(node))
    if isinstance(value, tuple) and fn.tuple_of(node) is not None:
        return lower(fn, outside_spelled_out(fn, node))
    made = single(fn, value, node)
    if made is not None:
        fn.rely_on(binding)
        return made
    if is_object(value) and not fn.kernel:
        return object_outside(fn, binding, node)
    not_a_value(fn, value, shown, node)
    return fn.poison(node)


def _symbol(fn: FunctionScope, symbol: Symbol, shown: str, node: ast.expr) -> _native.Expr:
    """The extent that a symbol in the annotations of the parameters means."""
    place = fn.symbols.get(symbol)
    if place is None:
        fn.error(
            "P103",
            node,
            f"the symbol '{shown}' occurs in no annotation of '{fn.source.function.__name__}'",
            f"annotate a parameter: x: parpy.types.buffer(parpy.types.F32, [{shown}])",
        )
        return fn.poison(node)
    name, dimension = place
    var = fn.given.get(name) or fn.variable(name, node)
    if dimension is None:
        return fn.module.read(var, fn.span(node))
    return fn.module.extent(var, dimension, fn.span(node))


def _is_constant(fn: FunctionScope, binding: Binding, node: ast.expr) -> bool:
    """Whether a number never changes, because it belongs to a library, an enum or a tuple."""
    if fn.is_library_place(binding) or isinstance(node, ast.Subscript):
        return True
    if not isinstance(node, ast.Attribute):
        return False
    owner = fn.resolve(node.value)
    return owner is not None and is_unchanging(owner.value, binding.value)


# ------------------------------------------------------------ attributes


def lower_attribute(fn: FunctionScope, node: ast.Attribute) -> _native.Expr:
    if (made := attribute_outside(fn, node) or attribute_of_base(fn, node)) is not None:
        return made
    binding = fn.resolve(node)
    if binding is not None:
        return _value_of(fn, binding, ast.unparse(node), node)
    if (known := limit_of(fn, node)) is not None:
        return known
    if (known := limit_of_dtype(fn, node)) is not None:
        return known
    span = fn.span(node)
    fn.program.attributes.add(node.attr)  # the owner may be an object
    if node.attr in _ARRAY_ATTRIBUTES and is_array_name(fn, node.value):
        if is_record(fn, node.value):
            return _of_records(fn, node)
        array = array_of(fn, node.value)
        if array is None:
            return fn.poison(node)
        if node.attr == "shape":
            return fn.op("shape", node, fn.module.read(array, span))
        return _rank_or_size(fn, array, node)
    if node.attr in _ARRAY_ATTRIBUTES and fn.names_arrays and _is_computed(node.value):
        array = fn.hold(lower(fn, node.value), node.value, shown=ast.unparse(node.value))
        if node.attr == "shape":
            return fn.op("shape", node, fn.module.read(array, span))
        return _rank_or_size(fn, array, node)
    if node.attr in _ARRAY_ATTRIBUTES and fn.resolve(node.value) is None:
        refuse_shape(fn, node.value)
        return fn.poison(node)
    owner = fn.resolve(node.value)
    if node.attr in ("itemsize", "nbytes") and (of := _with_bytes(fn, node)) is not None:
        return _bytes(fn, of, node)
    if node.attr in ("real", "imag") and (owner is None or is_scalar(owner.value)):
        return fn.module.op(node.attr, [lower(fn, node.value)], span)
    if node.attr == "strides" and fn.names_arrays and fn.kernel and owner is None and is_array_name(fn, node.value):
        array = array_of(fn, node.value)
        return fn.poison(node) if array is None else _strides(fn, array, node)
    views = ("T", "flat") if fn.kernel else ("T",)  # x.flat in a loop would copy the elements each time
    if node.attr in views and fn.names_arrays and (owner is None or is_array(owner.value)):
        value = lower(fn, node.value)
        if node.attr == "T":
            return fn.module.op("transpose", [value], span)
        return fn.module.op("reshape", [value, fn.integer(-1, node)], span)
    if owner is not None:
        _no_attribute(fn, owner.value, node)
    elif fn.starts_undefined(node.value):
        lower(fn, first_name(node.value))
    elif (
        is_attribute(fn, node)
        or isinstance(node.value, ast.Call)  # f(x).y of a named tuple, also in kernels
        or (node.attr in fn.program.data and not fn.kernel)
    ):
        return field(fn, lower(fn, node.value), node.attr, node)
    else:
        fn.error(
            "P024",
            node,
            f"the attribute '{node.attr}' cannot be compiled",
            "shape, ndim, size, itemsize, real and imag can be used, and dtype in comparisons and conversions",
        )
    return fn.poison(node)


def _is_computed(node: ast.expr) -> bool:
    """Whether the node is a call, an operation, a transpose, or a subscript of one or of a name: f(x)[0]."""
    while isinstance(node, ast.Subscript) and string_key(node) is None:
        node = node.value
        if isinstance(node, ast.Name):
            return True
    is_transpose = isinstance(node, ast.Attribute) and node.attr == "T"
    return is_transpose or isinstance(node, ast.Call | ast.BinOp | ast.UnaryOp | ast.Compare)


def _rank_or_size(fn: FunctionScope, array: _native.Var, node: ast.Attribute) -> _native.Expr:
    span = fn.span(node)
    return fn.module.rank(array, span) if node.attr == "ndim" else fn.module.size(array, span)


def _strides(fn: FunctionScope, array: _native.Var, node: ast.expr) -> _native.Expr:
    strides = fn.op("shape", node, fn.module.read(array, fn.span(node)))
    fn.module.set_strides(strides)
    return strides


def _with_bytes(fn: FunctionScope, node: ast.Attribute) -> ast.expr | None:
    """The array x of x.itemsize, x.nbytes and x.dtype.itemsize; None for other attributes."""
    owner = node.value
    if node.attr == "itemsize" and is_dtype(fn, owner):
        assert isinstance(owner, ast.Attribute)
        owner = owner.value
    return owner if is_array_name(fn, owner) and fn.resolve(owner) is None and not is_record(fn, owner) else None


def _bytes(fn: FunctionScope, owner: ast.expr, node: ast.Attribute) -> _native.Expr:
    """x.itemsize and x.nbytes, which depend on the type of the elements."""
    span, array = fn.span(node), array_of(fn, owner)
    if array is None:
        return fn.poison(node)
    found = fn.hold(fn.integer(0, node), node)
    for scalar, dtype in {**DTYPE_OF, "bf16": "float16"}.items():
        kind = fn.module.convert(fn.module.constant(0, span), scalar, span)
        same = fn.op("types_equal", node, fn.module.read(array, span), kind)
        size = fn.integer(np.dtype(dtype).itemsize, node)
        fn.out.append(fn.module.if_(same, [fn.module.assign(found, size, None, span)], [], span))
    one = fn.module.read(found, span)
    return one if node.attr == "itemsize" else fn.op("*", node, one, fn.module.size(array, span))


def _of_records(fn: FunctionScope, node: ast.Attribute) -> _native.Expr:
    """r.ndim, r.size and r.shape of an array of records."""
    path, record = record_path(fn, node.value), record_of(fn, node.value)
    if path is None or record is None:
        return fn.poison(node)
    if node.attr == "size":
        return record_size(fn, record, path, node)
    known = record_rank(fn, record, node)
    if node.attr == "shape":
        return fn.op("tuple", node, *(record_extent(fn, record, path, axis, node) for axis in range(known or 0)))
    return fn.poison(node) if known is None else fn.integer(known, node)


def _no_attribute(fn: FunctionScope, owner: object, node: ast.Attribute) -> None:
    message = f"{describe(owner)} has no attribute '{node.attr}'"
    fn.error("P107", node, message, attribute_hint(owner, node.attr))


# ------------------------------------------------------------ operators


def lower_binary(fn: FunctionScope, node: ast.BinOp) -> _native.Expr:
    # Sums of many terms nest deeply on the left, so the left side is walked without recursion.
    value = whole_number(fn, node)
    if value is not None:
        return constant_of(fn, value, node)
    chain = [node]
    while isinstance(chain[-1].left, ast.BinOp) and whole_number(fn, chain[-1].left) is None:
        chain.append(chain[-1].left)
    result = lower(fn, chain[-1].left)
    for part in reversed(chain):
        fn.program.attributes.update(operator_methods(part))
        left, right = in_order(fn, result, part.left, partial(lower, fn, part.right))
        result = _operator(fn, part, left, right)
    return result


def _operator(fn: FunctionScope, node: ast.BinOp, left: _native.Expr, right: _native.Expr) -> _native.Expr:
    own = fn.language.operator
    value = None if own is None else own(fn, node, left, right)
    return fn.module.op(BINARY[type(node.op)], [left, right], fn.span(node)) if value is None else value


def lower_unary(fn: FunctionScope, node: ast.UnaryOp) -> _native.Expr:
    if isinstance(node.op, ast.Not):
        return condition(fn, node)
    value = node.operand.value if isinstance(node.operand, ast.Constant) else None
    if isinstance(node.op, ast.USub) and isinstance(value, float):
        return constant_of(fn, -value, node)
    value = whole_number(fn, node)
    if value is not None:
        return constant_of(fn, value, node)
    fn.program.attributes.update(operator_methods(node))
    return fn.module.op(_UNARY[type(node.op)], [lower(fn, node.operand)], fn.span(node))


def lower_compare(fn: FunctionScope, node: ast.Compare) -> _native.Expr:
    if (same := compared_types(fn, node)) is not None:
        return same
    if len(node.ops) == 1 and isinstance(node.ops[0], ast.Is | ast.IsNot):
        return _identity(fn, node)
    if any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
        return lower_membership(fn, node)
    for op in node.ops:
        if type(op) not in _COMPARE:
            word, fix = _NO_COMPARE[type(op)]
            fn.error("P011", node, f"the operator '{word}' cannot be compiled", fix)
            return fn.poison(node)
    fn.program.attributes.update(operator_methods(node))
    return _comparisons(fn, node, 0, lambda: _operand(fn, node.left))


def _operand(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    return lower_compared(fn, node) if isinstance(node, ast.Tuple) else lower(fn, node)


def _identity(fn: FunctionScope, node: ast.Compare) -> _native.Expr:
    """`y is None`, `y is not None`, `b is True`"""
    sides = [node.left, *node.comparators]
    truth = next((s for s in sides if isinstance(s, ast.Constant) and isinstance(s.value, bool)), None)
    if truth is not None:
        same = _is_truth(fn, sides[0] if truth is sides[1] else sides[1], truth, node)
        return same if isinstance(node.ops[0], ast.Is) else fn.op("not", node, same)
    if any(is_record(fn, side) for side in sides):  # a record is never None
        return constant_of(fn, isinstance(node.ops[0], ast.IsNot), node)
    if any(isinstance(getattr(fn.resolve(side), "value", None), Enum) for side in sides):  # equal members are identical
        same = fn.op("==", node, *lower_all(fn, sides))
        return same if isinstance(node.ops[0], ast.Is) else fn.op("not", node, same)
    generators = [side for side in sides if is_generator_name(fn, side)]
    if generators:
        absent = any(isinstance(side, ast.Name) and side.id in fn.absent for side in generators)
        same = fn.op("is", node, none(fn, node) if absent else fn.integer(0, node), none(fn, node))
    else:
        same = fn.op("is", node, *lower_all(fn, sides, _operand))
    return same if isinstance(node.ops[0], ast.Is) else fn.op("not", node, same)


def _is_truth(fn: FunctionScope, side: ast.expr, truth: ast.Constant, node: ast.expr) -> _native.Expr:
    """Whether `side` is a bool of Python and equals `truth`. NumPy's bools, of which the sum is a bool, are never the
    same object; kernels written by hand do not tell them from Python's."""
    span, module = fn.span(node), fn.module
    value, wanted = fn.hold(lower(fn, side), side), partial(constant_of, fn, truth.value, truth)
    same = fn.hold(constant_of(fn, False, node), node)

    def is_bool(of: _native.Var) -> _native.Expr:
        return fn.op("types_equal", node, module.read(of, span), wanted())

    def fails() -> list[_native.Stmt]:
        message = f"'{ast.unparse(node)}' asks about a bool that may be NumPy's or Python's"
        return [module.evaluate(call_library(fn, refusal(message), [module.read(value, span)], node), span)]

    equal = module.assign(same, fn.op("==", node, module.read(value, span), wanted()), None, span)
    decides = [equal]
    if not fn.kernel:
        doubled = fn.temporary(span)
        for_numpy = [] if has_one_origin(fn, side) else fails()
        for_python = fails() if may_have_two_origins(fn, side) else [equal]
        added = fn.op("+", node, *(module.read(value, span) for _ in range(2)))
        decides = [
            module.assign(doubled, added, None, span),
            module.if_(is_bool(doubled), for_numpy, for_python, span),
        ]
    fn.out.append(module.if_(is_bool(value), decides, [], span))
    return module.read(same, span)


def _comparisons(fn: FunctionScope, node: ast.Compare, index: int, left: Callable[[], _native.Expr]) -> _native.Expr:
    """`a < b < c` from its operator number `index` on, as `a < b and b < c` with b evaluated
    once; `left` makes the left operand of that operator."""
    first, right = ([node.left, *node.comparators])[index : index + 2]
    span = fn.span(first, right)
    text = _COMPARE[type(node.ops[index])]
    before = left()
    if index == len(node.ops) - 1:
        return fn.module.op(text, [*in_order(fn, before, first, lambda: _operand(fn, right))], span)
    held = isinstance(first, ast.Constant) or (index > 0 and has_effects(fn, first))
    if has_effects(fn, right) and not held:  # the effects of `right` move before the statement
        before = fn.module.read(fn.hold(before, first), span)
    value, again = lower_twice(fn, right)
    compared = fn.module.op(text, [before, value], span)
    rest = fn.branch(lambda: _comparisons(fn, node, index + 1, again))
    return short_circuit(fn, "and", compared, rest, node)


# ------------------------------------------------------------ subscripts


def lower_subscript(fn: FunctionScope, node: ast.Subscript) -> _native.Expr:
    """An element of an array, of a tuple or of the results of a call, an extent, an entry of a dict, a field."""
    base = node.value
    item = fn.item(node)
    if item is not None:
        return _value_of(fn, item, ast.unparse(node), node)
    if isinstance(base, ast.List | ast.Tuple) and not isinstance(node.slice, ast.Slice | ast.Tuple):  # written out
        whole = ast.copy_location(ast.Tuple(base.elts, ast.Load()), base)
        return fn.op("item", node, *lower_all(fn, [whole, node.slice]))
    if isinstance(base, ast.Attribute) and base.attr == "shape" and not fn.resolve(base):
        axis = integer_constant(node.slice)
        if not is_array_name(fn, base.value):
            if fn.names_arrays and _is_computed(base.value) and not isinstance(node.slice, ast.Slice):
                return fn.op("item", node, *lower_all(fn, [base, node.slice]))
            refuse_shape(fn, base.value)
            return fn.poison(node)
        if axis is not None:
            return extent_of(fn, base.value, axis, node)
    entry = entry_outside(fn, node)
    if entry is not None and not (is_scalar(entry.value) or is_array(entry.value)):
        return _value_of(fn, entry, ast.unparse(node), node)
    if string_key(node) is not None and not is_field_of_element(fn, node):
        var = array_of(fn, node)
        return fn.poison(node) if var is None else fn.module.read(var, fn.span(node))
    array, indices = element_of(fn, node)
    if array is None:
        return fn.poison(node)
    return fn.module.load(array, indices, fn.span(node))
