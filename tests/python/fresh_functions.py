"""Functions from source text, each with code of its own, for the tests of the call path."""

from __future__ import annotations

import linecache
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import parpy

CPU = parpy.CompileOptions(backend=parpy.CompileBackend.Cpu)


def on_cpu(**loops: int) -> parpy.CompileOptions:
    mapping = {label: parpy.threads(n) for label, n in loops.items()}
    return parpy.CompileOptions(parallelize=mapping, backend=parpy.CompileBackend.Cpu)


def fresh(body: str, tmp_path: Path, name: str = "f", **names: object):
    """A new jit function from source text."""
    file = tmp_path / f"{name}_{len(list(tmp_path.iterdir()))}.py"
    text = textwrap.dedent(body)
    file.write_text(text)
    space: dict[str, object] = {"parpy": parpy, "np": np, **names}
    exec(compile(text, str(file), "exec"), space)
    return space if name == "__dict__" else space[name]


def plain_function(text: str, shown: str, **names: object) -> Callable[..., Any]:
    """The function f that the text defines; `shown` is the file name of its source."""
    linecache.cache[shown] = (len(text), None, text.splitlines(True), shown)
    space: dict[str, Any] = {"np": np, **names}
    exec(compile(text, shown, "exec"), space)
    return space["f"]


def compilations(f) -> int:
    return f.cache_info().compilations


ADD = """
    @parpy.jit
    def f(x, y, n, a):
        parpy.label('i')
        for i in range(n):
            y[i] = y[i] + a * x[i]
"""


@parpy.jit
def increment(x, n):
    for i in range(n):
        x[i] += 1
