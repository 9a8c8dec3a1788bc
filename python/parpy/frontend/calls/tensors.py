"""Lowers Python's `sum`, `max` and `min` of slices in functions with pragmas to tensor expressions, which reduce in any
order, as NumPy's functions do, so that their loops can be vectorised."""

from __future__ import annotations

import ast

from ... import _native
from ...pragmas.slices import runs_over
from ...pragmas.words import StatementPragma
from ...syntax.patterns import slices_of
from ...syntax.walks import walk
from ..lowering import lower
from ..scope import FunctionScope


def lower_tensor_reduction(fn: FunctionScope, node: ast.Call, name: str) -> _native.Expr | None:
    """`max(a[i, :n])`; None for arguments such as names, for which the call is Python's function."""
    if not fn.source.pragmas or len(node.args) != 1 or node.keywords:
        return None
    slices = widest_slices(node.args[0])
    axes = reduced_axes(slices, fn.tensor_pragma)
    if not slices or (len(slices) > 1 and not axes):
        return None
    whole = len(axes) in (0, len(slices))
    return fn.module.reduce(name, lower(fn, node.args[0]), [] if whole else axes, False, fn.span(node))


def reduced_axes(slices: list[ast.Slice], pragma: StatementPragma | None) -> list[int]:
    """The dimensions of an operand that the pragma of its statement reduces. For `:M=>parallel :N=>reduce(sum)` before
    `y[:M] = sum(A[:M, :N])` this is the second one."""
    dims = [dim for dim in pragma.dims if dim.reduction] if pragma is not None else []
    return [number for number, part in enumerate(slices) if any(runs_over(dim, part) for dim in dims)]


def widest_slices(node: ast.expr) -> list[ast.Slice]:
    """The slices of the operand that has the most slices."""
    return max((slices_of(part) for part in walk(node) if isinstance(part, ast.expr)), key=len, default=[])
