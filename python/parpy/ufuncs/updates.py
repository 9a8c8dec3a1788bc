"""Finds functions that are one reduction operator (a sum, a maximum, …), so that generated texts use the operator."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

import numpy as np

from ..syntax.names import Scope
from ..syntax.source import FunctionSource

_OPERATORS = {ast.Add: "+", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_CALLS: dict[Any, str] = {max: "max", min: "min", np.maximum: "np.maximum", np.minimum: "np.minimum"}


class Update(NamedTuple):
    """The combination of two numbers, by an operator or by a function with this name."""

    operator: str
    function: str

    def text(self, a: str, b: str) -> str:
        return f"{a} {self.operator} {b}" if self.operator else f"{self.function}({a}, {b})"


def combined(source: FunctionSource, kind: str, found: str, element: str) -> str:
    """The text that combines a partial result of type ``kind`` with an element. It calls the user's function
    ``function`` and uses the names of types."""
    update = update_of(source)
    return f"{kind.upper()}(function({found}, {element}))" if update is None else update.text(found, element)


def update_of(source: FunctionSource) -> Update | None:
    """The operation on the two parameters, if the function consists of nothing else; otherwise None."""
    code = source.function.__code__
    body = [each for each in source.tree().body if not _is_text(each)]
    if code.co_argcount != 2 or len(body) != 1 or not isinstance(body[0], ast.Return):
        return None
    value = body[0].value
    if isinstance(value, ast.BinOp) and type(value.op) in _OPERATORS and _are(value.left, value.right, code, True):
        return Update(_OPERATORS[type(value.op)], "")
    if (
        isinstance(value, ast.Call)
        and len(value.args) == 2
        and not value.keywords
        and _are(value.args[0], value.args[1], code, False)
    ):
        called = _CALLS.get(_called(value.func, source))
        return None if called is None else Update("", called)
    return None


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _are(a: ast.expr, b: ast.expr, code: Any, any_order: bool) -> bool:
    """Whether the operands are the two parameters. Operators allow any order; ``max`` does not, because of NaN."""
    names = [each.id for each in (a, b) if isinstance(each, ast.Name)]
    wanted = list(code.co_varnames[:2])
    return names == wanted or (any_order and names == wanted[::-1])


def _called(node: ast.expr, source: FunctionSource) -> Any:
    """The object that a name refers to; None if the text does not show it."""
    if isinstance(node, ast.Attribute):
        module = _called(node.value, source)
        return getattr(module, node.attr, None) if module is np else None
    if not isinstance(node, ast.Name):
        return None
    found = Scope(source.function).lookup(node.id)
    value = None if found is None else found.value
    return value if isinstance(value, type(np) | type(max) | np.ufunc) else None
