"""docs/reference/language.md and numpy.md agree with the tables, and a program of each row gives Python's results."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import language_rows
import parpy
from backends import TARGETS, options
from results import same

ROWS = [*language_rows.STATEMENTS, *language_rows.EXPRESSIONS]


def function(row: language_rows.Row) -> Callable[..., Any]:
    text = "def f(x, k):\n" + "".join(f"    {line}\n" for line in row.body.split("\n"))
    file = f"<row {row.form} {row.body}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {"np": np, "parpy": parpy}
    exec(compile(text, file, "exec"), space)
    return space["f"]


def outcome(function: Callable[..., Any], **keywords: Any) -> tuple[Any, np.ndarray]:
    x = np.array([0.0, 1, 3, 2, 5, 4])
    try:
        return function(x, 2, **keywords), x
    except ValueError as error:
        return (type(error), str(error)), x


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.node.__name__)
def test_rows(row, backend):
    plain = function(row)
    (got, ours), (want, pythons) = outcome(parpy.jit(plain), opts=options(backend, {})), outcome(plain)
    assert same(got, want), (got, want)
    assert same(ours, pythons)


def test_every_construct_has_a_row():
    assert language_rows.nodes() - {row.node for row in ROWS} == set()


_ARGUMENTS = {"astype": "np.float32", "fill": "2.0", "repeat": "2", "reshape": "(3, 2)", "searchsorted": "1.0"}


@pytest.mark.parametrize("method", language_rows.METHODS)
def test_methods(method):
    row = language_rows.Row(ast.Call, method, "", f"y = x * 1\nreturn y.{method}({_ARGUMENTS.get(method, '')})")
    if method in ("fill", "sort"):
        row = language_rows.Row(
            ast.Call, method, "", f"for _ in range(1):\n    x.{method}({_ARGUMENTS.get(method, '')})"
        )
    plain = function(row)
    (got, ours), (want, pythons) = outcome(parpy.jit(plain)), outcome(plain)
    assert same(got, want), (got, want)
    assert same(ours, pythons)


def test_the_pages_are_what_the_tables_say():
    """`python tests/python/language_rows.py` writes them."""
    assert language_rows.PAGE.read_text() == language_rows.page()
    assert language_rows.NUMPY_PAGE.read_text() == language_rows.numpy_page()
