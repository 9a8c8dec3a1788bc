"""Lowers the assignment of a value to one target: a variable or elements of an array."""

from __future__ import annotations

import ast

from ... import _native
from ...syntax.patterns import string_key
from ...syntax.walks import walk
from ..expressions.arrays import is_attribute, is_field_of_element
from ..expressions.effects import has_effects, over_slices
from ..expressions.objects import stored_field
from ..expressions.subscripts import array_of, element_of
from ..scope import FunctionScope


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
    elif (entry := entry_of(fn, target)) is not None:
        assign_entry(fn, entry, value, node, update, in_place=update is not None)
    elif isinstance(target, ast.Subscript):
        (array, indices), before = fn.apart(lambda: element_of(fn, target))
        sliced = over_slices(fn, getattr(node, "value", target))
        compares = any(isinstance(part, ast.Compare) for part in walk(target.slice))
        written = compares and has_effects(fn, getattr(node, "value", target))  # a mask is evaluated after the value
        if (before or written) and update is None and not sliced:  # these may change elements that the value reads
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


def entry_of(fn: FunctionScope, target: ast.AST) -> ast.Attribute | ast.Subscript | None:
    """The target, if it is an attribute of an object or an entry of a dict."""
    if isinstance(target, ast.Subscript):
        return None if string_key(target) is None or is_field_of_element(fn, target) else target
    return target if isinstance(target, ast.Attribute) and is_attribute(fn, target) else None


def assign_entry(
    fn: FunctionScope,
    target: ast.Attribute | ast.Subscript,
    value: _native.Expr,
    node: ast.stmt,
    update: str | None,
    in_place: bool,
) -> None:
    """Assigns to a number in an object or a dict. With `in_place`, an array there gets the value in its elements."""
    is_variable = _is_variable(fn, target)
    if fn.kernel or (is_variable and not in_place):
        _refuse_entry(fn, target)
        return
    array = array_of(fn, target) if is_variable else stored_field(fn, target, in_place)
    if array is not None:
        fn.out.append(fn.module.store(array, [fn.op("ellipsis", target)], value, update, fn.span(node)))


def _is_variable(fn: FunctionScope, target: ast.Attribute | ast.Subscript) -> bool:
    """Whether the target is an entry of a dict that is a surface parameter or a captured value."""
    if isinstance(target, ast.Attribute):
        return False
    owner, holder = target.value, fn
    if not isinstance(owner, ast.Name) or owner.id not in fn.scope.locals:
        return fn.resolve(owner) is not None
    while owner.id in holder.around and holder.outer is not None:
        holder = holder.outer
    return holder.entry and owner.id in holder.parameter_names() and owner.id not in holder.tuple_params


def refuses_reuse(fn: FunctionScope, target: ast.Name) -> bool:
    """Reports an assignment of a value to a name that refers to a record; False if the name does not."""
    if target.id not in fn.records:
        return False
    fn.error("P016", target, f"'{target.id}' is a record elsewhere", "give the value another name")
    return True


def _refuse_entry(fn: FunctionScope, target: ast.expr) -> None:
    """Reports assignments such as `d['k'] = 1` and `p.k = 1` that cannot be compiled."""
    what, fix = "an attribute, or an entry of a dict,", "assign to the elements of the array in it"
    if not fn.kernel and fn.resolve(target) is None and array_of(fn, target) is not None:
        # The entry of a parameter may be a number, for which the function is compiled anew (host/structures.py).
        fn.out.append(fn.module.fail("P016", f"{what} cannot be assigned to", [], fn.span(target), fix))
        return
    if fn.kernel:
        owner = target.value if isinstance(target, ast.Subscript) else target
        if not isinstance(owner, ast.Name) or owner.id not in fn.parameters:
            array_of(fn, target)
            return
        what, fix = "a field of a record by value", "pass an array of records, and assign to r[0].x"
    fn.error("P016", target, f"{what} cannot be assigned to", fix)
