"""The meaning of the annotations of a function's parameters, for the frontend and for the check of each call.

Types of parpy.types and NumPy's scalar types have a meaning; other annotations have no effect.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from ..types import BufferType, Symbol, TypeVar, elem_size
from ..vocabulary.operators import convert

_NONE = -1


@dataclass(frozen=True, slots=True)
class Declared:
    """One parameter's annotation in the form that bindings/calls/annotations.h reads. Symbols and type variables are
    given by their numbers."""

    shown: str
    is_array: bool
    scalar: str | None = None
    variable: int = _NONE
    dims: tuple[tuple[int, int], ...] = ()
    symbol: int = _NONE


def annotations_of(function: FunctionType) -> dict[str, Any]:
    """The annotations with a meaning, by parameter."""
    try:
        found = inspect.get_annotations(function, eval_str=True)
    except Exception:  # some text does not evaluate, so each annotation is evaluated alone
        found = {name: _evaluated(text, function) for name, text in function.__annotations__.items()}
    found = {name: _number_or(_evaluated(value, function)) for name, value in found.items()}  # quoted twice
    return {name: value for name, value in found.items() if declared(value) is not None}


def _number_or(annotation: Any) -> Any:
    """The element type if the annotation is an array without dimensions, which is a number; else the annotation."""
    return annotation.elem if isinstance(annotation, BufferType) and not annotation.shape else annotation


def _evaluated(text: object, function: FunctionType) -> Any:
    if not isinstance(text, str):
        return text
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    try:
        return eval(text, function.__globals__, {name: cell.cell_contents for name, cell in cells})
    except Exception:
        return None


def _shown(annotation: object, name_of: Callable[[object], str]) -> str:
    """The text of an annotation, in which symbols without a name have that of the user's variable."""
    text = str(annotation).replace("ElemSize.", "parpy.types.").replace("MoreSizes.", "parpy.types.")
    parts = (annotation.elem, *annotation.shape) if isinstance(annotation, BufferType) else (annotation,)
    unnamed = [part for part in parts if isinstance(part, Symbol | TypeVar) and part.name is None]
    names = {repr(part): name for part in unnamed if (name := name_of(part))}
    return re.sub(r"\w+", lambda word: names.get(word[0], word[0]), text) if names else text


def declared(annotation: object, name_of: Callable[[object], str] = lambda _: "") -> Declared | None:
    """The declaration that calls are checked against; None if the annotation has no meaning. ``name_of`` gives the name
    of the variable that holds an object, or ''."""
    shown = _shown(annotation, name_of)
    if isinstance(annotation, BufferType):
        scalar = None if isinstance(annotation.elem, TypeVar) else annotation.elem.value
        variable = annotation.elem.number if isinstance(annotation.elem, TypeVar) else _NONE
        dims = tuple((_NONE, n.number) if isinstance(n, Symbol) else (n, _NONE) for n in annotation.shape)
        return Declared(shown, True, scalar, variable, dims)
    if isinstance(annotation, TypeVar):
        return Declared(shown, False, variable=annotation.number)
    if isinstance(annotation, Symbol):
        return Declared(shown, False, scalar="i64", symbol=annotation.number)
    if isinstance(annotation, type) and not issubclass(annotation, np.generic):
        return None
    scalar_type = elem_size(annotation)
    return None if scalar_type is None else Declared(shown, False, scalar_type.value)


Places = dict[Symbol | TypeVar, tuple[str, int | None]]


def symbol_places(annotations: dict[str, Any]) -> Places:
    """For each symbol, the first parameter that determines its value, and the dimension or, if the parameter is the
    value itself, None. For each type variable, the first parameter that has the type, and None."""
    places: Places = {}
    for name, annotation in annotations.items():
        if isinstance(annotation, TypeVar):
            places.setdefault(annotation, (name, None))
        if isinstance(annotation, BufferType):
            if isinstance(annotation.elem, TypeVar):
                places.setdefault(annotation.elem, (name, None))
            for dimension, extent in enumerate(annotation.shape):
                if isinstance(extent, Symbol):
                    places.setdefault(extent, (name, dimension))
    for name, annotation in annotations.items():
        if isinstance(annotation, Symbol):
            places.setdefault(annotation, (name, None))
    return places


def converted_to(annotation: object) -> str | None:
    """The scalar type that numbers are converted to; None if the annotation has the type of a Python number or none."""
    scalar = None if isinstance(annotation, BufferType | TypeVar | Symbol) else elem_size(annotation)
    if scalar is None or scalar.name in ("I64", "F64", "Bool", "C128"):
        return None
    return scalar.value


def number_of_numpy(value: Any) -> Any:
    """The Python number for a NumPy number or a 0-d array; other values are unchanged."""
    is_number = isinstance(value, np.number) or (isinstance(value, np.ndarray) and value.ndim == 0)
    return value.item() if is_number and value.dtype.kind in "iufc" else value


def as_declared(value: Any, annotation: object) -> Any:
    """A number converted to the type of the annotation, as in compiled code; `converted_to` must give a type."""
    scalar = converted_to(annotation) or ""
    value = number_of_numpy(value)
    if type(value) is int and scalar.startswith(("i", "u")):
        info = np.iinfo(scalar.replace("i", "int").replace("u", "uint"))
        if not info.min <= value <= info.max:
            known = declared(annotation)
            raise OverflowError(f"{value} does not fit {known and known.shown}")
        return convert(value, annotation)
    floats = type(value) in (int, float) and scalar.startswith(("f", "b"))
    complexes = type(value) in (int, float, complex) and scalar.startswith("c")
    return convert(value, annotation) if floats or complexes else value
