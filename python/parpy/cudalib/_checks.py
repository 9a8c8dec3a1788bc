"""Checks of the arguments of cuBLAS's routines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays.libraries import library_of, shape_of
from ._operands import Columns, columns_of, vector_of
from ._places import host_view
from ._routines import NUMBERS, OPTIONS, SIZES, VECTORS, Routine, extents


def checked(name: str, row: Routine, arguments: Sequence[Any]) -> dict[str, Any]:
    if len(arguments) != len(row.arguments):
        raise TypeError(f"{name} takes {', '.join(row.arguments)}, not {len(arguments)} arguments")
    given = dict(zip(row.arguments, arguments, strict=True))
    for word, value in given.items():
        if word in OPTIONS:
            text = value.upper() if isinstance(value, str) else value
            if text not in OPTIONS[word]:
                raise ValueError(f"'{word}' is one of {', '.join(OPTIONS[word])}, not {value!r}")
            given[word] = text
        elif word in SIZES:
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value < 2**31:
                raise ValueError(f"'{word}' is a size from 0, not {value!r}")
            given[word] = int(value)
        elif word not in NUMBERS and library_of(value) is None:
            raise TypeError(f"'{word}' is an array, not an object of type {type(value).__name__}")
    return given


def checked_shapes(name: str, given: dict[str, Any], arrays: dict[str, Any]) -> dict[str, tuple[int, int]]:
    wanted = extents(name, given)
    for word, array in arrays.items():
        if word in VECTORS or word == "AP":
            _, size, step = vector_of(array, word)
            if size < wanted[word][0]:
                raise ValueError(f"'{word}' has {size} elements; {name} takes {wanted[word][0]}")
            if word == "AP" and step != 1:
                raise ValueError("the elements of a packed matrix follow each other")
        else:
            check_columns(word, columns_of(array, word), wanted[word])
    return wanted


def check_columns(word: str, found: Columns, wanted: tuple[int, int]) -> None:
    if found.rows < wanted[0] or found.columns < wanted[1]:
        order = "its transpose, as it is in C order, " if found.turned else ""
        raise ValueError(
            f"'{word}' is {order}{found.rows} x {found.columns} in Fortran order; "
            f"the call takes {wanted[0]} x {wanted[1]}"
        )


def batch(arrays: dict[str, Any]) -> int:
    counts = {word: shape_of(array)[0] for word, array in arrays.items() if len(shape_of(array)) == 3}
    if "C" not in counts or len(set(counts.values())) != 1:
        raise ValueError(
            f"'C' has three dimensions, and the first is the same for all arrays that have three: {counts}"
        )
    return int(counts["C"])


def same_size(x: Any, y: Any = None) -> None:
    if y is not None and shape_of(x) != shape_of(y):
        raise ValueError(f"'x' and 'y' have the same size, not {tuple(shape_of(x))} and {tuple(shape_of(y))}")


def checked_vector(x: Any) -> Any:
    found = host_view(x)
    if found.ndim != 1:
        raise ValueError(f"a vector has one dimension, not the shape {found.shape}")
    return found
