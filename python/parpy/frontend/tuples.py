"""Tuples in kernels: `pos = (i, j)`, `x[pos]`, `x[cuda.grid(2)]`, `x.shape`, tuples in tuples, as arguments and as
results of device functions.

A tuple is no value of the program: its elements are variables. A function that gets one gets these; one that returns
one stands in place of its call (inlining.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial, reduce

from .. import _native
from ..syntax.names import source_of
from ..syntax.source import FunctionSource
from .arrays import integer_constant
from .calls import Calls
from .scope import ArrayForm, DictParam, Element, Kind, RecordForm, TupleKind
from .uses import TupleForm, arguments_of

_MOST = 2**31


class Tuples(Calls):
    """Tuples of one function."""

    def tuple_of_device(self, node: ast.Call) -> int | None:
        """How many results the call of a device function such as cuda.grid(2) has; None if it is another call."""
        raise NotImplementedError

    def results_of_device(self, node: ast.Call) -> list[_native.Expr]:
        """These results; [] after an error."""
        raise NotImplementedError

    def inlined(self, node: ast.Call, source: FunctionSource) -> list[Element]:
        """The results of a function that returns a tuple; [] after an error."""
        raise NotImplementedError

    # ------------------------------------------------------------ what is one

    def tuple_form(self, node: ast.expr) -> TupleForm | None:
        """The form of the tuple that `node` is, in a kernel; None if it is none."""
        if not (self.has_views and self.program.kernel):
            return None
        if isinstance(node, ast.Tuple):
            return self._form_of_parts(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left = self.tuple_form(node.left)
            right = None if left is None else self.tuple_form(node.right)
            return None if left is None or right is None else TupleForm(left.parts + right.parts)
        if isinstance(node, ast.Call):
            source = self.tuple_function(node)
            if source is not None:
                return self.form_of_call(node, source)
            count = self.tuple_of_device(node)
            return None if count is None else TupleForm((None,) * count)
        if isinstance(node, ast.IfExp):
            one = self.tuple_form(node.body)
            return one if one is not None and one == self.tuple_form(node.orelse) else None
        if self._is_shape(node):
            return self._form_of_shape(node)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            part = self._slice_of_tuple(node)
            owner = None if part is None or isinstance(node.value, ast.Call) else self.tuple_form(node.value)
            return None if owner is None or part is None else TupleForm(owner.parts[part])
        if isinstance(element := self.element_of_tuple(node), list):
            return _form(element)
        if element is None and (made := self._element_of_made(node)) is not None:
            form, index = made
            return form.parts[index]
        known = self.tuple_of(node) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else None
        return None if known is None else _form_of_value(known)

    def _form_of_parts(self, node: ast.Tuple) -> TupleForm | None:
        parts: list[TupleForm | None] = []
        for part in node.elts:
            inner = self.tuple_form(part.value if isinstance(part, ast.Starred) else part)
            if isinstance(part, ast.Starred) and inner is None:
                return None
            parts += inner.parts if isinstance(part, ast.Starred) and inner is not None else (inner,)
        return TupleForm(tuple(parts))

    def tuple_function(self, node: ast.expr) -> FunctionSource | None:
        """The function that `node` calls, if it returns a tuple."""
        binding = self.resolve(node.func) if isinstance(node, ast.Call) else None
        if binding is None or not self.is_function(binding.value):
            return None
        source, uses = source_of(binding.value), self.program.uses
        found = uses.returned_form(source) is not None or uses.returned_shape(source) is not None
        return source if found else None

    def form_of_call(self, node: ast.Call, source: FunctionSource) -> TupleForm | None:
        """The form of the tuple that a function returns; of a shape as many numbers as the argument has dimensions."""
        form, name = self.program.uses.returned_form(source), self.program.uses.returned_shape(source)
        if form is not None or name is None:
            return form
        argument = next((part for _, to, part in arguments_of(node, self.scope) if to == name), None)
        rank = None if argument is None else self.dimensions(argument)
        if rank is None:
            self.want_kinds(node)
        return None if rank is None else TupleForm((None,) * rank)

    def _element_of_made(self, node: ast.expr) -> tuple[TupleForm, int] | None:
        """The form and the place, for f(x)[k] of a tuple that has no name."""
        kinds = ast.Subscript | ast.Call | ast.BinOp | ast.IfExp | ast.Tuple
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, kinds):
            return None
        form, index = self.tuple_form(node.value), integer_constant(node.slice, _MOST)
        if form is None or index is None or not -len(form.parts) <= index < len(form.parts):
            return None
        return form, index

    def _slice_of_tuple(self, node: ast.Subscript) -> slice | None:
        """The a:b of pos[a:b], if they are constants."""
        assert isinstance(node.slice, ast.Slice)
        given = (node.slice.lower, node.slice.upper, node.slice.step)
        bounds = [None if part is None else integer_constant(part, _MOST) for part in given]
        known = all(bound is not None or part is None for bound, part in zip(bounds, given, strict=True))
        return slice(*bounds) if known and bounds[2] != 0 else None

    # ------------------------------------------------------------ shapes

    def _is_shape(self, node: ast.expr) -> bool:
        """Whether `node` is x.shape of an array."""
        if not isinstance(node, ast.Attribute) or node.attr != "shape" or self.resolve(node) is not None:
            return False
        return self.is_array_name(node.value) or self.is_record(node.value)

    def _form_of_shape(self, node: ast.expr) -> TupleForm | None:
        assert isinstance(node, ast.Attribute)
        rank = self.dimensions(node.value)
        if rank is None:
            self.want_kinds(node)
        return None if rank is None else TupleForm((None,) * rank)

    def dimensions(self, node: ast.expr) -> int | None:
        """How many dimensions an array, a view or records have; None if that is not known."""
        if self.is_record(node):
            path = self.record_path(node)
            found = None if path is None else self.record_dimensions(path)
            indices = [] if path is None else path.indices
        else:
            indices = []
            while self.subscripts_array(node):
                indices.append(node.slice)
                node = node.value
            if isinstance(node, ast.Name) and node.id in self.views:
                found = self.view_dimensions(self.views[node.id])
            else:
                array = self.array(node)
                found = None if array is None else self.array_rank(array)
        return None if found is None else max(found - sum(map(self._subscripts_in, indices)), 0)

    def without_ellipsis(self, parts: list[ast.expr], base: ast.expr) -> list[ast.expr]:
        places = [i for i, part in enumerate(parts) if isinstance(part, ast.Constant) and part.value is ...]
        if len(places) != 1 or not (self.program.kernel and self.has_views):
            return parts
        rank, at = self.dimensions(base), places[0]
        if rank is None:
            self.want_kinds(parts[at])
            return [*parts[:at], *parts[at + 1 :]]
        taken = sum(isinstance(part, ast.Slice) or bool(self._numbers(part)) for part in parts)
        everything = [ast.copy_location(ast.Slice(), parts[at]) for _ in range(rank - taken)]
        return [*parts[:at], *everything, *parts[at + 1 :]]

    def _subscripts_in(self, index: ast.expr) -> int:
        """How many dimensions x[index] takes away."""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        form = self.tuple_form(index)
        if form is not None and not isinstance(index, ast.Tuple):
            return len(form.parts)
        return sum(len(self._numbers(part)) for part in parts if not isinstance(part, ast.Slice))

    def extent_of(self, node: ast.Subscript, array_node: ast.expr) -> _native.Expr:
        if integer_constant(node.slice) is not None or not self.program.kernel or not self.has_views:
            return super().extent_of(node, array_node)
        return self._chosen(node) if self.tuple_form(node.value) is not None else self.poison(node)

    # ------------------------------------------------------------ elements

    def tuple_parts(self, node: ast.expr) -> list[ast.expr]:
        """The elements of a tuple, which is evaluated now if it is a call or a shape of a new view."""
        if isinstance(node, ast.Tuple):
            inner = [self.tuple_parts(part.value) if isinstance(part, ast.Starred) else [part] for part in node.elts]
            return [part for each in inner for part in each]
        if isinstance(node, ast.BinOp):
            return [*self.tuple_parts(node.left), *self.tuple_parts(node.right)]
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            part = self._slice_of_tuple(node)
            return self.tuple_parts(node.value)[part] if part is not None else []
        form = self.tuple_form(node)
        count = 0 if form is None else len(form.parts)
        if isinstance(node, ast.Call):
            source = self.tuple_function(node)
            found: list[Element] = []
            if source is None:
                found += [self.hold(value, node) for value in self.results_of_device(node)]
            else:
                found = self.inlined(node, source)
            if not found:
                return [ast.copy_location(ast.Constant(0), node)] * count
            node = self.hidden_tuple(found, node)
        elif isinstance(node, ast.IfExp):
            node = self.hidden_tuple(self._chosen_tuple(node), node)
        elif self._is_shape(node):
            node = self._of_one_view(node)
        elif self.element_of_tuple(node) is not None:
            pass
        elif isinstance(node, ast.Subscript) and (place := self._element_of_made(node)) is not None:
            return self.tuple_parts(self.tuple_parts(node.value)[place[1]])
        else:
            made = super().spelled_out(node)
            return made.elts if isinstance(made, ast.Tuple) else []
        places = [ast.copy_location(ast.Constant(index), node) for index in range(count)]
        return [ast.copy_location(ast.Subscript(node, at, ast.Load()), node) for at in places]

    def hidden_tuple(self, elements: list[Element], node: ast.expr) -> ast.Name:
        """A name that no program has for a tuple of these elements."""
        name = self.unique_name("(tuple)")
        self.tuples[name] = elements
        self.assigned.add(name)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _chosen_tuple(self, node: ast.IfExp) -> list[Element]:
        """`(i, j) if c else (j, i)`"""
        span, form = self.span(node), self.tuple_form(node)
        test = self.condition(node.test)
        sides = [self.branch(partial(self.tuple_values, part)) for part in (node.body, node.orelse)]
        held = [self.temporary(span) for _ in sides[0][0]]
        for values, before in sides:
            before.extend(self.module.assign(var, value, None, span) for var, value in zip(held, values, strict=True))
        self.out.append(self.module.if_(test, sides[0][1], sides[1][1], span))
        return [] if form is None else rebuilt(form, iter(held))

    def _of_one_view(self, node: ast.expr) -> ast.expr:
        """x[i].shape as that of a view that is made now."""
        assert isinstance(node, ast.Attribute)
        if isinstance(node.value, ast.Name) or not self.is_view(node.value):
            return node
        owner = self.named_view(node.value)
        return ast.copy_location(ast.Attribute(owner, "shape", ast.Load()), node)

    def tuple_values(self, node: ast.expr, settled: bool = False) -> list[_native.Expr]:
        values: list[_native.Expr] = []
        sources: list[ast.expr] = []

        def settle(before: int) -> None:
            """What was put in front from number `before` on may write what the values read."""
            for index in reversed(range(len(values))) if len(self.out) > before else ():
                if self.reads_elements(sources[index]):
                    held = self.hold(values[index], sources[index], before)
                    values[index] = self.module.read(held, self.span(sources[index]))

        def add(part: ast.expr) -> None:
            before = len(self.out)
            if isinstance(part, ast.BinOp) and self.tuple_form(part) is not None:
                add(part.left)
                add(part.right)
            elif self.tuple_form(part) is not None:
                inner = self.tuple_parts(part)
                settle(before)
                for each in inner:
                    add(each)
            else:
                value = self.lower_settled(part)() if settled else self.lower(part)
                settle(before)
                values.append(value)
                sources.append(part)

        add(node)
        return values

    def held_tuple(self, node: ast.expr, shown: str = "") -> list[Element]:
        """The tuple that `node` is now, in variables that messages call `shown`."""
        form = self.tuple_form(node)
        values = [self.hold(value, node, shown=shown) for value in self.tuple_values(node)]
        return [] if form is None else rebuilt(form, iter(values))

    # ------------------------------------------------------------ using

    def spelled_out(self, value: ast.expr) -> ast.expr:
        if self._is_shape(value):
            return value  # unpacked without asking how many dimensions there are
        named = self.element_of_tuple(value) is not None and self.tuple_form(value) is not None
        if isinstance(value, ast.Tuple) and any(isinstance(part, ast.Starred) for part in value.elts):
            named = self.tuple_form(value) is not None
        made = isinstance(value, ast.BinOp | ast.Subscript | ast.IfExp) and self.tuple_form(value) is not None
        if not named and not made and self.tuple_function(value) is None:
            return super().spelled_out(value)
        return ast.copy_location(ast.Tuple(self.tuple_parts(value), ast.Load()), value)

    def index_parts(self, index: ast.expr) -> list[ast.expr]:
        if isinstance(index, ast.Tuple):
            return index.elts
        return [index] if self.tuple_form(index) is None else self.tuple_parts(index)

    def tuple_element(self, node: ast.Subscript) -> _native.Expr | None:
        if self._is_shape(node.value) or isinstance(node.slice, ast.Slice):
            return None
        form = self.tuple_form(node.value)
        if form is None:
            return None
        if integer_constant(node.slice, _MOST) is None:
            return self._chosen(node)
        index = self._place_in_tuple(node, len(form.parts))
        part = None if index is None else self.tuple_parts(node.value)[index]
        if part is None:
            return self.poison(node)
        var = self.element_variable(part) if isinstance(part, ast.Subscript) and self.is_tuple_element(part) else None
        return self.lower(part) if var is None else self.module.read(var, self.span(node))

    def element_variable(self, node: ast.Subscript) -> _native.Var | None:
        root: ast.expr = node
        while isinstance(root, ast.Subscript):
            root = root.value
        owner = self.element_of_tuple(node.value)
        if not isinstance(root, ast.Name) or not isinstance(owner, list):
            return None
        known = root.id not in self.scope.locals or self.is_assigned(root)
        index = self._place_in_tuple(node, len(owner)) if known else None
        found = None if index is None else owner[index]
        if isinstance(found, list):
            shown = ast.unparse(node)
            self.error("P204", node, f"the tuple '{shown}' is used as a number", f"take an element, {shown}[0]")
            return None
        return found

    def _place_in_tuple(self, node: ast.Subscript, count: int) -> int | None:
        shown, index = ast.unparse(node.value), integer_constant(node.slice, _MOST)
        if index is None:
            self.error(
                "P025",
                node.slice,
                f"which element of the tuple '{shown}' is meant must be an integer constant",
                "to choose while the function runs, use a local array",
            )
        elif not -count <= index < count:
            self.error(
                "P025",
                node.slice,
                f"the tuple '{shown}' has no element {index}",
                f"constants from {-count} to {count - 1} are possible" if count else "it is empty",
            )
        else:
            return index
        return None

    def _chosen(self, node: ast.Subscript) -> _native.Expr:
        """pos[k] of a tuple of numbers, where `k` is known when the kernel runs."""
        form = self.tuple_form(node.value)
        if form is None or not form.parts or any(part is not None for part in form.parts):
            self._place_in_tuple(node, 0 if form is None else len(form.parts))
            return self.poison(node)
        elements = [self.hold(value, node) for value in self.tuple_values(node.value)]
        span, count = self.span(node), self.integer(len(elements), node)
        at = partial(self.module.read, self.hold(self._index_of(self.lower(node.slice), node), node), span)
        outside = self._op(
            "or", node, self._op("<", node, at(), self.integer(-len(elements), node)), self._op(">=", node, at(), count)
        )
        text = "subscript {0} is out of bounds for a tuple of {1} elements"
        fail = self.module.fail("P421", text, [at(), self.integer(len(elements), node)], span)
        self.out.append(self.module.if_(outside, [fail], [], span))

        def choose(value: _native.Expr, index: int) -> _native.Expr:
            places = (self.integer(place, node) for place in (index, index - len(elements)))
            first, last = (self._op("==", node, at(), place) for place in places)
            own = self.module.read(elements[index], span)
            return self._op("select", node, self._op("or", node, first, last), own, value)

        last = self.module.read(elements[-1], span)
        return reduce(choose, reversed(range(len(elements) - 1)), last)

    def compared_tuples(self, node: ast.Compare) -> _native.Expr | None:
        """`x.shape == y.shape`, `i in (1, 3)`; None of other comparisons."""
        sides = (node.left, *node.comparators)
        if len(sides) == 2 and isinstance(node.ops[0], ast.In | ast.NotIn):
            return self._contained(node, node.comparators[0])
        if len(sides) != 2 or self.tuple_form(sides[0]) is None or self.tuple_form(sides[1]) is None:
            return None
        span = self.span(node)
        if not isinstance(node.ops[0], ast.Eq | ast.NotEq):
            self.error("P011", node, "tuples are compared by '==' and '!=' only", "compare their elements")
            return self.poison(node)
        both = ast.copy_location(ast.Tuple(list(sides), ast.Load()), node)
        values, forms = self.tuple_values(both), [self.tuple_form(side) for side in sides]
        equal = forms[0] == forms[1]
        result = self.module.constant(equal, span)
        for left, right in zip(values, values[len(values) // 2 :], strict=False) if equal else ():
            result = self.module.op("and", [result, self.module.op("==", [left, right], span)], span)
        return result if isinstance(node.ops[0], ast.Eq) else self.module.op("not", [result], span)

    def _contained(self, node: ast.Compare, given: ast.expr) -> _native.Expr | None:
        """`i in (1, 3)`; None where that is no tuple of numbers, and outside of kernels."""
        if isinstance(given, ast.List | ast.Set):
            given = ast.copy_location(ast.Tuple(given.elts, ast.Load()), given)
        form = self.tuple_form(given)
        if form is None or any(part is not None for part in form.parts):
            return None
        span = self.span(node)
        again = self.lower_held(node.left)
        result = self.module.constant(False, span)
        for value in self.tuple_values(given):
            result = self.module.op("or", [result, self.module.op("==", [again(), value], span)], span)
        return result if isinstance(node.ops[0], ast.In) else self.module.op("not", [result], span)

    # ------------------------------------------------------------ assignments

    def tuple_assignment(self, target: ast.expr, value: ast.expr) -> bool:
        """`pos = (i, j)`: whether the assignment makes a tuple."""
        if not isinstance(target, ast.Name) or (form := self.tuple_form(value)) is None:
            return False
        found = self.held_tuple(value, target.id)
        known = self.tuples.get(target.id)
        self.assigned.add(target.id)
        if self.may_rebind(target.id):
            self.stand_for_nothing(target.id)
            self.tuples[target.id] = found
        elif known is not None and _form(known) == form:
            span = self.span(target)
            for var, new in zip(numbers_in(known), numbers_in(found), strict=True):
                self.out.append(self.module.assign(var, self.module.read(new, span), None, span))
        else:
            self.error("P016", target, f"'{target.id}' is something else elsewhere", "give the tuple a name of its own")
        return True

    def unpacks_tuples(self, target: ast.expr, value: ast.expr) -> bool:
        """Whether `pos, n = (i, j), 3` gives names to tuples."""
        if not isinstance(target, ast.Tuple | ast.List):
            return self.tuple_form(value) is not None
        if isinstance(value, ast.Tuple | ast.List):
            same = len(value.elts) == len(target.elts)
            return same and any(map(self.unpacks_tuples, target.elts, value.elts))
        form = None if self._is_shape(value) else self.tuple_form(value)
        return form is not None and _has_tuples(target, form)

    def is_view_value(self, target: ast.Name, value: ast.expr) -> bool:
        named = isinstance(value, ast.Name | ast.Subscript) and self.tuple_form(value) is not None
        return not named and super().is_view_value(target, value)

    def names_views(self, target: ast.Tuple | ast.List, value: ast.expr) -> bool:
        """Whether `row, col = x[i], x[:, j]` makes views, and none of the names stands on the right as well."""
        if not isinstance(value, ast.Tuple | ast.List) or len(value.elts) != len(target.elts):
            return False
        found = [part.id for one in target.elts for part in ast.walk(one) if isinstance(part, ast.Name)]
        names, plain = set(found), all(isinstance(one, ast.Name | ast.Tuple | ast.List) for one in target.elts)
        on_right = any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(value))
        if not plain or len(names) < len(found) or on_right:
            return False
        pairs = zip(target.elts, value.elts, strict=True)
        return any(isinstance(one, ast.Name) and self.is_view_value(one, part) for one, part in pairs)

    def refuses_reuse(self, target: ast.Name) -> bool:
        """Reports that a number is to have a name that stands for a view or tuple; False where it does not."""
        if target.id in self.nones and not self.conditions:
            self.nones.discard(target.id)
        if not self.is_no_variable(target.id):
            return False
        is_view, is_tuple = target.id in self.views, target.id in self.tuples
        what = "a view of an array" if is_view else "a tuple" if is_tuple else "a record"
        what = "None" if target.id in self.nones else what
        self.error("P016", target, f"'{target.id}' is {what} elsewhere", "give the number another name")
        return True

    def refuse_entry(self, target: ast.Subscript) -> None:
        what, fix = "an entry of a dict", "assign to the elements of the array in it"
        if self.program.kernel:
            if not isinstance(target.value, ast.Name) or target.value.id not in self.parameters:
                self.array(target)
                return
            what, fix = "a field of a record by value", "pass an array of records, and assign to r[0].x"
        self.error("P016", target, f"{what} cannot be assigned to", fix)

    # ------------------------------------------------------------ parameters

    def take_tuples(self) -> None:
        """The parameters of the entry that are known to be tuples: each number or array in one is an entry of its
        own, under the name of its place."""
        for name, kind in self.program.known_tuples.items():
            if kind.is_none:
                self.take_none(name)
                continue
            node = self.parameters[name]
            form = _form_of_kind(kind)
            places = _places(form)
            variables = [self.received_variable(name, place) for place in places]
            self.dict_params[name] = DictParam(dict(zip(places, variables, strict=True)), _name_of(node))
            self.tuples[name] = rebuilt(form, iter(variables))
            for var, part in zip(variables, _leaves(kind), strict=True):
                if part is not None and part.ndim > 0:
                    self.ranks[var] = part.ndim

    def receive(self, name: str, form: ArrayForm | RecordForm | TupleForm) -> None:
        if not isinstance(form, TupleForm):
            super().receive(name, form)
            return
        if form.is_none:
            self.take_none(name)
            return
        variables = [self.received_variable(name, what) for what in _places(form)]
        self.received[name] = variables
        self.tuples[name] = rebuilt(form, iter(variables))


def rebuilt(form: TupleForm, numbers: Iterator[_native.Var]) -> list[Element]:
    """A tuple of this form of the numbers."""
    return [next(numbers) if part is None else rebuilt(part, numbers) for part in form.parts]


def numbers_in(elements: list[Element]) -> list[_native.Var]:
    """The numbers in a tuple, from the left."""
    return [var for each in elements for var in (numbers_in(each) if isinstance(each, list) else [each])]


def _form(elements: list[Element]) -> TupleForm:
    return TupleForm(tuple(_form(each) if isinstance(each, list) else None for each in elements))


def _form_of_value(value: tuple[object, ...]) -> TupleForm:
    return TupleForm(tuple(_form_of_value(each) if isinstance(each, tuple) else None for each in value))


def _has_tuples(target: ast.Tuple | ast.List, form: TupleForm) -> bool:
    """Whether some target that is not taken apart gets a tuple."""
    pairs = zip(target.elts, form.parts, strict=False)
    return any(
        part is not None and (not isinstance(one, ast.Tuple | ast.List) or _has_tuples(one, part))
        for one, part in pairs
    )


def _places(form: TupleForm) -> list[str]:
    """The number in 1, 0 of a tuple is called 1_0."""
    nested = [
        [str(index)] if part is None else [f"{index}_{place}" for place in _places(part)]
        for index, part in enumerate(form.parts)
    ]
    return [place for each in nested for place in each]


def _form_of_kind(kind: TupleKind) -> TupleForm:
    return TupleForm(tuple(_form_of_kind(part) if isinstance(part, TupleKind) else None for part in kind.parts))


def _leaves(kind: TupleKind) -> list[Kind | None]:
    nested = [_leaves(part) if isinstance(part, TupleKind) else [part] for part in kind.parts]
    return [leaf for each in nested for leaf in each]


def _name_of(node: ast.arg) -> ast.Name:
    return ast.copy_location(ast.Name(node.arg, ast.Load()), node)


def entries_of(value: tuple[object, ...]) -> dict[str, object]:
    """What is in a tuple, and in those in it, by the names of the places."""
    found: dict[str, object] = {}
    for index, each in enumerate(value):
        if isinstance(each, tuple):
            found |= {f"{index}_{place}": part for place, part in entries_of(each).items()}
        else:
            found[str(index)] = each
    return found
