"""What kernels know of arrays before types are inferred: how many dimensions they have, and which are records.

A kernel is parsed once for all arguments. Where its text depends on their kinds (`s = x.shape`, `r[i] = s[j]`) it says
so (`Program.asks_all`), and is parsed anew for each combination of them, with `Program.knows_all`.
"""

from __future__ import annotations

import ast

import numpy as np

from .. import _native
from ..syntax.names import Binding, read
from .arrays import Arrays
from .record_paths import place_type
from .scope import FunctionScope, Kind


class Kinds(Arrays):
    """Kinds of arrays in one function."""

    def want_kinds(self, node: ast.AST) -> None:
        """The kernel cannot be parsed without the kinds of its arguments. Where they are known, what is missing here is
        no argument's."""
        self.program.asks_all = True
        self.error("P026", node, "how many dimensions this has, or which fields, is not known here", "write it out")

    def kind_of(self, name: str) -> Kind | None:
        """The kind of a parameter of the kernel."""
        return self.program.known.get(name) if self.entry and name in self.parameters else None

    def array_rank(self, array: _native.Var) -> int | None:
        """How many dimensions an array has; None if that is not known."""
        scope: FunctionScope | None = self
        while scope is not None:
            if array in scope.ranks:
                return scope.ranks[array]
            if isinstance(scope, Kinds) and (found := scope._own_rank(array)) is not None:
                return found
            scope = scope.caller
        return None

    def _own_rank(self, array: _native.Var) -> int | None:
        for name, var in self.variables.items():
            if var is array and (kind := self.kind_of(name)) is not None:
                return kind.ndim
        for name, entries in self.dict_params.items():
            keys = [key for key, var in entries.entries.items() if var is array]
            kind = self.kind_of(name)
            if keys and kind is not None and isinstance(kind.element, np.dtype):
                found = place_type(kind.element, keys[0])
                return None if found is None else kind.ndim + len(found[1])
        for capture, var in self.captures.values():
            if var is array:
                value = read(capture.container, capture.key)
                self.scope.rely_on(Binding(value, capture.container, capture.key))
                return int(np.ndim(value)) if not hasattr(value, "ndim") else int(value.ndim)
        return None
