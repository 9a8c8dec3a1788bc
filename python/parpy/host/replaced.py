"""Arrays that a region gives other values under the same name on some paths: `for …: x = x + v`, which may not run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from .liveness import Names, assigned
from .unset import at

_SAME_MEMORY = (
    *(
        "asarray",
        "ascontiguousarray",
        "atleast_1d",
        "atleast_2d",
        "broadcast_to",
        "diagonal",
        "flipud",
        "fliplr",
        "flip",
    ),
    *("moveaxis", "ravel", "reshape", "rollaxis", "squeeze", "swapaxes", "transpose", "view"),
)
_STORING = ("fill", "itemset", "partition", "put", "resize", "sort")  # methods that do


def replaced_at_times(
    nodes: Sequence[ast.stmt], outputs: Sequence[str], inputs: Sequence[str], is_users: Callable[[ast.Call], bool]
) -> Names:
    """The outputs that paths through the statements leave what they were, and whose elements nothing in them stores to
    or gives another name: copies may stand for them. `is_users`: whether a call is one of a function of the user."""
    candidates = frozenset(outputs) & frozenset(inputs) - _certainly_assigned(nodes)
    if not candidates:
        return candidates
    shared: set[str] = set()
    for part in (part for node in nodes for part in ast.walk(node)):
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
            shared.add(_root(part))
        elif isinstance(part, ast.AugAssign):
            shared.add(_root(part.target))
        elif isinstance(part, ast.Assign | ast.AnnAssign):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            if not all(isinstance(target, ast.Subscript) for target in targets):
                shared.update(map(_root, _values(part.value)))
        elif isinstance(part, ast.For | ast.comprehension):
            shared.add(_root(part.iter))
        elif isinstance(part, ast.Call):
            if isinstance(part.func, ast.Attribute) and part.func.attr in _STORING:
                shared.add(_root(part.func))
            if isinstance(part.func, ast.Name) or is_users(part):
                shared.update(name.id for name in ast.walk(part) if isinstance(name, ast.Name))
    return candidates - shared


def copied(name: str, place: ast.stmt) -> ast.stmt:
    """x = x.copy()"""
    call = ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "copy", ast.Load()), [], [])
    made: ast.stmt = at(ast.Assign([ast.Name(name, ast.Store())], call), place)
    return made


def _certainly_assigned(nodes: Sequence[ast.stmt]) -> Names:
    """The names that every path through the statements assigns."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            found |= assigned([node])
        elif isinstance(node, ast.If):
            found |= _certainly_assigned(node.body) & _certainly_assigned(node.orelse)
    return frozenset(found)


def _values(value: ast.expr | None) -> list[ast.expr]:
    """What an assignment may give a name as it is."""
    if isinstance(value, ast.IfExp):
        return [*_values(value.body), *_values(value.orelse)]
    if isinstance(value, ast.Tuple | ast.List):
        return [each for part in value.elts for each in _values(part)]
    if isinstance(value, ast.Call):
        if not isinstance(value.func, ast.Attribute) or value.func.attr not in _SAME_MEMORY:
            return []
        return [value.func, *value.args]
    return [value] if isinstance(value, ast.Name | ast.Subscript | ast.Attribute) else []


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
