"""Which parts of a function Python runs: allocation, callbacks, other names for arrays, functions with such parts."""

from __future__ import annotations

import ast
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from . import _operators
from ._callback import Callback
from ._errors import CompileError
from ._liveness import assigned
from ._names import Binding, Scope, attribute, jit_source
from ._source import FunctionSource

_ALLOCATORS = {
    *(kind + like for kind in ("empty", "zeros", "ones", "full") for like in ("", "_like")),
    *("arange", "linspace", "eye", "identity", "copy"),
}  # fmt: skip
_LIBRARIES = ("numpy", "torch", "cupy", "parpy")


def needs_driver(source: FunctionSource, resolver: Resolver, called: bool) -> bool:
    """`called`: by another jit function, which a parameter that is returned does not keep from compiling."""
    node = source.tree()
    made = {
        name
        for part in ast.walk(node)
        if isinstance(part, ast.Assign | ast.AnnAssign) and part.value is not None and resolver.is_python(part.value)
        for name in assigned([part])
    }
    arguments = {a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    arguments -= assigned(node.body)
    for part in ast.walk(node):
        if isinstance(part, ast.Return) and part.value is not None:
            elements = part.value.elts if isinstance(part.value, ast.Tuple) else [part.value]
            if resolver.is_python(part.value) or (
                not called and any(isinstance(e, ast.Name) and e.id in arguments | made for e in elements)
            ):
                return True
        elif (isinstance(part, ast.Expr) and resolver.is_python(part.value)) or (
            isinstance(part, ast.Assign) and resolver.renames(part)
        ):
            return True
    return bool(made)


# Functions that are being looked at: those that call themselves end there.
_open: set[FunctionType] = set()


class Resolver:
    """What the calls of a function call."""

    def __init__(self, source: FunctionSource) -> None:
        self.function = source.function
        self.scope = Scope(source.function)
        self._source = source
        self._arrays: set[str] | None = None
        self._drivers: dict[FunctionType, bool] = {}
        self._spaces: dict[type, Any] = {}

    def find(self, node: ast.expr) -> Binding | None:
        if isinstance(node, ast.Name):
            found = None if node.id in self.scope.locals else self.scope.lookup(node.id)
        elif isinstance(node, ast.Attribute):
            owner = self.find(node.value)
            found = None if owner is None else attribute(owner.value, node.attr, self._spaces)
        else:
            found = None
        return found

    def is_python(self, node: ast.AST) -> bool:
        """Whether something in `node` is a call that Python makes, or gives an array another name."""
        return any(
            (isinstance(part, ast.Call) and self._calls_python(part))
            or (isinstance(part, ast.Assign) and self.renames(part))
            for part in ast.walk(node)
        )

    def renames(self, node: ast.Assign) -> bool:
        """Whether the statement gives an array another name: `src = a`, `a, b = b, a`."""
        return any(set(values) & self._array_names() for _, values in _renamed(node))

    def _array_names(self) -> set[str]:
        """Variables with subscripts, and what they are called besides."""
        if self._arrays is None:
            found, pairs = set(), []
            for part in ast.walk(self._source.tree()):
                if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name):
                    if not (isinstance(part.slice, ast.Constant) and isinstance(part.slice.value, str)):
                        found.add(part.value.id)
                elif isinstance(part, ast.Assign):
                    pairs += [{target, *values} for target, values in _renamed(part) if values]
            for _ in pairs:
                for names in pairs:
                    if names & found:
                        found |= names
            self._arrays = found & self.scope.locals
        return self._arrays

    def _calls_python(self, call: ast.Call) -> bool:
        binding = self.find(call.func)
        if binding is None:
            return False
        value = binding.value
        if isinstance(value, Callback) or self.has_driver(value):
            self.scope.rely_on(binding)
            return True
        if isinstance(call.func, ast.Attribute) and call.func.attr in _ALLOCATORS:
            owner = self.find(call.func.value)
            module = owner.value if owner is not None else None
            return isinstance(module, ModuleType) and module.__name__.partition(".")[0] in _LIBRARIES
        return any(value is getattr(np, name) for name in _ALLOCATORS)

    def has_driver(self, value: object) -> bool:
        """Whether it is a jit function of which Python runs a part."""
        source = jit_source(value)
        if source is None or source.function in _open or source.function is self.function:
            return False
        known = self._drivers.get(source.function)
        if known is None:
            _open.add(source.function)
            try:
                known = needs_driver(source, Resolver(source), called=True)
            except CompileError:
                known = False  # reported where it is compiled
            finally:
                _open.discard(source.function)
            self._drivers[source.function] = known
        return known

    def is_label(self, node: ast.stmt) -> bool:
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            return False
        binding = self.find(node.value.func)
        return binding is not None and binding.value is _operators.label


def _renamed(node: ast.Assign) -> list[tuple[str, list[str]]]:
    """The names to which an assignment gives the value of other names, and these."""
    found = []
    for target in node.targets:
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=False))
        for name, value in pairs:
            values = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
            if isinstance(name, ast.Name):
                found.append((name.id, [each.id for each in values if isinstance(each, ast.Name)]))
    return found
