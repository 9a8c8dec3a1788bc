"""Lowers loads and stores with cache operators: `cuda.ldcg(x, i)`, `cuda.stwt(x, (i, j), v)`."""

from __future__ import annotations

import ast
from functools import cache

from ... import _native
from ...vocabulary.device import ForeignFunction
from ..calls.foreign import call_declared
from ..calls.intrinsics import Intrinsic
from ..expressions.subscripts import array_of
from ..lowering import lower
from ..scope import FunctionScope

# The types for which CUDA C++ has such loads and stores.
_C_TYPES = {
    "i8": "signed char", "u8": "unsigned char", "i16": "short", "u16": "unsigned short", "i32": "int",
    "u32": "unsigned", "i64": "long long", "u64": "unsigned long long", "f32": "float", "f64": "double",
}  # fmt: skip


@cache
def _access(hint: str, scalar: str) -> ForeignFunction:
    """The function of CUDA C++ that loads or stores one element of a type."""
    name, c_type = f"parpy_{hint}_{scalar}", _C_TYPES[scalar]
    if hint.startswith("ld"):
        text = f"static __device__ {c_type} {name}(const {c_type}* at) {{ return __{hint}(at); }}\n"
        return ForeignFunction(name, [f"{scalar}*"], scalar, "c", texts=(text,), shown=f"cuda.{hint}")
    text = f"static __device__ void {name}({c_type}* at, {c_type} value) {{ __{hint}(at, value); }}\n"
    return ForeignFunction(name, [f"{scalar}*", scalar], "void", "c", texts=(text,), shown=f"cuda.{hint}")


def lower_hinted(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """The load or store for the type of the array's elements; the core chooses it, since the type is unknown here."""
    if not fn.in_kernel(intrinsic.name, node):
        return fn.poison(node)
    span, hint = fn.span(node), intrinsic.op
    array = array_of(fn, node.args[0])
    if array is None:
        return fn.poison(node)
    # The part of the array that begins at the element, whose address the function gets.
    index = node.args[1]
    parts = [*index.elts] if isinstance(index, ast.Tuple) else [index]
    parts[-1] = ast.copy_location(ast.Slice(parts[-1]), parts[-1])
    behind: ast.expr = parts[0] if len(parts) == 1 else ast.copy_location(ast.Tuple(parts, ast.Load()), index)
    element = ast.copy_location(ast.Subscript(node.args[0], behind, ast.Load()), node)
    place = fn.hold(lower(fn, element), element, shown=ast.unparse(node.args[0]))
    value = fn.hold(lower(fn, node.args[2]), node.args[2]) if len(node.args) > 2 else None
    result = None if value is not None else fn.temporary(span)
    fail = fn.module.fail("P230", f"'{intrinsic.name}' takes arrays of integers, float32 and float64", [], span)
    chosen: list[_native.Stmt] = [fail]
    for scalar in _C_TYPES:
        given = [place] if value is None else [place, value]
        call = call_declared(fn, _access(hint, scalar), [fn.module.read(each, span) for each in given], node)
        does = fn.module.evaluate(call, span) if result is None else fn.module.assign(result, call, None, span)
        kind = fn.module.convert(fn.module.constant(0, span), scalar, span)
        chosen = [fn.module.if_(fn.op("types_equal", node, fn.module.read(array, span), kind), [does], chosen, span)]
    fn.out.extend(chosen)
    return fn.poison(node) if result is None else fn.module.read(result, span)
