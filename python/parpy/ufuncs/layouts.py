"""The layouts of generalised ufuncs: ``(m,n),(n,p)->(m,p)``, in NumPy's grammar."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from ..vocabulary.signatures import Array, Scalar, Signature
from .prototypes import Prototype, dates_of

_GROUP = re.compile(r"\s*\(([^()]*)\)\s*")
_DIMENSION = re.compile(r"(?:([A-Za-z_]\w*)|([1-9]\d*))(\?)?")


class Dimension(NamedTuple):
    """A core dimension: a name or a fixed size, and whether arrays may lack it."""

    name: str
    optional: bool = False

    @property
    def size(self) -> int | None:
        """The fixed size in the layout; None if the arrays determine the size."""
        return int(self.name) if self.name.isdigit() else None

    def __str__(self) -> str:
        return self.name + ("?" if self.optional else "")


class Layout(NamedTuple):
    """The core dimensions of each input and each output."""

    inputs: tuple[tuple[Dimension, ...], ...]
    outputs: tuple[tuple[Dimension, ...], ...]

    @property
    def operands(self) -> tuple[tuple[Dimension, ...], ...]:
        return self.inputs + self.outputs

    def __str__(self) -> str:
        sides = (self.inputs, self.outputs)
        return "->".join(",".join(f"({','.join(map(str, each))})" for each in side) for side in sides)


def parse_layout(text: str) -> Layout:
    """Parses a layout. Raises ValueError, with the place in the text, if the text is no layout."""
    if not isinstance(text, str):
        raise TypeError(f"a layout is a text such as '(m,n),(n,p)->(m,p)', not {text!r}")
    left, arrow, right = text.partition("->")
    if not arrow or "->" in right:
        _refuse(text, "it has one '->' between inputs and outputs")
    found = Layout(_side(left, text), _side(right, text))
    if not found.inputs or not found.outputs:
        _refuse(text, "it has an input and an output at least, such as '(n)->()'")
    optional = {each.name for operand in found.operands for each in operand if each.optional}
    for each in (each for operand in found.operands for each in operand):
        if each.name in optional and not each.optional:
            _refuse(text, f"the dimension '{each.name}' is optional everywhere or nowhere")
    return found


def _side(text: str, whole: str) -> tuple[tuple[Dimension, ...], ...]:
    found = []
    rest = text.strip()
    while rest:
        match = _GROUP.match(rest)
        if match is None:
            _refuse(whole, f"the parentheses at '{rest}' are not closed, or there is text outside of them")
        names = match[1].strip()
        found.append(tuple(_dimension(each.strip(), whole) for each in names.split(",")) if names else ())
        rest = rest[match.end() :]
        if rest:
            if not rest.startswith(",") or not rest[1:].strip():
                _refuse(whole, f"a comma must separate operands, not '{rest}'")
            rest = rest[1:].strip()
    return tuple(found)


def _dimension(text: str, whole: str) -> Dimension:
    match = _DIMENSION.fullmatch(text)
    if match is None:
        _refuse(
            whole, f"'{text}' is not a dimension: write a name such as n, a size such as 3, or n? where it is optional"
        )
    return Dimension(match[1] or match[2], match[3] is not None)


def _refuse(text: str, why: str) -> NoReturn:
    raise ValueError(f"the layout '{text}' cannot be read: {why}")


def core_prototype(found: Signature, layout: Layout, name: str, parameters: int) -> tuple[Prototype, tuple[bool, ...]]:
    """The types of one loop of ``guvectorize``, and for each operand whether the function gets an array. Raises
    TypeError if signature, layout and function do not fit each other."""
    count = len(layout.operands)
    if found.result is not None:
        raise TypeError(f"guvectorized functions cannot return values: '{name}' has the signature {found}")
    if len(found.arguments) != count:
        raise TypeError(f"the layout '{layout}' has {count} operands, but the signature {found} of '{name}' has "
                        f"{len(found.arguments)}")  # fmt: skip
    if parameters != count:
        raise TypeError(f"the layout '{layout}' has {count} operands, but '{name}' has {parameters} parameters")
    names, arrays = [], []
    for number, (kind, dimensions) in enumerate(zip(found.arguments, layout.operands, strict=True)):
        is_output = number >= len(layout.inputs)
        rank = len(dimensions)
        if isinstance(kind, Array) and isinstance(kind.element, Scalar):
            if kind.ndim != max(rank, 1):
                raise TypeError(_misfit(kind, dimensions, number, name, f"an array of {max(rank, 1)} dimensions"))
            names.append(kind.element.name)
        elif isinstance(kind, Scalar) and not rank and not is_output:
            names.append(kind.name)
        else:
            wanted = "an array of one element, as in float64[:]" if not rank else f"an array of {rank} dimensions"
            raise TypeError(_misfit(kind, dimensions, number, name, wanted))
        arrays.append(isinstance(kind, Array))
    inputs = len(layout.inputs)
    return Prototype(tuple(names[:inputs]), tuple(names[inputs:]), dates_of(found)), tuple(arrays)


def _misfit(kind: object, dimensions: Sequence[Dimension], number: int, name: str, wanted: str) -> str:
    shown = ",".join(map(str, dimensions))
    return f"operand {number} of '{name}' is {kind} in the signature and ({shown}) in the layout: that takes {wanted}"
