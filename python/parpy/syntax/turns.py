"""Rewrites names that refer to several arrays in turn: `src, dst = dst, src`, `if t % 2: src = b`.

A name in compiled code refers to one array only. So a number, the turn, tells which arrays the names refer to; all
names that are assigned to each other share one number. A statement that uses the names is repeated for each choice of
arrays that is possible there:

    src, dst = a, b                    turn = 1
    for t in range(n):                 for t in range(n):
        for i in range(m):                 if turn == 1:
            dst[i] = src[i] + t                for i in range(m):
        src, dst = dst, src                        b[i] = a[i] + t
                                           else:
                                               for i in range(m):
                                                   a[i] = b[i] + t
                                           turn = 2 if turn == 1 else 1

The arrays are parameters, or are made once. If the array that a loop assigns to a name does not depend on the
iteration, the assignment is hoisted before the loop.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterable, Iterator
from types import FunctionType

from .patterns import Function, chosen_names, is_label, names_given, names_in, node_parameters, stored_in
from .walks import copy_of, walk

Bindings = dict[str, ast.expr]  # the value that an assignment gives to each name
Roots = tuple[str | None, ...]  # the array that each name of a group refers to; None if no use needs it
Names = frozenset[str] | set[str]

_MOST_TURNS = 8  # the most choices of arrays
_TURNS = "__parpy_turns__"
# The nodes of conditions whose values depend only on their variables.
_PLAIN = (
    *(ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context),
)
_OPAQUE = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.Try,
    ast.Global,
    ast.Nonlocal,
    ast.Delete,
)


def note_turns(function: FunctionType, node: ast.AST | None) -> None:
    """Stores the variables that `with_turns` adds as an attribute of the function."""
    if not isinstance(node, Function) or not _groups(node):
        return
    before, after = (names_in(each) for each in (node, with_turns(node)))
    setattr(function, _TURNS, frozenset(after - before))


def note_variables(function: FunctionType, names: frozenset[str]) -> None:
    """Adds further variables that a rewrite adds to the function to that attribute."""
    if names:
        setattr(function, _TURNS, turns_of(function) | names)


def turns_of(function: FunctionType) -> frozenset[str]:
    """The variables that `with_turns` and other rewrites add."""
    found: frozenset[str] = getattr(function, _TURNS, frozenset())
    return found


def with_turns(node: Function) -> Function:
    """A copy of the function without names that refer to several arrays."""
    groups = _groups(node)
    if not groups:
        return node
    made = copy_of(node)
    for group in groups:
        attempt = copy_of(made)
        _hoist(attempt.body, group, attempt)
        turns = _Turns(group, attempt)
        if turns.rewrite():
            made = attempt
    return made


# ---------------------------------------------------------------- the groups of names


def _groups(node: Function) -> list[list[str]]:
    """The groups of names that refer to several arrays and are assigned to each other."""
    assigned = [each for each in walk(node) if isinstance(each, ast.Assign) and _bindings(each)]
    if not assigned:
        return []
    parts = list(walk(node))
    if any(isinstance(part, _OPAQUE) and part is not node for part in parts):
        return []
    stores = Counter(part.id for part in parts if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load))
    parameters = {*node_parameters(node)}
    made = {
        each.targets[0].id
        for each in node.body
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and isinstance(each.value, ast.Call)
    }
    arrays = {name for name in parameters if name not in stores} | {name for name in made if stores[name] == 1}
    bound: Counter[str] = Counter()
    sources: dict[str, set[str]] = {}
    for each in assigned:
        for name, value in _bindings(each).items():
            bound[name] += 1
            sources.setdefault(name, set()).update(chosen_names(value))
    names = {name for name in bound if bound[name] == stores[name] and name not in parameters}
    while dropped := {name for name in names if not sources[name] <= names | arrays}:
        names -= dropped
    subscripted = {
        part.value.id for part in parts if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name)
    }
    groups = _connected(names, sources, [set(_bindings(each)) for each in assigned] + _neighbours(node, names))
    return [
        sorted(group)
        for group in groups
        if group & subscripted and len(set().union(*(sources[name] for name in group)) & arrays) > 1
    ]


def _connected(names: set[str], sources: dict[str, set[str]], together: Iterable[set[str]]) -> list[set[str]]:
    groups = [{name} for name in sorted(names)]
    for link in [*({name} | sources[name] for name in names), *together]:
        touched = [group for group in groups if group & link]
        groups = [group for group in groups if not group & link]
        if touched:
            groups.append(set().union(*touched))
    return groups


def _neighbours(node: ast.AST, names: set[str]) -> list[set[str]]:
    """The sets of names that adjacent statements assign."""
    found: list[set[str]] = []
    for part in walk(node):
        for block in _blocks(part):
            side_by_side = False
            for each in block:
                given = _given_in(each, list(names))
                if given and side_by_side:
                    found[-1] |= given
                elif given:
                    found.append(given)
                side_by_side = bool(given)
    return found


def _bindings(node: ast.AST) -> Bindings:
    """The assignments of `names_given` for a statement that assigns each name once; empty for other statements."""
    given = names_given(node)
    found = dict(given)
    return found if len(found) == len(given) else {}


def _uses(nodes: Iterable[ast.AST], names: Iterable[str]) -> bool:
    return not names_in(*nodes).isdisjoint(names)


# ---------------------------------------------------------------- loop-invariant assignments


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse"):
        block = getattr(node, field, None)
        if isinstance(block, list) and block:
            yield block


def _hoist(block: list[ast.stmt], group: list[str], function: Function) -> None:
    """Hoists invariant assignments to names of the group from the beginnings of loops."""
    at = 0
    while at < len(block):
        node = block[at]
        for inner in _blocks(node):
            _hoist(inner, group, function)
        first = at
        while first > 0 and is_label(block[first - 1]):
            first -= 1
        if isinstance(node, ast.For) and (count := _fixed(node, group, function)):
            block[first:first] = node.body[:count]
            node.body = node.body[count:]
            at += count
        at += 1


def _fixed(loop: ast.For, group: list[str], function: Function) -> int:
    """The number of statements at the beginning of the loop that assign the same arrays in all iterations."""
    count = 0
    while count < len(loop.body) and _given_in(loop.body[count], group):
        count += 1
    first, rest = loop.body[:count], loop.body[count:]
    given = set().union(*(_given_in(each, group) for each in first))
    stored = stored_in(loop)
    tests = [part.test for each in first for part in walk(each) if isinstance(part, ast.If | ast.IfExp)]
    varies = any(not isinstance(part, _PLAIN) for test in tests for part in walk(test)) or _uses(tests, stored)
    read = {name for each in first for value in _all_values(each) for name in chosen_names(value)}
    again = any(_bindings(part).keys() & given for each in rest for part in walk(each))
    inside, around = (_count(each, given) for each in (loop, function))
    return count if rest and not (varies or read & stored or again) and inside == around else 0


def _count(node: ast.AST, names: set[str]) -> int:
    return sum(isinstance(part, ast.Name) and part.id in names for part in walk(node))


def _given_in(node: ast.AST, group: list[str]) -> set[str]:
    """The names of the group that a statement assigns, if it does nothing else."""
    if isinstance(node, ast.If):
        parts = [_given_in(each, group) for each in (*node.body, *node.orelse)]
        return set().union(*parts) if all(parts) else set()
    names = set(_bindings(node))
    return names if names and names <= set(group) else set()


def _all_values(node: ast.stmt) -> list[ast.expr]:
    return [value for part in walk(node) if isinstance(part, ast.stmt) for value in _bindings(part).values()]


# ---------------------------------------------------------------- the turns


class _GiveUp(Exception):
    pass


class _Replace(ast.NodeTransformer):
    def __init__(self, arrays: dict[str, str]) -> None:
        self._arrays = arrays

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id not in self._arrays:
            return node
        return ast.copy_location(ast.Name(self._arrays[node.id], node.ctx), node)


class _Turns:
    """Rewrites the names of one group. A turn is a choice of arrays for the names, and has a number."""

    def __init__(self, group: list[str], function: Function) -> None:
        self._group = group
        self._function = function
        self._numbers: dict[Roots, int] = {(None,) * len(group): 0}
        taken = names_in(function)
        self._turn = next(name for name in self._spellings() if name not in taken)
        self._asked = False  # whether a statement tests the number
        self._asked_at_first = False  # whether one does before any name has an array

    def _spellings(self) -> Iterator[str]:
        base = "turn_of_" + "_".join(self._group)
        yield base
        number = 2
        while True:
            yield f"{base}_{number}"
            number += 1

    def rewrite(self) -> bool:
        try:
            body, _ = self._block(self._function.body, {self._first}, frozenset())
        except _GiveUp:
            return False
        if self._asked_at_first:
            body.insert(0, self._set(ast.Constant(0), body[0]))
        if not self._asked:
            body = _without_sets(body, self._turn)
        self._function.body = body
        ast.fix_missing_locations(self._function)
        return True

    @property
    def _first(self) -> Roots:
        return (None,) * len(self._group)

    def _number(self, roots: Roots) -> int:
        number = self._numbers.setdefault(roots, len(self._numbers))
        if number > _MOST_TURNS:
            raise _GiveUp
        return number

    # ------------------------------------------------------------ statements

    def _block(self, block: list[ast.stmt], turns: set[Roots], wanted: Names) -> tuple[list[ast.stmt], set[Roots]]:
        """The rewritten block, and the possible turns after it, where the names `wanted` are live. Adjacent statements
        that use the names share their cases."""
        out: list[ast.stmt] = []
        run: list[ast.stmt] = []
        at = 0
        while at < len(block):
            node = block[at]
            at += 1
            if not self._binds(node):
                run.append(node)
                continue
            out += self._cases(run, turns)
            run = []
            if not self._live(block[at - 1 :], wanted):
                turns = {self._first}  # no later statement uses the names
            count, roots = self._anew(block[at - 1 :])
            if count:
                at += count - 1
                turns = {roots}
                made = [self._set(ast.Constant(self._number(roots)), node)]
            else:
                made, turns = self._binding(node, turns, self._live(block[at:], wanted))
            out += made
        return out + self._cases(run, turns), turns if wanted else {self._first}

    def _live(self, block: list[ast.stmt], wanted: Names) -> Names:
        """The names that are live before the block, if `wanted` are live after it."""
        for node in reversed(block):
            if found := _bindings(node):
                wanted = wanted - found.keys()
                wanted |= names_in(*found.values())
            elif isinstance(node, ast.If):
                wanted = self._live(node.body, wanted) | self._live(node.orelse, wanted)
            elif isinstance(node, ast.For | ast.While):
                before = None
                while before != wanted:
                    before = wanted
                    wanted = wanted | self._live(node.body, wanted)
            else:
                wanted |= {name for name in self._group if _uses([node], [name])}
        return wanted & set(self._group)

    def _anew(self, block: list[ast.stmt]) -> tuple[int, Roots]:
        """The number of first statements that assign all names for any turn, and the arrays; 0 if there are none."""
        given: dict[str, str] = {}
        for count, node in enumerate(block, 1):
            for name, value in _bindings(node).items():
                if not isinstance(value, ast.Name) or value.id in self._group or name not in self._group:
                    return 0, ()
                given[name] = value.id
            if not _bindings(node):
                break
            if len(given) == len(self._group):
                return count, tuple(given[name] for name in self._group)
        return 0, ()

    def _binds(self, node: ast.stmt) -> bool:
        return any(
            isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and part.id in self._group
            for part in walk(node)
        )

    def _cases(self, run: list[ast.stmt], turns: set[Roots]) -> list[ast.stmt]:
        """The cases for statements that do not assign to the names."""
        users = [number for number, node in enumerate(run) if _uses([node], self._group)]
        if not users:
            return run
        out: list[ast.stmt] = []
        done = 0
        while users:
            first = last = users.pop(0)
            while first > done and is_label(run[first - 1]):
                first -= 1
            # Simple statements between two users are included in the cases.
            while users and all(not list(_blocks(node)) for node in run[last + 1 : users[0]]):
                last = users.pop(0)
            out += run[done:first] + self._case(run[first : last + 1], turns)
            done = last + 1
        return out + run[done:]

    def _case(self, nodes: list[ast.stmt], turns: set[Roots]) -> list[ast.stmt]:
        used = [n for n, name in enumerate(self._group) if _uses(nodes, [name])]
        if any(isinstance(part, ast.Return) and _uses([part], self._group) for each in nodes for part in walk(each)):
            raise _GiveUp  # Python must return the array itself
        choices: dict[Roots, list[Roots]] = {}
        for roots in sorted(turns, key=self._number):
            choices.setdefault(tuple(roots[n] for n in used), []).append(roots)
        if any(None in choice for choice in choices):
            raise _GiveUp
        bodies = []
        for choice in choices:
            arrays = {self._group[n]: str(root) for n, root in zip(used, choice, strict=True)}
            bodies.append([_Replace(arrays).visit(copy_of(node)) for node in nodes])
        *others, whole = bodies
        for alike, body in reversed(list(zip(choices.values(), others, strict=False))):
            whole = [ast.copy_location(ast.If(self._is(alike, nodes[0]), body, whole), nodes[0])]
        return whole

    def _is(self, turns: list[Roots], at: ast.AST) -> ast.expr:
        self._asked = True
        self._asked_at_first |= self._first in turns
        tests: list[ast.expr] = [
            ast.Compare(ast.Name(self._turn, ast.Load()), [ast.Eq()], [ast.Constant(self._number(each))])
            for each in turns
        ]
        test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)
        for part in walk(test):
            ast.copy_location(part, at)
        return test

    def _set(self, value: ast.expr, at: ast.stmt) -> ast.stmt:
        made = ast.Assign([ast.Name(self._turn, ast.Store())], value)
        for part in walk(made):
            ast.copy_location(part, at)
        return made

    # ------------------------------------------------------------ assignments to the names

    def _binding(self, node: ast.stmt, turns: set[Roots], wanted: Names) -> tuple[list[ast.stmt], set[Roots]]:
        if found := _bindings(node):
            if not found.keys() <= set(self._group):
                raise _GiveUp
            return self._assignment(node, found, turns, wanted)
        if isinstance(node, ast.If):
            if _uses([node.test], self._group):
                raise _GiveUp
            then, after = self._block(node.body, turns, wanted)
            otherwise, without = self._block(node.orelse, turns, wanted)
            made = ast.copy_location(ast.If(node.test, then, otherwise), node)
            return [made], after | without
        if isinstance(node, ast.For | ast.While):
            control = [node.test] if isinstance(node, ast.While) else [node.target, node.iter]
            jumps = any(isinstance(part, ast.Break | ast.Continue | ast.Return) for part in walk(node))
            if _uses(control, self._group) or node.orelse or jumps:
                raise _GiveUp
            behind = self._live([node], wanted)  # the names that are live after an iteration
            before: set[Roots] = set()
            while before != turns:
                before = turns
                body, after = self._block([copy_of(each) for each in node.body], turns, behind)
                turns = turns | after
            made_loop = copy.copy(node)
            made_loop.body = body
            return [made_loop], turns
        if isinstance(node, ast.With) and not _uses([item.context_expr for item in node.items], self._group):
            body, after = self._block(node.body, turns, wanted)
            made_with = copy.copy(node)
            made_with.body = body
            return [made_with], after
        raise _GiveUp

    def _assignment(
        self, node: ast.stmt, found: Bindings, turns: set[Roots], wanted: Names
    ) -> tuple[list[ast.stmt], set[Roots]]:
        if conditional := next((v for v in found.values() if isinstance(v, ast.IfExp)), None):
            if len(found) > 1 or _uses([conditional.test], self._group):
                raise _GiveUp
            (name,) = found
            sides = [
                ast.copy_location(ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), node)], value), node)
                for value in (conditional.body, conditional.orelse)
            ]
            branch = ast.copy_location(ast.If(conditional.test, [sides[0]], [sides[1]]), node)
            return self._binding(branch, turns, wanted)
        following: dict[Roots, Roots] = {}
        for roots in turns:
            values = dict(zip(self._group, roots, strict=True))
            for name, value in found.items():
                assert isinstance(value, ast.Name)
                source = value.id
                values[name] = dict(zip(self._group, roots, strict=True))[source] if source in self._group else source
            following[roots] = tuple(values[name] if name in wanted else None for name in self._group)
        return [self._set(self._next(following, node), node)], set(following.values())

    def _next(self, following: dict[Roots, Roots], node: ast.stmt) -> ast.expr:
        by_number: dict[int, list[Roots]] = {}
        for roots in sorted(following, key=self._number):
            by_number.setdefault(self._number(following[roots]), []).append(roots)
        *others, last = by_number
        value: ast.expr = ast.Constant(last)
        for number in reversed(others):
            value = ast.IfExp(self._is(by_number[number], node), ast.Constant(number), value)
        return value


def _without_sets(block: list[ast.stmt], turn: str) -> list[ast.stmt]:
    """The block without assignments to a turn number that no statement tests."""
    out: list[ast.stmt] = []
    for node in block:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == turn:
            continue
        for field in ("body", "orelse"):
            inner = getattr(node, field, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                left = _without_sets(inner, turn)
                setattr(node, field, left or ([ast.copy_location(ast.Pass(), node)] if field == "body" else []))
        out.append(node)
    return out
