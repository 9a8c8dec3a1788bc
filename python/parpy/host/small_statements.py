"""Small statements between those that Python runs: without loops, calls and arithmetic on whole arrays, they are not
worth a call of compiled code. Python runs them too, and compares what it gets with what compiled code would give.

Each statement stands in a `try`. Where its exception, or a result, is none of compiled code's, nothing has been stored
yet, and a region of this one statement runs in its place (`again` in small_regions.py):

- an exception: compiled code divides by zero, and its messages say where a subscript is out of bounds;
- a Python integer beyond 64 bits, also one in the middle of an expression, wraps around there;
- an array among the operands;
- an attribute, or an entry of a dict, that is assigned a number of another type.

What is left differs in this: numbers keep the types that NumPy gives them, where a region gives a float for a float64,
names have no common type on different paths, and NumPy may warn of an overflow. Integers beyond 2**53 are divided
exactly. All of that is as in plain Python.
"""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Callable, MutableSequence, Sequence
from typing import Any

import numpy as np

from ..frontend.patterns import string_key
from ..syntax.names import is_array, is_scalar
from .liveness import Names
from .python_parts import Resolver
from .unset import at

_LEAST, _MOST = -(2**63), 2**63 - 1


class Beyond(OverflowError):
    """A number that compiled code has not: an integer beyond 64 bits, or one of another type than its attribute."""


class NoNumber(Exception):
    """An array where compiled code for numbers stands."""


_NUMBERS = frozenset((bool, float, complex, np.bool_, *(np.dtype(code).type for code in "bBhHiIlLqQefdFD")))


def number(value: Any) -> Any:
    """The result of arithmetic, if compiled code has it."""
    if type(value) in _NUMBERS:
        return value
    if hasattr(value, "ndim") or hasattr(value, "shape"):
        raise NoNumber
    return light(value)


def light(value: Any) -> Any:
    """The same where arrays are NumPy's anyway."""
    if isinstance(value, int) and not _LEAST <= value <= _MOST:
        raise Beyond(f"the Python integer {value} has more than 64 bits")
    return value


def updated(value: Any) -> Any:
    """The result of an augmented assignment to a name, which stores to the elements of arrays and lists."""
    if type(value) in _NUMBERS or is_scalar(value):
        return light(value)
    raise NoNumber


def index(value: Any) -> Any:
    """A subscript of an array that is stored to."""
    if isinstance(value, np.integer):
        return value
    raise Beyond


_PAIRS = ((float, np.float64), (int, np.int64), (bool, np.bool_))
_ALIKE: dict[tuple[type, type], Any] = {(a, b): a for a, b in (*_PAIRS, *(pair[::-1] for pair in _PAIRS))}
_WIDER = {(float, int), (complex, int), (complex, float)}


def same(old: Any, new: Any) -> Any:
    """What an attribute with the value `old` is assigned: numbers keep their type; what is none is Python's."""
    kinds = type(old), type(new)
    if kinds in _ALIKE:
        return _ALIKE[kinds](new)
    if not is_scalar(old):
        return new
    if kinds[0] is not kinds[1] and kinds not in _WIDER:
        raise Beyond
    return kinds[0](number(new))


def same_updated(old: Any, new: Any) -> Any:
    """The same for augmented assignments."""
    kind = _ALIKE.get((type(old), type(new)))
    if kind is not None:
        return kind(new)
    if not is_scalar(old):
        raise NoNumber
    return same(old, new)


def place(base: Any) -> Any:
    """What a subscript stores to, if it is no array of that many dimensions."""
    if isinstance(base, MutableSequence):
        return base
    raise NoNumber


def _own(name: str) -> str:
    return f"__parpy_{name}__"


_FUNCTIONS_OF_CHECKS = (number, light, updated, index, same, same_updated, place)
HELPERS: dict[str, Any] = {
    **{_own(each.__name__): each for each in _FUNCTIONS_OF_CHECKS},
    **{_own(name): value for name, value in (("array", np.ndarray), ("float", float), ("int", int))},
    _own("exception"): Exception,
}
"""What the statements need to know, by the names that they have for it."""
_CONDITION = _own("condition")

# VALUE and the like stand for parts of the statement; `value`, `kind` and `owner` are variables.
_KNOWN = f"(kind is float or kind is int and {_LEAST} <= value <= {_MOST})"
_RESULT = f"value if (kind := (value := VALUE).__class__) is float or {_KNOWN} else CHECK(value)"
_ATTRIBUTE = f"value if (kind := (value := VALUE).__class__) is OLD.__class__ and {_KNOWN} else SAME(OLD, value)"
_SUBSCRIPT = "value if (value := VALUE).__class__ is int else index(value)"
_STORED_TO = "owner if (owner := OWNER).__class__ is array and owner.ndim == COUNT else place(owner)"
_OWN = ("value", "kind", "owner", *(name.strip("_").removeprefix("parpy_") for name in HELPERS))

_WRAPPING = ast.Add | ast.Sub | ast.Mult | ast.LShift  # results of integers may have more bits than these
_OPERATORS = _WRAPPING | ast.Div | ast.FloorDiv | ast.Mod | ast.RShift | ast.BitAnd | ast.BitOr | ast.BitXor
_COMPARISONS = ast.Eq | ast.NotEq | ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.Is | ast.IsNot
_FUNCTIONS = (abs, int, float, bool, len, math.sqrt)  # exact ones
_OF_FLOATS = (float, math.sqrt)


class Small(ast.If):
    """Small statements, behind a test of whether Python shall run them; if not, what runs them otherwise."""


class SmallStatements:
    """Which statements of a function are small, and what Python runs in their place."""

    def __init__(self, resolver: Resolver, others: Names) -> None:
        """`others`: variables that may have no value, or another type in compiled code."""
        self._resolver = resolver
        self._others = others

    # ------------------------------------------------------------ which they are

    def are(self, nodes: Sequence[ast.stmt]) -> bool:
        return all(map(self._is_small, nodes))

    def is_condition(self, node: ast.expr) -> bool:
        return self._takes(node, True)

    def _is_small(self, node: ast.stmt) -> bool:
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return True
            case ast.If():
                return self._takes(node.test, True) and self.are(node.body) and self.are(node.orelse)
            case ast.AugAssign(target=ast.Name(id=name)):
                return self._takes(ast.BinOp(ast.Name(name, ast.Load()), node.op, node.value))
            case ast.AugAssign():
                return self._is_target(node.target) and self._takes(ast.BinOp(node.target, node.op, node.value))
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                if not all(isinstance(each, ast.Name) and each.id not in self._others for each in targets):
                    return False
                if isinstance(value, ast.Tuple):
                    return len(value.elts) == len(targets) and all(map(self._takes, value.elts))
                return self._takes(value)
            case ast.Assign(targets=[target], value=value):
                return self._is_target(target) and self._takes(value)
        return False

    def _is_target(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id not in self._others
        return isinstance(node, ast.Attribute | ast.Subscript) and self._takes(node)

    def _takes(self, node: ast.expr, is_test: bool = False) -> bool:
        match node:
            case ast.Name(id=name):
                return name not in self._resolver.arrays() and self._is_known(node)
            case ast.Constant(value=value):
                return not isinstance(value, bytes) and value is not Ellipsis and not _is_long(value)
            case ast.Attribute(value=value):
                found = self._resolver.find(node)
                return self._is_base(value) if found is None else is_scalar(found.value)
            case ast.Subscript(value=value):
                return self._is_base(value) and all(map(self._is_index, _indices(node)))
            case ast.BinOp(left=left, op=op, right=right):
                if isinstance(op, ast.LShift) and not (isinstance(right, ast.Constant) and right.value in range(64)):
                    return False
                return isinstance(op, _OPERATORS) and self._takes(left) and self._takes(right)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._takes(operand, True)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return self._takes(operand)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return all(isinstance(op, _COMPARISONS) for op in ops) and all(map(self._takes, (left, *comparators)))
            case ast.BoolOp(values=values):
                return (is_test or all(map(_is_condition, values))) and all(self._takes(each, True) for each in values)
            case ast.Call(func=func, args=[argument], keywords=[]):
                if not self._calls(func, _FUNCTIONS):
                    return False
                return self._is_base(argument) if self._calls(func, (len,)) else self._takes(argument)
        return False

    def _is_index(self, node: ast.expr) -> bool:
        constant = node.value if isinstance(node, ast.Constant) else 0
        return type(constant) in (int, str) and not isinstance(node, ast.Compare | ast.BoolOp) and self._takes(node)

    def _is_base(self, node: ast.expr) -> bool:
        """Whether it may have attributes and elements that are numbers."""
        return self._is_known(node) if isinstance(node, ast.Name) else self._takes(node)

    def _is_known(self, node: ast.Name) -> bool:
        if node.id in self._resolver.scope.locals or node.id.startswith("result_"):
            return node.id not in self._others and self._resolver.find(node) is None
        found = self._resolver.find(node)
        return found is not None and (is_scalar(found.value) or is_array(found.value))

    def _calls(self, func: ast.expr, functions: Sequence[object]) -> bool:
        found = self._resolver.find(func)
        return found is not None and any(found.value is each for each in functions)

    # ------------------------------------------------------------ what Python runs

    def by_python(
        self, nodes: Sequence[ast.stmt], again: Callable[[ast.stmt], list[ast.stmt]], light: bool = False
    ) -> list[ast.stmt]:
        """`again`: what runs a statement in compiled code; `light`: Python runs arithmetic on arrays, too."""
        out: list[ast.stmt] = []
        for node in nodes:
            if isinstance(node, ast.If):
                before, test = self.condition(node, again)
                body, orelse = (self.by_python(each, again, light) for each in (node.body, node.orelse))
                out += [*before, at(ast.If(test, body, orelse), node)]
            elif isinstance(node, ast.Assign | ast.AugAssign):
                made = at(_Checks(self, "light" if light else "number").statement(copy.deepcopy(node)), node)
                handler = ast.ExceptHandler(_named("exception"), None, again(node))
                out.append(at(ast.Try([made], [handler], [], []), node))
            else:
                out.append(node)
        return out

    def condition(self, node: ast.If, again: Callable[[ast.stmt], list[ast.stmt]]) -> tuple[list[ast.stmt], ast.expr]:
        """What a branch tests, behind the statements that compute it."""
        if not any(isinstance(part, ast.BinOp | ast.Subscript | ast.Call) for part in ast.walk(node.test)):
            return [], node.test
        computed = at(ast.Assign([ast.Name(_CONDITION, ast.Store())], node.test), node)
        return self.by_python([computed], again), ast.Name(_CONDITION, ast.Load())

    def is_float(self, node: ast.expr) -> bool:
        """Whether the number is no integer, whatever the types of the variables are."""
        match node:
            case ast.Constant(value=value):
                return isinstance(value, float | complex)
            case ast.BinOp(left=left, op=op, right=right):
                return isinstance(op, ast.Div) or self.is_float(left) or self.is_float(right)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return self.is_float(operand)
            case ast.Call(func=func):
                return self._calls(func, _OF_FLOATS)
        return False


class _Checks:
    """Statements whose results are compared with what compiled code has; `check` looks at those of arithmetic."""

    def __init__(self, small: SmallStatements, check: str) -> None:
        self._small = small
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
            made = _filled(_ATTRIBUTE, VALUE=self._operands(value), OLD=_loaded(target), SAME=_named(keeps))
        return ast.Assign([target], made)

    def _result(self, node: ast.expr) -> ast.expr:
        """A value that is stored."""
        is_computed = isinstance(node, ast.BinOp | ast.Call) or _is_negative(node)
        return self._checked(node) if is_computed else self._operands(node)

    def _checked(self, node: ast.expr) -> ast.expr:
        return _filled(_RESULT, VALUE=self._operands(node), CHECK=_named(self._check))

    def _operand(self, node: ast.expr) -> ast.expr:
        """An operand, which may be an integer beyond 64 bits."""
        grows = (isinstance(node, ast.BinOp) and isinstance(node.op, _WRAPPING)) or _is_negative(node)
        return self._checked(node) if grows and not self._small.is_float(node) else self._operands(node)

    def _operands(self, node: ast.expr) -> ast.expr:
        """The expression with operands that are looked at."""
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
            case ast.Subscript():  # no integer of more bits is within bounds
                node.value, node.slice = self._operands(node.value), self._operands(node.slice)
            case ast.Tuple():
                node.elts = [*map(self._operands, node.elts)]
        return node

    def _element(self, node: ast.Subscript) -> ast.expr:
        """The element of an array that is stored to."""
        indices = [
            each if isinstance(each, ast.Constant) else _filled(_SUBSCRIPT, VALUE=self._operands(each))
            for each in _indices(node)
        ]
        owner = _filled(_STORED_TO, OWNER=self._operands(node.value), COUNT=ast.Constant(len(indices)))
        subscript = ast.Tuple(indices, ast.Load()) if isinstance(node.slice, ast.Tuple) else indices[0]
        return ast.Subscript(owner, subscript, ast.Store())


class _Filled(ast.NodeTransformer):
    def __init__(self, parts: dict[str, ast.expr]) -> None:
        self._parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._parts:
            return copy.deepcopy(self._parts[node.id])
        return ast.Name(_own(node.id), node.ctx) if node.id in _OWN else node


def _filled(text: str, **parts: ast.expr) -> ast.expr:
    made: ast.expr = _Filled(parts).visit(ast.parse(text, mode="eval").body)
    return made


def _named(name: str) -> ast.expr:
    return ast.Name(_own(name), ast.Load())


def _loaded(node: ast.expr) -> ast.expr:
    made = copy.deepcopy(node)
    made.ctx = ast.Load()  # type: ignore[attr-defined]
    return made


def _is_negative(node: ast.expr) -> bool:
    """Whether it is the negative of something that is computed."""
    return (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub | ast.UAdd)
        and not isinstance(node.operand, ast.Constant)
    )


def _is_long(value: object) -> bool:
    return isinstance(value, int) and not _LEAST <= value <= _MOST


def _is_condition(node: ast.expr) -> bool:
    if isinstance(node, ast.BoolOp):
        return all(map(_is_condition, node.values))
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))


def _indices(node: ast.Subscript) -> list[ast.expr]:
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
