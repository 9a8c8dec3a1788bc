"""Lowers returns."""

from __future__ import annotations

import ast

from ... import _native
from ...syntax.patterns import chooses_place, is_none
from ...syntax.walks import walk
from ..lowering import lower, statement
from ..scope import FunctionScope


def lower_return(fn: FunctionScope, node: ast.Return) -> None:
    value = node.value
    if value is None or (is_none(value) and not _gives_values(fn)):
        fn.out.append(fn.module.return_(None, fn.span(node)))
    elif fn.source.declared.get("return") == "void":
        _refuse_result(fn, node)
    elif not fn.kernel and isinstance(value, ast.IfExp) and chooses_place(value):
        body, orelse = (ast.copy_location(ast.Return(each), node) for each in (value.body, value.orelse))
        statement(fn, ast.copy_location(ast.If(value.test, [body], [orelse]), node))
    elif isinstance(value, ast.Name) and getattr(fn.resolve(value), "value", None) is NotImplemented:
        message = f"'{fn.node.name}' returns NotImplemented for these operands"
        fn.out.append(fn.module.fail("P232", message, [], fn.span(node), python_may_call=True))
    else:
        fn.whole_value = value
        return_value(fn, node, lower(fn, value))


def _gives_values(fn: FunctionScope) -> bool:
    """Whether the function returns a value other than None."""
    returns = (part.value for part in walk(fn.node) if isinstance(part, ast.Return))
    return any(value is not None and not is_none(value) for value in returns)


def return_value(fn: FunctionScope, node: ast.Return, value: _native.Expr) -> None:
    """Returns a lowered value. In the entry it is converted to the result type of the function's signature."""
    wanted = fn.source.declared.get("return") if fn.entry and not fn.kernel else None
    if wanted == "bool":
        value = fn.module.op("truth", [value], fn.span(node))
    elif wanted is not None:
        value = fn.module.convert(value, wanted, fn.span(node))
    fn.out.append(fn.module.return_(value, fn.span(node)))


def _refuse_result(fn: FunctionScope, node: ast.Return) -> None:
    """Reports a function that returns a value though its signature has no result."""
    fn.error(
        "P211",
        node,
        f"'{fn.node.name}' returns a value, but its signature {fn.source.shown} declares no result",
        "write the type of the result in place of 'void', or return nothing",
    )
