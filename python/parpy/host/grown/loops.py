"""Loops in which lists and queues of numbers, and dicts and sets of integers or tuples of integers, grow, and loops
that read the characters of texts, as loops over memory (library/lists.py, library/hash_tables.py)."""

from __future__ import annotations

import ast
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...library import hash_tables, heaps, lists
from ...syntax.patterns import names_in
from ...syntax.walks import copy_of, walk
from ..lookup import Lookup
from ..unset import at
from .heaps import method_called, with_methods
from .moves import is_moved_well, moves
from .reads import Column, GrownList, uses_of_elements
from .texts import Texts

LISTS = "__parpy_lists__"
PARTS: dict[type, tuple[str, ...]] = {
    list: ("floats", "wholes", "kinds", "ends", "like"),
    dict: ("floats", "wholes", "kinds", "keys", "table", "sizes", "like"),
    set: ("keys", "table", "sizes", "like"),
}
PARTS[deque] = PARTS[list]
PARTS[str] = ("wholes", "ends", "like")
SERIES = (list, deque)
_OF_NUMBERS, _OF_ENDS = ("floats", "wholes", "ends", "like"), ("ends",)
_OF_KEYS, _OF_VALUES = ("keys", "table", "sizes"), ("floats", "wholes", "keys", "table", "sizes", "like")
_OF_METHODS = {"append": list, "get": dict, "items": dict, "keys": dict, "values": dict, "add": set, "discard": set}
_OF_METHODS["popleft"] = deque
_MOST_IN_KEYS = 3
_COPIED = ("floats", "wholes", "kinds", "ends")


class Growing(ast.If):
    """A loop that Python runs, under a test whether compiled code has not run it."""


# ------------------------------------------------------------ the loop


class Rewritten(NamedTuple):
    """A loop over memory for lists, their uses, the names for the parts of their memory, the functions of the language
    that the loop calls, by name, and the nodes of the text by those nodes of the loop that are copies of them."""

    loop: ast.stmt
    lists: list[GrownList]
    memory: list[str]
    functions: dict[str, Any]
    originals: dict[ast.AST, ast.AST]


def rewritten(
    node: ast.For | ast.While,
    nodes: Iterable[ast.AST],
    kinds: Mapping[str, type],
    before: Container[str],
    new_name: Callable[[str], str],
    lookup: Lookup,
) -> Rewritten | None:
    """The loop over memory for the lists, dicts and sets with these names, of which those in `before` have a value
    before the loop, in a function of these nodes; None if the loop uses one otherwise than to append, read, change or
    remove elements, to ask for its length and its keys, to call heapq for it, and to assign it."""
    tuples = _tuples(nodes)
    plain = copy_of(node)
    originals = dict(zip(walk(plain), walk(node), strict=True))
    copied = with_methods(plain, {name for name, kind in kinds.items() if kind is list}, lookup)
    widths = {name: _width(copied, name, tuples) for name in kinds}
    keys = {name: _key_width(nodes, name) for name in kinds}
    if (
        None in widths.values()
        or None in keys.values()
        or not all(is_moved_well(node, part) for part in moves(node, widths))
    ):
        return None
    memory = {
        name: [
            {part: new_name(f"{name}_{part}_{column}") for part in PARTS[kinds[name]]}
            for column in range(max(width or 0, 1))
        ]
        for name, width in widths.items()
    }
    inside = {*originals.values()}
    outside = {each.id for each in nodes if isinstance(each, ast.Name) and each not in inside}
    texts = Texts(copied, {name for name, kind in kinds.items() if kind is str}, outside)
    uses = uses_of_elements(copied, kinds.keys() - texts.names, widths, outside)
    if not uses.are_clear:
        return None
    moved = set(uses.moved)
    for move in moves(node, widths):  # lists of which one is a copy of the other
        both = {*names_in(move)} & kinds.keys()
        places = {column.place for column in moved if column.name in both}
        moved |= {Column(name, place) for name in both for place in places}
    visitor = _Rewriter(memory, kinds, widths, keys, moved, uses.operands, texts)
    made = visitor.visit(copied)
    if visitor.fails or any(isinstance(part, ast.Name) and part.id in memory for part in walk(made)):
        return None
    found = [
        GrownList(
            name,
            kinds[name],
            width or 0,
            name in visitor.read,
            name in visitor.changed,
            name in visitor.assigned,
            name in visitor.made and name not in before,
            keys[name] or 0,
            frozenset(column.place for column in moved if column.name == name),
            frozenset(column.place for column in uses.operands.values() if column.name == name),
        )
        for name, width in widths.items()
    ]
    if any(each.name in visitor.made and not each.is_made for each in found):
        return None
    names_of_parts = [part for columns in memory.values() for column in columns for part in column.values()]
    return Rewritten(ast.fix_missing_locations(made), found, names_of_parts, visitor.functions, originals)


def _made_by(value: ast.expr) -> type | None:
    """The class of the dict, set or queue that the expression makes."""
    match value:
        case ast.Dict() | ast.DictComp():
            return dict
        case ast.Set() | ast.SetComp():
            return set
        case ast.Call(func=ast.Name(id=name), args=[], keywords=[]):
            return {"list": list, "dict": dict, "set": set, "deque": deque}.get(name)
        case ast.Call(func=ast.Name(id="deque") | ast.Attribute(attr="deque"), args=[_], keywords=[]):
            return deque
    return None


def _elements_of_new(value: ast.expr, kind: type) -> list[ast.expr] | None:
    """The elements of a new list or queue; None for other expressions."""
    if kind is deque:
        if _made_by(value) is not deque or not isinstance(value, ast.Call):
            return None
        if not value.args:
            return []
        value = value.args[0]
    if kind not in SERIES or not isinstance(value, ast.List):
        return None
    return None if any(isinstance(each, ast.Starred) for each in value.elts) else value.elts


def kind_of(name: str, assigned: Iterable[tuple[str, ast.expr]], nodes: Iterable[ast.AST]) -> type:
    """The class of the list, dict or set with this name in a function of these nodes; a list if neither its values nor
    its methods show it."""
    kinds = [_made_by(value) for each, value in assigned if each == name]
    used = [
        _OF_METHODS.get(part.attr)
        for part in nodes
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == name
    ]
    if deque in used:
        return deque
    return next((kind for kind in kinds + used if kind is not None), list)


def _tuples(nodes: Iterable[ast.AST]) -> dict[str, int]:
    """The names that only get tuples of one length that are written out, with this length."""
    given: dict[str, set[int]] = {}
    counts: Counter[str] = Counter()
    for part in nodes:
        if isinstance(part, ast.Assign) and len(part.targets) == 1 and isinstance(part.targets[0], ast.Name):
            name, value = part.targets[0].id, part.value
            is_tuple = isinstance(value, ast.Tuple) and not any(isinstance(each, ast.Starred) for each in value.elts)
            given.setdefault(name, set()).add(len(value.elts) if is_tuple else 0)  # type: ignore[attr-defined]
            counts[name] -= 1
        elif isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            counts[part.id] += 1
    stored = {part.id for part in nodes if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
    alone = {name for name in given if name in stored and counts[name] == 0}
    return {name: max(given[name]) for name in alone if len(given[name]) == 1 and max(given[name]) > 0}


def _width(node: ast.AST, name: str, tuples: Mapping[str, int]) -> int | None:
    """The number of elements of the tuples that a loop appends to the list, 0 for numbers; None if they differ.
    `tuples`: the lengths of those that have names."""
    given: list[ast.expr] = []
    for part in walk(node):
        match part:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="append" | "heappush"), args=[value]) if (
                owner == name
            ):
                given.append(value)
            case ast.Assign(targets=[ast.Name(id=owner)], value=ast.List(elts=values)) if owner == name:
                given += values
            case ast.Assign(targets=[ast.Name(id=owner)], value=ast.Call(args=[ast.List(elts=values)])) if (
                owner == name
            ):
                given += values
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=owner))], value=value) if owner == name:
                given.append(value)
    while any(isinstance(each, ast.IfExp) for each in given):
        given = [
            part for each in given for part in ([each.body, each.orelse] if isinstance(each, ast.IfExp) else [each])
        ]
    found = {
        len(each.elts) if isinstance(each, ast.Tuple) else tuples.get(each.id, 0) if isinstance(each, ast.Name) else 0
        for each in given
    } or {0}
    return found.pop() if len(found) == 1 else None


def _has_two_types(value: ast.expr) -> bool:
    """Whether the value may be one of two whose types differ, which have one type in compiled code."""
    if not isinstance(value, ast.IfExp):
        return False
    both = [each.value if isinstance(each, ast.Constant) else None for each in (value.body, value.orelse)]
    return None in both or type(both[0]) is not type(both[1])


def _key_width(nodes: Iterable[ast.AST], name: str) -> int | None:
    """The number of elements of the tuples that are keys of the dict or set in a function of these nodes, 0 for
    numbers; None if they differ."""
    given: list[ast.expr] = []
    tuples: dict[str, int] = {}
    own: set[str] = set()  # the names of keys in loops over it
    for part in nodes:
        match part:
            case ast.For(target=ast.Name(id=key), iter=ast.Name(id=owner)) if owner == name:
                own.add(key)
            case ast.Assign(targets=[ast.Name(id=key)], value=ast.Tuple(elts=values)):
                tuples[key] = len(values)
            case ast.Subscript(value=ast.Name(id=owner), slice=key) if owner == name:
                given.append(key)
            case ast.Compare(left=key, comparators=[ast.Name(id=owner)]) if owner == name:
                given.append(key)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="get" | "add"), args=[key, *_]):
                if owner == name:
                    given.append(key)
    names = [each.id if isinstance(each, ast.Name) else "" for each in given]
    found = {
        len(each.elts) if isinstance(each, ast.Tuple) else tuples.get(key, 0)
        for each, key in zip(given, names, strict=True)
        if key in tuples or key not in own
    } or {0}
    return found.pop() if len(found) == 1 and max(found) <= _MOST_IN_KEYS else None


class _Rewriter(ast.NodeTransformer):
    def __init__(
        self,
        memory: dict[str, list[dict[str, str]]],
        kinds: Mapping[str, type],
        widths: dict[str, int | None],
        keys: dict[str, int | None],
        moved: Container[Column],
        operands: Mapping[ast.AST, Column],
        texts: Texts,
    ) -> None:
        """`moved` columns have elements of one type. `operands`: see reads.py."""
        self._texts = texts
        self._moved, self._operands = moved, operands
        self._added = frozenset(operands.values())
        self._memory, self._kinds, self._widths, self._keys = memory, kinds, widths, keys
        self._columns = {
            column["like"]: Column(name, place)
            for name, columns in memory.items()
            for place, column in enumerate(columns)
        }
        self._numbers = {like: number for number, like in enumerate(self._columns)}
        self.functions: dict[str, Any] = {}
        self.fails = False
        self.read: set[str] = set()
        self.changed: set[str] = set()
        self.assigned: set[str] = set()
        self.made: set[str] = set()
        self._walked: set[str] = set()  # the lists over which a loop around runs

    def visit(self, node: ast.AST) -> Any:
        made = super().visit(node)
        column = self._operands.get(node)
        if column is None or not isinstance(made, ast.expr):
            return made
        like = self._memory[column.name][column.place]["like"]
        function = lists.operand(self._numbers[like])
        self.functions[function.__name__] = function
        called = ast.Name(function.__name__, ast.Load())
        return ast.copy_location(ast.Call(called, [ast.Name(like, ast.Load()), made], []), made)

    def _list(self, node: ast.AST | None) -> str | None:
        return node.id if isinstance(node, ast.Name) and node.id in self._memory else None

    def _calls(self, function: Any, name: str, parts: Sequence[str], *given: ast.expr) -> list[ast.Call]:
        """The calls of the function for each column of the list's memory."""
        called = self._function(function)
        columns = self._memory[name]
        if len(columns) > 1 and any(isinstance(part, ast.Call) for each in given for part in walk(each)):
            self.fails = True  # it is evaluated once
        return [
            ast.Call(called, [*(ast.Name(column[part], ast.Load()) for part in parts), *map(copy_of, given)], [])
            for column in columns
        ]

    def _stores(self, function: Any, name: str, node: ast.stmt, value: ast.expr, *given: ast.expr) -> list[ast.stmt]:
        """Stores of a number, or of the elements of a tuple, each to its column."""
        values = value.elts if isinstance(value, ast.Tuple) and self._widths[name] else [value]
        if isinstance(value, ast.Name) and self._widths[name]:  # a tuple with a name
            places = range(self._widths[name] or 0)
            values = [ast.Subscript(copy_of(value), ast.Constant(place), ast.Load()) for place in places]
        self.fails |= len(values) != len(self._memory[name])
        self.fails |= self._widths[name] != 0 and any(map(_has_two_types, values))
        calls = self._calls(function, name, PARTS[self._kinds[name]], *given)
        made: list[ast.stmt] = []
        for column, call, each in zip(self._memory[name], calls, values, strict=False):
            call.args.append(self._checked(column, self.visit(each)))
            made.append(at(ast.Expr(call), node))
        return made

    def _checked(self, column: dict[str, str], value: ast.expr) -> ast.Call:
        number = self._numbers[column["like"]]
        own = self._columns[column["like"]]
        checks = lists.strict if own in self._moved else lists.added if own in self._added else lists.checked
        function = checks(number)
        self.functions[function.__name__] = function
        return ast.Call(ast.Name(function.__name__, ast.Load()), [ast.Name(column["like"], ast.Load()), value], [])

    def _key(self, name: str, key: ast.expr) -> ast.expr:
        """The key, a tuple of all its integers."""
        found: ast.expr = self.visit(key)
        return found if self._keys[name] else ast.Tuple([found], ast.Load())

    def _element(self, name: str, function: Any, place: ast.expr) -> ast.expr:
        self.read.add(name)
        values = self._calls(function, name, _OF_NUMBERS, place)
        return ast.Tuple([*values], ast.Load()) if self._widths[name] else values[0]

    def _length(self, name: str) -> ast.expr:
        self.read.add(name)
        of_list = self._kinds[name] in (*SERIES, str)
        calls = self._calls(*(lists.length, name, _OF_ENDS) if of_list else (hash_tables.count, name, ("sizes",)))
        return ast.Call(ast.Name("int", ast.Load()), [calls[0]], [])

    def _function(self, function: Any) -> ast.Name:
        name = f"{function.__name__}_in_list"
        self.functions[name] = function
        return ast.Name(name, ast.Load())

    def _grows(self, name: str) -> None:
        self.fails |= name in self._walked

    def visit_Expr(self, node: ast.Expr) -> Any:
        match node.value:
            case ast.Call(func=ast.Attribute(value=owner, attr="append"), args=[value], keywords=[]):
                if (name := self._list(owner)) and self._kinds[name] in SERIES:
                    if isinstance(value, ast.IfExp):
                        return self._by_branches(node, value)
                    self._grows(name)
                    return self._stores(lists.append, name, node, value)
            case ast.Call(func=ast.Attribute(value=owner, attr="add"), args=[value], keywords=[]):
                if (name := self._list(owner)) and self._kinds[name] is set:
                    return at(ast.Expr(self._calls(hash_tables.add, name, _OF_KEYS, self._key(name, value))[0]), node)
        if method_called(node.value) in ("heappush", "heapify") and (found := self._heap(node)) is not None:
            return found
        return self.generic_visit(node)

    def _heap(self, node: ast.Expr) -> Any:
        """The statements for `h.heappush(v)` and `h.heapify()`; None if h is no such list."""
        assert isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute)
        name, given = self._list(node.value.func.value), node.value.args
        if name is None:
            return None
        if given and isinstance(given[0], ast.IfExp):
            return self._by_branches(node, given[0])
        self._grows(name)
        self.read.add(name)
        self.changed.add(name)
        stores = self._stores(lists.append, name, node, given[0]) if given else []
        return [*stores, at(ast.Expr(self._heap_call(name, node.value.func.attr)), node)]

    def _heap_call(self, name: str, method: str) -> ast.Call:
        columns = self._memory[name]
        function = heaps.functions(len(columns))[method]
        parts = [ast.Name(column[part], ast.Load()) for column in columns for part in heaps.PARTS]
        return ast.Call(self._function(function), [*parts, ast.Name(columns[0]["ends"], ast.Load())], [])

    def _by_branches(self, node: ast.Expr | ast.Assign, value: ast.IfExp) -> Any:
        """The statement `out.append(a if c else b)` as one for each of the two values, which keep their types."""
        branches: list[list[ast.stmt]] = []
        for each in (value.body, value.orelse):
            made = copy_of(node)
            if isinstance(made, ast.Assign):
                made.value = each
            else:
                assert isinstance(made.value, ast.Call)
                made.value.args = [each]
            branches.append([made])
        return self.visit(at(ast.If(value.test, *branches), node))

    def visit_Assign(self, node: ast.Assign) -> Any:
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            owners = [each.value if isinstance(each, ast.Subscript) else None for each in target.elts]
            if len(owners) == len(node.value.elts) and any(map(self._list, owners)):
                return self._in_turn(node, target.elts)
        if len(node.targets) == 1 and (name := self._list(target)):
            self._grows(name)
            self.assigned.add(name)
            values = _elements_of_new(node.value, self._kinds[name])
            if self._kinds[name] not in SERIES and _made_by(node.value) is self._kinds[name]:
                self.made.add(name)
                self.fails |= ast.unparse(node.value) not in ("{}", "dict()", "set()")
                return at(ast.Expr(self._calls(hash_tables.empty, name, ("table", "sizes"))[0]), node)
            if values is not None:
                self.made.add(name)
                cleared = [at(ast.Expr(call), node) for call in self._calls(lists.clear, name, _OF_ENDS)]
                return cleared + [part for each in values for part in self._stores(lists.append, name, node, each)]
            if (other := self._list(node.value)) and self._kinds[name] is self._kinds[other] in SERIES:
                return self._taken(name, other, node)
        if len(node.targets) == 1 and isinstance(target, ast.Subscript) and (name := self._list(target.value)):
            if isinstance(node.value, ast.IfExp):
                return self._by_branches(node, node.value)
            self.changed.add(name)
            self.fails |= isinstance(target.slice, ast.Slice) or (self._kinds[name] is dict and name in self._walked)
            if self._kinds[name] in SERIES:
                return self._stores(lists.replace, name, node, node.value, self.visit(target.slice))
            return self._stores(hash_tables.set_item, name, node, node.value, self._key(name, target.slice))
        return self.generic_visit(node)

    def _in_turn(self, node: ast.Assign, targets: list[ast.expr]) -> list[ast.stmt]:
        """The statements for `a[i], a[j] = a[j], a[i]`."""
        names = [f"value_{number}_at_{node.lineno}_{node.col_offset}" for number in range(len(targets))]
        stores: list[ast.expr] = [ast.Name(each, ast.Store()) for each in names]
        made: list[ast.stmt] = [at(ast.Assign([ast.Tuple(stores, ast.Store())], self.visit(node.value)), node)]
        for target, each in zip(targets, names, strict=True):
            found = self.visit(at(ast.Assign([target], ast.Name(each, ast.Load())), node))
            made += found if isinstance(found, list) else [found]
        return made

    def _taken(self, name: str, other: str, node: ast.stmt) -> list[ast.stmt]:
        """The statements for `name = other`."""
        self.read |= {name, other}
        self.fails |= self._widths[name] != self._widths[other]
        made: list[ast.stmt] = []
        for own, given in zip(self._memory[name], self._memory[other], strict=False):
            parts = [ast.Name(memory[part], ast.Load()) for memory in (own, given) for part in _COPIED]
            likes = [self._checked(a, ast.Name(b["like"], ast.Load())) for a, b in ((own, given), (given, own))]
            calls = (*likes, ast.Call(self._function(lists.take), [*parts], []))
            made += [at(ast.Expr(call), node) for call in calls]
        return made

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        target = node.target
        if isinstance(target, ast.Subscript) and (name := self._list(target.value)) and not self._widths[name]:
            called = ast.Call | ast.NamedExpr | ast.Slice
            self.fails |= any(isinstance(part, called) for part in walk(target.slice))  # it is evaluated twice
            old = ast.Subscript(target.value, copy_of(target.slice), ast.Load())
            return self.visit(at(ast.Assign([target], ast.BinOp(old, node.op, node.value)), node))
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        name = self._list(node.value)
        if name is None:
            return self.generic_visit(node)
        self.fails |= isinstance(node.slice, ast.Slice) or not isinstance(node.ctx, ast.Load)
        if self._kinds[name] is str:
            self.fails |= node not in self._texts.characters
            return self._code(name, self.visit(node.slice))
        if self._kinds[name] not in SERIES:
            return self._calls(hash_tables.get_item, name, _OF_VALUES, self._key(name, node.slice))[0]
        return self._element(name, lists.element, self.visit(node.slice))

    def _code(self, name: str, place: ast.expr) -> ast.expr:
        """The number of a character."""
        return self._calls(lists.code, name, ("wholes", "ends"), place)[0]

    def visit_Compare(self, node: ast.Compare) -> Any:
        if self._texts.compares(node):
            return self.generic_visit(self._texts.with_codes(node))
        name = self._list(node.comparators[0])
        if name is None or self._kinds[name] in SERIES or not isinstance(node.ops[0], ast.In | ast.NotIn):
            return self.generic_visit(node)
        self.fails |= len(node.ops) > 1
        has = self._calls(hash_tables.has, name, _OF_KEYS, self._key(name, node.left))[0]
        return has if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), has)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if (character := self._texts.numbers(node)) is not None:
            return ast.Call(ast.Name("int", ast.Load()), [self.visit(character)], [])
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[given], keywords=[]) if self._list(given):
                return self._length(str(self._list(given)))
            case ast.Call(func=ast.Attribute(value=owner, attr="pop"), args=args, keywords=[]) if self._list(owner):
                name, place = str(self._list(owner)), args[0] if args else ast.Constant(-1)
                self._grows(name)
                self.changed.add(name)
                kind = self._kinds[name]
                self.fails |= len(args) > 1 or ast.unparse(place) not in ("0", "-1") or kind not in SERIES
                self.fails |= kind is deque and bool(args)
                return self._element(name, lists.pop, place)
            case ast.Call(func=ast.Attribute(value=owner, attr="popleft"), args=[], keywords=[]) if self._list(owner):
                name = str(self._list(owner))
                self._grows(name)
                self.changed.add(name)
                self.fails |= self._kinds[name] is not deque
                return self._element(name, lists.pop, ast.Constant(0))
            case ast.Call(func=ast.Attribute(value=owner, attr="heappop"), args=[]) if self._list(owner):
                name = str(self._list(owner))
                self._grows(name)
                self.read.add(name)
                self.changed.add(name)
                values = self._calls(lists.pop, name, _OF_NUMBERS, ast.Constant(-1))
                values[0].args[-1] = self._heap_call(name, "heappop")
                return ast.Tuple([*values], ast.Load()) if self._widths[name] else values[0]
            case ast.Call(func=ast.Attribute(value=owner, attr="get"), args=[key, other]) if self._list(owner):
                name = str(self._list(owner))
                if self._kinds[name] is not dict:
                    self.fails = True
                    return node
                self.fails |= any(isinstance(part, ast.Call) for part in walk(key))  # it is evaluated twice
                given = self._key(name, key)
                test = self._calls(hash_tables.has, name, _OF_KEYS, given)[0]
                value = self._calls(hash_tables.get_item, name, _OF_VALUES, given)[0]
                default = self.visit(other)
                if Column(name, 0) in self._moved or Column(name, 0) in self._added:
                    default = self._checked(self._memory[name][0], default)
                return ast.IfExp(test, value, default)
        return self.generic_visit(node)

    def _truth(self, node: ast.expr) -> ast.expr:
        name = self._list(node)
        return node if name is None else ast.Compare(self._length(name), [ast.Gt()], [ast.Constant(0)])

    def visit_While(self, node: Any) -> ast.AST:
        node.test = self._truth(node.test)
        return self.generic_visit(node)

    visit_If = visit_IfExp = visit_While

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.Not):
            node.operand = self._truth(node.operand)
        return self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        node.values = [*map(self._truth, node.values)]
        return self.generic_visit(node)

    def _key_at(self, name: str, place: ast.expr) -> ast.expr:
        keys, count = ast.Name(self._memory[name][0]["keys"], ast.Load()), self._keys[name]
        if not count:
            return ast.Subscript(keys, place, ast.Load())
        first = ast.BinOp(place, ast.Mult(), ast.Constant(count))
        places = [ast.BinOp(first, ast.Add(), ast.Constant(each)) for each in range(count)]
        return ast.Tuple([ast.Subscript(keys, each, ast.Load()) for each in places], ast.Load())

    def _over_texts(self, node: ast.For, over: list[tuple[ast.expr, str | None]]) -> ast.AST:
        """A loop over the characters of texts, each with its target, and over their places, without a text."""
        place = f"place_at_{node.lineno}_{node.col_offset}"
        here = ast.Name(place, ast.Load())
        lengths = [self._length(name) for _, name in over if name is not None]
        last = lengths[0] if len(lengths) == 1 else ast.Call(ast.Name("min", ast.Load()), lengths, [])
        bounds = ast.Call(ast.Name("range", ast.Load()), [last], [])
        first = [
            at(ast.Assign([target], here if name is None else self._code(name, copy_of(here))), node)
            for target, name in over
        ]
        self.generic_visit(node)
        made: ast.AST = at(ast.For(ast.Name(place, ast.Store()), bounds, [*first, *node.body], node.orelse), node)
        return made

    def visit_For(self, node: ast.For) -> Any:
        over = self._texts.walked(node)
        if over is not None:
            characters = [ast.unparse(target) for target, name in over if name is not None]
            self.fails |= not all(map(self._texts.gets_characters, characters))
            node.iter = ast.Constant(None)
            return self._over_texts(node, over)
        name = self._list(node.iter)
        if name is None:
            return self.generic_visit(node)
        self.fails |= name in self._walked or self._kinds[name] in (set, str)  # whose order is Python's
        self._walked.add(name)
        self.generic_visit(node)
        self._walked.discard(name)
        place = f"{self._memory[name][0]['like']}_place"
        bounds = ast.Call(ast.Name("range", ast.Load()), [self._length(name)], [])
        here = ast.Name(place, ast.Load())
        element = self._element(name, lists.element, here) if self._kinds[name] in SERIES else self._key_at(name, here)
        first = at(ast.Assign([node.target], element), node)
        return at(ast.For(ast.Name(place, ast.Store()), bounds, [first, *node.body], node.orelse), node)
