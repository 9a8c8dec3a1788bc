"""`x.item()`, `x.item(k)` and `x.item(i, j)`, Python's number for an element, as functions of the language."""

from __future__ import annotations

import functools
from typing import Any

from .texts import function_of

_FLOATS = ("np.float16", "np.float32", "np.float64")
_COMPLEX = ("np.complex64", "np.complex128")

_ONLY = """
    if a.ndim == 0:
        v = a
    else:
        x = np.ravel(a)
        if x.shape[0] != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        v = x[0]
"""
_BY_PLACE = """
    if a.ndim == 1:
        v = a[k]
    elif a.ndim == 2:
        v = a[k // a.shape[1], k % a.shape[1]]
    elif a.ndim == 3:
        v = a[k // (a.shape[1] * a.shape[2]), k // a.shape[2] % a.shape[1], k % a.shape[2]]
    else:
        builtin.static_fail("the method item takes arrays of one to three dimensions here")
"""
_BY_SUBSCRIPTS = """
    if a.ndim != {count}:
        builtin.static_fail("the method item takes a subscript for each dimension")
    v = a[{names}]
"""


@functools.cache
def item(count: int) -> Any:
    """The method with this number of arguments."""
    names = ["k"] if count == 1 else [f"k{number}" for number in range(count)]
    found = _ONLY if count == 0 else _BY_PLACE if count == 1 else _BY_SUBSCRIPTS
    text = f"def item({', '.join(['a', *names])}):"
    text += found.format(count=count, names=", ".join(names))
    text += _returns("float", _FLOATS) + _returns("complex", _COMPLEX) + _returns("bool", ("np.bool_",))
    return function_of(text + "    return int(v)\n", "item", "<item>")


def _returns(python: str, types: tuple[str, ...]) -> str:
    asked = " or ".join(f"builtin.static_types_eq(a.dtype, {each})" for each in types)
    return f"    if {asked}:\n        return {python}(v)\n"
