"""The texts of tests/programs: every kernel in the style of NumPy users, and in that of Numba users; and their data."""

from __future__ import annotations

import importlib
import inspect
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).resolve().parents[2] / "tests" / "programs"
sys.path.insert(0, str(PROGRAMS))

import program_data  # noqa: E402


def numpy_style(name: str) -> Callable[..., Any]:
    """The plain function of NumPy, undecorated."""
    return getattr(importlib.import_module(f"numpy_style.{name}"), name)


def numba_style(name: str) -> Callable[..., Any]:
    """The text for users of Numba, whose decorators are ParPy's."""
    return getattr(importlib.import_module(f"numba_style.{name}"), name)


def _translated(style: str, name: str, old: str, new: str) -> Callable[..., Any]:
    path = PROGRAMS / style / f"{name}.py"
    text = path.read_text()
    module = types.ModuleType(f"{name} with {new}")
    exec(compile(text.replace(old, new), str(path), "exec"), module.__dict__)
    return module.__dict__[name]


def under_numba(name: str) -> Callable[..., Any]:
    """The text for users of Numba, compiled by Numba."""
    return _translated("numba_style", name, "import parpy as nb", "import numba as nb")


def with_library(name: str, library: str) -> Callable[..., Any]:
    """The text of NumPy with another library, such as cupy, instead of it."""
    return _translated("numpy_style", name, "import numpy as np", f"import {library} as np")


def data(program: str, rng: Any, **sizes: int) -> dict[str, Any]:
    """Arguments from tests/programs/program_data.py, by the names of the text's parameters."""
    values = program_data.PROGRAMS[program](rng, **sizes)
    return dict(zip(parameters(numpy_style(program)), values, strict=True))


def parameters(function: Callable[..., Any]) -> list[str]:
    """The names of the parameters that have no default."""
    found = inspect.signature(getattr(function, "__wrapped__", function)).parameters
    return [name for name, each in found.items() if each.default is each.empty]
