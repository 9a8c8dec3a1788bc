"""The results of a function that Python runs in parts. Compiled code computes numbers and new arrays before the return,
and Python returns these, its arrays and parts of its arrays.

Loops that a function leaves by `return` are regions as well: the result of such a region begins with a tuple if the
function returns its second element, and with False if the loop ended.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..syntax.lists import is_returned_by_python
from ..syntax.nested_source import own_nodes
from ..syntax.patterns import node_parameters, root_of
from ..syntax.walks import copy_of, walk, walk_own
from .foreign_calls import gives_text
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
    """The arrays of which a returned tuple, or a tuple in it, has several parts, at least one of them a slice, which
    share memory. Starred parts (`*t[1:]`) are those of tuples."""
    wholes = [whole for whole in elements_of(value) if not isinstance(whole, ast.Starred)]
    parts = [(lookup.moved(each) or each, each) for whole in wholes for each in _parts(whole)]
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
        if (assigns or calls) and any(gives_text(part) and not _chooses_literal(part) for part in first):
            yield node  # Python keeps the order in which the parts are evaluated
            return
        named: dict[ast.expr, ast.expr] = {}
        for part in first:
            left = is_left(self._lookup, part) or is_returned_by_python(part) or root_of(part) in shared
            left = left or gives_text(part)
            early = assigns or (calls and _may_change(self._lookup, part))
            if isinstance(part, ast.Constant) or ((left or choice is not None) and not early):
                continue
            self._count += 1
            name = f"result_{self._count}"
            target = ast.copy_location(ast.Name(name, ast.Store()), part)
            loaded = ast.copy_location(ast.Name(name, ast.Load()), part)
            if isinstance(part, ast.IfExp) and gives_text(part):
                yield ast.copy_location(ast.Assign([target], part.test), node)
                named[part] = ast.copy_location(ast.IfExp(loaded, part.body, part.orelse), part)
                continue
            yield ast.copy_location(ast.Assign([target], part), node)
            named[part] = loaded
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


def _chooses_literal(value: ast.expr) -> bool:
    """Whether the value is a literal, or `a if c else b` of two literals."""
    if isinstance(value, ast.IfExp):
        return isinstance(value.body, ast.Constant) and isinstance(value.orelse, ast.Constant)
    return isinstance(value, ast.Constant)


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


# ------------------------------------------------------------ loops that end early

_NEW = frozenset(("int", "float", "bool", "len", "abs", "round", "complex"))


class Early(NamedTuple):
    """What a region gave where the function returns."""

    value: Any


class Needs(NamedTuple):
    """What must hold where a value is returned: arrays with their numbers of dimensions, whose elements are numbers.
    `lists` are names of lists and dicts of numbers."""

    lists: Container[str]
    dimensions: set[tuple[str, int]]


class Fresh:
    """The expressions of a function that are numbers, None, or new arrays, so that no other name shares memory with
    their values."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self._given: dict[str, list[ast.expr]] = {}  # by name, its values
        self._open: set[str] = set()
        for node in nodes:
            if isinstance(node, ast.Assign | ast.AnnAssign):
                for name, value in named_values(node):
                    self._given.setdefault(name, []).append(value)
            elif isinstance(node, ast.For):
                for name, value in _items(node):
                    self._given.setdefault(name, []).append(value)
        updated = {node.target for node in nodes if isinstance(node, ast.AugAssign)}
        stored = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        stores = Counter(node.id for node in stored if node not in updated)
        self._others = {name for name, count in stores.items() if count != len(self._given.get(name, ()))}

    def is_fresh(self, value: ast.expr | None, needs: Needs) -> bool:
        def is_fresh(part: ast.expr) -> bool:
            return self.is_fresh(part, needs)

        match value:
            case None:
                return True
            case ast.Constant(value=constant):
                return constant is None or isinstance(constant, int | float | complex)
            case ast.BinOp(left=left, op=ast.Add(), right=right):  # not of tuples, which may have arrays
                return any(is_fresh(each) and not isinstance(each, ast.Tuple) for each in (left, right))
            case ast.BinOp(left=left, right=right):
                kinds = ast.JoinedStr | ast.Tuple | ast.List
                texts = isinstance(left, ast.Constant) and not is_fresh(left)
                return not (texts or isinstance(left, kinds) or isinstance(right, kinds))
            case ast.Compare() | ast.UnaryOp():
                return True
            case ast.IfExp(body=body, orelse=orelse):
                return is_fresh(body) and is_fresh(orelse)
            case ast.Call(func=ast.Name(id=name)):
                return name in _NEW
            case ast.Call(func=ast.Attribute(value=ast.Name(id="math"))):
                return True
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                indices = index.elts if isinstance(index, ast.Tuple) else [index]
                if not all(map(_is_number_of_element, indices)):
                    return False
                if name not in needs.lists:
                    needs.dimensions.add((name, len(indices)))
                return True
            case ast.Name(id=name):
                return self._is_fresh_name(name, needs)
            case ast.Tuple(elts=parts):
                names = [part.id for part in parts if isinstance(part, ast.Name)]
                return len({*names}) == len(names) and all(map(is_fresh, parts))
        return False

    def _is_fresh_name(self, name: str, needs: Needs) -> bool:
        if name in self._others or name not in self._given:
            return False
        if name in self._open:
            return True
        self._open.add(name)
        try:
            return all(self.is_fresh(value, needs) for value in self._given[name])
        finally:
            self._open.discard(name)


def _is_number_of_element(index: ast.expr) -> bool:
    """Whether a subscript may be an integer, rather than a slice, an ellipsis, None or a text."""
    if isinstance(index, ast.Constant):
        return isinstance(index.value, int)
    return not isinstance(index, ast.Slice | ast.Starred)


def _items(node: ast.For) -> Iterator[tuple[str, ast.expr]]:
    """The variables of a loop over numbers, or over a name, each with a value that it may have."""
    number = ast.Constant(0)
    match node.target, node.iter:
        case ast.Name(id=name), ast.Call(func=ast.Name(id="range")):
            yield name, number
        case ast.Name(id=name), ast.Name():
            yield name, ast.Subscript(node.iter, number, ast.Load())
        case ast.Tuple(elts=[ast.Name(id=first), *rest]), ast.Call(func=ast.Name(id="enumerate"), args=[over]):
            yield first, number
            if isinstance(over, ast.Name) and len(rest) == 1 and isinstance(rest[0], ast.Name):
                yield rest[0].id, ast.Subscript(over, number, ast.Load())


def if_early(done: str, early: str) -> ast.stmt:
    """The statement that returns the value of an Early, where the result of a region has the name `done`, and the class
    Early the name `early`."""
    result = ast.Name(done, ast.Load())
    of_class = ast.Attribute(result, "__class__", ast.Load())
    is_early = ast.Compare(of_class, [ast.Is()], [ast.Name(early, ast.Load())])
    return ast.If(is_early, [ast.Return(ast.Attribute(result, "value", ast.Load()))], [])


def leaves_by_return_alone(node: ast.stmt, in_loop: bool = False) -> bool:
    """Whether control leaves the statement at its end or by `return` only."""
    if isinstance(node, ast.Break | ast.Continue):
        return in_loop
    inside = in_loop or isinstance(node, ast.For | ast.While)
    return all(leaves_by_return_alone(part, inside) for part in getattr(node, "body", ())) and all(
        leaves_by_return_alone(part, in_loop) for part in getattr(node, "orelse", ())
    )


def returned_in(node: ast.stmt) -> list[ast.Return]:
    return [part for part in walk_own(node) if isinstance(part, ast.Return)]


def with_marked_returns(node: ast.stmt) -> ast.stmt:
    """A copy of the loop, of which each result begins with a tuple. Its length differs from return to return, so that
    results of different returns keep their types."""
    made = copy_of(node)
    for count, part in enumerate(returned_in(made), 1):
        mark = ast.Tuple([ast.Constant(True) for _ in range(count)], ast.Load())
        part.value = ast.copy_location(ast.Tuple([mark, part.value or ast.Constant(None)], ast.Load()), part)
        ast.fix_missing_locations(part)
    return made


def mark_ends(nodes: Iterable[ast.stmt]) -> None:
    """Lets the results at the end of a region, which are tuples, begin with False."""
    for node in nodes:
        for part in walk(node):
            if isinstance(part, ast.Return) and isinstance(part.value, ast.Tuple):
                part.value.elts.insert(0, ast.copy_location(ast.Constant(False), part.value))


def split_result(results: tuple[Any, ...]) -> Early | tuple[Any, ...]:
    """What the region gave: the value that the function returns, or the outputs."""
    return Early(results[1]) if isinstance(results[0], tuple) else results[1:]
