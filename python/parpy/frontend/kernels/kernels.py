"""Lowers the operations of kernels written by hand: barriers, exchanges between lanes, atomic operations, print."""

from __future__ import annotations

import ast
import builtins
from functools import partial

import numpy as np

from ... import _native
from ...syntax.patterns import integer_constant
from ...syntax.text import as_text
from ...vocabulary.device import DeviceFunction, GridGroup, this_grid
from ..calls.arguments import fits
from ..calls.functions import by_numpy
from ..calls.intrinsics import Intrinsic
from ..expressions.conditions import condition
from ..expressions.subscripts import element_of
from ..lowering import block, lower
from ..scope import FunctionScope
from .indices import dimensions_asked, lane, place, register

_FULL = 0xFFFFFFFF


def as_kernel(fn: FunctionScope, body: list[_native.Stmt]) -> list[_native.Stmt]:
    """The body of the entry: the statements of the function, run by every thread of the launch."""
    span = fn.span(fn.node)
    sizes = [fn.module.read(var, span) for var in fn.geometry()]
    return [*fn.in_front, fn.module.kernel(sizes, body, span)]


def lower_grid(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """cuda.grid(1), a number; cuda.grid(2), a tuple"""
    if not fn.in_kernel(intrinsic.name, node):
        return fn.poison(node)
    axes = [place(fn, intrinsic.op, axis, node) for axis in "xyz"[: dimensions_asked(fn, node, intrinsic.name)]]
    return axes[0] if len(axes) == 1 else fn.op("tuple", node, *axes) if axes else fn.poison(node)


def lower_match_all(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """`m, p = cuda.match_all_sync(mask, v)`"""
    if not fn.in_kernel(intrinsic.name, node):
        return fn.poison(node)
    read = partial(fn.module.read, fn.hold(_exchange(fn, node, intrinsic.op), node), fn.span(node))
    return fn.op("tuple", node, read(), fn.op("!=", node, read(), fn.integer(0, node)))


# ------------------------------------------------------------ statements


def kernel_statement(fn: FunctionScope, node: ast.Expr) -> bool:
    """Lowers a barrier or print; False if the statement is another one."""
    call = node.value
    if not isinstance(call, ast.Call):
        return False
    sync = _grid_sync(fn, call)
    binding = None if sync is not None else fn.resolve(call.func)
    known = sync if sync is not None else binding.value if binding is not None else None
    if known is builtins.print and fn.kernel:
        assert binding is not None
        fn.rely_on(binding)
        _print(fn, call)
        return True
    if isinstance(known, np.ufunc) and fn.has_records and (out := _output(call, known.nin)) is not None:
        _ufunc(fn, call, call.args[: known.nin], out)
        return True
    if not isinstance(known, DeviceFunction) or known.lowering != "barrier":
        return False
    intrinsic = Intrinsic.of(known)
    if fn.in_kernel(intrinsic.name, call) and fits(fn, call, intrinsic):
        fn.out.append(fn.module.barrier(known.op, fn.span(node)))
    return True


def _output(call: ast.Call, inputs: int) -> ast.expr | None:
    """The array that the call of a ufunc stores to, its last argument or `out=`; None for other calls."""
    if len(call.args) == inputs + 1 and not call.keywords:
        return call.args[-1]
    if len(call.args) != inputs or [each.arg for each in call.keywords] != ["out"]:
        return None
    out = call.keywords[0].value
    return out.elts[0] if isinstance(out, ast.Tuple) and len(out.elts) == 1 else out


def _ufunc(fn: FunctionScope, call: ast.Call, inputs: list[ast.expr], out: ast.expr) -> None:
    """`np.sin(x, out)` as a statement: each thread runs out[:] = np.sin(x)."""

    value = ast.copy_location(ast.Call(call.func, inputs, []), call)
    all_of_it = ast.Subscript(out, ast.copy_location(ast.Slice(), out), ast.Load())
    fn.out.extend(block(fn, [ast.copy_location(ast.Assign([ast.copy_location(all_of_it, out)], value), call)]))


def _grid_sync(fn: FunctionScope, call: ast.Call) -> DeviceFunction | None:
    """`cg.this_grid().sync()`, or `g.sync()` after `g = cg.this_grid()`."""
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr != "sync":
        return None
    owner = func.value
    if isinstance(owner, ast.Name) and owner.id in fn.grids:
        return GridGroup.sync
    return GridGroup.sync if _is_grid(fn, owner) else None


def _is_grid(fn: FunctionScope, node: ast.expr) -> bool:
    binding = fn.resolve(node.func) if isinstance(node, ast.Call) else None
    return binding is not None and binding.value is this_grid


def grid_assignment(fn: FunctionScope, target: ast.expr, value: ast.expr, _: ast.stmt) -> bool:
    """`g = cg.this_grid()`: whether the assignment is one."""
    if not isinstance(target, ast.Name) or not _is_grid(fn, value):
        return False
    fn.grids.add(target.id)
    return True


def lower_this_grid(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    fn.error("P011", node, "the threads of the grid cannot be used as a value", "write cg.this_grid().sync()")
    return fn.poison(node)


def lower_barrier(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    fn.error("P023", node, f"'{intrinsic.name}' gives no value", "write it as a line of its own")
    return fn.poison(node)


def _print(fn: FunctionScope, call: ast.Call) -> None:
    separator = " "
    for keyword in call.keywords:
        if keyword.arg == "sep" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
            separator = keyword.value.value
        else:
            fn.error("P023", keyword, "'print' in a kernel takes 'sep' only", "leave it out")
    texts: list[str] = [""]
    values: list[_native.Expr] = []
    for index, part in enumerate(call.args):
        texts[-1] += separator if index else ""
        for piece in _pieces(fn, part):
            if isinstance(piece, ast.Constant) and isinstance(piece.value, str):
                texts[-1] += piece.value
            else:
                values.append(lower(fn, piece))
                texts.append("")
    fn.out.append(fn.module.print(list(map(as_text, texts)), values, fn.span(call)))


def _pieces(fn: FunctionScope, part: ast.expr) -> list[ast.expr]:
    """The texts and values to print for an argument of print, such as f"n = {n}"."""
    if not isinstance(part, ast.JoinedStr):
        return [part]
    pieces: list[ast.expr] = []
    for each in part.values:
        if isinstance(each, ast.FormattedValue):
            if each.format_spec is not None or each.conversion != -1:
                fn.error("P023", each, "'print' in a kernel formats values in its own way", "write {x} alone")
            each = each.value
        pieces.append(each)
    return pieces


# ------------------------------------------------------------ exchanges and atomics


def lower_device_op(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    if not fn.in_kernel(intrinsic.name, node):
        return fn.poison(node)
    value = fn.op(intrinsic.op, node, *(lower(fn, argument) for argument in node.args))
    return value if intrinsic.op == "select" else by_numpy(fn, value, node)


def lower_exchange(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    return _exchange(fn, node, intrinsic.op) if fn.in_kernel(intrinsic.name, node) else fn.poison(node)


def _exchange(fn: FunctionScope, node: ast.Call, op: str) -> _native.Expr:
    """An exchange between lanes. Numba's order of arguments is (mask, value, …), that of the IR (value, mask, …)."""
    masks = [_mask(fn, argument) for argument in node.args[:1]]
    if op == "sync_warp" and not masks:
        masks = [fn.integer(_FULL, node)]
    operands = masks + [lower(fn, argument) for argument in node.args[1:]]
    if len(operands) > 1:
        operands[0], operands[1] = operands[1], operands[0]
    if op.startswith("shfl"):
        operands.append(register(fn, "warpsize", node))
    return fn.op(op, node, *operands)


def _mask(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    """A mask of lanes with one bit each; -1 selects all lanes."""
    return fn.integer(_FULL, node) if integer_constant(node) == -1 else lower(fn, node)


def lower_vote_equal(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    """A vote whether the truth is equal in all lanes of the mask: it holds in all of them or in none."""
    if not fn.in_kernel(intrinsic.name, node):
        return fn.poison(node)
    mask = fn.hold(_mask(fn, node.args[0]), node.args[0])
    truth = fn.hold(condition(fn, node.args[1]), node.args[1])
    span = fn.span(node)
    every = fn.op("vote_all", node, fn.module.read(truth, span), fn.module.read(mask, span))
    some = fn.op("vote_any", node, fn.module.read(truth, span), fn.module.read(mask, span))
    every, some = (fn.module.read(fn.hold(vote, node), span) for vote in (every, some))
    return fn.op("or", node, every, fn.op("not", node, some))


def lower_lanemask_lt(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    if not fn.in_kernel(intrinsic.name, node):
        return fn.poison(node)
    bit = fn.op("<<", node, fn.integer(1, node), lane(fn, node))
    return fn.op("-", node, bit, fn.integer(1, node))


def lower_atomic(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    if not fn.in_kernel(intrinsic.name, node):
        return fn.poison(node)
    return _atomic(fn, node, intrinsic.op, node.args[1], node.args[2:])


def lower_compare_and_swap(fn: FunctionScope, node: ast.Call, intrinsic: Intrinsic) -> _native.Expr:
    if not fn.in_kernel(intrinsic.name, node):
        return fn.poison(node)
    return _atomic(fn, node, intrinsic.op, ast.copy_location(ast.Constant(0), node), node.args[1:])


def _atomic(fn: FunctionScope, node: ast.Call, op: str, index: ast.expr, arguments: list[ast.expr]) -> _native.Expr:
    element = ast.copy_location(ast.Subscript(node.args[0], index, ast.Load()), node)
    array, indices = element_of(fn, element)
    values = [lower(fn, argument) for argument in arguments]
    if array is None:
        return fn.poison(node)
    return fn.module.atomic(op, array, indices, values, fn.span(node))
