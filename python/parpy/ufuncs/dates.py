"""Universal functions of dates and durations, computed on the integers that NumPy stores, with their units."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np

from ..arrays.libraries import as_operand, dtype_of, is_number, with_type
from ..calls.pickling import ByReference, give_reference
from ..calls.tracebacks import hides_frames
from ..cuda.arguments.dates import as_integers
from ..vocabulary.signatures import Signature
from .prototypes import elements_of

_Types = tuple[np.dtype[Any], ...]


class DatedUfunc(ByReference):
    """A universal function whose signatures have ``NPDatetime`` or ``NPTimedelta``.

    A call uses the first signature to whose types its operands can be cast safely. It passes the integers of dates and
    durations to the universal function of integers, and its results have the types of the signature and the place of
    that function's results. Raises TypeError for an operand with ``NaT``.
    """

    def __init__(self, integers: Any, function: FunctionType, signatures: Sequence[Signature]) -> None:
        self._integers = integers
        self._types: list[_Types] = [tuple(kind.dtype for kind in elements_of(each)) for each in signatures]
        for each, types in zip(signatures, self._types, strict=True):
            if len({np.datetime_data(kind) for kind in types if kind.kind in "mM"}) > 1:
                raise TypeError(f"the dates and durations of a signature have one unit, but {each} has several")
        self.__name__: str = function.__name__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        give_reference(self, function, DatedUfunc.__init__, integers, function, tuple(signatures))

    nin = property(lambda self: self._integers.nin, doc="The number of inputs.")
    nout = property(lambda self: self._integers.nout, doc="The number of outputs.")
    nargs = property(lambda self: self._integers.nargs, doc="The number of operands.")
    ntypes = property(lambda self: len(self._types), doc="The number of combinations of types.")
    signature = property(lambda self: self._integers.signature, doc="The layout of a generalised function, or None.")

    @property
    def types(self) -> list[str]:
        """The combinations of types, in the notation of ``numpy.ufunc.types``."""
        return [
            f"{''.join(kind.char for kind in each[: self.nin])}->{''.join(kind.char for kind in each[self.nin :])}"
            for each in self._types
        ]

    def __repr__(self) -> str:
        return f"<parpy ufunc '{self.__name__}' of dates>"

    @hides_frames
    def __call__(self, *arguments: Any, out: Any = None, **keywords: Any) -> Any:
        """Computes the function. ``out`` is an array of the result's type or a tuple of arrays."""
        inputs, stored = [as_operand(each) for each in arguments[: self.nin]], list(arguments[self.nin :])
        if out is not None:
            if stored:
                raise TypeError("cannot specify 'out' as both a positional and keyword argument")
            stored = list(out) if isinstance(out, tuple) else [out]
        if len(inputs) < self.nin or len(stored) > self.nout:
            raise TypeError(f"{self.__name__}() takes {self.nin} inputs and up to {self.nout} outputs")
        types = self._chosen(inputs)
        for each, kind in zip(stored, types[self.nin :], strict=False):
            if each is not None and dtype_of(each) != kind:
                raise TypeError(f"an output of '{self.__name__}' is an array of {kind}, not of {dtype_of(each)}")
        given = as_integers([_cast(each, kind) for each, kind in zip(inputs, types, strict=False)])
        if stored:
            stored += [None] * (self.nout - len(stored))
            keywords["out"] = tuple(None if each is None else _integers(each) for each in stored)
        results = self._integers(*given, **keywords)
        found = []
        for number, (each, kind) in enumerate(zip(_tuple(results), types[self.nin :], strict=True)):
            own = stored[number] if stored else None
            found.append(own if own is not None else each.view(kind) if kind.kind in "mM" else each)
        return found[0] if self.nout == 1 else tuple(found)

    def _chosen(self, inputs: Sequence[Any]) -> _Types:
        """The types of the first signature to which the inputs can be cast. Raises TypeError if there is none."""
        for each in self._types:
            if all(map(_fits, inputs, each)):
                return each
        given = ", ".join(str(np.asarray(each).dtype if is_number(each) else dtype_of(each)) for each in inputs)
        raise TypeError(
            f"ufunc '{self.__name__}' not supported for the input types ({given}): its signatures have "
            f"{', '.join(self.types)}"
        )


def _fits(value: Any, wanted: np.dtype[Any]) -> bool:
    """Whether an operand has the type or can be cast to it safely. Integers cannot be cast to dates."""
    if type(value) in (bool, int, float, complex):
        return wanted.kind not in "mM" and np.can_cast(np.min_scalar_type(value), wanted, "safe")
    given = np.asarray(value).dtype if is_number(value) else dtype_of(value)
    same = wanted.kind not in "mM" or given.kind == wanted.kind
    return same and np.can_cast(given, wanted, "safe")


def _cast(value: Any, wanted: np.dtype[Any]) -> Any:
    if wanted.kind not in "mM":
        return value
    if is_number(value):
        return np.asarray(value).astype(wanted)[()]
    return value if dtype_of(value) == wanted else with_type(value, wanted, None)


def _integers(array: Any) -> Any:
    return array.view(np.int64) if dtype_of(array).kind in "mM" else array


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
