"""Lowers short vectors: `cuda.float32x3(x, y, z)`, `cuda.float4(v, w)`. Each is a named tuple."""

from __future__ import annotations

import ast

from ... import _native
from ...syntax.walks import walk
from ...vocabulary.device import DeviceFunction
from ...vocabulary.vectors import VECTORS
from ..calls.intrinsics import Intrinsic
from ..expressions.objects import add_attribute, begin_named_tuple
from ..lowering import lower
from ..scope import FunctionScope


def lower_vector(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """A vector that is made of numbers and of the elements of other vectors."""
    if not fn.in_kernel(intrinsic.name, node):
        return fn.poison(node)
    vector, span = VECTORS[intrinsic.op], fn.span(node)
    lengths = _lengths(fn, node.args, vector.length)
    if lengths is None:
        fn.error(
            "P105",
            node,
            f"'{intrinsic.name}' is made of {vector.length} numbers, or of vectors that have as many elements together",
            f"write {intrinsic.name}({', '.join('xyzw'[: vector.length])}), or the elements of vectors: v.x, v.y",
        )
        return fn.poison(node)
    elements: list[_native.Expr] = []
    for argument, length in zip(node.args, lengths, strict=True):
        value = lower(fn, argument)
        if length == 0:
            elements.append(value)
            continue
        whole = fn.hold(value, argument)
        items = (fn.op("item", argument, fn.module.read(whole, span), fn.integer(i, node)) for i in range(length))
        elements += items
    made = begin_named_tuple(fn, vector.of_class, node)
    for name, element in zip("xyzw", elements, strict=False):
        held = fn.hold(fn.module.convert(element, vector.scalar, span), node)
        add_attribute(fn, made, name, fn.module.read(held, span), span)
    return made


def _lengths(fn: FunctionScope, arguments: list[ast.expr], count: int) -> list[int] | None:
    """The number of elements of each argument, 0 for a number; None if the sum is not the vector's length."""
    if len(arguments) == count and (count > 1 or _length(fn, arguments[0]) == 0):
        return [0] * count
    lengths = [_length(fn, each) for each in arguments]
    return lengths if sum(max(length, 1) for length in lengths) == count else None


def _length(fn: FunctionScope, node: ast.expr) -> int:
    """The length of a vector expression, or of a name with one length in all assignments; 0 for other values."""
    if isinstance(node, ast.Name) and node.id in fn.scope.locals:
        found = {
            _length(fn, part.value)
            for part in walk(fn.node)
            if isinstance(part, ast.Assign)
            and any(isinstance(target, ast.Name) and target.id == node.id for target in part.targets)
        }
        return found.pop() if len(found) == 1 else 0
    binding = fn.resolve(node.func) if isinstance(node, ast.Call) else None
    known = None if binding is None else binding.value
    is_vector = isinstance(known, DeviceFunction) and known.lowering == "vector"
    return VECTORS[known.op].length if is_vector and known is not None else 0
