"""Finds, from the text of functions, which of their variables are arrays and which are records."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import numpy as np

from ..calls.external import External
from ..syntax.aliases import without_aliases
from ..syntax.annotations import annotations_of
from ..syntax.names import MISSING, Binding, Scope, callable_source
from ..syntax.patterns import string_key
from ..syntax.rewriting.cases import with_cases
from ..syntax.source import FunctionSource
from ..syntax.turns import note_variables
from ..syntax.walks import walk
from ..types import BufferType
from ..vocabulary.device import DeviceFunction, ForeignFunction
from .kernels.chosen_arrays import with_chosen_arrays
from .kernels.field_names import with_field_names
from .kernels.record_paths import joined, path_of, record_names, with_separate_fields

_ATTRIBUTES = ("shape", "ndim", "size", "dtype")


class Uses:
    """The uses of names in the functions of one program. Answers are cached. While a question is being answered,
    recursive queries get the bottom value."""

    def __init__(self) -> None:
        self._trees: dict[FunctionType, ast.FunctionDef | ast.AsyncFunctionDef] = {}
        self._field_names: dict[FunctionType, list[Binding]] = {}
        self._arrays: dict[tuple[FunctionType, str], bool] = {}
        self._fields: dict[tuple[FunctionType, str], frozenset[str]] = {}

    def tree(self, source: FunctionSource) -> ast.FunctionDef | ast.AsyncFunctionDef:
        """The function with fields of records separated (frontend/kernels/record_paths.py)."""
        if source.function not in self._trees:
            code = source.function.__code__
            tree = without_aliases(with_cases(source.written()), shapes=False)  # kernels lower shapes as tuples
            tree, numbers = with_chosen_arrays(tree)
            note_variables(source.function, numbers)
            scope = Scope(source.function)
            names = frozenset(code.co_varnames) | record_names(scope, code)
            tree, self._field_names[source.function] = with_field_names(tree, scope)
            self._trees[source.function] = with_separate_fields(tree, names)
        return self._trees[source.function]

    def field_names(self, source: FunctionSource) -> list[Binding]:
        """The objects outside the function whose texts are names of fields in its tree."""
        self.tree(source)
        return self._field_names[source.function]

    # ------------------------------------------------------------ arrays

    def takes_array(self, source: FunctionSource, name: str) -> bool:
        """Whether the function subscripts its variable, reads its shape, or passes it to a function that does, or
        whether the variable is annotated as an array."""
        key = source.function, name
        if key not in self._arrays:
            self._arrays[key] = False
            scope, tree = Scope(source.function), self.tree(source)
            declared = isinstance(annotations_of(source.function).get(name), BufferType)
            self._arrays[key] = declared or any(self._is_array_use(part, name, scope, source) for part in walk(tree))
        return self._arrays[key]

    def _is_array_use(self, part: ast.AST, name: str, scope: Scope, source: FunctionSource) -> bool:
        def is_it(node: ast.AST) -> bool:
            return isinstance(node, ast.Name) and node.id == name

        match part:
            case ast.Subscript(value=value):
                return is_it(value) and string_key(part) is None
            case ast.Attribute(value=value, attr=attr):
                return attr in _ATTRIBUTES and is_it(value)
            case ast.Assign(targets=[ast.Name(id=other)], value=value):
                values = (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)
                return any(map(is_it, values)) and other != name and self.takes_array(source, other)
            case ast.Call(func=func, args=arguments, keywords=words):
                called = _value(func, scope)
                if called is builtins.len or (isinstance(called, DeviceFunction) and called.name.startswith("atomic.")):
                    return bool(arguments) and is_it(arguments[0])
                if isinstance(called, np.ufunc) and len(arguments) == called.nin + 1:
                    return is_it(arguments[-1])  # the call stores to its last argument
                if isinstance(called, External):
                    kinds = dict(zip(called.parameters, called.types, strict=True))
                    given = [*zip(called.parameters, arguments, strict=False), *((k.arg, k.value) for k in words)]
                    return any(is_it(argument) and kinds.get(to or "", "").endswith("*") for to, argument in given)
                if isinstance(called, ForeignFunction):
                    pairs = zip(arguments, called.types, strict=False)
                    return any(is_it(argument) and kind.endswith("*") for argument, kind in pairs)
                return any(
                    is_it(node) and self.takes_array(callee, to) for callee, to, node in arguments_of(part, scope)
                )
        return False

    # ------------------------------------------------------------ records

    def fields(self, source: FunctionSource, name: str) -> frozenset[str]:
        """The fields that the function uses of its variable and of elements of it, also in functions that get these. A
        name for a nested record (``p = r[i].pos``) uses fields of that record."""
        key = source.function, name
        if key not in self._fields:
            self._fields[key] = frozenset()
            scope, tree = Scope(source.function), self.tree(source)
            found, names = set(), set()
            for value, inner in self._uses_of_records(tree, scope, source):
                path = path_of(value)
                if path is not None and path.root.id == name and inner:
                    found |= {joined(path.key, each) for each in inner}
                    names.add(path.key_node)
            for part in walk(tree):
                if isinstance(part, ast.Subscript) and part not in names and (own := string_key(part)) is not None:
                    found |= {own} if isinstance(part.value, ast.Name) and part.value.id == name else set()
            self._fields[key] = frozenset(found)
        return self._fields[key]

    def _uses_of_records(
        self, tree: ast.AST, scope: Scope, source: FunctionSource
    ) -> Iterator[tuple[ast.expr, frozenset[str]]]:
        """The expressions that are assigned to a name or passed to a function, with the fields used of them there."""
        for part in walk(tree):
            if isinstance(part, ast.Assign) and len(part.targets) == 1:
                for target, value in named(part.targets[0], part.value):
                    same = isinstance(value, ast.Name) and value.id == target.id
                    yield value, frozenset() if same else self.fields(source, target.id)
            elif isinstance(part, ast.Call):
                for callee, to, node in arguments_of(part, scope):
                    yield node, self.fields(callee, to)


def named(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.Name, ast.expr]]:
    """The names that an assignment assigns, each with its value."""
    if isinstance(value, ast.IfExp):
        yield from named(target, value.body)
        yield from named(target, value.orelse)
    elif isinstance(target, ast.Name):
        yield target, value
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for one, part in zip(target.elts, value.elts, strict=False):
            yield from named(one, part)


def arguments_of(call: ast.Call, scope: Scope) -> list[tuple[FunctionSource, str, ast.expr]]:
    """The arguments of a call of a jit function, with the function and the names of its parameters."""
    source = callable_source(_value(call.func, scope))
    if source is None:
        return []
    named = [(k.arg, k.value) for k in call.keywords if k.arg is not None]
    names = source.function.__code__.co_varnames
    return [(source, name, node) for name, node in [*zip(names, call.args, strict=False), *named]]


def _value(node: ast.expr, scope: Scope) -> Any:
    """The object outside the function that a name or a chain of attributes refers to; MISSING if local or undefined."""
    if isinstance(node, ast.Name):
        binding = None if node.id in scope.locals else scope.lookup(node.id)
        return MISSING if binding is None else binding.value
    if isinstance(node, ast.Attribute):
        return getattr(_value(node.value, scope), node.attr, MISSING)
    return MISSING
