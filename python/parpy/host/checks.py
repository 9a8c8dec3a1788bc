"""The code that Python runs in place of a small statement: the statement, and checks that compiled code would have the
same results.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from ..syntax.names import is_scalar
from ..syntax.patterns import string_key, subscripts_of
from ..syntax.walks import copy_of

LEAST, MOST = -(2**63), 2**63 - 1


class Beyond(OverflowError):
    """Compiled code cannot have this number: an integer beyond 64 bits, or one of another type than its attribute."""


class NoNumber(Exception):
    """An operand is an array, but the statement is for numbers."""


_NUMBERS = frozenset((bool, float, complex, np.bool_, *(np.dtype(code).type for code in "bBhHiIlLqQefdFD")))


def number(value: Any) -> Any:
    """The result of arithmetic. Raises Beyond or NoNumber if compiled code has no such result."""
    if type(value) in _NUMBERS:
        return value
    if hasattr(value, "ndim") or hasattr(value, "shape"):
        raise NoNumber
    return light(value)


def light(value: Any) -> Any:
    """The result of arithmetic that may also be an array. Raises Beyond for an integer beyond 64 bits."""
    if isinstance(value, int) and not LEAST <= value <= MOST:
        raise Beyond(f"the Python integer {value} has more than 64 bits")
    return value


def updated(value: Any) -> Any:
    """The result of an augmented assignment to a name. Raises NoNumber for arrays and lists, which it would change."""
    if type(value) in _NUMBERS or is_scalar(value):
        return light(value)
    raise NoNumber


def index(owner: Any, value: Any) -> Any:
    """The subscript of a store to an array or a list, or the key of a dict. Raises Beyond for other values."""
    if isinstance(value, np.integer) or isinstance(owner, MutableMapping):
        return value
    raise Beyond


_PAIRS = ((float, np.float64), (int, np.int64), (bool, np.bool_))
_ALIKE: dict[tuple[type, type], Any] = {(a, b): a for a, b in (*_PAIRS, *(pair[::-1] for pair in _PAIRS))}
_WIDER = {(float, int), (complex, int), (complex, float)}


def same(old: Any, new: Any) -> Any:
    """The value for an attribute with the value `old`. A number must keep its type; other values are unchanged."""
    kinds = type(old), type(new)
    if kinds in _ALIKE:
        return _ALIKE[kinds](new)
    if not is_scalar(old) or not is_scalar(new):
        return new
    if kinds[0] is not kinds[1] and kinds not in _WIDER:
        raise Beyond
    return kinds[0](number(new))


def same_updated(old: Any, new: Any) -> Any:
    """The value that an attribute with the value `old` gets by an augmented assignment."""
    kind = _ALIKE.get((type(old), type(new)))
    if kind is not None:
        return kind(new)
    if not is_scalar(old):
        raise NoNumber
    if type(old) is bool and type(new) is int:  # True + True is 2
        return new
    return same(old, new)


def place(base: Any) -> Any:
    """The list or dict that a subscript stores to. Raises NoNumber for other objects."""
    if isinstance(base, MutableSequence | MutableMapping):
        return base
    raise NoNumber


def own(name: str) -> str:
    return f"__parpy_{name}__"


_FUNCTIONS_OF_CHECKS = (number, light, updated, index, same, same_updated, place)
HELPERS: dict[str, Any] = {
    **{own(each.__name__): each for each in _FUNCTIONS_OF_CHECKS},
    **{own(name): value for name, value in (("array", np.ndarray), ("float", float), ("int", int))},
    own("exception"): Exception,
}
"""The values of the names that the statements use."""

# Names in capitals, such as VALUE, are replaced by parts of the statement; `value`, `kind` and `owner` are variables.
_KNOWN = f"(kind is float or kind is int and {LEAST} <= value <= {MOST})"
_RESULT = f"value if (kind := (value := VALUE).__class__) is float or {_KNOWN} else CHECK(value)"
_ATTRIBUTE = f"value if (kind := (value := VALUE).__class__) is OLD.__class__ and {_KNOWN} else SAME(OLD, value)"
_SUBSCRIPT = "value if (value := VALUE).__class__ is int else index(owner, value)"
_STORED_TO = "owner if (owner := OWNER).__class__ is array and owner.ndim == COUNT else place(owner)"
_OWN = ("value", "kind", "owner", *(name.strip("_").removeprefix("parpy_") for name in HELPERS))
_GROWING = (
    ast.Add | ast.Sub | ast.Mult | ast.LShift | ast.FloorDiv | ast.Pow
)  # operators whose results may have more bits than the operands
_OF_FLOATS = (float, math.sqrt)


class Checks:
    """Adds checks to statements. `check` is the function that checks results of arithmetic, and `calls` tells whether
    an expression is one of these functions."""

    def __init__(self, calls: Callable[[ast.expr, Sequence[object]], bool], check: str) -> None:
        self._calls = calls
        self._check = check

    def statement(self, node: ast.Assign | ast.AugAssign) -> ast.stmt:
        target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
        value, keeps = node.value, "same"
        if isinstance(node, ast.AugAssign):
            value, keeps = ast.BinOp(_loaded(target), node.op, value), "same_updated"
            self._check = "updated" if isinstance(target, ast.Name) else self._check
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            made: ast.expr = ast.Tuple([*map(self._result, value.elts)], ast.Load())
        elif isinstance(target, ast.Name | ast.Tuple):
            made = self._result(value)
        elif isinstance(target, ast.Subscript) and string_key(target) is None:
            made, target = self._result(value), self._element(target)
        else:
            made = _filled(_ATTRIBUTE, VALUE=self._operands(value), OLD=_loaded(target), SAME=named(keeps))
        return ast.Assign([target], made)

    def _result(self, node: ast.expr) -> ast.expr:
        """A stored value, with checks."""
        is_computed = isinstance(node, ast.BinOp | ast.Call) or _is_negative(node)
        return self._checked(node) if is_computed else self._operands(node)

    def _checked(self, node: ast.expr) -> ast.expr:
        return _filled(_RESULT, VALUE=self._operands(node), CHECK=named(self._check))

    def _operand(self, node: ast.expr) -> ast.expr:
        """An operand, with a check if it may be an integer beyond 64 bits."""
        grows = isinstance(node, ast.Call) or (isinstance(node, ast.BinOp) and isinstance(node.op, _GROWING))
        grows = (grows or _is_negative(node)) and not self._is_float(node)
        return self._checked(node) if grows else self._operands(node)

    def _is_float(self, node: ast.expr) -> bool:
        """Whether the number is no integer for all types of the variables."""
        match node:
            case ast.Constant(value=value):
                return isinstance(value, float | complex)
            case ast.BinOp(left=left, op=op, right=right):
                return isinstance(op, ast.Div) or self._is_float(left) or self._is_float(right)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return self._is_float(operand)
            case ast.Call(func=func):
                return self._calls(func, _OF_FLOATS)
        return False

    def _operands(self, node: ast.expr) -> ast.expr:
        """The expression with checked operands."""
        match node:
            case ast.BinOp():
                node.left, node.right = self._operand(node.left), self._operand(node.right)
            case ast.UnaryOp():
                node.operand = self._operand(node.operand)
            case ast.Compare():
                node.left, node.comparators = self._operand(node.left), [*map(self._operand, node.comparators)]
            case ast.BoolOp():
                node.values = [*map(self._operand, node.values)]
            case ast.Call():
                node.args = [*map(self._operand, node.args)]
            case ast.Attribute():
                node.value = self._operands(node.value)
            case ast.Subscript():  # an integer beyond 64 bits is out of bounds anyway
                node.value, node.slice = self._operands(node.value), self._operands(node.slice)
            case ast.Tuple():
                node.elts = [*map(self._operands, node.elts)]
        return node

    def _element(self, node: ast.Subscript) -> ast.expr:
        """The element of an array that a statement stores to, with checked subscripts."""
        places = [
            each if isinstance(each, ast.Constant) else _filled(_SUBSCRIPT, VALUE=self._operands(each))
            for each in subscripts_of(node)
        ]
        owner = _filled(_STORED_TO, OWNER=self._operands(node.value), COUNT=ast.Constant(len(places)))
        subscript = ast.Tuple(places, ast.Load()) if isinstance(node.slice, ast.Tuple) else places[0]
        return ast.Subscript(owner, subscript, ast.Store())


class _Filled(ast.NodeTransformer):
    def __init__(self, parts: dict[str, ast.expr]) -> None:
        self._parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._parts:
            return copy_of(self._parts[node.id])
        return ast.Name(own(node.id), node.ctx) if node.id in _OWN else node


def _filled(text: str, **parts: ast.expr) -> ast.expr:
    made: ast.expr = _Filled(parts).visit(ast.parse(text, mode="eval").body)
    return made


def named(name: str) -> ast.expr:
    return ast.Name(own(name), ast.Load())


def _loaded(node: ast.expr) -> ast.expr:
    made = copy_of(node)
    made.ctx = ast.Load()  # type: ignore[attr-defined]
    return made


def _is_negative(node: ast.expr) -> bool:
    """Whether the node is a negated (or plus) expression other than a constant."""
    return (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub | ast.UAdd)
        and not isinstance(node.operand, ast.Constant)
    )
