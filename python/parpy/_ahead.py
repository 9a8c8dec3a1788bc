"""What a function that Python runs in parts would do, found out without running the compiled ones (_driver.py)."""

from __future__ import annotations

import ast
from typing import Any

from ._unset import NO_VALUE, at

MOST_CHECKED = 16  # kinds of arguments for which types are looked at before anything runs
_MOST_CALLS = 100  # of functions that were looked at before


class Seen:
    """The functions that were looked at. Those that call themselves, with numbers that only their run tells, end."""

    def __init__(self) -> None:
        self.drivers: dict[object, Any] = {}
        self._left = _MOST_CALLS

    def ends(self) -> bool:
        """Whether one that was looked at before is not called again."""
        self._left -= 1
        return self._left < 0


class Computed:
    """A value that only the run of a region tells: whatever asks for it ends the look ahead."""

    def __bool__(self) -> bool:
        raise TypeError("not known yet")

    def __eq__(self, other: object) -> bool:
        raise TypeError("not known yet")

    __hash__ = object.__hash__

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("not known yet")


def kind(value: object) -> object:
    """What of an argument its type errors follow from, and mostly which way the function goes."""
    if value is None or isinstance(value, int):
        return type(value), value
    return type(value), str(getattr(value, "dtype", "")), getattr(value, "ndim", 0)


def nothing(*_: Any, **__: Any) -> int:
    return 0


class Once(ast.NodeTransformer):
    """Loops run once. `certain`: not if they would not run at all, and nothing depends on elements of arrays, which
    regions that have not run may change."""

    def __init__(self, certain: bool) -> None:
        self._certain = certain

    def _known(self, test: ast.expr) -> ast.expr:
        parts = (part for part in ast.walk(test) if isinstance(part, ast.Subscript | ast.Call))
        if not self._certain or all(_is_extent(part) for part in parts):
            return test
        return ast.copy_location(ast.Name(NO_VALUE, ast.Load()), test)

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        node.test = self._known(node.test)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        first = ast.Slice(None, ast.Constant(1), None)
        node.iter = at(ast.Subscript(node.iter, first, ast.Load()), node)
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        span: ast.expr = ast.Tuple([ast.Constant(0)], ast.Load())
        if self._certain:
            span = ast.IfExp(self._known(node.test), span, ast.Tuple([], ast.Load()))
        once: ast.AST = at(ast.For(ast.Name("_", ast.Store()), span, node.body, []), node)
        return once


def _is_extent(node: ast.expr) -> bool:
    """x.shape[0] and len(x)"""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "len"
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
