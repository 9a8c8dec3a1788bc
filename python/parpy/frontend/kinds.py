"""What kernels know of arrays before types are inferred: how many dimensions they have, and which are records.

A kernel is parsed once for all arguments. Where its text depends on their kinds (`s = x.shape`, `r[i] = s[j]`) it says
so (`Program.asks_all`), and is parsed anew for each combination of them, with `Program.knows_all`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _native
from ..syntax.names import Binding, read
from .record_paths import place_type
from .scope import FunctionScope


def array_rank(fn: FunctionScope, array: _native.Var) -> int | None:
    """How many dimensions an array has; None if that is not known."""
    scope: FunctionScope | None = fn
    while scope is not None:
        if array in scope.ranks:
            return scope.ranks[array]
        if (found := _own_rank(scope, array)) is not None:
            return found
        scope = scope.caller
    return None


def _own_rank(fn: FunctionScope, array: _native.Var) -> int | None:
    for name, var in fn.variables.items():
        if var is array and (kind := fn.kind_of(name)) is not None:
            return kind.ndim
    for name, entries in fn.dict_params.items():
        keys = [key for key, var in entries.entries.items() if var is array]
        kind = fn.kind_of(name)
        if keys and kind is not None and isinstance(kind.element, np.dtype):
            found = place_type(kind.element, keys[0])
            return None if found is None else kind.ndim + len(found[1])
    for capture, var in fn.captures.values():
        if var is array:
            value = read(capture.container, capture.key)
            fn.scope.rely_on(Binding(value, capture.container, capture.key))
            return ndim_of(value)
    return None


def ndim_of(array: Any) -> int:
    """How many dimensions an array outside of the function has."""
    return int(array.ndim) if hasattr(array, "ndim") else int(np.ndim(array))
