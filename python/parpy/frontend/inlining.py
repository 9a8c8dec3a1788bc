"""Device functions that return a tuple stand in place of their calls (FunctionScope.caller), since functions of the
program return one number.
"""

from __future__ import annotations

import ast
import inspect

from .. import _native
from ..syntax.paths import ends, returning_last
from ..syntax.source import FunctionSource
from .arguments import bound_arguments
from .calls import as_declared
from .constants import default_of
from .forms import Element
from .lowering import block, lower
from .none import is_none
from .overloads import checked_arrays
from .parameters import begin, converted_parameters, keep_given
from .records import is_record_argument, record_apart, take_record
from .scope import FunctionScope
from .tuples import array_dimensions, form_of_call, held_tuple, numbers_in, rebuilt, tuple_form


def inlined(fn: FunctionScope, node: ast.Call, source: FunctionSource) -> list[Element]:
    """The results of the call, in place of which stand the statements of the function; [] after an error."""
    name = source.function.__name__
    scope: FunctionScope | None = fn
    while scope is not None and scope.source.function is not source.function:
        scope = scope.caller
    if scope is not None:
        fn.error(
            "P022",
            node,
            f"'{name}' returns a tuple and calls itself",
            "hand it a local array, and store the results there",
        )
        return []
    if source.alternatives:
        fn.error("P105", node, f"'{name}' returns a tuple and has several signatures", "give it one, or none")
        return []
    binding = fn.resolve(node.func)
    given = bound_arguments(fn, node, source.function)
    if binding is None or given is None:
        return []
    fn.rely_on(binding)
    callee = FunctionScope(fn.program, source, False, fn)
    begin(callee)
    _hand_over(fn, given, callee, node)
    if not ends(callee.node.body):
        callee.error(
            "P211",
            callee.node,
            f"'{name}' returns a tuple on some paths and nothing on others",
            "end every path with 'return' and a tuple",
        )
        return []
    callee.returned = form = form_of_call(fn, node, source)
    if form is None:
        return []
    results = [callee.temporary(fn.span(node), f"result of {name}") for _ in range(form.size)]
    callee.inlined_results = rebuilt(form, iter(results))
    fn.out.extend([*keep_given(callee), *checked_arrays(callee), *converted_parameters(callee)])
    _place_body(fn, callee, node)
    return callee.inlined_results


def _place_body(fn: FunctionScope, callee: FunctionScope, node: ast.Call) -> None:
    """The statements of the function; in a loop that runs once and is left by them if it returns anywhere."""
    body, span = returning_last(callee.node.body), fn.span(node)
    if body is not None:
        fn.out.extend(block(callee, body))
        return
    callee.has_returned = callee.temporary(span)
    # False takes any type, and tells what follows that the results have values whatever leaves the loop.
    for var in (callee.has_returned, *numbers_in(callee.inlined_results or [])):
        fn.out.append(fn.module.assign(var, fn.module.constant(False, span), None, span))
    statements = [*block(callee, callee.node.body), fn.module.break_(span)]
    fn.out.append(fn.module.while_(fn.module.constant(True, span), statements, span))


def _hand_over(fn: FunctionScope, given: dict[str, ast.expr], callee: FunctionScope, node: ast.Call) -> None:
    """The parameters of a function that stands in place of its call get their values, in the order of the call."""
    read = {part.id for part in ast.walk(callee.node) if isinstance(part, ast.Name)}
    for name, argument in given.items():
        if name not in read and isinstance(argument, ast.Name) and _is_there(fn, argument):
            continue  # it may be an array, and nobody asks
        if is_none(fn, argument):
            callee.nones.add(name)
        elif tuple_form(fn, argument) is not None:
            callee.tuples[name] = held_tuple(fn, argument, name)
        elif is_record_argument(fn, argument, callee.source, name):
            _hand_over_records(fn, argument, callee, name)
        else:
            value = as_declared(fn, lower(fn, argument), callee.source, name, node)
            _set_parameter(fn, callee, name, value, argument)
            callee.ranks[callee.variables[name]] = array_dimensions(fn, argument) if fn.program.knows_all else None
    for parameter in inspect.signature(callee.source.function, follow_wrapped=False).parameters.values():
        if parameter.name not in given and parameter.default is None:
            callee.nones.add(parameter.name)
        elif parameter.name not in given:
            _set_parameter(fn, callee, parameter.name, default_of(fn, parameter, callee.node.name, node), node)


def _is_there(fn: FunctionScope, node: ast.Name) -> bool:
    """Whether the name stands for something."""
    return fn.is_assigned(node) if node.id in fn.scope.locals else fn.resolve(node) is not None


def _hand_over_records(fn: FunctionScope, argument: ast.expr, callee: FunctionScope, name: str) -> None:
    apart = record_apart(fn, argument, callee.source, name)
    if apart is None:
        return
    form, variables = apart
    count, span = len(form.keys), fn.span(argument)
    at = [fn.hold(fn.module.read(var, span), argument) for var in variables[count:]]  # the function may set its own
    take_record(callee, name, form, variables[:count], at)


def _set_parameter(fn: FunctionScope, callee: FunctionScope, name: str, value: _native.Expr, node: ast.expr) -> None:
    var = callee.variable(name, callee.parameters[name])
    fn.out.append(fn.module.assign(var, value, None, fn.span(node)))
