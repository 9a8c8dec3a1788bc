"""Builds the entry's parameters that are neither numbers nor arrays (tuples, objects with their methods, functions)
from the numbers and arrays in them.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from .. import _native
from ..syntax.names import cell_of
from .expressions.function_values import single
from .expressions.objects import Attributes, add_attribute, begin_named_tuple
from .forms import CELL, Cell, Composed, DictParam, Kind, RecordKind, Single, TupleKind
from .scope import FunctionScope, describe


def take_composed(fn: FunctionScope) -> list[_native.Stmt]:
    """Gives each number or array in a composed parameter of the entry an entry of its own, named by its place. Returns
    the statements that build the parameters from the entries."""
    statements = []
    for name, kind in fn.program.known_kinds.items():
        node = fn.parameters[name]
        entries: dict[str, _native.Var] = {}
        fn.tuple_params[name] = DictParam(entries, ast.copy_location(ast.Name(name, ast.Load()), node))
        value = put_together(Place(fn, name, "", entries), kind)
        statements.append(fn.module.assign(fn.variable(name, node), value, None, fn.span(node)))
    return statements


class Place(NamedTuple):
    """A part of a parameter of the entry: its path in the parameter, and the entries of the parameter so far."""

    fn: FunctionScope
    name: str
    path: str
    entries: dict[str, _native.Var]

    def inner(self, part: str) -> Place:
        return self._replace(path=f"{self.path}.{part}" if self.path else part)

    @property
    def node(self) -> ast.arg:
        return self.fn.parameters[self.name]

    def entry(self) -> _native.Var:
        """The variable for the number or array at this place."""
        if self.path not in self.entries:
            self.entries[self.path] = self.fn.received_variable(self.name, self.path)
        return self.entries[self.path]


def put_together(place: Place, kind: Kind | Cell | Composed | None) -> _native.Expr:
    """The value at a place of a parameter, built from the numbers and arrays in it."""
    fn, span = place.fn, place.fn.span(place.node)
    if isinstance(kind, RecordKind):
        parts = dict(zip(kind.names, kind.parts, strict=True))

        def attribute(name: str) -> _native.Expr | None:
            return put_together(place.inner(name), parts[name]) if name in parts else None

        cells = {name for name, part in parts.items() if part is CELL}
        return Attributes(fn, place.node, kind.of_class, attribute, cells).value
    if isinstance(kind, Single):
        for cell in kind.cells:
            fn.owned[id(cell_of(kind.value, cell)), cell] = place.inner(cell).entry()
        made = single(fn, kind.value, place.node)
        if made is not None:
            return made
        message = f"the argument '{place.name}' is {describe(kind.value)}, which cannot be compiled"
        fn.error("P022", place.node, message, "math.*, np.* and functions written in Python can be compiled")
        return fn.integer(0, place.node)
    if not isinstance(kind, TupleKind):
        return fn.module.read(place.entry(), span)
    if kind.is_none:
        return fn.module.op("none", [], span)
    values = [put_together(place.inner(str(index)), part) for index, part in enumerate(kind.parts)]
    if kind.of_class is None:
        return fn.module.op("tuple", values, span)
    made = begin_named_tuple(fn, kind.of_class, place.node)
    for name, value in zip(kind.of_class._fields, values, strict=True):
        add_attribute(fn, made, name, value, span)
    return made
