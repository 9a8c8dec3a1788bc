"""``cuda.jit(device=True)``: functions that kernels call, with the types of their signatures."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import update_wrapper
from types import FunctionType
from typing import Any, Generic, NoReturn, ParamSpec, TypeVar

from ..calls.pickling import ByReference, give_reference
from ..syntax.names import source_of
from ..syntax.source import DeclaredArray, FunctionSource
from ..vocabulary.signatures import Array, Scalar, Signature

_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)


class DeviceFunction(ByReference, Generic[_P, _R]):
    """A function that kernels call: ``cuda.jit(device=True)``. A signature converts numbers to its types, and arrays
    must have its types. Among several signatures, each call uses the one that fits best."""

    def __init__(self, function: Callable[_P, _R] | FunctionSource, signatures: tuple[Signature, ...] = ()) -> None:
        source = source_of(function)
        typed = [_with_types(source, each) for each in signatures]
        if len(typed) > 1:
            source = copy(source)
            source.alternatives = tuple(typed)
        self.__parpy_source__ = typed[0] if len(typed) == 1 else source
        update_wrapper(self, self.__parpy_source__.function)
        give_reference(self, source.function, DeviceFunction.__init__, source, signatures)

    @property
    def py_func(self) -> FunctionType:
        return self.__parpy_source__.function

    def __call__(self, *_: _P.args, **__: _P.kwargs) -> _R:
        raise TypeError(f"'{self.__name__}' is a device function: kernels call it")  # type: ignore[attr-defined]

    def __getitem__(self, configuration: Any) -> NoReturn:
        name = self.__name__  # type: ignore[attr-defined]
        raise TypeError(f"'{name}' is a device function: kernels call it, and a kernel is made without device=True")

    def __repr__(self) -> str:
        return f"<parpy.cuda device function {self.__qualname__}>"  # type: ignore[attr-defined]


def _with_types(source: FunctionSource, signature: Signature) -> FunctionSource:
    """A copy of the source whose parameters have the types of the signature."""
    made = copy(source)
    names = source.function.__code__.co_varnames
    given = dict(zip(names, signature.arguments, strict=False))
    made.declared = {name: kind.name for name, kind in given.items() if isinstance(kind, Scalar)}
    made.arrays = {
        n: DeclaredArray(kind.element.name, kind.ndim)
        for n, kind in given.items()
        if isinstance(kind, Array) and isinstance(kind.element, Scalar)
    }
    made.shown = str(signature)
    if not signature.open:
        made.declared["return"] = signature.number
    return made
