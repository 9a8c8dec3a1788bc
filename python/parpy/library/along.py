"""NumPy functions that are generated from one text: functions with an axis of a matrix, which call the function of a
vector (arrays.py) for each row or column, and updates such as `np.add.at`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..syntax.names import keep_source
from ..syntax.source import capture
from . import arrays
from .texts import function_of

# The arrays for the results of a matrix: one number for each of `rows` rows, or as many numbers as there are elements.
_OF_NUMBERS = {
    "argmax": "np.empty({rows}, dtype=np.int64)",
    "argmin": "np.empty({rows}, dtype=np.int64)",
    "median": "np.full({rows}, np.sum(a[:0]) / 1)",
}
_OF_ROWS = {
    "argsort": "np.empty(a.shape, dtype=np.int64)",
    "cumprod": "np.full(a.shape, np.prod(a[:0]))",
    "cumsum": "np.full(a.shape, np.sum(a[:0]))",
    "running_maximum": "np.empty_like(a)",
    "running_minimum": "np.empty_like(a)",
    "sort": "np.empty_like(a)",
}
_TEXT = """def {name}_along(a, axis{default}):
    if a.ndim == 1:
        if axis != 0 and axis != -1:
            raise np.exceptions.AxisError("{bounds}")
        found = {each}(a)
    elif a.ndim != 2:
        builtin.static_fail("{shown} takes an axis of one or two dimensions here: loop over the others")
    elif axis == 0 or axis == -2:
        found = {columns}
        for i in range(a.shape[1]):
            found[{column}] = {each}(a[:, i])
    else:
        if axis != 1 and axis != -1:
            raise np.exceptions.AxisError("{bounds}")
        found = {rows}
        for i in range(a.shape[0]):
            found[i] = {each}(a[i])
    return found
"""


@functools.cache
def along(name: str, shown: str = "") -> Any:
    """The implementation of np.`name` with an axis. With `shown`, it is that of `name` in arrays.py, which is no name
    in NumPy: messages call it `shown`, and its default axis is 0."""
    made = _OF_NUMBERS.get(name) or _OF_ROWS[name]
    text = _TEXT.format(
        name=name,
        default="=0" if shown else "",
        each=f"np.{name}" if hasattr(np, name) else name,
        shown=shown or f"np.{name}",
        bounds=f"the axis of {shown or f'np.{name}'} is out of bounds",
        columns=made.format(rows="a.shape[1]"),
        rows=made.format(rows="a.shape[0]"),
        column="i" if name in _OF_NUMBERS else ":, i",
    )
    used = {} if hasattr(np, name) else {name: getattr(arrays, name)}
    for each in used.values():
        keep_source(each, capture(each))
    return function_of(text, f"{name}_along", f"<np.{name}>", **used)


_UPDATE = """def {name}_at(a, {indices}, b):
    if {ranks}:
        builtin.static_fail("np.{name}.at takes arrays of subscripts of one length here")
    elif {first}.ndim == 0:
        a[{indices}] = np.{name}(a[{indices}], b)
    elif {first}.ndim != 1:
        builtin.static_fail("np.{name}.at takes subscripts of one dimension here: take np.ravel of them")
    else:
        if builtin.static_types_eq({first}.dtype, np.bool_):
            builtin.static_fail("np.{name}.at takes no masks here: write a[m] = np.{name}(a[m], b)")
        if {lengths}:
            raise IndexError("shape mismatch: indexing arrays could not be broadcast together")
        if b.ndim == a.ndim - {others}:
            if b.shape[0] != {first}.shape[0]:
                raise ValueError("np.{name}.at takes as many values as subscripts here")
            for i in range({first}.shape[0]):
                a[{elements}] {update}
        else:
            for i in range({first}.shape[0]):
                a[{elements}] {update_by_one}
"""
_OPERATORS = {"add": "+=", "subtract": "-=", "multiply": "*="}


@functools.cache
def at(name: str, count: int) -> Any:
    """The implementation of np.`name`.at for `count` arrays of subscripts."""
    names = [f"k{number}" for number in range(count)]
    elements = ", ".join(f"{each}[i]" for each in names)

    def updated(value: str) -> str:
        operator = _OPERATORS.get(name)
        return f"= np.{name}(a[{elements}], {value})" if operator is None else f"{operator} {value}"

    text = _UPDATE.format(
        name=name,
        first=names[0],
        indices=", ".join(names),
        ranks=" or ".join([f"{each}.ndim != k0.ndim" for each in names[1:]] or ["False"]),
        lengths=" or ".join([f"{each}.shape[0] != k0.shape[0]" for each in names[1:]] or ["False"]),
        others=count - 1,
        elements=elements,
        update=updated("b[i]"),
        update_by_one=updated("b"),
    )
    return function_of(text, f"{name}_at", f"<np.{name}.at>")
