"""Evaluates Python's functions of string constants to constants: `ord("A")`, `len("abc")`, `b"A"[0]`; and writes out
loops over keys, `for k in ("a", "b"): s += d[k]`, because compiled code has only constant keys.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from types import FunctionType

from .patterns import Function, breaks, continues
from .walks import copy_of, walk

_FUNCTIONS = {"len": len, "ord": ord}


def with_constants(node: Function, function: FunctionType) -> Function:
    """A copy of the function with constants in place of such calls."""
    code = function.__code__
    own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars, *function.__globals__}
    if not any(_value(part) is not None and _function(part) not in own for part in walk(node)):
        return node
    made: Function = _Constants(own).visit(copy_of(node))
    return made


def _function(node: ast.AST) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _value(node: ast.AST) -> int | None:
    """The value of such an expression; None for other nodes."""
    try:
        match node:
            case ast.Call(args=[ast.Constant(value=str() | bytes() as text)], keywords=[]):
                return _FUNCTIONS[_function(node)](text)
            case ast.Subscript(value=ast.Constant(value=bytes() as data), slice=ast.Constant(value=int() as place)):
                return data[place]
    except (KeyError, TypeError, IndexError):
        return None
    return None


class _Constants(ast.NodeTransformer):
    def __init__(self, own: set[str]) -> None:
        self._own = own

    def generic_visit(self, node: ast.AST) -> ast.AST:
        value = _value(node)
        if value is not None and _function(node) not in self._own:
            return ast.copy_location(ast.Constant(value), node)
        return super().generic_visit(node)


# ------------------------------------------------------------ loops over keys

_MOST_KEYS = 16


def with_keys(node: Function) -> Function:
    """A copy of the function that repeats the body of a loop over constant keys for each key. The given tree does not
    change."""
    loops = [part for part in walk(node) if isinstance(part, ast.For) and _is_over_keys(part)]
    inside = Counter(name for loop in loops for name in _names(loop) if name == _target(loop))
    everywhere = Counter(_names(node)) if loops else inside
    wanted = {name for name in inside if inside[name] == everywhere[name]}
    if not wanted:
        return node
    made: Function = _Keys(wanted).visit(copy_of(node))
    return made


def _names(node: ast.AST) -> Iterator[str]:
    return (part.id for part in walk(node) if isinstance(part, ast.Name))


def _target(loop: ast.For) -> str:
    return loop.target.id if isinstance(loop.target, ast.Name) else ""


def _is_over_keys(loop: ast.For) -> bool:
    keys = loop.iter.elts if isinstance(loop.iter, ast.Tuple | ast.List) else []
    if not 0 < len(keys) <= _MOST_KEYS or not _target(loop) or breaks(loop.body) or continues(loop.body):
        return False
    if not all(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in keys):
        return False
    parts = [part for each in loop.body for part in walk(each)]
    opaque = ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.NamedExpr
    if any(isinstance(part, opaque) or _is_label(part) or _stores(part, _target(loop)) for part in parts):
        return False
    return any(_is_key(part, _target(loop)) for part in parts)


def _is_label(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "label"


def _stores(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)


def _is_key(node: ast.AST, name: str) -> bool:
    """Whether it is d[k], d.get(k), or a test of whether k is in d."""
    match node:
        case (
            ast.Subscript(slice=ast.Name(id=key))
            | ast.Call(func=ast.Attribute(attr="get"), args=[ast.Name(id=key), *_])
        ):
            return key == name
        case ast.Compare(left=ast.Name(id=key), ops=[ast.In() | ast.NotIn()]):
            return key == name
    return False


class _Keys(ast.NodeTransformer):
    """Writes the loops over keys out whose variables are wanted."""

    def __init__(self, wanted: set[str]) -> None:
        self._wanted = wanted

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        is_wanted = _target(node) in self._wanted and _is_over_keys(node)
        keys = node.iter.elts if is_wanted and isinstance(node.iter, ast.Tuple | ast.List) else []
        self.generic_visit(node)
        if not keys:
            return node
        bodies = [[_Named(_target(node), key).visit(copy_of(each)) for each in node.body] for key in keys]
        return [each for body in (*bodies, node.orelse) for each in body]


class _Named(ast.NodeTransformer):
    """Puts a constant in the place of a name."""

    def __init__(self, name: str, value: ast.expr) -> None:
        self._name, self._value = name, value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.copy_location(copy.copy(self._value), node) if node.id == self._name else node
