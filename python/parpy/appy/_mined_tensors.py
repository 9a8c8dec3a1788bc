"""Rewrites tensor statements as loops, with steps over vectors in reductions and along the last dimension."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from ..pragmas.slices import constant_of, runs_over
from ..pragmas.words import Dim, Place, StatementPragma
from ..syntax.patterns import is_none, slices_of, subscripts_of
from ..syntax.walks import walk
from ._vectors import IDENTITIES, accumulation, copied, expression, loop, shifted, vector

_CONTRACTIONS = ("mv", "dot", "matmul")
_REDUCTIONS = ("sum", "max", "min", "prod")
_NOWHERE = Place(0, 0, 0)


@dataclass
class _Axis:
    """A dimension, the variable of its loop, and the vector of each step if there is one."""

    dim: Dim
    index: str
    length: str = "1"

    def subscript(self, offset: int) -> ast.expr:
        if self.length == "1":
            return expression(shifted(self.index, offset))
        return vector(self.index, self.length, ast.unparse(self.dim.high), offset)

    def loop(self, body: list[ast.stmt]) -> ast.stmt:
        low = ast.unparse(self.dim.low) if self.dim.low is not None else "0"
        return loop(self.index, low, ast.unparse(self.dim.high), self.length, body)


def mined_tensor(
    node: ast.Assign | ast.AugAssign, pragma: StatementPragma, new: Callable[[str], str]
) -> list[ast.stmt] | None:
    """The loops of a statement with a pragma of dimensions; None if its slices do not match the dimensions."""
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if _reads_others(target, node.value):
        return None
    slices = slices_of(target)
    left = list(pragma.dims)
    own: list[_Axis] = []
    for part in slices:
        found = next((dim for dim in left if not dim.reduction and runs_over(dim, part)), None)
        if found is None:
            return None
        left.remove(found)
        own.append(_Axis(found, new("i")))
    reduces = any(_reduction(part) for part in walk(node.value))
    if not own or (left and not reduces):
        return None
    if own and not reduces:
        own[-1].length = str(own[-1].dim.width or "appy.MVL")
    return _written(node, own, left, new, [axis.dim.parallel for axis in own])


def mined_slices(node: ast.Assign | ast.AugAssign, new: Callable[[str], str]) -> list[ast.stmt] | None:
    """The loops of a statement over one range, without a pragma, inside a worker; None for several ranges or none."""
    parts = [part for part in walk(node) if isinstance(part, ast.Slice)]
    if not parts or any(part.upper is None or part.step is not None for part in parts):
        return None
    if len({ast.unparse(part) for part in parts}) > 1 or (constant_of(parts[0].upper) or 0) < 0:
        return None
    upper = parts[0].upper
    assert upper is not None
    dim = Dim(_NOWHERE, parts[0].lower, upper, ast.unparse(parts[0]))
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if _reads_others(target, node.value):
        return None
    if len(slices_of(target)) == 1:
        return _written(node, [_Axis(dim, new("i"), "appy.MVL")], [], new, [False])
    return _written(node, [], [dim], new, []) if not slices_of(target) else None


def _written(
    node: ast.Assign | ast.AugAssign, own: list[_Axis], left: list[Dim], new: Callable[[str], str], parallel: list[bool]
) -> list[ast.stmt] | None:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    before: list[ast.stmt] = []
    value = _Reductions(own, left, new, before).visit(copied(node.value))
    axes = _Axes(own)
    value, place = axes.visit(value), axes.visit(copied(target))
    if not axes.possible:
        return None
    last: ast.stmt = (
        ast.AugAssign(place, node.op, value) if isinstance(node, ast.AugAssign) else ast.Assign([place], value)
    )
    body = [*before, last]
    for axis, workers in zip(reversed(own), reversed(parallel), strict=True):
        body = [axis.loop(body)]
        if workers:
            body.insert(0, ast.Expr(ast.Constant("#pragma parallel for")))
    return body


def _reads_others(target: ast.expr, value: ast.expr) -> bool:
    """Whether the value reads elements of the array other than the stored ones. Such statements cannot become loops,
    because all values are computed before the first store."""
    if not isinstance(target, ast.Subscript):
        return False
    array, own = ast.unparse(target.value), ast.unparse(target)
    return any(
        isinstance(part, ast.Subscript) and ast.unparse(part.value) == array and ast.unparse(part) != own
        for part in walk(value)
    )


def _reduction(node: ast.AST) -> str:
    """The operator of a reduction or contraction; '' for other nodes."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return "sum"
    if not isinstance(node, ast.Call) or node.keywords:
        return ""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in _CONTRACTIONS and len(node.args) == 2:
        return "sum"
    return name if name in _REDUCTIONS and len(node.args) == 1 else ""


class _Reductions(ast.NodeTransformer):
    """Replaces each reduction by a variable; `before` receives the loop that computes it."""

    def __init__(self, own: list[_Axis], left: list[Dim], new: Callable[[str], str], before: list[ast.stmt]) -> None:
        self._own, self._left, self._new, self._before = own, left, new, before

    def generic_visit(self, node: ast.AST) -> ast.AST:
        operator = _reduction(node)
        if not operator or not self._left:
            return super().generic_visit(node)
        dim = self._left[0]
        axis = _Axis(dim, self._new("i"), str(dim.width or "appy.MVL"))
        partial = self._operand(node, axis)
        if partial is None:
            return node
        total = self._new("t")
        self._before += ast.parse(f"{total} = {IDENTITIES[operator]}").body
        self._before.append(axis.loop([accumulation(total, operator, partial)]))
        return expression(total)

    def _operand(self, node: ast.AST, axis: _Axis) -> ast.expr | None:
        """The operand of the reduction, for one step of the axis."""
        if isinstance(node, ast.Call) and len(node.args) == 1:
            return self._along([*self._own, axis] if _rank(node.args[0]) > 1 else [axis], node.args[0])
        left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else node.args  # type: ignore[attr-defined]
        first, second = [*self._own, axis][-_rank(left) :], [axis]
        if _rank(right) == 2 and len(self._own) == 2:  # a product of matrices
            first, second = [self._own[0], axis], [axis, self._own[1]]
        made = self._along(first, left), self._along(second, right)
        return None if made[0] is None or made[1] is None else ast.BinOp(made[0], ast.Mult(), made[1])

    def _along(self, axes: list[_Axis], node: ast.expr) -> ast.expr | None:
        made = _Axes(axes)
        rewritten: ast.expr = made.visit(copied(node))
        return rewritten if made.possible else None


def _rank(node: ast.expr) -> int:
    return max((len(slices_of(part)) for part in walk(node) if isinstance(part, ast.expr)), default=0)


class _Axes(ast.NodeTransformer):
    """Replaces slices by the variables of loops. Dimensions and axes are paired from the last one backwards, like in
    NumPy's broadcasting."""

    def __init__(self, axes: list[_Axis]) -> None:
        self._axes = axes
        self.possible = True

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr == "T" and isinstance(node.value, ast.Subscript):
            return self._subscript(node.value, transposed=True)
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return self._subscript(node, transposed=False)

    def _subscript(self, node: ast.Subscript, transposed: bool) -> ast.AST:
        parts = subscripts_of(node)
        dims = [part for part in parts if isinstance(part, ast.Slice) or is_none(part)]
        if not dims:
            return self.generic_visit(node)
        axes = self._axes[len(self._axes) - len(dims) :] if len(dims) <= len(self._axes) else []
        if transposed:
            axes = axes[::-1]
        made: list[ast.expr] = []
        for part in parts:
            if part not in dims:
                made.append(self.visit(part))
            elif not axes:
                self.possible = False
            else:
                axis = axes[0]
                axes = axes[1:]
                if isinstance(part, ast.Slice):
                    made.append(self._of(axis, part))
        if not self.possible:
            return node
        node.slice = made[0] if len(made) == 1 else ast.Tuple(made, ast.Load())
        return node

    def _of(self, axis: _Axis, part: ast.Slice) -> ast.expr:
        if not runs_over(axis.dim, part):
            self.possible = False
            return part
        return axis.subscript(constant_of(_minus(part.lower, axis.dim.low)) or 0)


def _minus(a: ast.expr | None, b: ast.expr | None) -> ast.expr:
    zero = ast.Constant(0)
    return ast.BinOp(a or zero, ast.Sub(), b or zero)
