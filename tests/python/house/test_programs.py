"""Programs in the style of NumPy and Numba users, under `parpy.jit`: the reference is Python with NumPy.

Each program has two files in tests/programs: in plain NumPy, which is decorated here, and in Numba's style, with its
import line changed. tests/programs/program_data.py has their arguments.
"""

from __future__ import annotations

import ast
import importlib
import sys
from typing import Any

import numpy as np
import pytest

import parpy
import places
from parpy.host.driver import driver_of
from parpy.syntax.names import jit_source

sys.path.insert(0, str(places.TESTS / "programs"))

import program_data as data

# The refused styles and programs, with code and subject of the diagnostic. Remove an entry when it compiles.
REFUSED: dict[tuple[str, str], tuple[str, str]] = {}
# Programs with loops that Python runs slowly, because of allocations or names of arrays in them.
LOOPS_OF_PYTHON: set[tuple[str, str]] = {
    ("numpy", "channel_flow"),
    ("numba", "channel_flow"),
    ("numpy", "contour_integral"),
    ("numpy", "stockham_fft"),
    ("numba", "contour_integral"),
}
PROGRAMS = [(style, name) for style in ("numpy", "numba") for name in data.PROGRAMS]


def program(style: str, name: str) -> Any:
    return getattr(importlib.import_module(f"{style}_style.{name}"), name)


def compiled(style: str, name: str) -> Any:
    function = program(style, name)
    return parpy.jit(function) if style == "numpy" else function


def values(result: Any, arguments: tuple[Any, ...]) -> list[Any]:
    """The outputs of a call: its results and its arguments, which it may have changed."""
    results = result if isinstance(result, tuple) else (result,)
    return [*(each for each in results if each is not None), *arguments]


def compare(got: list[Any], want: list[Any]) -> None:
    """Compares by the norm of the difference, or element by element if that is too large."""
    for ours, theirs in zip(got, want, strict=True):
        assert np.shape(ours) == np.shape(theirs)
        if np.linalg.norm(np.subtract(ours, theirs)) > 1e-6 * np.linalg.norm(theirs):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-8)


def run_by_python(function: Any) -> bool:
    """Whether Python runs a loop of the function."""
    source = jit_source(function)
    driver = driver_of(source)
    if driver is None:
        return False
    made = driver._splitter.driver(source.tree(), False)
    return any(isinstance(part, ast.For | ast.While) for part in ast.walk(made))


def parameters():
    for style, name in PROGRAMS:
        code, reason = REFUSED.get((style, name), ("", ""))
        why = f"{code}: {reason}"
        marks = [pytest.mark.xfail(raises=parpy.CompileError, strict=True, reason=why)] if code else []
        yield pytest.param(style, name, marks=marks, id=f"{style}-{name}")


@pytest.mark.parametrize(("style", "name"), list(parameters()))
def test_program(style, name):
    want_from = data.initialize(name)
    want = values(program("numpy", name)(*want_from), want_from)
    arguments = data.initialize(name)
    function = compiled(style, name)
    try:
        result = function(*arguments)
    except parpy.CompileError as error:
        assert f"[{REFUSED.get((style, name), ('',))[0]}]" in str(error), error
        raise
    got = values(result, arguments)
    compare(got, want)
    if style == "numpy":
        assert [np.asarray(each).dtype for each in got] == [np.asarray(each).dtype for each in want]
    assert run_by_python(function) == ((style, name) in LOOPS_OF_PYTHON)


@pytest.mark.parametrize("name", data.PROGRAMS)
def test_something_happens(name):
    """The results have nonzero values: otherwise the comparison would show nothing."""
    before, arguments = data.initialize(name), data.initialize(name)
    result = program("numpy", name)(*arguments)
    changed = [a for a, b in zip(arguments, before, strict=True) if not np.array_equal(a, b)]
    made = values(result, tuple(changed))
    assert made
    for each in made:
        assert np.isfinite(each).all()
        assert np.any(each)


@pytest.mark.parametrize("name", data.PROGRAMS)
def test_the_styles_agree_in_python(name):
    want_from, arguments = data.initialize(name), data.initialize(name)
    want = values(program("numpy", name)(*want_from), want_from)
    result = jit_source(program("numba", name)).function(*arguments)
    compare(values(result, arguments), want)
