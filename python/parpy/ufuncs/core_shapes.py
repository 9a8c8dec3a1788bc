"""The sizes of the dimensions of a layout in a call, and the shapes of its operands, by NumPy's rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .layouts import Dimension, Layout


class Shapes(NamedTuple):
    """The loop shape and the core sizes of a call. ``lacking`` are the optional dimensions that no operand has."""

    loop: tuple[int, ...]
    sizes: dict[str, int]
    lacking: frozenset[str]

    def cores(self, dimensions: Sequence[Dimension]) -> tuple[int, ...]:
        """The core shape in the function, in which a lacking dimension has size 1."""
        return tuple(1 if each.name in self.lacking else self.sizes[each.name] for each in dimensions)

    def shown(self, dimensions: Sequence[Dimension]) -> tuple[int, ...]:
        """The core shape in the caller's array, without the lacking dimensions."""
        return tuple(self.sizes[each.name] for each in dimensions if each.name not in self.lacking)


def shapes_of(
    layout: Layout, name: str, inputs: Sequence[tuple[int, ...]], outputs: Sequence[tuple[int, ...] | None]
) -> Shapes:
    """The shapes of a call with inputs and given outputs of these shapes. Raises ValueError with NumPy's message if
    they do not fit."""
    given = [*inputs, *outputs]
    lacking = _lacking(layout, name, given)
    sizes = {each.name: each.size for operand in layout.operands for each in operand if each.size is not None}
    loops: list[tuple[int, ...]] = []
    for number, (shape, dimensions) in enumerate(zip(given, layout.operands, strict=True)):
        if shape is None:
            continue
        present = [each for each in dimensions if each.name not in lacking]
        cores = shape[len(shape) - len(present) :] if present else ()
        for place, (each, size) in enumerate(zip(present, cores, strict=True)):
            known = sizes.setdefault(each.name, size)
            if known != size:
                raise ValueError(
                    f"{name}: {_operand(number, layout)} has a mismatch in its core dimension {place}, with gufunc "
                    f"signature {layout} (size {size} is different from {known})"
                )
        loops.append(shape[: len(shape) - len(present)])
    for number, dimensions in enumerate(layout.outputs):
        for place, each in enumerate(dimensions):
            if each.name not in sizes and each.name not in lacking:
                raise ValueError(
                    f"{name}: Output operand {number} has core dimension {place} unspecified, with gufunc signature "
                    f"{layout}"
                )
    try:
        loop = np.broadcast_shapes(*loops[: len(inputs)])
        whole = np.broadcast_shapes(loop, *loops[len(inputs) :])
    except ValueError:
        shown = " ".join(str(each).replace(" ", "") for each in loops)
        raise ValueError(f"operands could not be broadcast together with loop dimensions {shown}") from None
    for number, found in enumerate(loops[len(inputs) :]):
        if found != whole:
            raise ValueError(
                f"non-broadcastable output operand {number} with loop dimensions {found} doesn't match {whole}"
            )
    return Shapes(whole, sizes, lacking)


def _lacking(layout: Layout, name: str, shapes: Sequence[tuple[int, ...] | None]) -> frozenset[str]:
    lacking: set[str] = set()
    for number, (shape, dimensions) in enumerate(zip(shapes, layout.operands, strict=True)):
        if shape is None or number >= len(layout.inputs):
            continue
        missing = len(dimensions) - len(shape)
        for each in dimensions:
            if missing > 0 and each.optional:
                missing -= each.name not in lacking or 1
                lacking.add(each.name)
        if missing > 0:
            raise ValueError(
                f"{name}: {_operand(number, layout)} does not have enough dimensions (has {len(shape)}, gufunc core "
                f"with signature {layout} requires {len(dimensions) - len(lacking & {e.name for e in dimensions})})"
            )
    for number, (shape, dimensions) in enumerate(zip(shapes, layout.operands, strict=True)):
        least = sum(each.name not in lacking for each in dimensions)
        if shape is not None and len(shape) < least:
            raise ValueError(
                f"{name}: {_operand(number, layout)} does not have enough dimensions (has {len(shape)}, gufunc core "
                f"with signature {layout} requires {least})"
            )
    return frozenset(lacking)


def _operand(number: int, layout: Layout) -> str:
    count = len(layout.inputs)
    return f"Input operand {number}" if number < count else f"Output operand {number - count}"
