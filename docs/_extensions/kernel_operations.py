"""Writes the table of the operations of kernels into the page that asks for it with the comment
`<!-- kernel operations -->`. Each operation of ``parpy.cuda`` but the types of vectors has a row with its docstring.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx

from parpy import cuda
from parpy.vocabulary.device import DeviceFunction, Group

MARK = "<!-- kernel operations -->"
VECTORS = cuda.int8x2.lowering


def operations(owner: Any, names: tuple[str, ...] | list[str], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Each operation with its docstring. Those with one docstring, which are aliases, share a row."""
    rows: dict[str, list[str]] = {}
    for name in names:
        value = getattr(owner, name)
        if isinstance(value, Group):
            for row, text in operations(value, value.names, f"{prefix}{name}."):
                rows.setdefault(text, []).append(row)
        elif isinstance(value, DeviceFunction) and value.lowering != VECTORS:
            rows.setdefault(inspect.getdoc(value) or "", []).append(f"`{prefix}{name}`")
    for text, same in rows.items():
        yield ", ".join(same), text


def table() -> str:
    lines = ["| operation | result |", "|---|---|"]
    for names, text in operations(cuda, cuda.__all__):
        cell = " ".join(text.split()).replace("|", "\\|")
        lines.append(f"| {names} | {cell} |")
    return "\n".join(lines)


def fill(app: Sphinx, page: str, source: list[str]) -> None:
    if MARK in source[0]:
        source[0] = source[0].replace(MARK, table())


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
