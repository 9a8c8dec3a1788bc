"""Facts about the type of an array or a number, such as `np.finfo(x.dtype).eps`, as functions of the language."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..vocabulary.operators import DTYPE_OF
from .texts import function_of

_ASKED: dict[Any, tuple[str, str]] = {np.finfo: ("finfo", "floats"), np.iinfo: ("iinfo", "integers")}


@functools.cache
def limit(asked: Any, attribute: str) -> Any:
    """`lambda a: asked(a.dtype).attribute`, where `asked` is np.finfo or np.iinfo; None if no type has such a
    number."""
    name, numbers = _ASKED[asked]
    lines = []
    for dtype in DTYPE_OF.values():
        try:
            value = getattr(asked(dtype), attribute)
        except (AttributeError, TypeError, ValueError):
            continue
        if isinstance(value, np.generic):
            text = f"np.{value.dtype}({value.item()!r})"
        elif isinstance(value, int) and abs(value) < 2**63:
            text = repr(value)
        else:
            continue
        lines.append(f"    if builtin.static_types_eq(a.dtype, np.{_of_numpy(dtype)}):\n        return {text}\n")
    if not lines:
        return None
    asks = f"np.{name}(…).{attribute}"
    lines.append(f"    builtin.static_fail('{asks} takes the type of an array of {numbers} here')\n")
    return function_of(f"def {attribute}(a):\n" + "".join(lines), attribute, f"<np.{name}>")


@functools.cache
def instance(
    yes: tuple[str, ...],
    pythons: tuple[str, ...],
    numpys: tuple[str, ...],
    of_arrays: bool,
    is_clear: bool,
    asked: str,
) -> Any:
    """`lambda v: isinstance(v, …)`, which is true for numbers of the types `yes`, for Python's numbers of the types
    `pythons`, for NumPy's of the types `numpys`, and for arrays if `of_arrays`. Python's numbers are weak: their sum
    with an element of a small type has the small type. Other numbers may be Python's as well unless `is_clear`;
    messages show the call as `asked`."""
    lines = [f"def is_instance(v):\n    if v.ndim != 0:\n        return {of_arrays}\n"]
    for scalar in yes:
        lines.append(f"    {_is_of(scalar)}:\n        return True\n")
    for scalar in (*pythons, *numpys):
        lines.append(f"    {_is_of(scalar)}:\n")
        if scalar != "bool":
            small = "complex64" if scalar == "c128" else "float32"
            lines.append(
                f"        w = v + np.{small}(0)\n"
                f"        if builtin.static_types_eq(w.dtype, np.{small}):\n"
                f"            return {scalar in pythons}\n"
            )
        message = f"{asked} is true only for NumPy's or only for Python's numbers, and this may be either; name both "
        fails = f"builtin.static_fail({message + '(int, np.integer)'!r})"
        lines.append(f"        {f'return {scalar in numpys}' if is_clear and scalar != 'bool' else fails}\n")
    return function_of("".join(lines) + "    return False\n", "is_instance", "<isinstance>")


@functools.cache
def refusal(message: str) -> Any:
    """The function of one value that compiled code refuses to call, with this message. Python is not asked to call it
    either, as it is for functions of the library."""
    text = f"def refused(v):\n    builtin.static_fail({message!r})\n    return v\n"
    return function_of(text, "refused", "<refused>", __name__="refused")


def _is_of(scalar: str) -> str:
    return f"if builtin.static_types_eq(v.dtype, np.{_of_numpy(DTYPE_OF[scalar])})"


def _of_numpy(dtype: str) -> str:
    return "bool_" if dtype == "bool" else dtype
