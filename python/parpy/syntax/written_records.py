"""Parameters of kernels that are single records to which the kernel assigns, `r.x = 1.0`. Compiled code gets an array
of one record instead, and `r` becomes `r[0]`."""

from __future__ import annotations

import ast

from .names import Scope, jit_source
from .patterns import is_text, node_parameters, stored_in
from .source import FunctionSource
from .walks import copy_of, walk


def written_records(source: FunctionSource) -> tuple[FunctionSource, tuple[int, ...]]:
    """The function with arrays in place of such parameters, and their numbers; the function itself if it has none."""
    node = source.written()
    parameters = node_parameters(node)
    found = _written(source, frozenset())
    if not found:
        return source, ()
    tree = _Element(found).visit(copy_of(node))
    made = FunctionSource(source.function, source.name, source.text, source.first_line, tree)
    made.declared, made.arrays, made.defaults = source.declared, source.arrays, source.defaults
    return made, tuple(place for place, name in enumerate(parameters) if name in found)


def _written(source: FunctionSource, around: frozenset[FunctionSource]) -> set[str]:
    """The parameters whose fields the function assigns to, directly or in functions that it passes them to."""
    node, scope = source.written(), Scope(source.function)
    found = {name for part in walk(node) if (name := _assigned_record(part)) is not None}
    for call in (part for part in walk(node) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)):
        given = [(place, each.id) for place, each in enumerate(call.args) if isinstance(each, ast.Name)]
        binding = scope.lookup(call.func.id) if given else None  # type: ignore[attr-defined]
        called = None if binding is None else jit_source(binding.value)
        if called is None or called in around or not isinstance(called.written(), ast.FunctionDef):
            continue
        names = node_parameters(called.written())
        written = _written(called, around | {source})
        found |= {name for place, name in given if place < len(names) and names[place] in written}
    again = stored_in(node)
    return (found & {*node_parameters(node)}) - again


def _assigned_record(node: ast.AST) -> str | None:
    """The name r in a store `r.x = …`, `r['x'] = …` or `r.p.x = …` without other subscripts; otherwise None."""
    if not isinstance(node, ast.Attribute | ast.Subscript) or not isinstance(node.ctx, ast.Store):
        return None
    part: ast.expr = node
    while isinstance(part, ast.Attribute | ast.Subscript):
        if isinstance(part, ast.Subscript) and not is_text(part.slice):
            return None
        part = part.value
    return part.id if isinstance(part, ast.Name) else None


class _Element(ast.NodeTransformer):
    def __init__(self, names: set[str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self._names:
            return node
        index = ast.copy_location(ast.Constant(0), node)
        return ast.copy_location(ast.Subscript(node, index, ast.Load()), node)
