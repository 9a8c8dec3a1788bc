"""What functions do with their variables, read off their texts: which are arrays, which records, how many numbers are
returned. Nothing else tells `row = x[i]` from an element before types are known.
"""

from __future__ import annotations

import ast
import builtins
from types import FunctionType
from typing import Any

from ._device import DeviceFunction, ForeignFunction
from ._names import MISSING, Scope, jit_source
from ._records import key_of, with_separate_fields
from ._source import FunctionSource

_ATTRIBUTES = ("shape", "ndim", "size", "dtype")


class Uses:
    """Of the functions of one program; each question is answered once. While that goes on, an answer to it is the
    least one: functions may call themselves."""

    def __init__(self) -> None:
        self._trees: dict[FunctionType, ast.FunctionDef | ast.AsyncFunctionDef] = {}
        self._arrays: dict[tuple[FunctionType, str], bool] = {}
        self._fields: dict[tuple[FunctionType, str], frozenset[str]] = {}
        self._lengths: dict[FunctionType, int] = {}

    def tree(self, source: FunctionSource) -> ast.FunctionDef | ast.AsyncFunctionDef:
        """The function with fields of records separated (_records.py)."""
        if source.function not in self._trees:
            names = frozenset(source.function.__code__.co_varnames)
            self._trees[source.function] = with_separate_fields(source.tree(), names)
        return self._trees[source.function]

    # ------------------------------------------------------------ arrays

    def takes_array(self, source: FunctionSource, name: str) -> bool:
        """Whether the function subscripts its variable, asks for its shape, or hands it to one that does."""
        key = source.function, name
        if key not in self._arrays:
            self._arrays[key] = False
            scope, tree = Scope(source.function), self.tree(source)
            self._arrays[key] = any(self._is_array_use(part, name, scope, source) for part in ast.walk(tree))
        return self._arrays[key]

    def _is_array_use(self, part: ast.AST, name: str, scope: Scope, source: FunctionSource) -> bool:
        def is_it(node: ast.AST) -> bool:
            return isinstance(node, ast.Name) and node.id == name

        match part:
            case ast.Subscript(value=value):
                return is_it(value) and key_of(part) is None
            case ast.Attribute(value=value, attr=attr):
                return attr in _ATTRIBUTES and is_it(value)
            case ast.Assign(targets=[ast.Name(id=other)], value=value):
                values = (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)
                return any(map(is_it, values)) and other != name and self.takes_array(source, other)
            case ast.Call(func=func, args=arguments):
                called = _value(func, scope)
                if called is builtins.len or (isinstance(called, DeviceFunction) and called.name.startswith("atomic.")):
                    return bool(arguments) and is_it(arguments[0])
                if isinstance(called, ForeignFunction):
                    pairs = zip(arguments, called.types, strict=False)
                    return any(is_it(argument) and kind.endswith("*") for argument, kind in pairs)
                return any(is_it(node) and self.takes_array(callee, to) for callee, to, node in _given(part, scope))
        return False

    # ------------------------------------------------------------ records

    def fields(self, source: FunctionSource, name: str) -> frozenset[str]:
        """The fields that the function uses of its variable, of elements of it, and in functions that get them."""
        key = source.function, name
        if key not in self._fields:
            self._fields[key] = frozenset()
            scope, tree = Scope(source.function), self.tree(source)
            found = [self._fields_of_use(part, name, scope, source) for part in ast.walk(tree)]
            self._fields[key] = frozenset().union(*found)
        return self._fields[key]

    def _fields_of_use(self, part: ast.AST, name: str, scope: Scope, source: FunctionSource) -> frozenset[str]:
        if isinstance(part, ast.Subscript) and (key := key_of(part)) is not None:
            return frozenset([key] if isinstance(part.value, ast.Name) and part.value.id == name else [])
        if isinstance(part, ast.Assign) and len(part.targets) == 1:
            target = part.targets[0]
            if isinstance(target, ast.Name) and target.id != name and root_of(part.value) == name:
                return self.fields(source, target.id)
        if isinstance(part, ast.Call):
            given = [(callee, to) for callee, to, node in _given(part, scope) if root_of(node) == name]
            return frozenset().union(*(self.fields(callee, to) for callee, to in given))
        return frozenset()

    # ------------------------------------------------------------ results

    def returned_length(self, source: FunctionSource) -> int:
        """How many numbers a function returns as a tuple; 0: it returns one or none."""
        function = source.function
        if function not in self._lengths:
            self._lengths[function] = 0
            scope, tree = Scope(function), self.tree(source)
            returns = [part.value for part in ast.walk(tree) if isinstance(part, ast.Return) and part.value is not None]
            self._lengths[function] = max((self._length(value, scope, tree) for value in returns), default=0)
        return self._lengths[function]

    def _length(self, node: ast.expr, scope: Scope, tree: ast.AST, deeper: bool = True) -> int:
        if isinstance(node, ast.Tuple):
            return len(node.elts)
        if isinstance(node, ast.Name) and deeper:
            values = [
                part.value
                for part in ast.walk(tree)
                if isinstance(part, ast.Assign)
                and any(isinstance(target, ast.Name) and target.id == node.id for target in part.targets)
            ]
            return max((self._length(value, scope, tree, False) for value in values), default=0)
        if isinstance(node, ast.Call):
            called = _value(node.func, scope)
            source = jit_source(called)
            if source is not None:
                return self.returned_length(source)
            count = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else 0
            if isinstance(called, DeviceFunction) and called.lowering == "grid" and isinstance(count, int):
                return count if count > 1 else 0
        return 0


def root_of(node: ast.expr) -> str:
    """The x of x and of x[i]; '' of anything else, fields of records included."""
    while isinstance(node, ast.Subscript) and key_of(node) is None:
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _given(call: ast.Call, scope: Scope) -> list[tuple[FunctionSource, str, ast.expr]]:
    """The arguments of a call of a jit function, with it and the names of its parameters."""
    source = jit_source(_value(call.func, scope))
    if source is None:
        return []
    named = [(k.arg, k.value) for k in call.keywords if k.arg is not None]
    names = source.function.__code__.co_varnames
    return [(source, name, node) for name, node in [*zip(names, call.args, strict=False), *named]]


def _value(node: ast.expr, scope: Scope) -> Any:
    """What a name or a chain of attributes stands for outside the function; MISSING if it is local or undefined."""
    if isinstance(node, ast.Name):
        binding = None if node.id in scope.locals else scope.lookup(node.id)
        return MISSING if binding is None else binding.value
    if isinstance(node, ast.Attribute):
        return getattr(_value(node.value, scope), node.attr, MISSING)
    return MISSING
