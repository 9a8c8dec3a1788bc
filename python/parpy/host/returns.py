"""The results of a function that Python runs in parts. Compiled code computes numbers and new arrays before the return,
and Python returns these, its arrays and parts of its arrays.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping

from ..syntax.lists import is_returned_by_python
from ..syntax.nested_source import own_nodes
from ..syntax.patterns import node_parameters, root_of
from ..syntax.walks import walk
from .liveness import assigned
from .lookup import Lookup
from .places import is_part, is_shape, is_whole, named_values, row_of


def is_left(lookup: Lookup, value: ast.expr) -> bool:
    """Whether Python makes the returned value: a variable, a shape, or a part of an array."""
    if is_whole(value) or is_shape(value) or is_part(value) or lookup.is_row(value):
        return True
    return is_whole(lookup.moved(value) or value)


def returned_places(lookup: Lookup, value: ast.expr) -> Iterator[ast.expr]:
    """The variables, shapes and arrays that a returned value may contain."""
    for part in (part for each in elements_of(value) for part in _parts(each)):
        if isinstance(part, ast.IfExp):
            yield from returned_places(lookup, part.body)
            yield from returned_places(lookup, part.orelse)
        elif is_left(lookup, part):
            yield lookup.moved(part) or part


def returned_parts(node: ast.FunctionDef) -> dict[str, int]:
    """The parameters of which a function may return elements x[i], under any name, with the number of subscripts. For
    arrays with more dimensions these elements are rows. The real parts x.real are parts of any array."""
    parts = list(own_nodes(node))
    values: dict[str, list[ast.expr]] = {}
    for part in parts:
        if isinstance(part, ast.Assign | ast.AnnAssign):
            for name, value in named_values(part):
                values.setdefault(name, []).append(value)
    left = [part.value for part in parts if isinstance(part, ast.Return) and part.value is not None]
    found: dict[str, int] = {}
    while left:
        value = left.pop()
        if isinstance(value, ast.Name):
            left += values.pop(value.id, [])
        elif isinstance(value, ast.IfExp):
            left += [value.body, value.orelse]
        elif isinstance(value, ast.Tuple | ast.List | ast.Dict):
            left += elements_of(value)
        elif (row := row_of(value)) is not None:
            found[row[0]] = min(row[1], found.get(*row))
    given = {*node_parameters(node)}
    return {name: count for name, count in found.items() if name in given - assigned(node.body)}


def returns_parts(node: ast.FunctionDef) -> bool:
    """Whether a function may return a part of a parameter, under any name, or one of several parameters."""
    names = {each.arg for each in (*node.args.posonlyargs, *node.args.args)}
    values = [part.value for part in own_nodes(node) if isinstance(part, ast.Return)]
    parts = [each for value in values for whole in elements_of(value) for each in _alternatives(whole)]
    sliced = any(is_part(each) and root_of(each) in names for each in parts)
    chosen = {each.id for each in parts if isinstance(each, ast.Name) and each.id in names}
    return sliced or len(chosen) > 1 or bool(returned_parts(node))


def _alternatives(value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, ast.IfExp):
        yield from _alternatives(value.body)
        yield from _alternatives(value.orelse)
    else:
        yield value


def shared_roots(lookup: Lookup, value: ast.expr) -> frozenset[str]:
    """The arrays of which a returned tuple has several parts, at least one of them a slice, which share memory."""
    parts = [(lookup.moved(each) or each, each) for each in elements_of(value)]
    counts = Counter(root_of(place) for place, _ in parts if isinstance(place, ast.Name | ast.Subscript))
    sliced = {root_of(place) for place, each in parts if place is not each or is_part(each)}
    return frozenset(name for name in sliced if counts[name] > 1)


class Returns:
    """Rewrites the returns of one function."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._count = 0

    def written_out(self, node: ast.Return) -> Iterator[ast.stmt]:
        """Statements in place of one return, which assign the values to names first."""
        value = node.value
        if value is None:
            yield node
            return
        parts = list(self._parts(value))
        choice = next((part for part in parts if isinstance(part, ast.IfExp) and self._chooses_place(part)), None)
        first = parts if choice is None else parts[: parts.index(choice)]
        assigns = any(isinstance(part, ast.NamedExpr) for part in walk(value))
        shared = shared_roots(self._lookup, value)
        calls = self._calls_between(value, parts)
        named: dict[ast.expr, ast.expr] = {}
        for part in first:
            left = is_left(self._lookup, part) or is_returned_by_python(part) or root_of(part) in shared
            early = assigns or (calls and _may_change(self._lookup, part))
            if isinstance(part, ast.Constant) or ((left or choice is not None) and not early):
                continue
            self._count += 1
            name = f"result_{self._count}"
            target = ast.copy_location(ast.Name(name, ast.Store()), part)
            yield ast.copy_location(ast.Assign([target], part), node)
            named[part] = ast.copy_location(ast.Name(name, ast.Load()), part)
        if choice is None:
            yield ast.copy_location(ast.Return(_replaced(value, named)), node)
            return
        returned = (_replaced(value, {**named, choice: each}) for each in (choice.body, choice.orelse))
        body, orelse = (ast.copy_location(ast.Return(each), node) for each in returned)
        yield ast.copy_location(ast.If(choice.test, [body], [orelse]), node)

    def _calls_between(self, value: ast.expr, parts: list[ast.expr]) -> bool:
        """Whether a call in one part may change the value of another part."""
        return len(parts) > 1 and any(
            isinstance(part, ast.Call) and self._lookup.moved(part) is None for part in walk(value)
        )

    def _parts(self, value: ast.expr) -> list[ast.expr]:
        """The parts of a value; a nested tuple that compiled code makes is one part."""
        found: list[ast.expr] = []
        for each in elements_of(value):
            inner = list(_parts(each))
            apart = any(is_left(self._lookup, part) or self._chooses_place(part) for part in inner)
            found += inner if apart or isinstance(each, ast.Starred) else [each]
        return found

    def _chooses_place(self, value: ast.expr) -> bool:
        return isinstance(value, ast.IfExp) and any(returned_places(self._lookup, value))


def _may_change(lookup: Lookup, part: ast.expr) -> bool:
    """Whether a call may change the value of the part. Variables, their shapes and aliases of their elements are safe,
    because calls do not assign to them."""
    place = lookup.moved(part) or part
    root = place.value if is_shape(place) and isinstance(place, ast.Attribute) else place
    return not isinstance(root, ast.Name | ast.Constant)


def elements_of(value: ast.expr | None) -> list[ast.expr]:
    """The elements of a tuple, list or dict display; the value itself for other expressions."""
    if value is None:
        return []
    if isinstance(value, ast.Dict):
        return value.values
    return value.elts if isinstance(value, ast.Tuple | ast.List) else [value]


def _parts(value: ast.expr) -> Iterator[ast.expr]:
    """The elements of a value that is a tuple display, recursively."""
    if isinstance(value, ast.Tuple):
        for each in value.elts:
            yield from _parts(each)
    elif isinstance(value, ast.Starred):
        yield from _parts(value.value)
    else:
        yield value


def _replaced(value: ast.expr, by: Mapping[ast.expr, ast.expr]) -> ast.expr:
    """The value with some of its parts replaced."""
    made = by.get(value, value)
    if made is value and isinstance(value, ast.Tuple | ast.List):
        made = type(value)([_replaced(each, by) for each in value.elts], ast.Load())
    elif made is value and isinstance(value, ast.Dict):
        made = ast.Dict(value.keys, [_replaced(each, by) for each in value.values])
    elif made is value and isinstance(value, ast.Starred):
        made = ast.Starred(_replaced(value.value, by), ast.Load())
    return ast.copy_location(made, value)
