"""Tuples in kernels: `pos = (i, j)`, `x[pos]`, `x[cuda.grid(2)]`, as arguments and as results of device functions.

A tuple is no value of the program: its elements are variables. A function that gets one gets these; one that returns
one stands in place of its call (FunctionScope.caller), since functions of the program return one number.
"""

from __future__ import annotations

import ast
import inspect

from . import _native
from ._frontend_arrays import integer_constant
from ._frontend_calls import Calls
from ._frontend_scope import View
from ._names import source_of
from ._paths import ends, returning_last
from ._source import FunctionSource

_MOST = 2**31


class Tuples(Calls):
    """Tuples of one function."""

    def begin(self) -> None:
        raise NotImplementedError

    def body(self, nodes: list[ast.stmt]) -> list[_native.Stmt]:
        raise NotImplementedError

    def converted_parameters(self) -> list[_native.Stmt]:
        raise NotImplementedError

    def tuple_of_device(self, node: ast.Call) -> int | None:
        """How many results the call of a device function such as cuda.grid(2) has; None if it is another call."""
        raise NotImplementedError

    def results_of_device(self, node: ast.Call) -> list[_native.Expr]:
        """These results; [] after an error."""
        raise NotImplementedError

    # ------------------------------------------------------------ what is one

    def tuple_length(self, node: ast.expr) -> int | None:
        """How many elements the tuple has that `node` is, in a kernel; None if it is none."""
        if not (self.has_views and self.program.kernel):
            return None
        if isinstance(node, ast.Tuple):
            return len(node.elts)
        if isinstance(node, ast.Name) and node.id in self.tuples:
            return len(self.tuples[node.id])
        if isinstance(node, ast.Call):
            source = self._tuple_function(node)
            return self.tuple_of_device(node) if source is None else self.program.uses.returned_length(source)
        known = self.tuple_of(node) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else None
        return None if known is None else len(known)

    def _tuple_function(self, node: ast.expr) -> FunctionSource | None:
        """The function that `node` calls, if it returns a tuple."""
        binding = self.resolve(node.func) if isinstance(node, ast.Call) else None
        if binding is None or not self.is_function(binding.value):
            return None
        source = source_of(binding.value)
        return source if self.program.uses.returned_length(source) else None

    def tuple_parts(self, node: ast.expr) -> list[ast.expr]:
        """The elements of a tuple, which is evaluated now if it is a call."""
        if isinstance(node, ast.Tuple):
            return node.elts
        if isinstance(node, ast.Call):
            source = self._tuple_function(node)
            found = self._held(self.results_of_device(node), node) if source is None else self._inlined(node, source)
            if not found:
                return [ast.copy_location(ast.Constant(0), node)] * (self.tuple_length(node) or 0)
            hidden = f"({len(self.tuples)})"
            self.tuples[hidden] = found
            node = ast.copy_location(ast.Name(hidden, ast.Load()), node)
        if not isinstance(node, ast.Name) or node.id not in self.tuples:
            made = super().spelled_out(node)
            return made.elts if isinstance(made, ast.Tuple) else []
        places = [ast.copy_location(ast.Constant(index), node) for index in range(len(self.tuples[node.id]))]
        return [ast.copy_location(ast.Subscript(node, at, ast.Load()), node) for at in places]

    def _held(self, values: list[_native.Expr], node: ast.expr, shown: str = "") -> list[_native.Var]:
        return [self.hold(value, node, shown=shown) for value in values]

    # ------------------------------------------------------------ using

    def spelled_out(self, value: ast.expr) -> ast.expr:
        named = isinstance(value, ast.Name) and value.id in self.tuples
        if not named and (self.tuple_length(value) is None or self._tuple_function(value) is None):
            return super().spelled_out(value)
        return ast.copy_location(ast.Tuple(self.tuple_parts(value), ast.Load()), value)

    def index_parts(self, index: ast.expr) -> list[ast.expr]:
        if isinstance(index, ast.Tuple):
            return index.elts
        return [index] if self.tuple_length(index) is None else self.tuple_parts(index)

    def tuple_element(self, node: ast.Subscript) -> _native.Expr | None:
        if isinstance(node.value, ast.Call | ast.Tuple) and (count := self.tuple_length(node.value)) is not None:
            index = self._place_in_tuple(node, count)
            parts = self.tuple_parts(node.value)
            return self.poison(node) if index is None else self.lower(parts[index])
        if not self.is_tuple_element(node):
            return None
        var = self.element_variable(node)
        return self.poison(node) if var is None else self.module.read(var, self.span(node))

    def element_variable(self, node: ast.Subscript) -> _native.Var | None:
        assert isinstance(node.value, ast.Name)
        elements = self.tuples[node.value.id]
        known = node.value.id not in self.scope.locals or self.is_assigned(node.value)
        index = self._place_in_tuple(node, len(elements)) if known else None
        return None if index is None else elements[index]

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
                f"constants from {-count} to {count - 1} are possible",
            )
        else:
            return index
        return None

    def tuple_assignment(self, target: ast.expr, value: ast.expr) -> bool:
        """`pos = (i, j)`: whether the assignment makes a tuple."""
        if not isinstance(target, ast.Name) or self.tuple_length(value) is None:
            return False
        values = self.lower_all(self.tuple_parts(value))
        known = self.tuples.get(target.id)
        found = self._held(values, value, target.id)
        self.assigned.add(target.id)
        if self.may_rebind(target.id):
            self.stand_for_nothing(target.id)
            self.tuples[target.id] = found
        elif known is not None and len(known) == len(found):
            span = self.span(target)
            for var, new in zip(known, found, strict=True):
                self.out.append(self.module.assign(var, self.module.read(new, span), None, span))
        else:
            self.error("P016", target, f"'{target.id}' is something else elsewhere", "give the tuple a name of its own")
        return True

    # ------------------------------------------------------------ assignments

    def names_views(self, target: ast.Tuple | ast.List, value: ast.expr) -> bool:
        """Whether `row, col = x[i], x[:, j]` makes views, and none of the names stands on the right as well."""
        if not isinstance(value, ast.Tuple | ast.List) or len(value.elts) != len(target.elts):
            return False
        names = {part.id for part in target.elts if isinstance(part, ast.Name)}
        if len(names) < len(target.elts) or any(isinstance(p, ast.Name) and p.id in names for p in ast.walk(value)):
            return False
        pairs = zip(target.elts, value.elts, strict=True)
        return any(isinstance(one, ast.Name) and self.is_view_value(one, part) for one, part in pairs)

    def refuses_reuse(self, target: ast.Name) -> bool:
        """Reports that a number is to have a name that stands for a view or tuple; False where it does not."""
        if not self.is_no_variable(target.id):
            return False
        is_view, is_tuple = target.id in self.views, target.id in self.tuples
        what = "a view of an array" if is_view else "a tuple" if is_tuple else "a record"
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

    # ------------------------------------------------------------ functions that return one

    def call(self, node: ast.Call) -> _native.Expr:
        count = self.tuple_length(node) if self._tuple_function(node) is not None else None
        if count is None:
            return super().call(node)
        self.error(
            "P011",
            node,
            f"the {count} results of '{ast.unparse(node.func)}' are used as a number",
            f"write {', '.join('abcdefgh'[:count])} = {ast.unparse(node)}",
        )
        return self.poison(node)

    def _inlined(self, node: ast.Call, source: FunctionSource) -> list[_native.Var]:
        """The results of the call, in place of which stand the statements of the function; [] after an error."""
        name = source.function.__name__
        scope: Tuples | None = self
        while scope is not None and scope.source.function is not source.function:
            scope = scope.caller if isinstance(scope.caller, Tuples) else None
        if scope is not None:
            self.error(
                "P022",
                node,
                f"'{name}' returns a tuple and calls itself",
                "hand it a local array, and store the results there",
            )
            return []
        binding = self.resolve(node.func)
        given = self.given(node, source)
        if binding is None or given is None:
            return []
        self.rely_on(binding)
        callee = type(self)(self.program, source, False, self)
        callee.begin()
        self._hand_over(given, callee, node)
        if not ends(callee.node.body):
            callee.error(
                "P211",
                callee.node,
                f"'{name}' returns a tuple on some paths and nothing on others",
                "end every path with 'return' and a tuple",
            )
            return []
        count = self.program.uses.returned_length(source)
        callee.inlined_results = [callee.temporary(self.span(node), f"result of {name}") for _ in range(count)]
        self.out.extend(callee.converted_parameters())
        self._place_body(callee, node)
        return callee.inlined_results

    def _place_body(self, callee: Tuples, node: ast.Call) -> None:
        """The statements of the function; in a loop that runs once and is left by them if it returns anywhere."""
        body, span = returning_last(callee.node.body), self.span(node)
        if body is not None:
            self.out.extend(callee.body(body))
            return
        callee.has_returned = callee.temporary(span)
        # False takes any type, and tells what follows that the results have values whatever leaves the loop.
        for var in (callee.has_returned, *(callee.inlined_results or ())):
            self.out.append(self.module.assign(var, self.module.constant(False, span), None, span))
        statements = [*callee.body(callee.node.body), self.module.break_(span)]
        self.out.append(self.module.while_(self.module.constant(True, span), statements, span))

    def _hand_over(self, given: dict[str, ast.expr], callee: Tuples, node: ast.Call) -> None:
        """The parameters of a function that stands in place of its call get their values, in the order of the call."""
        for name, argument in given.items():
            if self.tuple_length(argument) is not None:
                callee.tuples[name] = self._held(self.lower_all(self.tuple_parts(argument)), argument, name)
            elif self.is_record_argument(argument, callee.source, name):
                apart = self.record_apart(argument, sorted(self.program.uses.fields(callee.source, name)))
                if apart is not None:
                    form, variables = apart
                    count = len(form.keys)
                    at = self._held([self.module.read(var, self.span(argument)) for var in variables[count:]], argument)
                    callee.take_record(name, form, [*variables[:count], *at])
            elif self.is_view_argument(argument, callee.source, name):
                view = self.view_of(argument)
                callee.views.update({} if view is None else {name: self._copied(view, argument)})
            elif self.program.uses.takes_array(callee.source, name):
                array = self.array(argument)
                callee.views.update({} if array is None else {name: View(array, ())})
            else:
                self._set_parameter(callee, name, self.lower(argument), argument)
        for parameter in inspect.signature(callee.source.function, follow_wrapped=False).parameters.values():
            if parameter.name not in given:
                self._set_parameter(callee, parameter.name, self.default(parameter, callee.node.name, node), node)

    def _set_parameter(self, callee: Tuples, name: str, value: _native.Expr, node: ast.expr) -> None:
        var = callee.variable(name, callee.parameters[name])
        self.out.append(self.module.assign(var, value, None, self.span(node)))

    def _copied(self, view: View, node: ast.expr) -> View:
        """The view with variables of its own: the function may give them other values."""

        return view.of_variables([self.hold(self.module.read(var, self.span(node)), node) for var in view.variables])

    def return_inlined(self, node: ast.Return) -> None:
        """A return of a function that stands in place of its call."""
        assert self.inlined_results is not None
        count = len(self.inlined_results)
        if node.value is None or self.tuple_length(node.value) != count:
            self.error(
                "P017",
                node,
                f"'{self.source.function.__name__}' returns {count} values elsewhere",
                "return the same number of values on every path",
            )
            return
        span = self.span(node)
        for var, value in zip(self.inlined_results, self.lower_all(self.tuple_parts(node.value)), strict=True):
            self.out.append(self.module.assign(var, value, None, span))
        if self.has_returned is not None:
            if self.loops:
                self.out.append(self.module.assign(self.has_returned, self.module.constant(True, span), None, span))
            self.out.append(self.module.break_(span))

    def leave_too(self, loop: ast.For | ast.While) -> None:
        """Behind a loop that a return may have left, of a function that stands in place of its call."""
        if self.has_returned is None or not any(isinstance(part, ast.Return) for part in ast.walk(loop)):
            return
        span = self.span(loop, loop.iter if isinstance(loop, ast.For) else loop.test)
        test = self.module.read(self.has_returned, span)
        self.out.append(self.module.if_(test, [self.module.break_(span)], [], span))
