"""Lowers hardware indices: the indices of a thread in its block, its warp and the launch."""

from __future__ import annotations

import ast

from ... import _native
from ...syntax.patterns import integer_constant
from ...vocabulary.device import Register
from ..scope import FunctionScope


def lower_register(fn: FunctionScope, value: Register, node: ast.expr) -> _native.Expr:
    """A register such as threadIdx.x as a value."""
    if not fn.in_kernel(f"cuda.{value.name}", node):
        return fn.poison(node)
    return register(fn, value.text, node) if value.text else lane(fn, node)


def register(fn: FunctionScope, text: str, node: ast.expr) -> _native.Expr:
    """A hardware register, by its name in IR text."""
    return fn.module.register(text, fn.span(node))


def lane(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    """The lane of a thread. Threads are numbered with x fastest, and consecutive threads form a warp."""
    number = register(fn, "thread.z", node)
    for axis in "yx":
        row = fn.op("*", node, number, register(fn, f"blockdim.{axis}", node))
        number = fn.op("+", node, row, register(fn, f"thread.{axis}", node))
    return fn.op("%", node, number, register(fn, "warpsize", node))


def place(fn: FunctionScope, what: str, axis: str, node: ast.expr) -> _native.Expr:
    """grid or gridsize along one axis."""
    block = register(fn, f"{'block' if what == 'thread' else 'griddim'}.{axis}", node)
    start = fn.op("*", node, block, register(fn, f"blockdim.{axis}", node))
    return fn.op("+", node, start, register(fn, f"thread.{axis}", node)) if what == "thread" else start


def dimensions_asked(fn: FunctionScope, node: ast.Call, name: str) -> int:
    """The n of cuda.grid(n); 0 after an error."""
    count = integer_constant(node.args[0])
    if count not in (1, 2, 3):
        shown = ast.unparse(node.args[0])
        fn.error("P023", node.args[0], f"'{name}' takes 1, 2 or 3, not {shown}", f"write {name}(1)")
        return 0
    return count
