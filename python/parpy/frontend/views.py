"""Views: `row = x[i]` and `part = x[a:b]`, which kernels subscript, ask for their shape, and hand to device functions.

A view is no value of the program. It is the array behind it and what its subscripts were when it was made, in
variables; each use is a subscript of that array. A function that gets one is a function of these variables, made anew
for each kind of view (`Form`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial

from .. import _native
from .arrays import index_part, numbers_of
from .evaluation import lower_all
from .forms import ArrayForm, Axis, Form, Span, View
from .kinds import array_rank
from .patterns import integer_constant
from .scope import FunctionScope

_MOST = 2**62


def refuse_kinds(fn: FunctionScope, target: ast.Name) -> None:
    """The name would stand for views that no common variables describe."""
    fn.error(
        "P016",
        target,
        f"'{target.id}' is a view of several arrays, or of several kinds",
        "give each view a name of its own, or choose among the subscripts: x[i if c else j]",
    )


def stand_for(fn: FunctionScope, target: ast.Name, made: View) -> None:
    """The name stands for the view from here on."""
    span = fn.span(target)
    known = fn.views.get(target.id)
    if fn.may_rebind(target.id):
        fn.stand_for_nothing(target.id)
        fn.views[target.id] = made
    elif known is not None and (known.array, known.form) == (made.array, made.form):
        for var, value in zip(known.variables, made.variables, strict=True):
            fn.out.append(fn.module.assign(var, fn.module.read(value, span), None, span))
    elif known is not None:
        refuse_kinds(fn, target)
    else:
        fn.error("P016", target, f"'{target.id}' is something else elsewhere", "give the view a name of its own")


def view_from(
    fn: FunctionScope, array: _native.Var | None, axes: tuple[Axis, ...], parts: list[ast.expr], shown: str = ""
) -> View | None:
    """A view of an array, of which `axes` say what is there already, made by subscripts."""
    for part in parts:
        if not isinstance(part, ast.Slice) and not numbers_of(fn, part):
            fn.error("P025", part, "a view of an array is made by integers and slices", "leave this out")
            return None
    values = iter(lower_all(fn, [n for part in parts for n in numbers_of(fn, part)]))
    if array is None:
        return None
    made: list[Axis] = []
    for axis in axes:
        keeps = axis.at is not None or not parts
        made.append(axis if keeps else _narrowed(fn, array, len(made), axis, parts.pop(0), values, shown))
    for part in parts:
        made.append(_narrowed(fn, array, len(made), Axis(), part, values, shown))
    while made and made[-1] == Axis():
        made.pop()
    return View(array, tuple(made))


def _narrowed(
    fn: FunctionScope,
    array: _native.Var,
    number: int,
    axis: Axis,
    part: ast.expr,
    values: Iterator[_native.Expr],
    shown: str = "",
) -> Axis:
    """What `part`, whose numbers have the `values`, leaves of dimension `number` of the array, of which a view has
    what `axis` says."""
    span = fn.span(part)
    if not isinstance(part, ast.Slice):
        value = next(values)
        value = value if axis.begin is None else _within(fn, axis, value, part, array, number)
        return Axis(fn.hold(value, part, shown=shown))
    read, zero = fn.module.read, partial(fn.integer, 0, part)

    def extent() -> _native.Expr:
        return fn.module.extent(array, number, span) if axis.size is None else read(axis.size, span)

    lower = _bound(fn, part.lower, next(values), extent) if fn.is_given(part.lower) else zero()
    upper = _bound(fn, part.upper, next(values), extent) if fn.is_given(part.upper) else extent()
    step = 1
    if fn.is_given(part.step):
        next(values)
        step = integer_constant(part.step, _MOST) or 0
    if step < 1:
        fn.error("P025", part, "a view steps forward, by a constant", "write a for loop that computes the subscripts")
    if step == 1 and not fn.is_given(part.lower) and not fn.is_given(part.upper):
        return axis
    begin, end = fn.hold(lower, part, shown=shown), fn.hold(upper, part)
    size = fn.op("-", part, read(end, span), read(begin, span))
    if step > 1:
        size = fn.op("+", part, size, fn.integer(step - 1, part))
        size = fn.op("//", part, size, fn.integer(step, part))
    size = fn.op("max", part, size, zero())
    held = fn.hold(size, part, shown=shown)
    if axis.begin is not None:
        ahead = fn.op("*", part, read(begin, span), fn.integer(axis.step, part))
        begin = fn.hold(fn.op("+", part, read(axis.begin, span), ahead), part, shown=shown)
    return Axis(None, begin, held, axis.step * step)


def _bound(fn: FunctionScope, bound: ast.expr, value: _native.Expr, extent: Callable[[], _native.Expr]) -> _native.Expr:
    """A bound of a slice, counted from the end if negative, within the dimension."""
    known = integer_constant(bound, _MOST)
    if known is not None and known >= 0:
        return fn.op("max", bound, fn.op("min", bound, value, extent()), fn.integer(0, bound))
    read = partial(fn.module.read, fn.hold(index_of(fn, value, bound), bound), fn.span(bound))
    zero = partial(fn.integer, 0, bound)
    behind = fn.op("max", bound, fn.op("+", bound, read(), extent()), zero())
    ahead = fn.op("max", bound, fn.op("min", bound, read(), extent()), zero())  # the compiler sees the sign
    return fn.op("select", bound, fn.op("<", bound, read(), zero()), behind, ahead)


def _within(
    fn: FunctionScope, axis: Axis, value: _native.Expr, node: ast.expr, array: _native.Var | None, number: int
) -> _native.Expr:
    """The subscript of the array that stands for `value` in a part of its dimension `number`."""
    assert axis.begin is not None and axis.size is not None
    span, zero = fn.span(node), partial(fn.integer, 0, node)
    size = partial(fn.module.read, axis.size, span)
    known = integer_constant(node, _MOST)
    given = partial(fn.integer, known or 0, node)
    beyond = []
    if known is None:
        raw = partial(fn.module.read, fn.hold(fn.op("as_index", node, value), node), span)
        beyond = [fn.op(">", node, raw(), fn.integer(2**63 - 1, node))]  # unsigned ones only
        given = partial(fn.module.read, fn.hold(fn.op("int", node, raw()), node), span)
        from_end = fn.op("+", node, given(), size())
        value = fn.op("select", node, fn.op("<", node, given(), zero()), from_end, given())
    elif known < 0:
        value = fn.op("+", node, value, size())
    at = partial(fn.module.read, fn.hold(value, node), span)
    outside = fn.op("or", node, fn.op("<", node, at(), zero()), fn.op(">=", node, at(), size()))
    shown = "" if array is None else array.shown
    for test, what in ((beyond, "unsigned subscript {0u}"), ([outside], "subscript {0}")):
        text = f"{what} is out of bounds for a slice of axis {number} of '{shown}', whose size is {{1}}"
        fails = [fn.module.fail("P421", text, [given(), size()], span) for _ in test]
        fn.out += [fn.module.if_(each, [fail], [], span) for each, fail in zip(test, fails, strict=True)]
    steps = at() if axis.step == 1 else fn.op("*", node, at(), fn.integer(axis.step, node))
    return fn.op("+", node, fn.module.read(axis.begin, span), steps)


# ------------------------------------------------------------ parameters


def view_form(fn: FunctionScope, view: View) -> ArrayForm:
    """What a function that gets the view knows of it."""
    return ArrayForm(view.form, array_rank(fn, view.array) if fn.program.knows_all else None)


def receive_view(fn: FunctionScope, name: str, form: ArrayForm) -> None:
    """The parameter is a view, an array and variables that say which part of it."""
    array = fn.variable(name, fn.parameters[name])
    fn.views[name] = view = View(array, received_axes(fn, name, form.axes))
    if form.rank is not None:
        fn.ranks[array] = form.rank
    fn.received[name] = [array, *view.variables]


def keep_given(fn: FunctionScope) -> list[_native.Stmt]:
    """The symbols of annotations stand for extents of the views that the function is given, whatever their names
    stand for later. The statements that keep the sizes of parts."""
    statements: list[_native.Stmt] = []

    def kept(axis: Axis, span: Span) -> Axis:
        if axis.size is None:
            return axis
        size = fn.temporary(span)
        statements.append(fn.module.assign(size, fn.module.read(axis.size, span), None, span))
        return axis._replace(size=size)

    for name in fn.parameters:
        if name not in fn.views or name not in fn.annotations:
            continue
        view, span = fn.views[name], fn.span(fn.parameters[name])
        fn.given_views[name] = view._replace(axes=tuple(kept(axis, span) for axis in view.axes))
    return statements


def received_axes(fn: FunctionScope, name: str, form: Form) -> tuple[Axis, ...]:
    """Axes of this form in variables of their own."""
    made = []
    for number, (is_index, is_part, step) in enumerate(form):
        given = (("at", is_index), ("begin", is_part), ("size", is_part))
        at, begin, size = (
            fn.received_variable(name, f"{what}{number}") if is_there else None for what, is_there in given
        )
        made.append(Axis(at, begin, size, step))
    return tuple(made)


# ------------------------------------------------------------ using


def through(
    fn: FunctionScope,
    array: _native.Var | None,
    axes: tuple[Axis, ...],
    parts: list[ast.expr],
    values: Iterator[_native.Expr],
    node: ast.expr,
) -> list[_native.Expr]:
    """The subscripts of the array for those of a view of it in `node`: `parts`, with the `values` of their
    numbers."""
    indices: list[_native.Expr] = []
    left = list(parts)
    for number, axis in enumerate(axes):
        while left and fn.is_new_axis(left[0]):
            indices.append(index_part(fn, left.pop(0), values))
        place = fn.span(left[0] if left else node)
        if axis.at is not None:
            indices.append(fn.module.read(axis.at, place))
        elif axis.begin is None:
            indices.append(index_part(fn, left.pop(0), values) if left else _all(fn, place))
        elif left and not isinstance(left[0], ast.Slice):
            indices.append(_within(fn, axis, next(values), left.pop(0), array, number))
        else:
            if left and array is not None:
                axis = _narrowed(fn, array, number, axis, left.pop(0), values)
            indices.append(_slice_of(fn, axis, place))
    return indices + [index_part(fn, part, values) for part in left]


def _all(fn: FunctionScope, span: Span) -> _native.Expr:
    return fn.module.slice(None, None, None, span)


def _slice_of(fn: FunctionScope, axis: Axis, span: Span) -> _native.Expr:
    assert axis.begin is not None and axis.size is not None
    read, op = fn.module.read, fn.module.op
    length = op("*", [read(axis.size, span), fn.module.constant(axis.step, span)], span)
    end = op("+", [read(axis.begin, span), length], span)
    step = fn.module.constant(axis.step, span) if axis.step != 1 else None
    return fn.module.slice(read(axis.begin, span), end, step, span)


def view_extent(fn: FunctionScope, view: View, index: int, node: ast.expr, rank: int = 0) -> _native.Expr:
    """row.shape[index]; `rank`: how many dimensions the view must have."""
    span = fn.span(node)
    kept = [number for number, axis in enumerate(view.axes) if axis.at is None]
    demanded = rank + len(view.axes) - len(kept) if rank else 0
    if (index < 0 and kept) or (view.of_records and index != 0):
        known = view_dimensions(fn, view)
        if known is None:
            return _unknown(fn, node)
        if not -known <= index < known:
            fn.error("P026", node, f"there are {known} dimensions, and none with the number {index}")
            return fn.poison(node)
        index %= known
    if 0 <= index < len(kept):
        axis = view.axes[kept[index]]
        if axis.size is not None:
            return fn.module.read(axis.size, span)
        return fn.module.extent(view.array, kept[index], span, demanded)
    place = index if index < 0 else len(view.axes) + index - len(kept)
    return fn.module.extent(view.array, place, span, demanded)


def view_dimensions(fn: FunctionScope, view: View) -> int | None:
    """How many dimensions the view has; None if that is not known."""
    rank = view.rank if view.of_records else array_rank(fn, view.array)
    return None if rank is None else rank - sum(axis.at is not None for axis in view.axes)


def view_rank(fn: FunctionScope, view: View, node: ast.expr) -> _native.Expr:
    """row.ndim"""
    if view.of_records:
        known = view_dimensions(fn, view)
        return _unknown(fn, node) if known is None else fn.integer(known, node)
    fixed = sum(axis.at is not None for axis in view.axes)
    return fn.op("-", node, fn.module.rank(view.array, fn.span(node)), fn.integer(fixed, node))


def view_size(fn: FunctionScope, view: View, node: ast.expr) -> _native.Expr:
    """row.size"""
    span = fn.span(node)
    if view.of_records:
        known = view_dimensions(fn, view)
        total = _unknown(fn, node) if known is None else fn.integer(1, node)
        for number in range(known or 0):
            total = fn.op("*", node, total, view_extent(fn, view, number, node))
        return total
    total = fn.module.size(view.array, span)
    for number, axis in enumerate(view.axes):
        if axis != Axis():
            total = fn.op("//", node, total, fn.module.extent(view.array, number, span))
    for axis in view.axes:
        if axis.size is not None:
            total = fn.op("*", node, total, fn.module.read(axis.size, span))
    return total


def _unknown(fn: FunctionScope, node: ast.expr) -> _native.Expr:
    fn.want_kinds(node)
    return fn.poison(node)


# ------------------------------------------------------------ small pieces


def index_of(fn: FunctionScope, value: _native.Expr, node: ast.expr) -> _native.Expr:
    """An integer of any type as one of Python's, so that sums with it have room."""
    return fn.op("int", node, fn.op("as_index", node, value))
