"""Lowers expressions of types: the dtype of an array, its class `x.dtype.type`, its limits and its names. The core
decides comparisons of types when it knows the arrays."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import numpy as np

from ... import _native
from ...library.limits import limit
from ...syntax.names import Binding
from ...types import TypeVar
from ...vocabulary.operators import DTYPE_OF, scalar_name, scalar_of_text
from ..calls.functions import call_library
from ..kernels.records import is_record
from ..lowering import lower
from ..scope import FunctionScope
from .arrays import is_array_name
from .constants import limit_asked
from .evaluation import lower_all
from .subscripts import elements_of

_EQUAL = ast.Eq | ast.Is
_SAME = ast.Eq | ast.NotEq | ast.Is | ast.IsNot | ast.In | ast.NotIn
_NAMES = ("kind", "name", "char", "str")
_PYTHONS = {int: "i64", float: "f64", bool: "bool", complex: "c128"}


def is_dtype(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether `node` is the dtype of an array."""
    return isinstance(node, ast.Attribute) and node.attr == "dtype" and is_array_name(fn, node.value)


def _is_of_result(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether `node` is the dtype of the result of an operator, which comparisons can use."""
    if fn.kernel or not isinstance(node, ast.Attribute) or node.attr != "dtype":
        return False
    return isinstance(node.value, ast.BinOp | ast.UnaryOp | ast.Compare)


def is_class_of_elements(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether `node` is x.dtype.type, the class of an array's elements."""
    return isinstance(node, ast.Attribute) and node.attr == "type" and is_dtype(fn, node.value)


def type_operand(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    """A value of the type that `node` names."""
    span = fn.span(node)
    if isinstance(node, ast.Attribute) and _is_of_result(fn, node):
        return lower(fn, node.value)
    if isinstance(node, ast.Attribute) and is_class_of_elements(fn, node):
        node = node.value
    if isinstance(node, ast.Attribute) and is_dtype(fn, node):
        if isinstance(node.value, ast.Subscript) and not fn.kernel and not is_record(fn, node.value):
            return lower(fn, node.value)  # an element of a tuple, or elements of an array
        array = elements_of(fn, node.value)
        return fn.poison(node) if array is None else fn.module.read(array, span)
    if isinstance(node, ast.Call) and node.args and not node.keywords:
        called = fn.resolve(node.func)
        if called is not None and called.value is np.result_type:
            fn.rely_on(called)
            parts = [part.value if isinstance(part, ast.Starred) else part for part in node.args]
            return lower(fn, parts[0]) if len(parts) == 1 else fn.op("tuple", node, *lower_all(fn, parts))
    binding = fn.resolve(node)
    scalar = scalar_of_text(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
    if binding is not None:
        fn.rely_on(binding)
        if isinstance(binding.value, TypeVar) and binding.value in fn.symbols:
            name, _ = fn.symbols[binding.value]
            return fn.module.read(fn.given.get(name) or fn.variable(name, node), span)
        scalar = _PYTHONS.get(binding.value) if isinstance(binding.value, type) else None
        scalar = scalar or scalar_name(binding.value)
    elif isinstance(node, ast.Name) and node.id in fn.scope.locals:
        return lower(fn, node)
    if scalar is not None:
        return _zero(fn, scalar, node)
    fn.error(
        "P023",
        node,
        "this is not a type that is known when the function is compiled",
        "write a type of parpy.types, the dtype of an array, or a parameter",
    )
    return fn.poison(node)


def compared_types(fn: FunctionScope, node: ast.Compare) -> _native.Expr | None:
    """`x.dtype == np.float32`, `x.dtype.type is np.float32` and `x.dtype.kind in "iu"`; None for other comparisons."""
    if len(node.ops) != 1:
        return None
    left, op, right = node.left, node.ops[0], node.comparators[0]
    if any(is_dtype(fn, each) or _is_of_result(fn, each) for each in (left, right)):
        if isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn):
            return None
        same = fn.op("types_equal", node, type_operand(fn, left), type_operand(fn, right))
    elif is_class_of_elements(fn, left) and not _is_of_python(fn, right):
        same = fn.op("types_equal", node, type_operand(fn, left), type_operand(fn, right))
    elif _is_named(fn, left) and (found := _scalars_named(left, op, right)) is not None:
        assert isinstance(left, ast.Attribute)
        same = _is_one_of(fn, left.value, found, node)
        return same if isinstance(op, ast.Eq | ast.In) else fn.op("not", node, same)
    else:
        return None
    if not isinstance(op, _SAME):
        fn.error("P011", node, "types have no order", "compare them with '==' or '!='")
    return same if isinstance(op, _EQUAL) else fn.op("not", node, same)


def converted_to_elements(fn: FunctionScope, node: ast.Call) -> _native.Expr | None:
    """`x.dtype.type(v)`, a number or an array of x's type; None for other calls."""
    if not is_class_of_elements(fn, node.func) or len(node.args) != 1 or node.keywords:
        return None
    if isinstance(node.args[0], ast.Starred):
        return None
    return fn.op("convert_like", node, lower(fn, node.args[0]), type_operand(fn, node.func))


def limit_of_dtype(fn: FunctionScope, node: ast.Attribute) -> _native.Expr | None:
    """`np.finfo(x.dtype).eps`; None for other attributes."""
    found = limit_asked(fn, node)
    if found is None or not (is_dtype(fn, found[1]) or is_class_of_elements(fn, found[1])):
        return None
    asked, given = found
    function = limit(asked.value, node.attr)
    if function is None:
        fn.error("P024", node, f"the attribute '{node.attr}' cannot be compiled", "eps, max, min and tiny can be used")
        return fn.poison(node)
    fn.rely_on(asked)
    return call_library(fn, function, [type_operand(fn, given)], node)


def _is_of_python(fn: FunctionScope, node: ast.expr) -> bool:
    """Whether `node` is a class of Python's numbers, which is no class of elements: np.float64 != float."""
    binding: Binding | None = fn.resolve(node)
    return binding is None or not (isinstance(binding.value, type) and issubclass(binding.value, np.generic))


def _is_named(fn: FunctionScope, node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in _NAMES and is_dtype(fn, node.value)


def _scalars_named(node: ast.expr, op: ast.cmpop, right: ast.expr) -> tuple[str, ...] | None:
    """The types whose name, such as x.dtype.kind, equals the text or is in the texts on the right; None where these are
    no constants."""
    assert isinstance(node, ast.Attribute)
    texts = right.elts if isinstance(right, ast.Tuple | ast.List | ast.Set) else [right]
    values = [each.value for each in texts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    if len(values) != len(texts):
        return None
    names = {scalar: getattr(np.dtype(dtype), node.attr) for scalar, dtype in DTYPE_OF.items()}
    if isinstance(op, ast.Eq | ast.NotEq) and isinstance(right, ast.Constant):
        return tuple(scalar for scalar, name in names.items() if name == values[0])
    if not isinstance(op, ast.In | ast.NotIn):
        return None
    within = values[0] if isinstance(right, ast.Constant) else values
    return tuple(scalar for scalar, name in names.items() if name in within)


def _is_one_of(fn: FunctionScope, dtype: ast.expr, scalars: Iterable[str], node: ast.expr) -> _native.Expr:
    found = fn.module.constant(False, fn.span(node))
    for scalar in scalars:
        same = fn.op("types_equal", node, type_operand(fn, dtype), _zero(fn, scalar, node))
        found = fn.op("or", node, found, same)
    return found


def _zero(fn: FunctionScope, scalar: str, node: ast.expr) -> _native.Expr:
    return fn.module.convert(fn.module.constant(0, fn.span(node)), scalar, fn.span(node))
