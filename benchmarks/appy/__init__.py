"""The programs of APPy's table, in the style of its authors: annotated loops, and tensor expressions.

A module of programs/ has two functions, `loops` and `tensors`. Data, references and sizes are those of the kernel of
the same name in benchmarks/npbench/.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

NAMES = tuple(sorted(path.stem for path in (Path(__file__).parent / "programs").glob("*.py") if path.stem[0] != "_"))
FORMS = ("loops", "tensors")


def load(name: str, form: str) -> Callable[..., Any]:
    """The decorated function."""
    function: Callable[..., Any] = getattr(importlib.import_module(f"{__name__}.programs.{name}"), form)
    return function
