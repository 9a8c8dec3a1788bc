"""Generates `np.einsum` as a loop nest for its subscripts."""

from __future__ import annotations

import functools
import re
from collections import Counter
from typing import NamedTuple

from ..syntax.names import source_of
from ..syntax.source import FunctionSource
from .texts import function_of

_FORM = re.compile(r"([A-Za-z]+(?:,[A-Za-z]+)*)(?:->([A-Za-z]*))?")


class Subscripts(NamedTuple):
    """The labels of the operands' dimensions, and of those of the result."""

    operands: tuple[str, ...]
    result: str


def subscripts_of(text: object) -> Subscripts | None:
    """Parses `"ij,jk->ik"`; None for other objects and texts with an ellipsis. Without an arrow, the result has the
    labels that occur once, in alphabetical order."""
    found = _FORM.fullmatch(text.replace(" ", "")) if isinstance(text, str) else None
    if found is None:
        return None
    operands, result = found.groups()
    counted = Counter(operands.replace(",", ""))
    if result is None:
        result = "".join(sorted(label for label, count in counted.items() if count == 1))
    if len(set(result)) < len(result) or not counted.keys() >= set(result):
        return None
    return Subscripts(tuple(operands.split(",")), result)


@functools.cache
def einsum(subscripts: Subscripts) -> FunctionSource:
    """The function of the operands that computes the sum, one chain of additions for each element of the result."""
    names = [f"x{number}" for number in range(len(subscripts.operands))]
    return source_of(function_of("\n".join(_lines(subscripts, names)) + "\n", "einsum", "<einsum>"))


def _lines(subscripts: Subscripts, names: list[str]) -> list[str]:
    operands = [*zip(names, subscripts.operands, strict=True)]
    suits = " and ".join(f"{name}.ndim == {len(labels)}" for name, labels in operands)
    wanted = ", ".join(str(len(labels)) for labels in subscripts.operands)
    return [
        f"def einsum({', '.join(names)}):",
        f"    if {suits}:",
        *(f"        {line}" for line in _nest(subscripts, operands)),
        "    else:",
        f'        builtin.static_fail("the operands of this np.einsum have {wanted} dimensions")',
        "        result = 0",
        "    return result",
    ]


def _nest(subscripts: Subscripts, operands: list[tuple[str, str]]) -> list[str]:
    """The loops over the labels of the result, with the loops over the other labels inside."""
    lines: list[str] = []
    extents: dict[str, str] = {}
    for name, labels in operands:
        for axis, label in enumerate(labels):
            extent = f"{name}.shape[{axis}]"
            known = extents.setdefault(label, extent)
            if known != extent:
                message = f"operands of np.einsum differ in the dimension '{label}'"
                lines += [f"if {extent} != {known}:", f'    raise ValueError("{message}")']
    lines.append(f"result = {' * '.join(f'builtin.convert(0, {name}.dtype)' for name, _ in operands)}")
    indent, total = "", "result"
    if subscripts.result:
        total = "total"
        sizes = "".join(f"{extents[label]}, " for label in subscripts.result)
        lines += [f"zero = {lines.pop().removeprefix('result = ')}", f"result = np.full(({sizes}), zero)"]
        for label in subscripts.result:
            lines.append(f"{indent}for {label}_ in range({extents[label]}):")
            indent += "    "
        lines.append(f"{indent}total = zero")
    inner = indent
    for label in extents:
        if label not in subscripts.result:
            lines.append(f"{inner}for {label}_ in range({extents[label]}):")
            inner += "    "
    factors = (f"{name}[{_place(labels)}]" for name, labels in operands)
    lines.append(f"{inner}{total} += {' * '.join(factors)}")
    if subscripts.result:
        lines.append(f"{indent}result[{_place(subscripts.result)}] = total")
    return lines


def _place(labels: str) -> str:
    return ", ".join(f"{label}_" for label in labels)
