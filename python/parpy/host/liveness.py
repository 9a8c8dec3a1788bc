"""Live variable analysis of a Python function: finds the local variables that are read later, by a backward analysis
over the syntax tree.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ..syntax.nested_source import free_names
from ..syntax.patterns import names_in
from ..syntax.walks import walk, walk_own

Names = frozenset[str]
_NONE: Names = frozenset()


def reads(node: ast.AST | None) -> Names:
    """The names that evaluating `node` may read."""
    return _NONE if node is None else _read_by(list(walk_own(node)))


def _read_by(parts: Sequence[ast.AST]) -> Names:
    inside = (free_names(part) for part in parts if isinstance(part, ast.FunctionDef | ast.Lambda))
    hidden = _variables_of_comprehensions(parts)
    own = frozenset(n.id for n in parts if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n not in hidden)
    return own.union(*inside)


_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def _variables_of_comprehensions(parts: Iterable[ast.AST]) -> set[ast.AST]:
    """The names in comprehensions that are variables of these alone."""
    found: set[ast.AST] = set()
    for part in parts:
        if isinstance(part, _COMPREHENSIONS):
            names = [each for each in walk(part) if isinstance(each, ast.Name)]
            targets = {each for generator in part.generators for each in walk(generator.target)}
            bound = {each.id for each in names if each in targets and isinstance(each.ctx, ast.Store)}
            outside = {*walk(part.generators[0].iter)}  # which is evaluated before
            found.update(each for each in names if each.id in bound and each not in outside)
    return found


def assigned(nodes: Sequence[ast.stmt]) -> Names:
    """The names that running the statements may assign."""
    parts = [part for node in nodes for part in walk_own(node)]
    stores = [part for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
    hidden = _variables_of_comprehensions(parts) if stores else _NONE
    return frozenset(store.id for store in stores if store not in hidden)


def updated(nodes: Sequence[ast.stmt]) -> Names:
    """The names that only augmented assignments assign in the statements, so that an array stays the same object."""
    parts = [part for node in nodes for part in walk_own(node)]
    targets = [part.target for part in parts if isinstance(part, ast.AugAssign)]
    stores = [part for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
    others = {part.id for part in stores if not any(part is target for target in targets)}
    return frozenset(target.id for target in targets if isinstance(target, ast.Name)) - others


def live_before(nodes: Sequence[ast.stmt], after: Names, at_break: Names = _NONE, at_continue: Names = _NONE) -> Names:
    """The names that are live before `nodes`, if the names `after` are live after them."""
    live = after
    for node in reversed(nodes):
        live = _before(node, live, at_break, at_continue)
    return live


def live_before_each(
    nodes: Sequence[ast.stmt], after: Names, at_break: Names = _NONE, at_continue: Names = _NONE
) -> list[Names]:
    """The names that are live before each of `nodes`, and `after`."""
    found = [after]
    for node in reversed(nodes):
        found.append(_before(node, found[-1], at_break, at_continue))
    return found[::-1]


def _before(node: ast.stmt, after: Names, at_break: Names, at_continue: Names) -> Names:
    if isinstance(node, ast.If):
        branches = (live_before(body, after, at_break, at_continue) for body in (node.body, node.orelse))
        return reads(node.test).union(*branches)
    if isinstance(node, ast.For | ast.While):
        return live_in_loop(node, after, live_before(node.orelse, after, at_break, at_continue))[0]
    if isinstance(node, ast.With):
        return live_before(node.body, after, at_break, at_continue)
    if isinstance(node, ast.Return):
        return reads(node.value)
    if isinstance(node, ast.Break):
        return at_break
    if isinstance(node, ast.Continue):
        return at_continue
    if isinstance(node, ast.FunctionDef):
        return (after - {node.name}) | (free_names(node) if node.name in after else _NONE)
    parts = list(walk_own(node))
    read = _read_by(parts)
    if isinstance(node, ast.Delete):
        return after | read | names_in(node)
    if isinstance(node, ast.Try | ast.TryStar | ast.Match):  # any part may not be run, so nothing is certainly assigned
        return after | read
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return after | read | {node.target.id}
    stores = [part for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
    hidden = _variables_of_comprehensions(parts)
    stored = {store.id for store in stores if store not in hidden}
    at_times = {part.target.id for part in parts if isinstance(part, ast.NamedExpr)}  # perhaps not evaluated
    return read | (after - (stored - at_times))


def live_in_loop(node: ast.For | ast.While, after: Names, at_end: Names) -> tuple[Names, Names]:
    """The names that are live before the loop and at the end of each iteration. `after` are live after a break, and
    `at_end` at the regular end of the loop, before its else branch."""
    head = at_end | (reads(node.test) if isinstance(node, ast.While) else _NONE)
    target = assigned_target(node)
    while True:
        wider = head | (live_before(node.body, head, after, head) - target)
        if wider == head:
            break
        head = wider
    return (head | reads(node.iter) if isinstance(node, ast.For) else head), head


def assigned_target(node: ast.For | ast.While) -> Names:
    if isinstance(node, ast.While):
        return _NONE
    return frozenset(names_in(node.target))
