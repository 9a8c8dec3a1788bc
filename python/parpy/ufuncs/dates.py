"""Calls with dates and durations on a device, by a function of integers for each combination of types."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arrays.libraries import dtype_of, is_number, library_of, with_type
from ..calls.options import CompileOptions
from ..dates.operations import Value, converted, helpers, is_date
from ..library.texts import function_of
from ..syntax.names import source_of
from .element_kernels import Operand, elementwise

_INTEGER = np.dtype(np.int64)


def are_dates(types: Sequence[Any]) -> bool:
    """Whether some of NumPy's types are dates or durations."""
    return any(map(is_date, types))


def as_integers(value: Any, kind: np.dtype[Any], options: CompileOptions, stream: Any) -> Any:
    """An operand of this type as integers, or unchanged if the type is one of numbers. Arrays on a device share their
    memory if they have the type."""
    if not is_date(kind):
        return value
    if is_number(value):
        return np.asarray(value).astype(kind).view(_INTEGER)[()]
    given = dtype_of(value)
    if given == kind:
        return value.view(_INTEGER)
    library = library_of(value)
    if library is None or not library.on_device:
        return np.asarray(value).astype(kind).view(_INTEGER)
    read = value.view(_INTEGER) if is_date(given) else with_type(value, _INTEGER, stream)
    if not is_date(given):
        return read
    made = library.empty(tuple(value.shape), _INTEGER, value, stream)
    if 0 not in value.shape:
        _conversion(str(given), str(kind), value.ndim)(read, made, opts=options)
    return made


@functools.cache
def _conversion(given: str, wanted: str, rank: int) -> Any:
    """A function that converts the elements of an array to another unit."""
    node = converted(Value(ast.Name("a", ast.Load()), np.dtype(given)), np.dtype(wanted))
    text = f"def in_other_units(a):\n    return {ast.unparse(node)}\n"
    source = source_of(function_of(text, "in_other_units", "<units of dates>", **helpers()))
    return elementwise(source, [Operand(tuple(range(rank)), "")], 1, rank, None)


def with_dates(
    call: Callable[[list[Any], list[Any]], Any],
    inputs: Sequence[Any],
    outs: Sequence[Any],
    types: Sequence[Any],
    options: CompileOptions,
    stream: Any,
) -> Any:
    """The results of ``call(inputs, outs)``, which gets integers in place of dates and durations. Outputs of another
    unit than that of the loop get their elements after the loop."""
    given = [as_integers(each, kind, options, stream) for each, kind in zip(inputs, types, strict=False)]
    kinds = types[len(inputs) :]
    direct = [None if each is None or dtype_of(each) != kind else each for each, kind in zip(outs, kinds, strict=True)]
    stored = [
        each if each is None or not is_date(kind) else each.view(_INTEGER)
        for each, kind in zip(direct, kinds, strict=True)
    ]
    found = call(given, stored)
    results = []
    for result, kind, out, same in zip(found if len(kinds) > 1 else (found,), kinds, outs, direct, strict=True):
        made = result.view(kind) if is_date(kind) else result
        if out is not None and same is None:
            out[...] = as_integers(made, dtype_of(out), options, stream).view(dtype_of(out))
        results.append(made if out is None else out)
    return results[0] if len(results) == 1 else tuple(results)


def reduced(method: Callable[..., Any], array: Any, types: Sequence[Any], options: CompileOptions, more: Any) -> Any:
    """The result of a method that reduces an array of dates or durations: ``method(integers, **more)``."""
    if len(set(types)) != 1:
        raise TypeError(f"a reduction needs results of the type of the operands, not ({', '.join(map(str, types))})")
    kind = types[0]
    stream, out = more.get("stream"), more.pop("out", None)
    if more.pop("dtype", None) not in (None, kind):
        raise TypeError("a reduction of dates or durations takes no 'dtype'")
    if more.get("initial", None) not in (None, np._NoValue):
        more["initial"] = as_integers(more["initial"], kind, options, stream)
    out = out[0] if isinstance(out, tuple) else out
    if out is not None and dtype_of(out) != kind:
        raise TypeError(f"an output of this reduction is an array of {kind}, not of {dtype_of(out)}")
    if out is not None:
        more["out"] = out.view(_INTEGER)
    found = method(as_integers(array, kind, options, stream), **more)
    return found.view(kind) if out is None else out
