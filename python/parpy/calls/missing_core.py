"""Advice for an import that cannot load the compiled core. Only a failed import loads this module."""

from __future__ import annotations

import platform
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def advice(error: ImportError) -> str:
    """The message for the ImportError of the core: the cause and the remedy."""
    there = sorted(path.name for path in _PACKAGE.glob("_native.*.so"))
    fitting = [name for name in there if any(name == f"_native{suffix}" for suffix in EXTENSION_SUFFIXES)]
    python = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    if fitting:
        text = f"the compiled core of ParPy, {_PACKAGE / fitting[0]}, cannot be loaded: {error}"
        fix = "install ParPy and NumPy again: pip install --force-reinstall parpy numpy"
        if "GLIBC" in str(error):
            fix = "this system is older than the wheel: build ParPy here, pip install --no-binary parpy parpy"
    elif there:
        text = f"the compiled core of ParPy in {_PACKAGE} is for another interpreter ({there[0]}), not for {python}"
        fix = f"install ParPy with this one: {sys.executable} -m pip install parpy"
    elif platform.system() != "Linux" or platform.machine() not in ("x86_64", "AMD64"):
        text = f"ParPy has no compiled core for {python}"
        fix = "it runs on Linux on x86-64; on Windows in WSL 2, elsewhere in a container"
    else:
        text = f"the compiled core of ParPy is missing in {_PACKAGE}"
        fix = "in a checkout 'make build' makes it; elsewhere: pip install --force-reinstall parpy"
    others = [path for path in _others() if any(path.glob("_native.*.so"))]
    if others:
        fix += f"; another ParPy, which has one, is in {others[0]}: an earlier folder on the path hides it"
    return f"{text}\nhelp: {fix}"


def _others() -> list[Path]:
    found = (Path(each or ".").resolve() / "parpy" for each in sys.path)
    return [path for path in dict.fromkeys(found) if path.is_dir() and path != _PACKAGE.resolve()]
