"""Parameters of kernels that are single records to which the kernel assigns, `r.x = 1.0`: compiled code takes an array
of one record instead, and `r` is `r[0]` there."""

from __future__ import annotations

import ast
import copy

from .source import FunctionSource, node_parameters


def written_records(source: FunctionSource) -> tuple[FunctionSource, tuple[int, ...]]:
    """The function with such parameters as arrays, and their places; the function itself if there are none."""
    node = source.written()
    parameters = node_parameters(node)
    found = {name for part in ast.walk(node) if (name := _assigned_record(part)) in parameters}
    found -= {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    if not found:
        return source, ()
    tree = _Element(found).visit(copy.deepcopy(node))
    made = FunctionSource(source.function, source.name, source.text, source.first_line, tree)
    made.declared, made.arrays, made.defaults = source.declared, source.arrays, source.defaults
    return made, tuple(place for place, name in enumerate(parameters) if name in found)


def _assigned_record(node: ast.AST) -> str | None:
    """The name in `r.x = …`, `r['x'] = …`, `r.p.x = …`, without other subscripts."""
    if not isinstance(node, ast.Attribute | ast.Subscript) or not isinstance(node.ctx, ast.Store):
        return None
    part: ast.expr = node
    while isinstance(part, ast.Attribute | ast.Subscript):
        if isinstance(part, ast.Subscript) and not _is_text(part.slice):
            return None
        part = part.value
    return part.id if isinstance(part, ast.Name) else None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


class _Element(ast.NodeTransformer):
    def __init__(self, names: set[str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self._names:
            return node
        index = ast.copy_location(ast.Constant(0), node)
        return ast.copy_location(ast.Subscript(node, index, ast.Load()), node)
