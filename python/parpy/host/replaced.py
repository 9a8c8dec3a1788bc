"""Arrays whose names a region assigns anew on some paths only: `for …: x = x + v`, if the loop may not run."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ..syntax.patterns import names_in, node_parameters
from ..syntax.source import FunctionSource
from ..syntax.walks import walk
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
        "expand_dims",
        "flipud",
        "fliplr",
        "flip",
    ),
    *("moveaxis", "ravel", "reshape", "rollaxis", "squeeze", "swapaxes", "transpose", "view"),
)
_STORING = ("fill", "itemset", "partition", "put", "resize", "sort")  # methods that store to their array
_KNOWN_VALUES = (
    *(ast.Attribute, ast.BinOp, ast.Call, ast.Compare, ast.Constant, ast.IfExp),
    *(ast.List, ast.Subscript, ast.Tuple, ast.UnaryOp),
)
_STORING_FUNCTIONS = ("at", "copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "shuffle")


class Lent(NamedTuple):
    """A call that gets an array: the function, and the place of the array among its arguments."""

    function: ast.expr
    place: int | str


class Replaced(NamedTuple):
    """Arrays that statements replace on some paths. Copies may be used in their place if the calls that get them
    neither store to them nor return them, and if no array that is stored to shares their memory."""

    names: Names
    stored: frozenset[str]  # the variables whose arrays are stored to
    lent: Mapping[str, Sequence[Lent]]  # the calls of user's functions that get each variable


def replaced_at_times(
    nodes: Sequence[ast.stmt], outputs: Sequence[str], inputs: Sequence[str], is_users: Callable[[ast.Call], bool]
) -> Replaced:
    """The outputs that some paths through the statements do not assign, and whose elements no statement stores to or
    makes aliases of. `is_users` tells whether a call is one of a user's function."""
    candidates = frozenset(outputs) & frozenset(inputs) - _certainly_assigned(nodes)
    if not candidates:
        return Replaced(candidates, frozenset(), {})
    uses = _uses(nodes, is_users)
    shared = uses.stored.union(*(roots for _, roots in uses.names))
    return Replaced(candidates - shared, frozenset(_with_origins(uses.stored, uses)), uses.lent)


def stored_names(
    nodes: Sequence[ast.stmt],
    is_users: Callable[[ast.Call], bool],
    is_pythons: Callable[[ast.Call], bool],
    reads: Callable[[Lent], bool],
) -> frozenset[str]:
    """The variables whose arrays the statements, or called functions, may store to. `reads` tells whether a call only
    reads the array that it gets, and `is_pythons` whether a call is one of Python's own functions."""
    uses = _uses(nodes, is_users, is_pythons)
    lent = {name for name, calls in uses.lent.items() if not all(map(reads, calls))}
    return frozenset(_with_origins(uses.stored | lent, uses))


def share_memory(array: Any, other: Any) -> bool:
    """Whether a store to an array in `other` may change elements of the array."""
    if isinstance(other, bool | int | float | complex | str | np.generic) or other is None:
        return False
    if isinstance(array, np.ndarray) and isinstance(other, np.ndarray):
        return bool(np.may_share_memory(array, other))
    return True


def _with_origins(names: set[str], uses: _Uses) -> set[str]:
    """The names, and the names of the arrays that they may be aliases of."""
    for _ in uses.names:
        names = names.union(*(roots for targets, roots in uses.names if not targets.isdisjoint(names)))
    return names


def only_reads(source: FunctionSource, place: int | str) -> bool:
    """Whether the text of the function shows that it neither stores to the array that it gets at this place nor
    returns it."""
    node = source.tree()
    names = node_parameters(node)
    if isinstance(place, int) and place >= len(names):
        return False
    name = place if isinstance(place, str) else names[place]
    body = node.body if isinstance(node.body, list) else [ast.Return(node.body)]
    parts = [part for each in body for part in walk(each)]
    if any(isinstance(part, ast.FunctionDef | ast.Lambda | ast.Global | ast.Nonlocal | ast.Yield) for part in parts):
        return False
    uses = _uses(body, lambda call: not _is_of_module(call.func, source.function))
    given = {_root(value) for part in parts if isinstance(part, ast.Return) for value in _values(part.value)}
    known = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    known |= {*source.function.__globals__, *names}
    others = uses.stored | given
    others.update(each for each, calls in uses.lent.items() if any(not _is_of_python(call, known) for call in calls))
    return name in names and name not in _with_origins(others, uses)


def is_builtin(function: object) -> bool:
    """Whether the function is one of Python's builtin functions and types, such as len, which store to no array."""
    return getattr(builtins, getattr(function, "__name__", ""), NotImplemented) is function


def _is_of_python(call: Lent, known: set[str]) -> bool:
    """Whether the called function is a builtin of Python that none of the `known` names hides."""
    name = call.function.id if isinstance(call.function, ast.Name) else None
    return name is not None and name not in known and hasattr(builtins, name)


def _is_of_module(function: ast.expr, user: Callable[..., object]) -> bool:
    """Whether the called function is an attribute of a module in a global variable, such as np.dot."""
    root = _root(function)
    return isinstance(function, ast.Attribute) and isinstance(user.__globals__.get(root), ModuleType)


class _Uses(NamedTuple):
    """The names of arrays whose elements statements store to, the names that assignments make aliases of other names,
    and the calls of user's functions that get arrays."""

    stored: set[str]
    names: list[tuple[set[str], set[str]]]
    lent: dict[str, list[Lent]]


def _uses(
    nodes: Sequence[ast.stmt],
    is_users: Callable[[ast.Call], bool],
    is_pythons: Callable[[ast.Call], bool] = lambda _: False,
) -> _Uses:
    uses = _Uses(set(), [], {})
    for part in (part for node in nodes for part in walk(node)):
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
            uses.stored.add(_root(part))
        elif isinstance(part, ast.AugAssign):
            uses.stored.add(_root(part.target))
        elif isinstance(part, ast.Assign | ast.AnnAssign):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            if not all(isinstance(target, ast.Subscript) for target in targets):
                _name(targets, part.value, uses)
        elif isinstance(part, ast.NamedExpr):
            _name([part.target], part.value, uses)
        elif isinstance(part, ast.For | ast.comprehension):
            _name([part.target], part.iter, uses)
            for each in part.iter.args if isinstance(part.iter, ast.Call) else ():  # the arguments of zip, enumerate
                _name([part.target], each, uses)
        elif isinstance(part, ast.Call):
            uses.stored.update(_stored_by(part))
            if isinstance(part.func, ast.Attribute) and is_users(part):
                uses.stored.add(_root(part.func))  # a method may store to arrays in its object
            if (isinstance(part.func, ast.Name) or is_users(part)) and not is_pythons(part):
                _lend(part, uses)
    return uses


def _name(targets: Sequence[ast.expr], value: ast.expr | None, uses: _Uses) -> None:
    names = names_in(*targets)
    roots = {_root(each) for each in _values(value)}
    if roots:
        uses.names.append((names, roots))


def _stored_by(call: ast.Call) -> set[str]:
    """The names of the arrays that a call of a NumPy function or of an array method may store to."""
    if not isinstance(call.func, ast.Attribute):
        return set()
    name = call.func.attr
    stored = [keyword.value for keyword in call.keywords if keyword.arg == "out"]
    stored += [] if name == "where" else call.args[2:]  # a ufunc stores to its third argument
    stored += call.args[:1] if name in _STORING_FUNCTIONS else []
    stored += [call.func] if name in _STORING else []
    return {_root(value) for each in stored for value in (*_values(each), each)}


def _lend(call: ast.Call, uses: _Uses) -> None:
    """Notes the arrays that a call of a user's function gets."""
    places: list[tuple[int | str | None, ast.expr]] = [*enumerate(call.args)]
    places += [(keyword.arg, keyword.value) for keyword in call.keywords]
    for place, value in places:
        if isinstance(value, ast.Name) and place is not None:
            uses.lent.setdefault(value.id, []).append(Lent(call.func, place))
        elif isinstance(value, _KNOWN_VALUES):
            uses.stored.update(map(_root, _values(value)))
        else:
            uses.stored.update(names_in(value))


def copied(name: str, place: ast.stmt) -> ast.stmt:
    """The statement x = x.copy()."""
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
    """The expressions whose values an assignment may give a name without copying."""
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
