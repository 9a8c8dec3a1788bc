"""NPBench's kernels as ParPy loops: each is a module of kernels/, which is found by its name."""

from __future__ import annotations

import importlib
from pathlib import Path

from .kernel import Kernel

NAMES = sorted(path.stem for path in (Path(__file__).parent / "kernels").glob("[a-z]*.py"))


def load(name: str) -> Kernel:
    kernel = importlib.import_module(f"{__name__}.kernels.{name}").KERNEL
    assert isinstance(kernel, Kernel)
    return kernel
