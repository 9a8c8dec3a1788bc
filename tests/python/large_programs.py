"""Functions of any size, for measurements of compile time: deep nests, and many statements."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np

import parpy


def nest(depth: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """`depth` loops around one statement, each of two iterations, with arguments for a call."""
    lines = ["@parpy.jit", "def f(x, y):"]
    lines += ["    " * (k + 1) + f"for i{k} in range(2):" for k in range(depth)]
    place = " + ".join(f"{2**k} * i{k}" for k in range(depth))
    lines.append("    " * (depth + 1) + f"y[{place}] = x[{place}] * 2 + i0")
    size = 2**depth
    return made(lines), (np.arange(float(size)), np.zeros(size))


def statements(count: int, each: int = 100) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """`count` statements, in loops of `each` statements, with arguments for a call."""
    lines = ["@parpy.jit", "def f(x, y):"]
    for k in range(count):
        if k % each == 0:
            lines.append("    for i in range(8):")
        lines.append(f"        y[i, {k % 16}] = y[i, {(k + 5) % 16}] * 0.5 + x[i, {k * 7 % 16}]")
    return made(lines), (np.ones((8, 16)), np.zeros((8, 16)))


def made(lines: list[str]) -> Callable[..., Any]:
    text = "\n".join(lines) + "\n"
    file = f"<program of {len(lines)} lines, {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {"parpy": parpy}
    exec(compile(text, file, "exec"), space)
    return space["f"]
