"""Texts of functions that apply a scalar function to the elements of arrays on a device. They are jit functions of the
operands, and the compiler maps their loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..calls.jit import jit_of_source
from ..library.texts import function_of
from ..syntax.names import source_of
from ..syntax.source import FunctionSource
from ..vocabulary.operators import NAME_OF
from ..vocabulary.sizes import SIZES


class Operand(NamedTuple):
    """An operand in a text: the loop of each dimension (None: a dimension of size 1), or None for a number, and the
    type that its elements are converted to ("": no conversion)."""

    dimensions: tuple[int | None, ...] | None
    converted: str

    def at(self, name: str, indices: Sequence[str]) -> str:
        if self.dimensions is None:
            return name
        places = ", ".join("0" if each is None else indices[each] for each in self.dimensions)
        value = f"{name}[{places}]"
        return f"{self.converted.upper()}({value})" if self.converted else value


def ir_name(dtype: np.dtype[Any]) -> str:
    """The name of a type in IR text. Raises TypeError if compiled code has no such type."""
    found = NAME_OF.get(dtype.name)
    if found is None:
        raise TypeError(f"compiled code has no elements of type {dtype}")
    return found


def conversion(given: np.dtype[Any], wanted: np.dtype[Any]) -> str:
    return "" if given == wanted else ir_name(wanted)


def dimensions_in(shape: tuple[int, ...], whole: tuple[int, ...]) -> tuple[int | None, ...]:
    """The loop over ``whole`` for each dimension of an array; None for a dimension that is broadcast."""
    first = len(whole) - len(shape)
    return tuple(None if n == 1 != whole[first + d] else first + d for d, n in enumerate(shape))


def nest(rank: int, over: str, begin: int = 1) -> list[str]:
    """The header lines of nested loops over all elements of ``over``."""
    return [f"{'    ' * (begin + d)}for i{d} in range({over}.shape[{d}]):" for d in range(rank)]


def compiled(text: str, name: str, source: FunctionSource) -> Any:
    """The jit function that a text defines. The text calls the user's function ``function``."""
    file = f"<ufunc {source.function.__name__}>"
    types = {key.upper(): size for key, size in SIZES.items()}
    return jit_of_source(source_of(function_of(text, name, file, function=jit_of_source(source), **types)))


def elementwise(
    source: FunctionSource, inputs: Sequence[Operand], outputs: int, rank: int, mask: Operand | None
) -> Any:
    """A function of inputs, outputs and an optional mask that calls the user's function for each element."""
    indices = [f"i{d}" for d in range(rank)]
    names = [f"x{k}" for k in range(len(inputs))]
    results = [f"y{k}" for k in range(outputs)]
    lines = [f"def ufunc_elements({', '.join(names + results + (['w'] if mask else []))}):", *nest(rank, "y0")]
    depth = 1 + rank
    if mask:
        lines.append(f"{'    ' * depth}if {mask.at('w', indices)}:")
        depth += 1
    given = ", ".join(operand.at(name, indices) for operand, name in zip(inputs, names, strict=True))
    stored = ", ".join(f"{name}[{', '.join(indices)}]" for name in results)
    lines.append(f"{'    ' * depth}{stored} = function({given})")
    return compiled("\n".join(lines) + "\n", "ufunc_elements", source)
