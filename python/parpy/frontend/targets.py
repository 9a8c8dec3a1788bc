"""Lowers the assignment of a value to one target: a variable, an element, or what a mask selects."""

from __future__ import annotations

import ast

from .. import _native
from .arrays import is_field_of_element
from .effects import has_effects, over_slices
from .lowering import lower
from .patterns import mask_rank, string_key
from .scope import FunctionScope
from .subscripts import array_of, element_of


def assign_value(
    fn: FunctionScope, target: ast.expr, value: _native.Expr, node: ast.stmt, update: str | None = None
) -> None:
    """target = value, or target <update>= value, for a name or an element."""
    span = fn.span(node)
    if isinstance(target, ast.Name):
        if update is None and (own := fn.language.assigned) is not None:
            value = own(fn, target, value, node)
        if update is not None:
            var = fn.local(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            if var is None:
                return
        elif target.id in fn.dict_params:
            fn.misused_dict(target.id, target)
            return
        elif refuses_reuse(fn, target):
            return
        fn.assigned.add(target.id)
        fn.plain_uses.setdefault(target.id, target)
        var = fn.variable(target.id, target)
        fn.out.append(fn.module.assign(var, value, update, span))
    elif isinstance(target, ast.Subscript):
        if string_key(target) is not None and not is_field_of_element(fn, target):
            _refuse_entry(fn, target)
            return
        if mask_rank(target.slice):
            _assign_masked(fn, target, value, node, update)
            return
        (array, indices), before = fn.apart(lambda: element_of(fn, target))
        sliced = over_slices(fn, getattr(node, "value", target))
        if before and update is None and not sliced:  # they may write what the value reads
            value = fn.module.read(fn.hold(value, target), span)
        fn.out.extend(before)
        if array is not None:
            fn.out.append(fn.module.store(array, indices, value, update, span))
    elif isinstance(target, ast.Starred):
        fn.error("P016", target, "a starred target cannot be compiled", "name every element")
    else:
        fn.error(
            "P016",
            target,
            "only variables and array elements can be assigned to",
            "assign to a name or to an element x[i]",
        )


def _assign_masked(
    fn: FunctionScope, target: ast.Subscript, value: _native.Expr, node: ast.stmt, update: str | None
) -> None:
    """x[x[:] > 0] = value: of each element its old value or the new one is stored."""
    assert isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)
    if any(isinstance(part, ast.Slice) for part in ast.walk(node.value or target)):
        fn.error(
            "P016",
            node,
            "slices are assigned to the elements that a mask selects",
            "write x[:] = np.where(mask, …, x[:]), with slices as large as the mask",
        )
        return
    span = fn.span(target)
    array = array_of(fn, target.value)
    if array is None:
        return
    if has_effects(fn, node.value or target):  # the mask is evaluated after the value
        value = fn.module.read(fn.hold(value, target), span)

    def everything() -> list[_native.Expr]:
        return [fn.module.slice(None, None, None, span) for _ in range(mask_rank(target.slice))]

    old = fn.module.load(array, everything(), span)
    if update is not None:
        value = fn.module.op(update, [fn.module.load(array, everything(), span), value], fn.span(node))
    chosen = fn.module.op("select", [lower(fn, target.slice), value, old], span)
    fn.out.append(fn.module.store(array, everything(), chosen, None, fn.span(node)))


def refuses_reuse(fn: FunctionScope, target: ast.Name) -> bool:
    """Reports that a number is to have a name that stands for a view or tuple; False where it does not."""
    if target.id in fn.nones and not fn.conditions:
        fn.nones.discard(target.id)
    if not fn.is_no_variable(target.id):
        return False
    is_view, is_tuple = target.id in fn.views, target.id in fn.tuples
    what = "a view of an array" if is_view else "a tuple" if is_tuple else "a record"
    what = "None" if target.id in fn.nones else what
    fn.error("P016", target, f"'{target.id}' is {what} elsewhere", "give the number another name")
    return True


def _refuse_entry(fn: FunctionScope, target: ast.Subscript) -> None:
    """`d['k'] = 1`"""
    what, fix = "an entry of a dict", "assign to the elements of the array in it"
    if fn.kernel:
        if not isinstance(target.value, ast.Name) or target.value.id not in fn.parameters:
            array_of(fn, target)
            return
        what, fix = "a field of a record by value", "pass an array of records, and assign to r[0].x"
    fn.error("P016", target, f"{what} cannot be assigned to", fix)
