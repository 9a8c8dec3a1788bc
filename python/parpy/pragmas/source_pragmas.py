"""The pragmas of a captured source, which are parsed once."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .. import _native
from ..calls.errors import fail
from ..syntax.patterns import Function
from .binding import Bound, bind
from .words import Fault, Pragma


class Pragmas:
    """The pragmas of a function's text, by its statements."""

    __slots__ = ("_bound",)

    def __init__(self, bound: Bound) -> None:
        self._bound = bound

    def __bool__(self) -> bool:
        return bool(self._bound)

    def of(self, node: ast.stmt) -> Pragma | None:
        """The pragma before a statement, or before the statement at the place of `node`; None without one."""
        return self._bound.get((node.lineno, node.col_offset)) if self._bound else None


NO_PRAGMAS = Pragmas({})


def read_pragmas(text: str, first_line: int, shift: int, tree: Function, source: _native.Source) -> Pragmas:
    """Parses the pragmas of a text. Raises CompileError with all faults in them."""
    bound, faults = bind(text, first_line, shift, tree)
    if faults:
        refuse(faults, source)
    return Pragmas(bound)


def refuse(faults: Sequence[Fault], source: _native.Source) -> None:
    """Raises CompileError for these faults."""
    sink = _native.Diagnostics()
    for each in faults:
        span = (0, each.place.line, each.place.begin, each.place.line, each.place.end)
        notes = [((0, place.line, place.begin, place.line, place.end), text) for place, text in each.notes]
        sink.error(each.code, span, each.message, each.help, notes)
    fail(sink, [source])
