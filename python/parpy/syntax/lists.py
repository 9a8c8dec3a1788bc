"""Lists, dicts and sets that a function makes.

A list display that is only read is a tuple in compiled code. Python runs the statements with other lists, dicts and
sets.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from .patterns import is_none
from .walks import walk

_READING = ast.Subscript | ast.For | ast.comprehension | ast.Compare | ast.Call
_DISPLAYS = ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp | ast.GeneratorExp
_READERS = {builtins.len.__name__, builtins.enumerate.__name__, builtins.zip.__name__, builtins.reversed.__name__}


def fixed_lists(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The names among `nodes`, which are all nodes of a function, with list displays that are only read: by subscripts,
    by their length, and by membership tests."""
    listed: Counter[str] = Counter()
    stored: Counter[str] = Counter()
    loads: Counter[str] = Counter()
    allowed: Counter[str] = Counter()
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List) and _is_plain(node.value):
            listed.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.Name):
            (loads if isinstance(node.ctx, ast.Load) else stored)[node.id] += 1
        elif isinstance(node, _READING):
            allowed.update(_names_that_are_read(node))
    return frozenset(name for name in listed if stored[name] == listed[name] and loads[name] == allowed[name])


def is_kept_by_python(node: ast.AST, fixed: frozenset[str]) -> bool:
    """Whether the statement assigns to a name, or returns, a list, dict or set that compiled code does not support."""
    if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return) or node.value is None:
        return False
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.List):  # other targets get the elements
        return any(isinstance(target, ast.Name) and target.id not in fixed for target in node.targets)
    return (
        any(starred_names(node))
        or makes_list(node.value)
        or (isinstance(node, ast.Return) and is_returned_by_python(node.value))
    )


def kept_names(
    nodes: Iterable[ast.AST],
    fixed: frozenset[str],
    gives_list: Callable[[ast.Call, int | None], bool],
    with_optional_tuples: bool,
) -> frozenset[str]:
    """The names of such lists, dicts and sets, including results of calls. `gives_list` tells whether a call returns
    one, or a tuple with one at this place. `with_optional_tuples`: names of tuples that may be None are among them."""
    assigned = [node for node in nodes if isinstance(node, ast.Assign | ast.AnnAssign)]
    found: set[str] = set()
    pairs = [
        (target.id, value, place)
        for node in assigned
        if node.value is not None
        for each in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for target, value, place in _named(each, node.value)
    ]
    found |= {name for node in assigned for name in starred_names(node)}
    none = {name for name, value, _ in pairs if is_none(value)}
    while True:
        more = {
            name
            for name, value, place in pairs
            if (with_optional_tuples and isinstance(value, ast.Tuple) and name in none)
            or (makes_list(value) and name not in fixed and place is None)
            or (isinstance(value, ast.Name) and value.id in found)
            or (isinstance(value, ast.Call) and gives_list(value, place))
        }
        if more <= found:
            return frozenset(found)
        found |= more


def starred_names(node: ast.AST) -> Iterator[str]:
    """The starred names of an assignment, which get lists: b of `a, *b = x`."""
    for target in node.targets if isinstance(node, ast.Assign) else []:
        for part in walk(target) if isinstance(target, ast.Tuple | ast.List) else []:
            if isinstance(part, ast.Starred) and isinstance(part.value, ast.Name):
                yield part.value.id


def _named(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.Name, ast.expr, int | None]]:
    """The names in a target, each with its value, or with the call that returns a tuple and the place of the value in
    that tuple."""
    if isinstance(target, ast.Name):
        yield target, value, None
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Call):
        for place, each in enumerate(target.elts):
            if isinstance(each, ast.Name):
                yield each, value, place
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for each, part in zip(target.elts, value.elts, strict=False):
            yield from _named(each, part)


def makes_list(value: ast.expr) -> bool:
    """Whether the value is a new list, dict, set or generator, or a tuple with one."""
    if isinstance(value, ast.Tuple):
        return any(map(makes_list, value.elts))
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in ("list", "dict", "set")
    if isinstance(value, ast.BinOp):  # [0.0] * n, [a] + rest
        return isinstance(value.op, ast.Add | ast.Mult) and (makes_list(value.left) or makes_list(value.right))
    return isinstance(value, _DISPLAYS)


def is_returned_by_python(value: ast.expr) -> bool:
    """Whether Python makes the value where it is returned: a list, dict or set, `tuple(x)`, or a tuple with one."""
    if isinstance(value, ast.Tuple):
        return any(map(is_returned_by_python, value.elts))
    made = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "tuple"
    return made or makes_list(value)


def _is_plain(value: ast.List) -> bool:
    return bool(value.elts) and not any(isinstance(part, ast.Starred) for part in value.elts)


def _names_that_are_read(node: ast.AST) -> list[str]:
    """The names of which `node` itself only reads elements or the length."""
    read: list[ast.expr] = []
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Slice):
        read.append(node.value)
    elif isinstance(node, ast.For | ast.comprehension):
        read.append(node.iter)
    elif isinstance(node, ast.Compare) and isinstance(node.ops[-1], ast.In | ast.NotIn):
        read.append(node.comparators[-1])
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _READERS:
        read += node.args
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("count", "index"):
        read.append(node.func.value)
    return [each.id for each in read if isinstance(each, ast.Name)]
