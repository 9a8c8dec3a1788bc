"""Inspects a call of a function that Python runs in parts without running the compiled parts, and checks mappings
before any part runs (host/driver.py)."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import _native
from ..calls.errors import CompileError, ParallelError
from ..calls.options import CompileOptions
from ..syntax.patterns import stored_in
from ..syntax.walks import walk_own
from .alike import forms_of
from .regions import Region
from .small_statements import Small
from .unset import at

_MOST_CALLS = 100  # the most further calls of functions that were inspected already


class Seen:
    """The inspected functions. The limit ends recursions that depend on numbers which only a run would compute."""

    def __init__(self) -> None:
        self.drivers: dict[object, Any] = {}
        self._left = _MOST_CALLS

    def ends(self) -> bool:
        """Whether the limit is reached, so that an inspected function is not called again."""
        self._left -= 1
        return self._left < 0


def nothing(*_: Any, **__: Any) -> int:
    return 0


# The methods by which Python's containers change.
_CHANGES = {
    *("add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert", "pop", "popitem", "popleft"),
    *("remove", "reverse", "setdefault", "sort", "update"),
}


class Once(ast.NodeTransformer):
    """Rewrites a driver so that each loop runs once and small statements are regions. Containers in attributes and
    entries, `self.log.append(x)`, do not change."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        nothing_else: ast.AST = at(ast.Pass(), node)
        called = node.value.func if isinstance(node.value, ast.Call) else None
        if isinstance(called, ast.Call) and called.args:  # the driver decides about the call
            called = called.args[0]
        match called:  # attributes of arguments are entries (syntax/fields.py)
            case ast.Attribute(ast.Attribute() | ast.Subscript(), name) if name in _CHANGES:
                return nothing_else
            case ast.Subscript(ast.Attribute() | ast.Subscript(), ast.Constant(str(name))) if name in _CHANGES:
                return nothing_else
        return node

    def visit_Small(self, node: Small) -> list[ast.stmt]:
        self.generic_visit(node)
        return node.orelse

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        first = ast.Slice(None, ast.Constant(1), None)
        node.iter = at(ast.Subscript(node.iter, first, ast.Load()), node)
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        span = ast.Tuple([ast.Constant(0)], ast.Load())
        once: ast.AST = at(ast.For(ast.Name("_", ast.Store()), span, node.body, []), node)
        return once


class MappedRegions:
    """The regions of a driver that run in every call, before statements that may end it, and read nothing but
    parameters that keep their values: whether their loops may be mapped is known before anything runs."""

    _MOST = 64  # the most calls with other numbers that are checked

    def __init__(
        self, body: Sequence[ast.stmt], run: str, regions: Sequence[Region], parameters: frozenset[str]
    ) -> None:
        """`body`: the statements of the driver, in which calls of `run` with their numbers run the regions."""
        reached = _numbers_of_calls(body, run) if len(body) > 1 else ()
        kept = parameters - stored_in(*body)
        self._regions = {number: regions[number] for number in reached if kept.issuperset(regions[number].inputs)}

    def check(self, given: Mapping[str, Any], per_region: Sequence[CompileOptions], known: set[Any]) -> None:
        """Raises the error of a mapped loop that is refused. `known`: the calls that were checked for these options."""
        mapped = {number: each for number, each in self._regions.items() if per_region[number].parallelize}
        if not mapped or len(known) >= self._MOST:
            return
        values = [given[name] for each in mapped.values() for name in each.inputs]
        numbers = [value if isinstance(value, int | float) else getattr(value, "shape", 0) for value in values]
        call = forms_of(values), *numbers
        if call in known:
            return
        for number, region in mapped.items():
            function, arguments, _ = region.call(tuple(given[name] for name in region.inputs))
            try:
                _native.source_text(function, arguments, per_region[number])
            except ParallelError:
                raise
            except CompileError:  # Python may run the region
                continue
        known.add(call)


def _numbers_of_calls(body: Sequence[ast.stmt], run: str) -> Iterator[int]:
    for node in body:
        if any(isinstance(part, ast.Return | ast.Raise) for part in walk_own(node)):
            return
        call = node.value if isinstance(node, ast.Assign | ast.Expr) else None
        match call:
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=int(number)), *_]) if name == run:
                yield number
