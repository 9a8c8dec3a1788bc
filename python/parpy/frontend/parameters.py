"""Lowers the parameters of a function and their annotations."""

from __future__ import annotations

import ast
from typing import Any

from .. import _native
from ..syntax.annotations import Places, converted_to, declared, symbol_places
from ..syntax.patterns import stored_in
from ..types import BufferType, Symbol, TypeVar, elem_size
from .forms import Span
from .kernels.records import receive_records
from .scope import FunctionScope


def begin(fn: FunctionScope) -> None:
    """Declares the parameters of the function."""
    node = fn.node
    if isinstance(node, ast.AsyncFunctionDef):
        fn.error(
            "P005",
            node,
            f"the async function '{node.name}' cannot be compiled",
            "compile an ordinary function and call it from the async one",
        )
    for argument, stars in ((node.args.vararg, "*"), (node.args.kwarg, "**")):
        if argument is not None:
            fn.error(
                "P006", argument, f"the parameter '{stars}{argument.arg}' cannot be compiled", "name every parameter"
            )
    declared = {a.arg: a for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    fn.assigned.update(declared)
    for argument in (node.args.vararg, node.args.kwarg):
        if argument is not None:
            fn.assigned.add(argument.arg)
    fn.parameters = declared


def receive(fn: FunctionScope) -> None:
    """Receives the variables of the parameters that are records."""
    for name, form in fn.forms:
        receive_records(fn, name, form)


def keep_given(fn: FunctionScope) -> list[_native.Stmt]:
    """Statements that copy parameters with symbols in their annotations to other names, so that a symbol keeps its
    value when the parameter is assigned to."""
    statements: list[_native.Stmt] = []
    wanted = {name for name, _ in fn.symbols.values()}
    again = stored_in(fn.node)
    for name in fn.parameters:
        if name in wanted and name in again and name not in fn.records:
            span = fn.span(fn.parameters[name])
            given = fn.given[name] = fn.temporary(span, name)
            whole = fn.module.read(fn.variable(name, fn.parameters[name]), span)
            statements.append(fn.module.assign(given, whole, None, span))
    return statements


def converted_parameters(fn: FunctionScope) -> list[_native.Stmt]:
    """Statements that convert numbers to the types of their annotations, unless a Python number has that type."""
    statements = []
    for name, argument in fn.parameters.items():
        scalar = converted_to(fn.annotations.get(name))
        if scalar is not None and name not in fn.records and name not in fn.tuple_params:
            span = fn.span(argument)
            var = fn.variable(name, argument)
            value = fn.module.read(var, span)
            if not fn.entry and scalar.startswith(("i", "u")):
                value = fn.module.op("as_index", [value], span)  # refuses floats
            value = fn.module.convert(value, scalar, span)
            statements.append(fn.module.assign(var, value, None, span))
    return statements


def checked_parameters(fn: FunctionScope) -> list[_native.Stmt]:
    """Statements that check the annotations for calls by compiled code; infer-types decides them for each call. For
    calls from Python, bindings/calls/annotations.cpp does the same."""
    statements: list[_native.Stmt] = []
    if fn.entry:
        return statements
    places, op = symbol_places(fn.annotations), fn.module.op
    for name, argument in fn.parameters.items():
        annotation, span = fn.annotations.get(name), fn.span(argument)
        known = declared(annotation, fn.scope.name_of)
        if known is None or name in fn.records:
            continue
        fail = f"'{name}' does not fit its annotation", f"the annotation says {known.shown}"

        def require(holds: _native.Expr, fail: tuple[str, str] = fail, span: Span = span) -> None:
            failing = fn.module.fail("P231", fail[0], [], span, fail[1])
            statements.append(fn.module.if_(holds, [], [failing], span))

        whole = fn.module.read(fn.variable(name, argument), span)
        if isinstance(annotation, BufferType):
            rank = fn.module.constant(len(annotation.shape), span)
            require(op("==", [_rank_of(fn, name, argument), rank], span))
            require(op("types_equal", [whole, _type_of(fn, annotation.elem, places, span)], span))
            for number, extent in enumerate(annotation.shape):
                if isinstance(extent, int) or places[extent] != (name, number):
                    found = _extent_of(fn, name, number, argument)
                    require(op("==", [found, _value_of(fn, extent, places, argument)], span))
        elif isinstance(annotation, Symbol | TypeVar) and places[annotation] == (name, None):
            continue
        elif isinstance(annotation, Symbol):
            require(op("==", [whole, _value_of(fn, annotation, places, argument)], span))
        else:  # marked as a number
            elem = annotation if isinstance(annotation, TypeVar) else elem_size(annotation)
            require(op("types_equal", [op("pos", [whole], span), _type_of(fn, elem, places, span)], span))
    return statements


def _type_of(fn: FunctionScope, elem: Any, places: Places, span: Span) -> _native.Expr:
    if isinstance(elem, TypeVar):
        first, _ = places[elem]
        return fn.module.read(fn.variable(first, fn.parameters[first]), span)
    return fn.module.convert(fn.module.constant(0, span), elem.value, span)


def _rank_of(fn: FunctionScope, name: str, argument: ast.arg) -> _native.Expr:
    return fn.module.rank(fn.variable(name, argument), fn.span(argument))


def _extent_of(fn: FunctionScope, name: str, number: int, argument: ast.arg) -> _native.Expr:
    return fn.module.extent(fn.variable(name, argument), number, fn.span(argument))


def _value_of(fn: FunctionScope, extent: int | Symbol, places: Places, argument: ast.arg) -> _native.Expr:
    """The value of an extent: a constant, or the extent or number of the first parameter with the symbol."""
    if isinstance(extent, int):
        return fn.module.constant(extent, fn.span(argument))
    first, number = places[extent]
    if number is None:
        return fn.module.read(fn.variable(first, fn.parameters[first]), fn.span(argument))
    return _extent_of(fn, first, number, argument)
