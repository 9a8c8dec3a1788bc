"""The kinds of arguments for kernels whose parsing depends on them: the type of the elements (numbers or records) and
the number of dimensions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...frontend.forms import Kind
from ...frontend.kernels.record_paths import Leaf, field, leaves
from ...vocabulary.operators import scalar_name


def kind_of(argument: Any) -> Kind | None:
    """The kind of an argument of a launch; None if the kind is unknown."""
    if isinstance(argument, bool | int | float | complex):
        return Kind("", 0)
    found, rank = getattr(argument, "dtype", None), getattr(argument, "ndim", 0)
    if isinstance(found, np.dtype) and found.names is not None:
        return Kind(found, rank)
    shown = str("" if found is None else found).removeprefix("torch.")
    try:
        known = "bf16" if shown == "bfloat16" else scalar_name(np.dtype(shown).newbyteorder("=")) if shown else None
    except TypeError:
        known = None
    if known is None and found is None and hasattr(argument, "__array__"):
        return kind_of(np.asarray(argument))
    return None if known is None else Kind(known, rank)


def has_records(argument: Any) -> bool:
    """Whether an argument is an array of records or a single record."""
    found = getattr(argument, "dtype", None)
    return isinstance(found, np.dtype) and found.names is not None


class Fields(dict[str, Any]):
    """The fields of nested records by key, as a dict. A missing field raises ValueError, as in NumPy."""

    class _Type:
        def __init__(self, names: tuple[str, ...]) -> None:
            self.names = names

    def __init__(self, records: Any, keys: list[str]) -> None:
        self.records = records
        self._leaves: list[Leaf] = leaves(records.dtype) if has_records(records) else []
        known = {leaf.key for leaf in self._leaves}
        super().__init__({key: field(records, key) for key in keys if key in known or not known})

    @property
    def dtype(self) -> _Type:
        return self._Type(tuple(leaf.key for leaf in self._leaves))

    def __missing__(self, key: str) -> Any:
        raise ValueError(f"no field of name {key}")
