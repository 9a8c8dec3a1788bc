"""Checks the operands of a universal function on a device before a call, with NumPy's errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays.libraries import dtype_of, is_number, library_of


def outputs_of(name: str, inputs: int, outputs: int, arguments: Sequence[Any], out: Any) -> list[Any]:
    """The arrays that a call with so many operands stores to; None for those that it makes. Raises TypeError and
    ValueError as ``numpy.ufunc`` does."""
    if not inputs <= len(arguments) <= inputs + outputs:
        raise TypeError(
            f"{name}() takes from {inputs} to {inputs + outputs} positional arguments but {len(arguments)} were given"
        )
    given = list(arguments[inputs:])
    if out is not None:
        if given:
            raise TypeError("cannot specify 'out' as both a positional and keyword argument")
        given = list(out) if isinstance(out, tuple) else [out]
        if isinstance(out, tuple) and len(given) != outputs:
            raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
    given += [None] * (outputs - len(given))
    for each in given:
        if each is not None and library_of(each) is None:
            raise TypeError("return arrays must be of ArrayType")
    return given


def resolved_types(
    host: np.ufunc, inputs: Sequence[Any], outs: Sequence[Any], casting: str, dtype: Any, signature: Any = None
) -> Any:
    """The types of the loop of ``host`` that these operands take."""
    given = [_type_for_numpy(each) for each in inputs]
    stored = [None if each is None else dtype_of(each) for each in outs]
    if dtype is not None:
        if signature is not None:
            raise TypeError("cannot specify both 'signature' and 'dtype'")
        signature = (None,) * len(inputs) + (np.dtype(dtype),) * len(outs)
    more = {} if signature is None else {"signature": signature}
    return host.resolve_dtypes((*given, *stored), casting=casting, **more)  # type: ignore[arg-type]


def _type_for_numpy(value: Any) -> Any:
    """What ``resolve_dtypes`` knows an operand by."""
    if type(value) in (int, float, complex):
        return type(value)
    return np.asarray(value).dtype if is_number(value) else dtype_of(value)
