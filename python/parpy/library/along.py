"""Functions of NumPy that take an axis of a matrix: one text for all of them, which calls the function of a vector
(arrays.py) for each row, or each column."""

from __future__ import annotations

from typing import Any

from .texts import function_of

# What holds the results, for matrices: of so many `rows` a number each, or as many as there are elements.
_OF_NUMBERS = {
    "argmax": "np.empty({rows}, dtype=np.int64)",
    "argmin": "np.empty({rows}, dtype=np.int64)",
    "median": "np.full({rows}, np.sum(a[:0]) / 1)",
}
_OF_ROWS = {
    "argsort": "np.empty(a.shape, dtype=np.int64)",
    "cumprod": "np.full(a.shape, np.prod(a[:0]))",
    "cumsum": "np.full(a.shape, np.sum(a[:0]))",
    "sort": "np.empty_like(a)",
}
_TEXT = """def {name}_along(a, axis):
    if a.ndim == 1:
        if axis != 0 and axis != -1:
            raise ValueError("{bounds}")
        found = np.{name}(a)
    elif a.ndim != 2:
        builtin.static_fail("np.{name} takes an axis of one or two dimensions here: loop over the others")
    elif axis == 0 or axis == -2:
        found = {columns}
        for i in range(a.shape[1]):
            found[{column}] = np.{name}(a[:, i])
    else:
        if axis != 1 and axis != -1:
            raise ValueError("{bounds}")
        found = {rows}
        for i in range(a.shape[0]):
            found[i] = np.{name}(a[i])
    return found
"""


def along(name: str) -> Any:
    """The function np.`name` of an array and an axis."""
    made = _OF_NUMBERS.get(name) or _OF_ROWS[name]
    text = _TEXT.format(
        name=name,
        bounds=f"the axis of np.{name} is out of bounds",
        columns=made.format(rows="a.shape[1]"),
        rows=made.format(rows="a.shape[0]"),
        column="i" if name in _OF_NUMBERS else ":, i",
    )
    return function_of(text, f"{name}_along", f"<np.{name}>")
