"""Finds the line of the user's code that called the package, and issues warnings that name it."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

_PACKAGE = __name__.partition(".")[0]


class ParPyWarning(UserWarning):
    """A warning of this package: the class of all of them."""


class ConfigurationWarning(ParPyWarning, RuntimeWarning):
    """A setting, the disk cache or a device is not as the program expects, and ParPy goes on without it."""


def is_ours(frame: FrameType) -> bool:
    """Whether it is code of this package that runs there."""
    return str(frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE


def stack_level() -> int:
    """The level, for a warning of the caller, of the innermost line that is not the package's."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and (is_ours(frame) or _imports(frame)):
        level, frame = level + (not _imports(frame)), frame.f_back
    return level


def _imports(frame: FrameType) -> bool:
    """Whether it is Python's import system that runs there, which levels do not count."""
    return frame.f_code.co_filename.startswith("<frozen importlib")


def warn(message: str) -> None:
    """A ``ConfigurationWarning`` at the innermost line that is not the package's."""
    warnings.warn(message, ConfigurationWarning, stacklevel=stack_level())
