"""Translates the pragmas of a statement to labels of its loops: one label for a for loop; for a statement over slices,
one for each dimension of its target, then one for each reduced dimension.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ... import _native
from ...pragmas.labels import NOTHING, label_of_dim, label_of_loop
from ...pragmas.slices import runs_over
from ...pragmas.words import Dim, LoopPragma, Place, Pragma, StatementPragma
from ...syntax.patterns import slices_of
from ...syntax.walks import walk
from ...vocabulary import workers
from ..lowering import lower
from ..scope import FunctionScope
from .pragma_reductions import Reductions

_FOR_KERNELS = "in a kernel written by hand the thread's indices say which thread runs what"


def pragma_of(fn: FunctionScope, node: ast.stmt) -> Pragma | None:
    """The pragma before the statement, or the pragma that `prange` in a for loop means; None without one."""
    found = fn.source.pragmas.of(node)
    if found is None and isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
        found = _of_range(fn, node.iter)
    if found is not None and fn.kernel:
        fn.error("P031", _span(fn, found.place), "pragmas say how loops of jit functions run", _FOR_KERNELS)
        return None
    return found


def _of_range(fn: FunctionScope, call: ast.Call) -> LoopPragma | None:
    binding = fn.resolve(call.func)
    words: dict[str, bool] = {}
    if binding is not None and binding.value is workers.prange:
        words = {"parallel": True}
    elif binding is not None and binding.value is workers.range:
        for each in call.keywords:
            if each.arg not in ("parallel", "simd") or not isinstance(each.value, ast.Constant):
                fix = "write for example range(n, parallel=True, simd=True)"
                fn.error("P014", call, "'range' takes parallel and simd, each True or False", fix)
                return None
            words[each.arg] = bool(each.value.value)
    _, line, begin, end_line, end = fn.span(call)
    place = Place(line, begin, end if end_line == line else begin + 1)
    if not any(words.values()):
        return None
    return LoopPragma(place, parallel=words.get("parallel", False), simd=words.get("simd", False))


def pragma_labels(fn: FunctionScope, node: ast.stmt, pragma: Pragma | None) -> list[str]:
    """The labels of the loops of the statement."""
    if isinstance(pragma, LoopPragma):
        return [label_of_loop(pragma)] if isinstance(node, ast.For) else []
    if pragma is None or not pragma.dims or not isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        return []
    return _Dimensions(fn, node, pragma).labels()


def check_promises(fn: FunctionScope, pragma: Pragma | None) -> None:
    """Adds checks before a statement that end the program if a dimension exceeds the bound of le(n) or single_block."""
    dims = pragma.dims if isinstance(pragma, StatementPragma) else ()
    for dim in dims:
        if not dim.single_block or not dim.most:
            continue
        span = _span(fn, dim.place)
        most = fn.module.constant(dim.most, span) if isinstance(dim.most, int) else _named(fn, dim, dim.most)
        if most is None:
            continue
        extent = lower(fn, _at(fn, dim.high, dim))
        if dim.low is not None:
            extent = fn.module.op("-", [extent, lower(fn, _at(fn, dim.low, dim))], span)
        text = f"the pragma promises that the dimension '{dim.text}' has at most {dim.most} elements, but it has more"
        fail = fn.module.fail("P033", text, [], span)
        fn.out.append(fn.module.if_(fn.module.op(">", [extent, most], span), [fail], [], span))


def _named(fn: FunctionScope, dim: Dim, name: str) -> _native.Expr | None:
    return lower(fn, _at(fn, ast.Name(name, ast.Load()), dim))


def _at(fn: FunctionScope, node: ast.expr, dim: Dim) -> ast.expr:
    """The expression of a pragma, with the place of the pragma in the file."""
    line, begin = dim.place.line - fn.line_shift, dim.place.begin - 1
    for part in walk(node):
        if isinstance(part, ast.expr):
            part.lineno = part.end_lineno = line
            part.col_offset, part.end_col_offset = begin, dim.place.end - 1
    return node


def _span(fn: FunctionScope, place: Place) -> tuple[int, int, int, int, int]:
    return (fn.source_index, place.line, place.begin, place.line, place.end)


class _Dimensions:
    """Finds the loops that the dimensions of a pragma name."""

    def __init__(
        self, fn: FunctionScope, node: ast.Assign | ast.AugAssign | ast.AnnAssign, pragma: StatementPragma
    ) -> None:
        self._fn = fn
        self._node = node
        self._pragma = pragma
        self._left = list(pragma.dims)
        self._target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        reductions = Reductions(fn, pragma, self._reduces_all)
        self._reductions = reductions.of(node.value) if node.value is not None else []
        self._operators: dict[Dim, list[str]] = {}  # the operators by which the statement reduces each dimension

    def labels(self) -> list[str]:
        found = self._of_target() + self._of_reductions()
        for dim, operators in self._operators.items():
            self._check_operators(dim, operators)
        for dim in self._left:
            self._refuse(dim)
        return found if any(each != NOTHING for each in found) else []

    def _of_target(self) -> list[str]:
        slices = slices_of(self._target)
        taken: list[Dim | None] = [self._take(part, False) for part in slices]
        for number, part in enumerate(slices):  # slices that only their sizes identify, in order
            if taken[number] is None:
                taken[number] = next(
                    (dim for dim in self._left if not dim.reduction and runs_over(dim, part) is None), None
                )
                if taken[number] is not None:
                    self._left.remove(taken[number])  # type: ignore[arg-type]
        return [NOTHING if dim is None else label_of_dim(dim) for dim in taken]

    def _take(self, part: ast.Slice, reduced: bool) -> Dim | None:
        """Removes the dimension that the slice runs over from those left, and returns it; None if there is none."""
        for dim in self._left:
            if (reduced or not dim.reduction) and runs_over(dim, part):
                self._left.remove(dim)
                return dim
        return None

    def _of_reductions(self) -> list[str]:
        """The labels of the reduced dimensions. Several reductions of the statement may have the same dimension."""
        mentioned = list(self._left)
        found: list[str] = []
        for part, operator in self._reductions:
            dim = next((dim for dim in mentioned if part is not None and runs_over(dim, part)), None)
            if dim is None:
                unclear = part is None or any(runs_over(each, part) is None for each in mentioned)
                dim = next((each for each in mentioned if unclear and each in self._left), None)
            if dim is None:
                found.append(NOTHING)
                continue
            if dim in self._left:
                self._left.remove(dim)
            self._operators.setdefault(dim, []).append(operator)
            found.append(label_of_dim(replace(dim, simd=True) if not dim.parallel else dim))
        return found

    def _check_operators(self, dim: Dim, operators: list[str]) -> None:
        fn, place, operator = self._fn, _span(self._fn, dim.place), operators[0]
        root = self._target
        while isinstance(root, ast.Subscript):
            root = root.value
        name = ast.unparse(root)
        if dim.target and dim.target != name:
            what = f"the pragma reduces into '{dim.target}', but the statement assigns '{name}'"
            fn.error("P032", place, what, f"write reduce({dim.reduction}:{name})")
        if dim.reduction and not {"", dim.reduction}.intersection(operators):
            said = f"'{dim.text}' is reduced by {dim.reduction}"
            what = f"the pragma says that {said}, but the statement does so by {operator}"
            fn.error("P032", place, what, f"write reduce({operator})")
        if dim.parallel:
            what = f"the pragma says that '{dim.text}' is parallel, but the statement reduces it"
            fn.error("P032", place, what, f"write {dim.text}=>reduce({operator or 'sum'})")

    def _reduces_all(self, call: ast.Call, name: str, axes: list[int]) -> None:
        """Reports a call of a NumPy function without an axis, which reduces all dimensions of its operand."""
        dim = next(each for each in self._pragma.dims if each.reduction)
        what = f"the pragma reduces '{dim.text}' alone, but '{name}' reduces all dimensions of its operand"
        fix = f"write axis={axes[0] if len(axes) == 1 else tuple(axes)} in '{ast.unparse(call)}'"
        self._fn.error("P032", _span(self._fn, dim.place), what, fix)

    def _refuse(self, dim: Dim) -> None:
        slices = [*slices_of(self._target), *(part for part, _ in self._reductions if part is not None)]
        shown = ", ".join(dict.fromkeys(f"'{ast.unparse(part)}'" for part in slices))
        if dim.reduction and not self._reductions:
            what = f"the statement reduces nothing over '{dim.text}'"
            fix = "write the reduction, as in y[:M] = mv(A[:M, :N], x[:N])"
        else:
            what = f"no slice of the statement runs over '{dim.text}'"
            fix = f"its slices are {shown}" if shown else "write the slices out, as in x[:N]"
            if (
                isinstance(self._target, ast.Name)
                and not shown
                and any(isinstance(part, ast.Slice) for part in walk(self._node))
            ):  # the statement makes a new array
                fix = f"store to an existing array: {self._target.id}[{dim.text}] = …"
        self._fn.error("P031", _span(self._fn, dim.place), what, fix)
