"""Views: `row = x[i]` and `part = x[a:b]`, which kernels subscript, ask for their shape, and hand to device functions.

A view is no value of the program. It is the array behind it and what its subscripts were when it was made, in
variables; each use is a subscript of that array. A function that gets one is a function of these variables, made anew
for each kind of view (`Form`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeGuard, TypeVar

from .. import _native
from ..syntax.names import is_array, jit_source
from ..syntax.source import FunctionSource
from .arrays import integer_constant, string_key
from .kinds import Kinds
from .record_paths import has_slice, is_whole
from .scope import ArrayForm, Axis, Form, RecordForm, Span, View
from .uses import TupleForm

T = TypeVar("T")
_MOST = 2**62


class Views(Kinds):
    """Views of arrays in one function."""

    out: list[_native.Stmt]

    def condition(self, node: ast.expr) -> _native.Expr:
        raise NotImplementedError

    def branch(self, lower: Callable[[], T]) -> tuple[T, list[_native.Stmt]]:
        raise NotImplementedError

    def hold(
        self, value: _native.Expr, node: ast.expr | ast.stmt, at: int | None = None, shown: str = ""
    ) -> _native.Var:
        raise NotImplementedError

    # ------------------------------------------------------------ what is one

    def view_of(self, node: ast.expr) -> View | None:
        """The view that `node` names or, in a kernel, makes by subscripts; None if it is something else."""
        if isinstance(node, ast.Name):
            return self.view_named(node)
        return self.make_view(node) if self.subscripts_array(node) else None

    def named_view(self, node: ast.expr) -> ast.Name:
        """A name that no program has for the view that `node` makes."""
        view = self.view_of(node)
        name = self.unique_name("(view)")
        if view is not None:
            self.views[name] = view
            self.assigned.add(name)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def is_view(self, node: ast.expr) -> bool:
        return (isinstance(node, ast.Name) and node.id in self.views) or self.subscripts_array(node)

    def subscripts_array(self, node: ast.expr) -> TypeGuard[ast.Subscript]:
        """Whether `node` is x[…] of an array, in a kernel; it may be an element."""
        return self.has_views and self.program.kernel and self._subscripts_variable(node)

    def _subscripts_variable(self, node: ast.expr) -> TypeGuard[ast.Subscript]:
        if not isinstance(node, ast.Subscript):
            return False
        base: ast.expr = node
        while isinstance(base, ast.Subscript) and self._is_subscript(base):
            base = base.value
        return base is not node and self._may_be_array(base)

    def is_row(self, node: ast.expr) -> TypeGuard[ast.Subscript]:
        """Whether `node` is x[i] or x[i, :] outside of kernels, where functions alone get views."""
        if self.program.kernel or not self.has_views or not self._subscripts_variable(node):
            return False
        return all(is_whole(part) or not isinstance(part, ast.Slice) for part in self.index_parts(node.slice))

    def _may_be_array(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name) and node.id in self.scope.locals:
            return True
        if isinstance(node, ast.Subscript) and (string_key(node) is not None or self.is_tuple_element(node)):
            return True
        binding = self.resolve(node)
        return binding is not None and is_array(binding.value)

    def is_view_argument(self, node: ast.expr, source: FunctionSource, parameter: str) -> bool:
        """Whether `node`, given to a parameter of a function, goes there as a view."""
        if isinstance(node, ast.Name):
            return node.id in self.views or self._is_told(node)
        if self.is_row(node):
            return self.program.uses.takes_array(source, parameter)
        if not self.subscripts_array(node):
            return self._is_told(node)
        return has_slice(node) or self.program.uses.takes_array(source, parameter)

    def _is_told(self, node: ast.expr) -> bool:
        """Whether functions that get this array are told how many dimensions it has."""
        if not self.program.knows_all:
            return False
        if not isinstance(node, ast.Name) or node.id not in self.scope.locals:
            binding = self.resolve(node)
            return binding is not None and is_array(binding.value)
        kind, var = self.kind_of(node.id), self.variables.get(node.id)
        return (kind is not None and kind.ndim > 0) or (var is not None and var in self.ranks)

    def view_assignment(self, target: ast.expr, value: ast.expr) -> bool:
        """`row = x[i]` where `row` is used as an array: whether the assignment makes a view."""
        if not isinstance(target, ast.Name) or not self.is_view_value(target, value):
            return False
        made = self._chosen_view(value, target) if isinstance(value, ast.IfExp) else self._view_as(value, target.id)
        self.assigned.add(target.id)
        if made is not None:
            self.stand_for(target, made)
        return True

    def is_view_value(self, target: ast.Name, value: ast.expr) -> bool:
        """Whether `target = value` makes a view."""
        if not (self.has_views and self.program.kernel):
            return False
        if isinstance(value, ast.IfExp):
            return self._array_name(target)
        if self.subscripts_array(value):
            return has_slice(value) or self._array_name(target)
        alias = isinstance(value, ast.Name | ast.Attribute | ast.Subscript) and self._may_be_array(value)
        return alias and (self.is_view(value) or self._array_name(target))

    def _chosen_view(self, node: ast.IfExp, target: ast.Name) -> View | None:
        """`x[i] if c else x[j]`, of views of one array that have one form."""
        span = self.span(node)
        test = self.condition(node.test)
        (one, before_one), (other, before_other) = (
            self.branch(partial(self._view_as, part, target.id)) for part in (node.body, node.orelse)
        )
        if one is None or other is None:
            return None
        if (one.array, one.form) != (other.array, other.form):
            self._refuse_kinds(target)
            return None
        held = [self.temporary(span, target.id) for _ in one.variables]
        for view, before in ((one, before_one), (other, before_other)):
            for var, value in zip(held, view.variables, strict=True):
                before.append(self.module.assign(var, self.module.read(value, span), None, span))
        self.out.append(self.module.if_(test, before_one, before_other, span))
        return one.of_variables(held)

    def _view_as(self, node: ast.expr, shown: str) -> View | None:
        """The view that `node` names or makes, which messages call `shown`."""
        named = isinstance(node, ast.Name) and node.id in self.views
        return self.view_of(node) if named else self.make_view(node, shown)

    def _refuse_kinds(self, target: ast.Name) -> None:
        self.error(
            "P016",
            target,
            f"'{target.id}' is a view of several arrays, or of several kinds",
            "give each view a name of its own, or choose among the subscripts: x[i if c else j]",
        )

    def _array_name(self, node: ast.Name) -> bool:
        return self.program.uses.takes_array(self.source, node.id)

    def stand_for(self, target: ast.Name, made: View) -> None:
        """The name stands for the view from here on."""
        span = self.span(target)
        known = self.views.get(target.id)
        if self.may_rebind(target.id):
            self.stand_for_nothing(target.id)
            self.views[target.id] = made
        elif known is not None and (known.array, known.form) == (made.array, made.form):
            for var, value in zip(known.variables, made.variables, strict=True):
                self.out.append(self.module.assign(var, self.module.read(value, span), None, span))
        elif known is not None:
            self._refuse_kinds(target)
        else:
            self.error("P016", target, f"'{target.id}' is something else elsewhere", "give the view a name of its own")

    def may_rebind(self, name: str) -> bool:
        """Whether the name may stand for something else from here on: it stands for nothing yet, or every path that
        leads to what follows comes along here."""
        return not self.conditions or not (name in self.variables or self.is_no_variable(name))

    def is_no_variable(self, name: str) -> bool:
        """Whether the name stands for a view, a tuple, records or None."""
        return name in self.views or name in self.tuples or name in self.records or name in self.nones

    def stand_for_nothing(self, name: str) -> None:
        for kind in (self.views, self.tuples, self.records):
            kind.pop(name, None)
        self.nones.discard(name)

    # ------------------------------------------------------------ making

    def make_view(self, node: ast.expr, shown: str = "") -> View | None:
        """The view that `node` is of its array, with its subscripts as they are now; None after an error. Messages
        call it `shown`."""
        if not self.subscripts_array(node) and not self.is_row(node):
            array = self.array(node)
            return None if array is None else View(array, ())
        return self.view_from(*self._subscripts(node), shown)

    def view_from(
        self, array: _native.Var | None, axes: tuple[Axis, ...], parts: list[ast.expr], shown: str = ""
    ) -> View | None:
        """A view of an array, of which `axes` say what is there already, made by subscripts."""
        for part in parts:
            if not isinstance(part, ast.Slice) and not self._numbers(part):
                self.error("P025", part, "a view of an array is made by integers and slices", "leave this out")
                return None
        values = iter(self.lower_all([n for part in parts for n in self._numbers(part)]))
        if array is None:
            return None
        made: list[Axis] = []
        for axis in axes:
            keeps = axis.at is not None or not parts
            made.append(axis if keeps else self._narrowed(array, len(made), axis, parts.pop(0), values, shown))
        for part in parts:
            made.append(self._narrowed(array, len(made), Axis(), part, values, shown))
        while made and made[-1] == Axis():
            made.pop()
        return View(array, tuple(made))

    def _narrowed(
        self,
        array: _native.Var,
        number: int,
        axis: Axis,
        part: ast.expr,
        values: Iterator[_native.Expr],
        shown: str = "",
    ) -> Axis:
        """What `part`, whose numbers have the `values`, leaves of dimension `number` of the array, of which a view has
        what `axis` says."""
        span = self.span(part)
        if not isinstance(part, ast.Slice):
            value = next(values)
            value = value if axis.begin is None else self._within(axis, value, part, array, number)
            return Axis(self.hold(value, part, shown=shown))
        read, zero = self.module.read, partial(self.integer, 0, part)

        def extent() -> _native.Expr:
            return self.module.extent(array, number, span) if axis.size is None else read(axis.size, span)

        lower = self._bound(part.lower, next(values), extent) if self._is_given(part.lower) else zero()
        upper = self._bound(part.upper, next(values), extent) if self._is_given(part.upper) else extent()
        step = 1
        if self._is_given(part.step):
            next(values)
            step = integer_constant(part.step, _MOST) or 0
        if step < 1:
            self.error(
                "P025", part, "a view steps forward, by a constant", "write a for loop that computes the subscripts"
            )
        if step == 1 and not self._is_given(part.lower) and not self._is_given(part.upper):
            return axis
        begin, end = self.hold(lower, part, shown=shown), self.hold(upper, part)
        size = self._op("-", part, read(end, span), read(begin, span))
        if step > 1:
            size = self._op("+", part, size, self.integer(step - 1, part))
            size = self._op("//", part, size, self.integer(step, part))
        size = self._op("max", part, size, zero())
        held = self.hold(size, part, shown=shown)
        if axis.begin is not None:
            ahead = self._op("*", part, read(begin, span), self.integer(axis.step, part))
            begin = self.hold(self._op("+", part, read(axis.begin, span), ahead), part, shown=shown)
        return Axis(None, begin, held, axis.step * step)

    def _bound(self, bound: ast.expr, value: _native.Expr, extent: Callable[[], _native.Expr]) -> _native.Expr:
        """A bound of a slice, counted from the end if negative, within the dimension."""
        known = integer_constant(bound, _MOST)
        if known is not None and known >= 0:
            return self._op("max", bound, self._op("min", bound, value, extent()), self.integer(0, bound))
        read = partial(self.module.read, self.hold(self._index_of(value, bound), bound), self.span(bound))
        zero = partial(self.integer, 0, bound)
        behind = self._op("max", bound, self._op("+", bound, read(), extent()), zero())
        ahead = self._op("max", bound, self._op("min", bound, read(), extent()), zero())  # the compiler sees the sign
        return self._op("select", bound, self._op("<", bound, read(), zero()), behind, ahead)

    def _within(
        self, axis: Axis, value: _native.Expr, node: ast.expr, array: _native.Var | None, number: int
    ) -> _native.Expr:
        """The subscript of the array that stands for `value` in a part of its dimension `number`."""
        assert axis.begin is not None and axis.size is not None
        span, zero = self.span(node), partial(self.integer, 0, node)
        size = partial(self.module.read, axis.size, span)
        known = integer_constant(node, _MOST)
        given = partial(self.integer, known or 0, node)
        beyond = []
        if known is None:
            raw = partial(self.module.read, self.hold(self._op("as_index", node, value), node), span)
            beyond = [self._op(">", node, raw(), self.integer(2**63 - 1, node))]  # unsigned ones only
            given = partial(self.module.read, self.hold(self._op("int", node, raw()), node), span)
            from_end = self._op("+", node, given(), size())
            value = self._op("select", node, self._op("<", node, given(), zero()), from_end, given())
        elif known < 0:
            value = self._op("+", node, value, size())
        at = partial(self.module.read, self.hold(value, node), span)
        outside = self._op("or", node, self._op("<", node, at(), zero()), self._op(">=", node, at(), size()))
        shown = "" if array is None else array.shown
        for test, what in ((beyond, "unsigned subscript {0u}"), ([outside], "subscript {0}")):
            text = f"{what} is out of bounds for a slice of axis {number} of '{shown}', whose size is {{1}}"
            fails = [self.module.fail("P421", text, [given(), size()], span) for _ in test]
            self.out += [self.module.if_(each, [fail], [], span) for each, fail in zip(test, fails, strict=True)]
        steps = at() if axis.step == 1 else self._op("*", node, at(), self.integer(axis.step, node))
        return self._op("+", node, self.module.read(axis.begin, span), steps)

    # ------------------------------------------------------------ parameters

    def view_form(self, view: View) -> ArrayForm:
        """What a function that gets the view knows of it."""
        return ArrayForm(view.form, self.array_rank(view.array) if self.program.knows_all else None)

    def receive(self, name: str, form: ArrayForm | RecordForm | TupleForm) -> None:
        """The parameter is a view, an array and variables that say which part of it."""
        assert isinstance(form, ArrayForm)
        array = self.variable(name, self.parameters[name])
        self.views[name] = view = View(array, self.received_axes(name, form.axes))
        if form.rank is not None:
            self.ranks[array] = form.rank
        self.received[name] = [array, *view.variables]

    def keep_given(self) -> list[_native.Stmt]:
        """The symbols of annotations stand for extents of the views that the function is given, whatever their names
        stand for later. The statements that keep the sizes of parts."""
        statements: list[_native.Stmt] = []

        def kept(axis: Axis, span: Span) -> Axis:
            if axis.size is None:
                return axis
            size = self.temporary(span)
            statements.append(self.module.assign(size, self.module.read(axis.size, span), None, span))
            return axis._replace(size=size)

        for name in self.parameters:
            if name not in self.views or name not in self.annotations:
                continue
            view, span = self.views[name], self.span(self.parameters[name])
            self.given_views[name] = view._replace(axes=tuple(kept(axis, span) for axis in view.axes))
        return statements

    def received_axes(self, name: str, form: Form) -> tuple[Axis, ...]:
        """Axes of this form in variables of their own."""
        made = []
        for number, (is_index, is_part, step) in enumerate(form):
            given = (("at", is_index), ("begin", is_part), ("size", is_part))
            at, begin, size = (
                self.received_variable(name, f"{what}{number}") if is_there else None for what, is_there in given
            )
            made.append(Axis(at, begin, size, step))
        return tuple(made)

    def received_variable(self, name: str, what: str, shown: str = "") -> _native.Var:
        wanted = self.unique_name(f"{name}_{what.replace('.', '_')}")
        return self.module.variable(wanted, self.span(self.parameters[name]), shown)

    # ------------------------------------------------------------ using

    def through(
        self,
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
            while left and self._is_none(left[0]):
                indices.append(self._index(left.pop(0), values))
            place = self.span(left[0] if left else node)
            if axis.at is not None:
                indices.append(self.module.read(axis.at, place))
            elif axis.begin is None:
                indices.append(self._index(left.pop(0), values) if left else self._all(place))
            elif left and not isinstance(left[0], ast.Slice):
                indices.append(self._within(axis, next(values), left.pop(0), array, number))
            else:
                if left and array is not None:
                    axis = self._narrowed(array, number, axis, left.pop(0), values)
                indices.append(self._slice_of(axis, place))
        return indices + [self._index(part, values) for part in left]

    def _all(self, span: Span) -> _native.Expr:
        return self.module.slice(None, None, None, span)

    def _slice_of(self, axis: Axis, span: Span) -> _native.Expr:
        assert axis.begin is not None and axis.size is not None
        read, op = self.module.read, self.module.op
        length = op("*", [read(axis.size, span), self.module.constant(axis.step, span)], span)
        end = op("+", [read(axis.begin, span), length], span)
        step = self.module.constant(axis.step, span) if axis.step != 1 else None
        return self.module.slice(read(axis.begin, span), end, step, span)

    def extent_of(self, node: ast.Subscript, array_node: ast.expr) -> _native.Expr:
        index = integer_constant(node.slice)
        if index is None or not self.is_view(array_node):
            return super().extent_of(node, array_node)
        view = self.view_of(array_node)
        return self.poison(node) if view is None else self.view_extent(view, index, node)

    def is_array_name(self, node: ast.expr) -> bool:
        return super().is_array_name(node) or self.subscripts_array(node)

    def unpack_shape(self, value: ast.expr, count: int) -> list[Callable[[], _native.Expr]] | None:
        """`n, m = x.shape`: the extents, for an array of exactly that rank; None for other values, [] after an
        error."""
        if not isinstance(value, ast.Attribute) or value.attr != "shape" or not self.is_array_name(value.value):
            return None
        if self.is_view(value.value):
            view = self.view_of(value.value)
            if view is None:
                return []
            if view.of_records:
                return self._extents_of_records(view, value, count)
            return [partial(self.view_extent, view, index, value, count) for index in range(count)]
        array = self.array(value.value)
        if array is None:
            return []
        return [partial(self.module.extent, array, index, self.span(value), count) for index in range(count)]

    def _extents_of_records(self, view: View, node: ast.expr, count: int) -> list[Callable[[], _native.Expr]]:
        """`n, m = r.shape`"""
        known = self.view_dimensions(view)
        if known is None:
            self.want_kinds(node)
            return []
        if known != count:
            self.error("P017", node, f"{known} extents cannot be assigned to {count} targets")
            return []
        return [partial(self.view_extent, view, index, node) for index in range(count)]

    def view_extent(self, view: View, index: int, node: ast.expr, rank: int = 0) -> _native.Expr:
        """row.shape[index]; `rank`: how many dimensions the view must have."""
        span = self.span(node)
        kept = [number for number, axis in enumerate(view.axes) if axis.at is None]
        demanded = rank + len(view.axes) - len(kept) if rank else 0
        if (index < 0 and kept) or (view.of_records and index != 0):
            known = self.view_dimensions(view)
            if known is None:
                return self._unknown(node)
            if not -known <= index < known:
                self.error("P026", node, f"there are {known} dimensions, and none with the number {index}")
                return self.poison(node)
            index %= known
        if 0 <= index < len(kept):
            axis = view.axes[kept[index]]
            if axis.size is not None:
                return self.module.read(axis.size, span)
            return self.module.extent(view.array, kept[index], span, demanded)
        place = index if index < 0 else len(view.axes) + index - len(kept)
        return self.module.extent(view.array, place, span, demanded)

    def view_dimensions(self, view: View) -> int | None:
        """How many dimensions the view has; None if that is not known."""
        rank = view.rank if view.of_records else self.array_rank(view.array)
        return None if rank is None else rank - sum(axis.at is not None for axis in view.axes)

    def view_rank(self, view: View, node: ast.expr) -> _native.Expr:
        """row.ndim"""
        if view.of_records:
            known = self.view_dimensions(view)
            return self._unknown(node) if known is None else self.integer(known, node)
        fixed = sum(axis.at is not None for axis in view.axes)
        return self._op("-", node, self.module.rank(view.array, self.span(node)), self.integer(fixed, node))

    def view_size(self, view: View, node: ast.expr) -> _native.Expr:
        """row.size"""
        span = self.span(node)
        if view.of_records:
            known = self.view_dimensions(view)
            total = self._unknown(node) if known is None else self.integer(1, node)
            for number in range(known or 0):
                total = self._op("*", node, total, self.view_extent(view, number, node))
            return total
        total = self.module.size(view.array, span)
        for number, axis in enumerate(view.axes):
            if axis != Axis():
                total = self._op("//", node, total, self.module.extent(view.array, number, span))
        for axis in view.axes:
            if axis.size is not None:
                total = self._op("*", node, total, self.module.read(axis.size, span))
        return total

    def _unknown(self, node: ast.expr) -> _native.Expr:
        self.want_kinds(node)
        return self.poison(node)

    # ------------------------------------------------------------ expressions over slices

    def over_slices(self, node: ast.AST) -> bool:
        """Whether `node` is computed over slices; those that functions get or that are subscripted again are views."""
        left = [node]
        while left:
            part = left.pop()
            if isinstance(part, ast.Slice):
                return True
            called = self.resolve(part.func) if isinstance(part, ast.Call) else None
            if isinstance(part, ast.Subscript):
                left.append(part.slice)
            elif called is None or not self.is_function(called.value):
                left.extend(ast.iter_child_nodes(part))
        return False

    def reads_elements(self, node: ast.expr) -> bool:
        """Whether `node` may read elements of arrays, directly or in a function that it calls."""
        parts = ast.walk(node)
        reads = any(
            isinstance(part, ast.Call) or (isinstance(part, ast.Subscript) and string_key(part) is None)
            for part in parts
        )
        return reads and not self.over_slices(node)

    def is_function(self, found: object) -> bool:
        return found is self.source.function or jit_source(found) is not None

    # ------------------------------------------------------------ small pieces

    def _index_of(self, value: _native.Expr, node: ast.expr) -> _native.Expr:
        """An integer of any type as one of Python's, so that sums with it have room."""
        return self._op("int", node, self._op("as_index", node, value))

    def integer(self, value: int, node: ast.expr) -> _native.Expr:
        return self.module.constant(value, self.span(node))

    def _op(self, text: str, node: ast.expr, *operands: _native.Expr) -> _native.Expr:
        return self.module.op(text, list(operands), self.span(node))
