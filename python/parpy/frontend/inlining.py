"""Device functions that return a tuple stand in place of their calls (FunctionScope.caller), since functions of the
program return one number.
"""

from __future__ import annotations

import ast
import inspect

from .. import _native
from ..syntax.paths import ends, returning_last
from ..syntax.source import FunctionSource
from .scope import Element, View, axes_of
from .tuples import Tuples, numbers_in, rebuilt
from .uses import TupleForm


class Inlining(Tuples):
    """Calls in one function of those that return tuples, and such a function itself."""

    returned: TupleForm | None = None  # of a function that stands in place of its call

    def begin(self) -> None:
        raise NotImplementedError

    def body(self, nodes: list[ast.stmt]) -> list[_native.Stmt]:
        raise NotImplementedError

    def converted_parameters(self) -> list[_native.Stmt]:
        raise NotImplementedError

    def checked_arrays(self) -> list[_native.Stmt]:
        raise NotImplementedError

    def call(self, node: ast.Call) -> _native.Expr:
        form = self.tuple_form(node) if self.tuple_function(node) is not None else None
        if form is None:
            return super().call(node)
        count = len(form.parts)
        self.error(
            "P011",
            node,
            f"the {count} results of '{ast.unparse(node.func)}' are used as a number",
            f"write {', '.join('abcdefgh'[:count])} = {ast.unparse(node)}",
        )
        return self.poison(node)

    def inlined(self, node: ast.Call, source: FunctionSource) -> list[Element]:
        """The results of the call, in place of which stand the statements of the function; [] after an error."""
        name = source.function.__name__
        scope: Inlining | None = self
        while scope is not None and scope.source.function is not source.function:
            scope = scope.caller if isinstance(scope.caller, Inlining) else None
        if scope is not None:
            self.error(
                "P022",
                node,
                f"'{name}' returns a tuple and calls itself",
                "hand it a local array, and store the results there",
            )
            return []
        if source.alternatives:
            self.error("P105", node, f"'{name}' returns a tuple and has several signatures", "give it one, or none")
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
        callee.returned = form = self.form_of_call(node, source)
        if form is None:
            return []
        results = [callee.temporary(self.span(node), f"result of {name}") for _ in range(form.size)]
        callee.inlined_results = rebuilt(form, iter(results))
        self.out.extend([*callee.keep_given(), *callee.checked_arrays(), *callee.converted_parameters()])
        self._place_body(callee, node)
        return callee.inlined_results

    def _place_body(self, callee: Inlining, node: ast.Call) -> None:
        """The statements of the function; in a loop that runs once and is left by them if it returns anywhere."""
        body, span = returning_last(callee.node.body), self.span(node)
        if body is not None:
            self.out.extend(callee.body(body))
            return
        callee.has_returned = callee.temporary(span)
        # False takes any type, and tells what follows that the results have values whatever leaves the loop.
        for var in (callee.has_returned, *numbers_in(callee.inlined_results or [])):
            self.out.append(self.module.assign(var, self.module.constant(False, span), None, span))
        statements = [*callee.body(callee.node.body), self.module.break_(span)]
        self.out.append(self.module.while_(self.module.constant(True, span), statements, span))

    def _hand_over(self, given: dict[str, ast.expr], callee: Inlining, node: ast.Call) -> None:
        """The parameters of a function that stands in place of its call get their values, in the order of the call."""
        read = {part.id for part in ast.walk(callee.node) if isinstance(part, ast.Name)}
        for name, argument in given.items():
            if name not in read and isinstance(argument, ast.Name) and self._is_there(argument):
                continue  # it may be an array, and nobody asks
            if self.is_none(argument):
                callee.nones.add(name)
            elif self.tuple_form(argument) is not None:
                callee.tuples[name] = self.held_tuple(argument, name)
            elif self.is_record_argument(argument, callee.source, name):
                self._hand_over_records(argument, callee, name)
            elif self.is_view_argument(argument, callee.source, name):
                view = self.view_of(argument) if self.is_view(argument) else self.make_view(argument)
                callee.views.update({} if view is None else {name: self._copied(view, argument)})
            elif self.program.uses.takes_array(callee.source, name):
                array = self.array(argument)
                callee.views.update({} if array is None else {name: View(array, ())})
            else:
                value = self.as_declared(self.lower(argument), callee.source, name, node)
                self._set_parameter(callee, name, value, argument)
        for parameter in inspect.signature(callee.source.function, follow_wrapped=False).parameters.values():
            if parameter.name not in given and parameter.default is None:
                callee.nones.add(parameter.name)
            elif parameter.name not in given:
                self._set_parameter(callee, parameter.name, self.default(parameter, callee.node.name, node), node)

    def _is_there(self, node: ast.Name) -> bool:
        """Whether the name stands for something."""
        return self.is_assigned(node) if node.id in self.scope.locals else self.resolve(node) is not None

    def _hand_over_records(self, argument: ast.expr, callee: Inlining, name: str) -> None:
        apart = self.record_apart(argument, callee.source, name)
        if apart is None:
            return
        form, variables = apart
        count = len(form.keys)
        view = View(variables[0], axes_of(form.axes, iter(variables[count:])))
        copied = self._copied(view, argument)
        callee.take_record(name, form, variables[:count], copied.axes)

    def _set_parameter(self, callee: Inlining, name: str, value: _native.Expr, node: ast.expr) -> None:
        var = callee.variable(name, callee.parameters[name])
        self.out.append(self.module.assign(var, value, None, self.span(node)))

    def _copied(self, view: View, node: ast.expr) -> View:
        """The view with variables of its own: the function may give them other values."""

        return view.of_variables([self.hold(self.module.read(var, self.span(node)), node) for var in view.variables])

    def return_inlined(self, node: ast.Return) -> None:
        """A return of a function that stands in place of its call."""
        assert self.inlined_results is not None
        given = None if node.value is None else self.tuple_form(node.value)
        if node.value is None or given != self.returned:
            self.error(
                "P017",
                node,
                f"'{self.source.function.__name__}' returns {len(self.inlined_results)} values elsewhere",
                "return the same number of values on every path",
            )
            return
        span = self.span(node)
        for var, value in zip(numbers_in(self.inlined_results), self.tuple_values(node.value), strict=True):
            self.out.append(self.module.assign(var, value, None, span))
        if self.has_returned is not None:
            if self.loops:
                self.out.append(self.module.assign(self.has_returned, self.module.constant(True, span), None, span))
            self.out.append(self.module.break_(span))

    def refuse_result(self, node: ast.Return) -> None:
        """The function returns a value against its signature."""
        self.error(
            "P211",
            node,
            f"'{self.node.name}' returns a value, but its signature {self.source.shown} says nothing",
            "write the type of the result in place of 'void', or return nothing",
        )

    def leave_too(self, loop: ast.For | ast.While) -> None:
        """Behind a loop that a return may have left, of a function that stands in place of its call."""
        if self.has_returned is None or not any(isinstance(part, ast.Return) for part in ast.walk(loop)):
            return
        span = self.span(loop, loop.iter if isinstance(loop, ast.For) else loop.test)
        test = self.module.read(self.has_returned, span)
        self.out.append(self.module.if_(test, [self.module.break_(span)], [], span))
