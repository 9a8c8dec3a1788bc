"""Nested functions and lambdas. They are values that read the variables of enclosing functions at the time of each
call.

A nested function gets these variables as additional parameters, which calls pass. A name with one nested function, and
no other assignment, refers to that function in all calls.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from types import FunctionType

from ... import _native
from ...syntax.nested_source import definitions, is_plain, link, nested_source, own_nodes, walk_inside
from ..lowering import lower
from ..scope import FunctionScope
from .targets import assign_value


def begin_nested(fn: FunctionScope) -> None:
    """Finds the names that refer to one nested function."""
    if not any(isinstance(each, ast.FunctionDef | ast.Lambda) for each in walk_inside(fn.node)):
        return
    for name, _, node in definitions(fn.node, own_nodes(fn.node)):
        with suppress(ValueError):  # a default is no literal
            defaults = [ast.literal_eval(each) for each in node.args.defaults]
            source = nested_source(fn.source, fn.scope.locals, node, name)
            source.function.__defaults__ = tuple(defaults) or None
            fn.nested[name] = source.function
    fn.scope.known = {**fn.scope.known, **fn.nested}
    link(fn.nested)
    for function in fn.nested.values():
        enclose(fn, function)


def lower_definition(fn: FunctionScope, node: ast.FunctionDef) -> None:
    """Lowers `def g(v): …` in a function."""
    if node.name in fn.nested:
        return
    if not is_plain(node):
        what = "give it plain parameters and no assignments to outer variables, or define it outside of the function"
        fn.error("P010", fn.head(node), "a nested function of this kind cannot be compiled", what)
        fn.give_up_on(node)
        return
    target = ast.copy_location(ast.Name(node.name, ast.Store()), node)
    assign_value(fn, target, _value(fn, node, node.name), node)


def lower_lambda(fn: FunctionScope, node: ast.Lambda) -> _native.Expr:
    if not is_plain(node):
        fn.error("P011", node, "a lambda of this kind cannot be compiled", "define a function with 'def'")
        return fn.poison(node)
    return _value(fn, node, "nameless")


def is_nested_definition(fn: FunctionScope, node: ast.Assign) -> bool:
    """Whether the statement assigns to a name the lambda that the name always refers to."""
    target = node.targets[0]
    return isinstance(node.value, ast.Lambda) and isinstance(target, ast.Name) and target.id in fn.nested


def _value(fn: FunctionScope, node: ast.FunctionDef | ast.Lambda, name: str) -> _native.Expr:
    """The value of the function, with the present values of its defaults."""
    defaults = [lower(fn, each) for each in node.args.defaults]
    source = nested_source(fn.source, fn.scope.locals, node, name)
    enclose(fn, source.function)
    callee, span = fn.helper(source), fn.span(node)
    made = fn.module.function_value(callee.function, defaults, span)
    fn.calls.append((made, callee, span))
    fn.function_values.add(made)
    return made


def enclose(fn: FunctionScope, function: FunctionType) -> None:
    """Makes `fn` the owner of the variables that the nested function reads."""
    fn.program.owners[function] = fn
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name in fn.nested:
            cell.cell_contents = fn.nested[name]
        elif name in fn.scope.locals:
            fn.enclosed[id(cell), name] = name
