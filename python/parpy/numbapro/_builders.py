"""NumbaPro's builders of universal functions: types are added one after the other."""

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
        """Adds a combination of types: a signature, or the types of arguments and result."""
        if given is not None:
            self._signatures.append(signature(given))
            return
        if argtypes is None:
            raise TypeError("add takes a signature, or argtypes and restype")
        arguments = tuple(argument_type(each) for each in argtypes)
        result: Any = None if restype is None else argument_type(restype)
        self._signatures.append(Signature(result, arguments))


class Vectorize(_Builder):
    """``v = Vectorize(f, target='gpu'); v.add('float32(float32)'); g = v.build_ufunc()``."""

    def __init__(self, function: Callable[..., Any], target: str = "cpu") -> None:
        super().__init__(function, target)

    def build_ufunc(self) -> Any:
        """The universal function of all types that were added."""
        return vectorize(self._signatures or None, target=self._target)(self._function)


class GUVectorize(_Builder):
    """The same for functions of arrays: ``GUVectorize(f, '(m,n),(n,p)->(m,p)', target='gpu')``."""

    def __init__(self, function: Callable[..., Any], layout: str, target: str = "cpu") -> None:
        super().__init__(function, target)
        self._layout = layout

    def build_ufunc(self) -> Any:
        """The generalised universal function of all types that were added."""
        given = (self._signatures, self._layout) if self._signatures else (self._layout,)
        return guvectorize(*given, target=self._target)(self._function)
