"""Functions that return several values, outside of kernels: `a, b = two(x)`. The statements of the function stand in
place of the call, and its results, numbers or arrays, are variables."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from functools import partial

from .. import _native
from ..syntax.names import source_of
from ..syntax.paths import ends, returning_last
from ..syntax.source import FunctionSource
from .arguments import bound_arguments
from .calls import as_declared
from .chosen import chosen
from .constants import default_of
from .lowering import block, lower
from .parameters import begin, checked_parameters, converted_parameters
from .random_numbers import begin_streams
from .scope import FunctionScope

Maker = Callable[[], _native.Expr]


def several_results(fn: FunctionScope, node: ast.expr) -> list[Maker] | None:
    """What makes the results of a call of a function that returns a tuple; None for other expressions, [] after an
    error."""
    if fn.aggregates or not isinstance(node, ast.Call):
        return None
    source = _called(fn, node)
    if source is None:
        return None
    if _stands_in(fn, source) and any(isinstance(value, ast.Tuple) for value in _returned(source)):
        fn.error(
            "P022",
            node,
            f"'{source.function.__name__}' returns several values and calls itself",
            "hand it an array, and store the results there",
        )
        return []
    if not _returns_several(fn, source):
        return None
    binding = fn.resolve(node.func)
    assert binding is not None
    fn.rely_on(binding)
    choice = chosen(fn, node, source)
    if choice is None:
        return []
    node, source = choice
    variables = _placed(fn, node, source)
    return [partial(fn.module.read, var, fn.span(node)) for var in variables]


def _called(fn: FunctionScope, node: ast.Call) -> FunctionSource | None:
    """The function compiled with this one that the call names."""
    binding = fn.resolve(node.func)
    return source_of(binding.value) if binding is not None and fn.is_function(binding.value) else None


def _returns_several(fn: FunctionScope, source: FunctionSource) -> bool:
    """Whether a function returns a tuple, written out or from a function that does."""
    if _stands_in(fn, source):
        return False
    inner: FunctionScope | None = None
    for value in _returned(source):
        if isinstance(value, ast.Tuple):
            return True
        if isinstance(value, ast.Call):
            inner = inner or FunctionScope(fn.program, source, False, fn)
            called = _called(inner, value)
            if called is not None and _returns_several(inner, called):
                return True
    return False


def _stands_in(fn: FunctionScope, source: FunctionSource) -> bool:
    """Whether this function, or one in whose place it stands, is `source`."""
    scope: FunctionScope | None = fn
    while scope is not None and scope.source.function is not source.function:
        scope = scope.caller
    return scope is not None


def _returned(source: FunctionSource) -> list[ast.expr]:
    """The values that the function returns."""
    found: list[ast.expr] = []
    waiting: list[ast.AST] = list(source.tree().body)
    for part in waiting:  # grows meanwhile
        if isinstance(part, ast.Return) and part.value is not None:
            found.append(part.value)
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(part)
    return found


def values_of(fn: FunctionScope, node: ast.expr) -> list[Maker]:
    """The values of a returned expression: those of a tuple, of a call that returns one, or one value."""
    if isinstance(node, ast.Tuple):
        return [partial(lower, fn, part) for part in node.elts]
    made = several_results(fn, node)
    return [partial(lower, fn, node)] if made is None else made


def _placed(fn: FunctionScope, node: ast.Call, source: FunctionSource) -> list[_native.Var]:
    name = source.function.__name__
    given = bound_arguments(fn, node, source.function)
    if given is None:
        return []
    callee = FunctionScope(fn.program, source, False, fn)
    begin(callee)
    _hand_over(fn, given, callee, node)
    if not ends(callee.node.body):
        callee.error(
            "P211",
            callee.node,
            f"'{name}' returns several values on some paths and nothing on others",
            "end every path with 'return' and as many values",
        )
        return []
    callee.several = []
    fn.out.extend(begin_streams(callee, node))
    fn.out.extend([*checked_parameters(callee), *converted_parameters(callee)])
    _place_body(fn, callee, node)
    return callee.several


def _place_body(fn: FunctionScope, callee: FunctionScope, node: ast.Call) -> None:
    """The statements of the function; in a loop that runs once and is left by them if it returns anywhere."""
    body, span = returning_last(callee.node.body), fn.span(node)
    if body is not None:
        fn.out.extend(block(callee, body))
        return
    callee.has_returned = callee.temporary(span)
    statements = [*block(callee, callee.node.body), fn.module.break_(span)]
    # False takes any type of numbers, and tells what follows that the results have values whatever leaves the loop.
    for var in (callee.has_returned, *(callee.several or ())):
        fn.out.append(fn.module.assign(var, fn.module.constant(False, span), None, span))
    fn.out.append(fn.module.while_(fn.module.constant(True, span), statements, span))


def _hand_over(fn: FunctionScope, given: dict[str, ast.expr], callee: FunctionScope, node: ast.Call) -> None:
    """The parameters get their values, in the order of the call."""
    fn.passed_on.update(given.values())
    name = callee.source.function.__name__
    for parameter, argument in given.items():
        value = as_declared(fn, lower(fn, argument), callee.source, parameter, node)
        _set_parameter(fn, callee, parameter, value, argument)
    for each in inspect.signature(callee.source.function, follow_wrapped=False).parameters.values():
        if each.name not in given:
            _set_parameter(fn, callee, each.name, default_of(fn, each, name, node), node)


def _set_parameter(fn: FunctionScope, callee: FunctionScope, name: str, value: _native.Expr, node: ast.expr) -> None:
    var = callee.variable(name, callee.parameters[name])
    fn.out.append(fn.module.assign(var, value, None, fn.span(node)))


def return_several(fn: FunctionScope, node: ast.Return, value: ast.expr) -> None:
    """A return of a function that stands in place of its call: the results get the values."""
    assert fn.several is not None
    values = [make() for make in values_of(fn, value)]
    span = fn.span(node)
    if not fn.several:
        fn.several.extend(fn.temporary(span, f"result of {fn.node.name}") for _ in values)
    if len(values) != len(fn.several):
        fn.error(
            "P017",
            node,
            f"'{fn.node.name}' returns {len(fn.several)} values elsewhere",
            "return the same number of values on every path",
        )
        return
    for var, each in zip(fn.several, values, strict=True):
        fn.out.append(fn.module.assign(var, each, None, span))
