"""Resolves the names of a function: functions, objects outside of it, and arrays."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from ..calls.errors import CompileError
from ..calls.external import External
from ..frontend.uses import Uses, arguments_of
from ..syntax.annotations import annotations_of
from ..syntax.fields import OF_VALUES
from ..syntax.lazy import lazy
from ..syntax.names import NO_PLACE, Binding, Scope, attribute, callable_source, is_array
from ..syntax.nested_source import definitions, link, nested_source, own_nodes
from ..syntax.patterns import names_in, root_of, string_key
from ..syntax.source import FunctionSource
from ..types import BufferType
from .places import named_values, row_of

_ALLOCATORS = {
    *(kind + like for kind in ("empty", "zeros", "ones", "full") for like in ("", "_like")),
    *("arange", "linspace", "eye", "identity", "copy", "ndarray"),
}  # fmt: skip
_LIBRARIES = ("numpy", "torch", "cupy", "parpy")


class Lookup:
    """The meanings of the names of one function."""

    def __init__(self, source: FunctionSource, rows: Iterable[tuple[str, int]] = ()) -> None:
        """`rows` are the parameters that are arrays of which parts are returned, with their dimensions."""
        self._rows = dict(rows)
        self.function = source.function
        self.scope = Scope(source.function)
        self._source = source
        self._uses = Uses()
        self._arrays: frozenset[str] | None = None
        self._spaces: dict[type, Any] = {}

    def find(self, node: ast.expr) -> Binding | None:
        if isinstance(node, ast.Name):
            local = node.id in self.scope.locals
            found = self._nested.get(node.id) if local else self.scope.lookup(node.id)
        elif isinstance(node, ast.Attribute):
            owner = self.find(node.value)
            found = None if owner is None else attribute(owner.value, node.attr, self._spaces)
        else:
            found = None
        return found

    def rely_on(self, node: ast.expr, binding: Binding) -> None:
        """Adds a guard for the object that the node refers to. A method is a new object at each access, so that the
        guard is one for its owner."""
        if binding.container is not NO_PLACE:
            self.scope.rely_on(binding)
        elif isinstance(node, ast.Attribute) and (owner := self.find(node.value)) is not None:
            self.rely_on(node.value, owner)

    @lazy
    def _nested(self) -> dict[str, Binding]:
        """The nested functions that names refer to."""
        functions = {
            name: nested_source(self._source, self.scope.locals, node, name).function
            for name, _, node in definitions(self._source.tree(), self.nodes)
        }
        link(functions)
        return {name: Binding(function, NO_PLACE, name) for name, function in functions.items()}

    @lazy
    def nodes(self) -> list[ast.AST]:
        """Every node of the function, without those of nested functions."""
        return list(own_nodes(self._source.tree()))

    def moved(self, value: ast.expr) -> ast.expr | None:
        """The x of x.T, x.reshape(n, m), np.ravel(x) and similar expressions, which may be aliases of x."""
        if isinstance(value, ast.Attribute):
            of_array = value.attr == "T" or (
                value.attr in ("real", "imag") and root_of(value.value) in self.plain_arrays
            )
            return value.value if of_array else None
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
            return None
        if self.is_row(value):
            return value.args[0]
        binding = self.find(value.func)
        if binding is not None:
            known = any(binding.value is each for each in (np.transpose, np.reshape, np.ravel, np.expand_dims))
            return value.args[0] if known and value.args else None
        return value.func.value if value.func.attr in ("transpose", "reshape", "ravel") else None

    def is_row(self, node: ast.expr) -> bool:
        """Whether the node is a row or another part of an array in `rows`, or its real parts."""
        row = row_of(node)
        return row is not None and row[1] < self._rows.get(row[0], 0)

    @lazy
    def objects(self) -> frozenset[str]:
        """The variables with reads of attributes that neither arrays nor numbers have."""
        parts = (part for part in self.nodes if isinstance(part, ast.Attribute) and part.attr not in OF_VALUES)
        return frozenset(root_of(part.value) for part in parts)

    @lazy
    def plain_arrays(self) -> frozenset[str]:
        """The variables that are used as arrays and not as objects."""
        return self.arrays() - self.objects

    @lazy
    def parameters(self) -> tuple[str, ...]:
        code = self.function.__code__
        return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @lazy
    def returned(self) -> frozenset[str]:
        """The names in the values that the function returns."""
        values = [part.value for part in self.nodes if isinstance(part, ast.Return) and part.value is not None]
        return frozenset(names_in(*values))

    def arrays(self) -> frozenset[str]:
        """The variables that are used as arrays and their aliases; entries of dicts in the form `d['x']`."""
        if self._arrays is None:
            annotations = annotations_of(self.function)
            found = {name for name, each in annotations.items() if isinstance(each, BufferType)}
            same: dict[str, set[str]] = {}  # the aliases of each name
            tuples: set[str] = set()
            for part in self.nodes:
                found |= {place for node in self._array_uses(part) if (place := self.place(node)) is not None}
                if not isinstance(part, ast.Assign | ast.AnnAssign):
                    continue
                for name, value in named_values(part):
                    if isinstance(value, ast.Tuple | ast.List):
                        tuples.add(name)  # the frontend refuses it
                    if self.is_captured_array(value) or self.is_allocation(value):
                        found.add(name)
                    of_array = isinstance(value, ast.Attribute) and value.attr in ("real", "imag")
                    names = {name, self.place(value.value if of_array else value) or name}  # type: ignore[attr-defined]
                    joined = names.union(*(same.get(each, ()) for each in names))
                    same |= dict.fromkeys(joined, joined)
            tuples = tuples.union(*(same.get(name, ()) for name in tuples))
            self._arrays = frozenset(found.union(*(same.get(name, ()) for name in found)) - tuples)
        return self._arrays

    def _array_uses(self, part: ast.AST) -> Iterator[ast.expr]:
        """The expressions that one node of the tree uses as arrays, in a way that numbers cannot be used."""
        match part:
            case ast.Subscript(value=value) if string_key(part) is None:
                yield value
            case ast.Attribute(value=value, attr="shape" | "ndim" | "size" | "T"):
                yield value
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                yield from (left, right)
            case ast.Call() if (moved := self.moved(part)) is not None:
                yield moved
            case ast.Call(func=func, args=arguments) if arguments:
                binding = self.find(func)
                called = None if binding is None else binding.value
                counts = any(called is each for each in (len, np.shape, np.size, np.ndim))
                if counts or (self.is_allocation(part) and ast.unparse(func).endswith("_like")):
                    yield arguments[0]
                elif isinstance(called, External):
                    pairs = zip(arguments, called.types, strict=False)
                    yield from (node for node, kind in pairs if kind.endswith("*"))
                elif callable_source(called) is not None:
                    for source, name, node in arguments_of(part, self.scope):
                        if self._takes_array(source, name):
                            yield node

    def _takes_array(self, source: FunctionSource, name: str) -> bool:
        try:
            taken = self._uses.takes_array(source, name)
        except CompileError:
            return False  # the error is reported when the function is compiled
        return taken or isinstance(annotations_of(source.function).get(name), BufferType)

    def place(self, node: ast.expr) -> str | None:
        """The text of a local variable or an entry of a dict; None for other expressions."""
        root = node.value if isinstance(node, ast.Subscript) and string_key(node) is not None else node
        return ast.unparse(node) if isinstance(root, ast.Name) and root.id in self.scope.locals else None

    def is_captured_array(self, node: ast.expr) -> bool:
        binding = self.find(node)
        return binding is not None and is_array(binding.value) and getattr(binding.value, "shape", None) != ()

    def is_allocation(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute) and node.func.attr in _ALLOCATORS:
            owner = self.find(node.func.value)
            module = owner.value if owner is not None else None
            return isinstance(module, ModuleType) and module.__name__.partition(".")[0] in _LIBRARIES
        binding = self.find(node.func)
        return binding is not None and any(binding.value is getattr(np, name) for name in _ALLOCATORS)
