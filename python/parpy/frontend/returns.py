"""Lowers returns: to Python, of a function that compiled code calls, and of one that stands in place of its call."""

from __future__ import annotations

import ast

from .. import _native
from .evaluation import lower_all
from .forms import Span
from .lowering import lower, several_results
from .scope import FunctionScope
from .several_results import return_several
from .tuples import numbers_in, tuple_form, tuple_values


def lower_return(fn: FunctionScope, node: ast.Return) -> None:
    value, span = node.value, fn.span(node)
    if fn.inlined_results is not None:
        _return_inlined(fn, node)
    elif fn.several is not None and value is not None:
        return_several(fn, node, value)
        _leave(fn, span)
    elif value is None or (isinstance(value, ast.Constant) and value.value is None):
        fn.bare_returns.append(node)
        fn.out.append(fn.module.return_(None, span))
    elif fn.source.declared.get("return") == "void":
        _refuse_result(fn, node)
    elif fn.entry and not fn.kernel:
        fn.whole_value = value
        made = several_results(fn, value)
        if made is not None:
            _return_to_python(fn, node, [value] * len(made), [make() for make in made], True)
            return
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        values = [_as_declared(fn, each, value) for each in lower_all(fn, parts)]
        _return_to_python(fn, node, parts, values, isinstance(value, ast.Tuple))
    else:
        fn.whole_value = value
        fn.out.append(fn.module.return_(lower(fn, value), span))


def return_value(fn: FunctionScope, node: ast.Return, value: _native.Expr) -> None:
    """A return of one number, which is computed already."""
    if fn.entry and not fn.kernel:
        assert node.value is not None
        _return_to_python(fn, node, [node.value], [value], False)
    else:
        fn.out.append(fn.module.return_(value, fn.span(node)))


def _return_to_python(
    fn: FunctionScope, node: ast.Return, parts: list[ast.expr], values: list[_native.Expr], is_tuple: bool
) -> None:
    """The entry stores its results, which stand at `parts`, where the caller finds them."""
    span = fn.span(node)
    results = [fn.module.variable(fn.unique_name("result"), fn.span(part)) for part in parts]
    if fn.results is None:
        fn.results, fn.returns_tuple = results, is_tuple
    elif (len(fn.results), fn.returns_tuple) != (len(results), is_tuple):
        fn.error(
            "P017",
            node,
            "the function returns another number of values elsewhere",
            "return the same number of values on every path",
        )
        return
    zero = [fn.module.constant(0, span) for _ in parts]
    stores = [
        fn.module.store(result, [index], value, None, span)
        for result, index, value in zip(fn.results, zero, values, strict=True)
    ]
    # Elements of arrays are read on the device.
    fn.out.extend(stores if fn.on_device else [fn.module.gpu(stores, span)])
    if node is not fn.node.body[-1]:
        fn.out.append(fn.module.return_(None, span))


def _as_declared(fn: FunctionScope, value: _native.Expr, node: ast.expr) -> _native.Expr:
    """The result as a number of the type that the function's signature says."""
    wanted = fn.source.declared.get("return")
    if wanted is None:
        return value
    return (
        fn.module.op("truth", [value], fn.span(node))
        if wanted == "bool"
        else fn.module.convert(value, wanted, fn.span(node))
    )


def _return_inlined(fn: FunctionScope, node: ast.Return) -> None:
    """A return of a function that stands in place of its call."""
    assert fn.inlined_results is not None
    given = None if node.value is None else tuple_form(fn, node.value)
    if node.value is None or given != fn.returned:
        fn.error(
            "P017",
            node,
            f"'{fn.source.function.__name__}' returns {len(fn.inlined_results)} values elsewhere",
            "return the same number of values on every path",
        )
        return
    span = fn.span(node)
    for var, value in zip(numbers_in(fn.inlined_results), tuple_values(fn, node.value), strict=True):
        fn.out.append(fn.module.assign(var, value, None, span))
    _leave(fn, span)


def _leave(fn: FunctionScope, span: Span) -> None:
    """Leaves the loop, run once, that the statements of a function stand in which returns anywhere."""
    if fn.has_returned is not None:
        if fn.loops:
            fn.out.append(fn.module.assign(fn.has_returned, fn.module.constant(True, span), None, span))
        fn.out.append(fn.module.break_(span))


def _refuse_result(fn: FunctionScope, node: ast.Return) -> None:
    """The function returns a value against its signature."""
    fn.error(
        "P211",
        node,
        f"'{fn.node.name}' returns a value, but its signature {fn.source.shown} says nothing",
        "write the type of the result in place of 'void', or return nothing",
    )
