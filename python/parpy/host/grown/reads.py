"""How a loop uses the elements that it reads from lists, queues and dicts. In Python each element has a type of its
own; in compiled code all elements that a loop reads have one type. Where the type could matter, all elements must have
it."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping
from typing import Any, NamedTuple

from ...syntax.walks import walk

_READING = ("pop", "popleft", "heappop", "get")
_ABSORBING = frozenset(("float", "range", "len", "bool"))


class Column(NamedTuple):
    """A list, and which element of its tuples, 0 if its elements are numbers."""

    name: str
    place: int


class GrownList(NamedTuple):
    """How a loop uses a list, dict or set: its class; the length of its elements, if these are tuples, or else 0;
    whether the loop reads elements, or the length; whether it changes or removes elements; and whether it assigns
    others to the name. The loop makes those `is_made`, which have no other use before. `key` is the length of the keys,
    if these are tuples, or else 0. All elements of the columns `strict` must have one type; elements of the columns
    `added` are added to numbers."""

    name: str
    kind: Any
    width: int
    reads: bool
    changes: bool
    is_assigned: bool
    is_made: bool
    key: int
    strict: frozenset[int]
    added: frozenset[int]


class Uses(NamedTuple):
    """The columns of lists of which elements are used where their type matters, and the operands of elements, which
    must be floats if the column has floats, because an integer and an integer give another type than a float and an
    integer. `are_clear` is False if an element is compared and the answer is used otherwise than as a condition: it is
    Python's bool or NumPy's, as the element is."""

    moved: frozenset[Column]
    operands: dict[ast.AST, Column]
    are_clear: bool


def uses_of_elements(node: ast.AST, names: Container[str], widths: Mapping[str, Any], outside: Container[str]) -> Uses:
    """The uses in a loop of the elements of the lists with these names, whose elements are tuples of these lengths or
    else numbers. `outside`: the names that are used outside of the loop."""
    nodes = list(walk(node))
    parents = {child: part for part in nodes for child in ast.iter_child_nodes(part)}
    reads: list[tuple[ast.AST, Column]] = []
    moved: set[Column] = set()
    derived: dict[str, Column] = {}
    for part in nodes:
        name = _list_read_by(part, names)
        if name is None:
            continue
        targets = [*_targets(part, parents)]
        width = widths[name] or 0
        if targets and all(isinstance(each, ast.Name) for each in targets) and len(targets) == max(width, 1):
            for place, each in enumerate(targets):
                target = getattr(each, "id", "")
                column = Column(name, place)
                if target in outside or derived.get(target, column) != column:
                    moved |= {column, derived.get(target, column)}
                derived[target] = column
        elif width or isinstance(part, ast.For):
            moved.update(Column(name, place) for place in range(max(width, 1)))
        else:
            reads.append((part, Column(name, 0)))
    reads += [
        (part, derived[part.id])
        for part in nodes
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part.id in derived
    ]
    operands: dict[ast.AST, Column] = {}
    are_clear = True
    are_read = {part for part, _ in reads}
    for part, column in reads:
        parent = parents.get(part)
        match parent:
            case ast.Compare(ops=ops) if any(isinstance(op, ast.Is | ast.IsNot) for op in ops):
                pass
            case ast.Compare():
                are_clear = are_clear and _is_condition(parent, parents, outside)
                continue
            case ast.If() | ast.While() | ast.UnaryOp(op=ast.Not()):
                continue
            case ast.IfExp(test=test) if test is part:
                continue
            case ast.BinOp(op=ast.Div()):
                continue
            case ast.Call(func=ast.Name(id=function)) if function in _ABSORBING and part is not parent.func:
                continue
            case ast.Subscript(slice=index) if index is part:
                continue
            case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult(), left=left, right=right):
                other = right if left is part else left
                if other not in are_read and not _is_whole(other) and operands.get(other, column) == column:
                    operands[other] = column
                    continue
        moved.add(column)
    for part in nodes:
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Subscript):
            name = _name_in(part.target.value, names)
            if name is not None and not isinstance(part.op, ast.Div):
                is_plain = isinstance(part.op, _ARITHMETIC) and not _is_whole(part.value)
                if part.value in are_read or part.value in operands or not is_plain:
                    moved.add(Column(name, 0))
                else:
                    operands[part.value] = Column(name, 0)
    return Uses(frozenset(moved), operands, are_clear)


def _is_condition(node: ast.expr, parents: Mapping[ast.AST, ast.AST], outside: Container[str]) -> bool:
    """Whether only the truth of the value matters."""
    parent = parents.get(node)
    match parent:
        case ast.If() | ast.While() | ast.Assert() | ast.UnaryOp(op=ast.Not()) | ast.comprehension():
            return True
        case ast.IfExp(test=test):
            return test is node or _is_condition(parent, parents, outside)
        case ast.BoolOp():
            return _is_condition(parent, parents, outside)
        case ast.Call(func=ast.Name(id="bool" | "int" | "float")):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]) if name not in outside:
            uses = (each for each in parents if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load))
            return all(_is_condition(each, parents, ()) for each in uses if each.id == name)
    return False


def _is_whole(node: ast.AST) -> bool:
    """Whether the operand is a constant integer, beside which all elements must have one type."""
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


_ARITHMETIC = ast.Add | ast.Sub | ast.Mult


def _name_in(node: ast.AST, names: Container[str]) -> str | None:
    return node.id if isinstance(node, ast.Name) and node.id in names else None


def _list_read_by(part: ast.AST, names: Container[str]) -> str | None:
    """The list of which the node reads an element."""
    match part:
        case ast.Subscript(value=value, ctx=ast.Load()):
            return _name_in(value, names)
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _READING:
            return _name_in(value, names)
        case ast.For(iter=value):
            return _name_in(value, names)
    return None


def _targets(part: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> Iterator[ast.expr]:
    """The targets to which the element that the node reads, or its numbers, are assigned."""
    target: ast.expr | None = None
    parent = parents.get(part)
    if isinstance(part, ast.For):
        target = part.target
    elif isinstance(parent, ast.Assign) and len(parent.targets) == 1 and parent.value is part:
        target = parent.targets[0]
    if target is not None:
        yield from target.elts if isinstance(target, ast.Tuple) else [target]
