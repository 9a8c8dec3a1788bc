"""NumbaPro's builders of universal functions, to which types are added one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ufuncs.guvectorize import guvectorize
from ..ufuncs.vectorize import vectorize
from ..vocabulary.signatures import Signature, argument_type, signature


class _Builder:
    def __init__(self, function: Callable[..., Any], target: str) -> None:
        self._function, self._target = function, target
        self._signatures: list[Signature] = []

    def add(self, given: Any = None, *, argtypes: Sequence[Any] | None = None, restype: Any = None) -> None:
        """Adds a combination of types: a signature such as ``'float32(float32)'``, or the types of the arguments as
        ``argtypes`` and that of the result as ``restype``. Raises TypeError for an invalid signature, and if neither
        is given."""
        if given is not None:
            self._signatures.append(signature(given))
            return
        if argtypes is None:
            raise TypeError("add takes a signature, or argtypes and restype")
        arguments = tuple(argument_type(each) for each in argtypes)
        result: Any = None if restype is None else argument_type(restype)
        self._signatures.append(Signature(result, arguments))


class Vectorize(_Builder):
    """The builder of a universal function: ``v = Vectorize(f, target='gpu'); v.add('float32(float32)'); g =
    v.build_ufunc()``. ``f`` is a function of numbers, and ``target`` one of those of ``parpy.vectorize``."""

    def __init__(self, function: Callable[..., Any], target: str = "cpu") -> None:
        super().__init__(function, target)

    def build_ufunc(self) -> Any:
        """Returns the universal function for all added types, as ``parpy.vectorize`` makes it, with the same errors.
        Without added types, each combination of types is compiled at its first call."""
        return vectorize(self._signatures or None, target=self._target)(self._function)


class GUVectorize(_Builder):
    """The builder of a generalised universal function: ``GUVectorize(f, '(m,n),(n,p)->(m,p)', target='gpu')``. ``f`` is
    a function of arrays that stores to its last arguments, ``layout`` names the dimensions of each, and ``target`` is
    one of those of ``parpy.guvectorize``."""

    def __init__(self, function: Callable[..., Any], layout: str, target: str = "cpu") -> None:
        super().__init__(function, target)
        self._layout = layout

    def build_ufunc(self) -> Any:
        """Returns the generalised universal function for all types that were added, as ``parpy.guvectorize`` makes it,
        with the same errors."""
        given = (self._signatures, self._layout) if self._signatures else (self._layout,)
        return guvectorize(*given, target=self._target)(self._function)
