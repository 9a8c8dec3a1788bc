"""The common part of universal functions on a device: their attributes, and the checks of operands before a call, which
raise NumPy's errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arrays.libraries import HOST, dtype_of, is_number, is_on_device, is_read_only, library_of
from ..calls.pickling import ByReference
from .targets import DeviceOptions, Target


class OnDevice(ByReference):
    """A universal function whose calls run on a device. `host` is NumPy's ufunc of the same function."""

    def __init__(self, name: str, host: Any, target: Target, fast: bool) -> None:
        self._host = host
        self._target = target
        self._options = DeviceOptions(target, fast)
        self._functions: dict[Any, Any] = {}
        self.__name__ = name
        self.__doc__ = host.__doc__

    nin = property(lambda self: self._host.nin, doc="The number of inputs.")
    nout = property(lambda self: self._host.nout, doc="The number of outputs.")
    nargs = property(lambda self: self._host.nargs, doc="The number of operands.")
    ntypes = property(lambda self: self._host.ntypes, doc="The number of combinations of types.")
    types = property(lambda self: self._host.types, doc="The combinations of types, as NumPy writes them.")
    identity = property(lambda self: self._host.identity, doc="The start value of a reduction, or None.")

    def _runs_on_host(self, *operands: Any) -> bool:
        return self._target is Target.AUTO and not any(map(is_on_device, operands))

    def _function(self, key: Any, make: Callable[[], Any]) -> Any:
        """The compiled function for this key, which `make` makes once."""
        found = self._functions.get(key)
        if found is None:
            found = self._functions[key] = make()
        return found


def outputs_of(name: str, inputs: int, outputs: int, arguments: Sequence[Any], out: Any) -> list[Any]:
    """The arrays that a call stores to, with None for each output that it makes. Raises TypeError and ValueError as
    ``numpy.ufunc`` does."""
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
    """The types of the loop of ``host`` for these operands, by NumPy's rules."""
    given = [_type_for_numpy(each) for each in inputs]
    stored = [None if each is None else dtype_of(each) for each in outs]
    if dtype is not None:
        if signature is not None:
            raise TypeError("cannot specify both 'signature' and 'dtype'")
        signature = (None,) * len(inputs) + (np.dtype(dtype),) * len(outs)
    more = {} if signature is None else {"signature": signature}
    return host.resolve_dtypes((*given, *stored), casting=casting, **more)  # type: ignore[arg-type]


def _type_for_numpy(value: Any) -> Any:
    """The type of an operand in a call of ``resolve_dtypes``."""
    if type(value) in (int, float, complex):
        return type(value)
    return np.asarray(value).dtype if is_number(value) else dtype_of(value)


def refuse_read_only(outs: Sequence[Any]) -> None:
    """Raises ValueError if an output is read-only."""
    if any(each is not None and is_read_only(each) for each in outs):
        raise ValueError("output array is read-only")


def library_of_results(inputs: Sequence[Any], outs: Sequence[Any]) -> Any:
    """The library of the arrays that a call returns: that of the first operand on a device, else that of the first
    input that is no NumPy array, else NumPy."""
    found = [library_of(each) for each in (*inputs, *outs)]
    on_device = next((each for each in found if each and each.on_device), None)
    return on_device or next((each for each in found[: len(inputs)] if each not in (None, HOST)), HOST)
