"""Walks over syntax trees and copies of them, several times as fast as those of `ast` and `copy`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeVar

_Node = TypeVar("_Node", bound=ast.AST)

# Fields of which no class has nodes as values that the package looks for: names, numbers, operators, contexts.
_PLAIN = frozenset((
    "id", "attr", "arg", "ctx", "op", "ops", "kind", "lineno", "type_comment", "level", "module", "asname", "simple",
    "is_async", "conversion", "rest", "kwd_attrs", "type_ignores",
))  # fmt: skip
_SHARED = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)  # one object for all trees
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class _Fields(dict[type, tuple[str, ...]]):
    """The fields of each class of nodes that may have nodes as values."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        found = () if kind is ast.Constant else tuple(name for name in kind._fields if name not in _PLAIN)
        self[kind] = found
        return found


_fields = _Fields()


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below `node`, in the order of the text, without operators and contexts."""
    found: list[ast.AST] = []
    values = node.__dict__
    for name in _fields[node.__class__]:
        value = values.get(name)
        if value.__class__ is list:
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """`node` and all nodes below it, level by level, without operators and contexts."""
    left = [node]
    for part in left:
        left += children(part)
        yield part


def walk_own(node: ast.AST) -> Iterator[ast.AST]:
    """`node` and the nodes below it, in the order of the text, without the bodies of functions; the defaults of
    functions are included."""
    left = [node]
    while left:
        part = left.pop()
        yield part
        if isinstance(part, _FUNCTIONS):
            left += part.args.defaults
            left += [each for each in part.args.kw_defaults if each is not None]
            continue
        values = part.__dict__
        for name in reversed(_fields[part.__class__]):
            value = values.get(name)
            if value.__class__ is list:
                left += [each for each in reversed(value) if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST):
                left.append(value)


def _is_own(value: object) -> bool:
    return isinstance(value, ast.AST) and not isinstance(value, _SHARED)


def copy_of(node: _Node) -> _Node:
    """A copy of the tree, in which each operator and context is the same object as in `node`. A node that `node` has at
    several places is copied for each."""
    made = node.__class__.__new__(node.__class__)
    values = made.__dict__
    for name, value in node.__dict__.items():
        if value.__class__ is list:
            values[name] = [copy_of(each) if _is_own(each) else each for each in value]
        elif _is_own(value):
            values[name] = copy_of(value)
        else:
            values[name] = value
    return made
