"""The labels in the parts of a function, and the options for each part."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import NamedTuple

from .. import _native
from ..calls.errors import CompileError
from ..calls.options import CompileOptions
from ..frontend.parse import parse
from ..syntax.annotations import annotations_of
from ..syntax.names import callable_source
from ..syntax.source import FunctionSource
from ..syntax.walks import walk
from ..types import BufferType, Symbol
from ..vocabulary import operators
from .python_parts import Resolver

_SHAPE_LABEL = re.compile(r'"shape (\w+)"')  # the form that frontend/statements/labels.py writes
_GPU_CODE = "gpu"  # the key in mappings for array code outside of the named loops


def labels_in(nodes: Sequence[ast.AST], resolver: Resolver, seen: set[int] | None = None) -> set[str]:
    """The labels of the statements and of the functions that they call."""
    found: set[str] = set()
    seen = set() if seen is None else seen
    for part in (part for node in nodes for part in walk(node)):
        if not isinstance(part, ast.Call):
            continue
        binding = resolver.find(part.func)
        if binding is None:
            continue
        if binding.value is operators.label and part.args and isinstance(part.args[0], ast.Constant):
            found.add(str(part.args[0].value))
        called = callable_source(binding.value)
        if called is not None and id(called) not in seen:
            seen.add(id(called))
            found |= labels_in([called.tree()], Resolver(called), seen) | shape_labels(called)
    return found


def labels_of(source: FunctionSource) -> set[str]:
    """The labels in a function and in its callees."""
    return labels_in([source.tree()], Resolver(source)) | shape_labels(source)


def shape_labels(source: FunctionSource) -> set[str]:
    """The labels under `implicit_shape_labels` that loops and slices of a function get from the symbols of its
    annotations. If Python runs a part of the function, these are the possible labels."""
    extents = (each.shape for each in annotations_of(source.function).values() if isinstance(each, BufferType))
    symbols = {extent for shape in extents for extent in shape if isinstance(extent, Symbol)}
    if not symbols:
        return set()
    try:
        return set(_SHAPE_LABEL.findall(parse(source).module.text()))
    except CompileError:
        scope = Resolver(source).scope
        return {name for each in symbols if (name := scope.name_of(each) or each.name)}


def restricted(opts: CompileOptions, labels: set[str]) -> CompileOptions:
    """The options with a mapping that is restricted to these labels."""
    kept = {label: loop for label, loop in opts.parallelize.items() if label in labels or label == _GPU_CODE}
    return CompileOptions(**{**opts._values, "parallelize": kept})


class Place(NamedTuple):
    """The place of a region: its labels, its first and its last line."""

    labels: set[str]
    first: int
    last: int


def per_region(opts: CompileOptions, places: list[Place], nested: set[str]) -> list[CompileOptions]:
    """The options for each region. An unknown label goes to the region with a similar label, or to the first region,
    which reports it. The labels of `nested` functions are known."""
    return [_for_region(opts, index, places, nested) for index in range(len(places))]


def near_miss_of_nested(opts: CompileOptions, places: list[Place], nested: set[str]) -> tuple[str, str] | None:
    """An unknown label of the mapping, and the similar label of a `nested` function. An unknown label that resembles
    one of a region is refused when that region is compiled."""
    own = set[str]().union(*(place.labels for place in places))
    free = nested - opts.parallelize.keys()
    for label in sorted(opts.parallelize.keys() - own - nested - {_GPU_CODE}):
        meant = next((other for other in sorted(free - own) if _native.are_alike(label, other)), None)
        if meant is not None and "@" not in label:
            return label, meant
    return None


def _for_region(opts: CompileOptions, index: int, places: list[Place], nested: set[str]) -> CompileOptions:
    own = places[index]
    labels = nested.union(*(place.labels for place in places))
    free = labels - opts.parallelize.keys()
    found = set()
    for label in opts.parallelize:
        _, at, line = label.rpartition("@")
        number = line.partition("#")[0]
        if at and number.isdigit():
            placed = any(place.first <= int(number) <= place.last for place in places)
            if own.first <= int(number) <= own.last or (index == 0 and not placed):
                found.add(label)
        elif label in labels:
            if label in own.labels:
                found.add(label)
        elif index == _place_of_unknown(label, places, free):
            found.add(label)
    return restricted(opts, found)


def _place_of_unknown(label: str, places: list[Place], free: set[str]) -> int:
    """The number of the region that has a label similar to this unknown label; otherwise 0."""
    for index, place in enumerate(places):
        if any(_native.are_alike(label, other) for other in place.labels & free):
            return index
    return 0
