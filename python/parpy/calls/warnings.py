"""Finds the line of the user's code that called the package, and issues warnings that name it."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

_PACKAGE = __name__.partition(".")[0]


class ParPyWarning(UserWarning):
    """The base class of all warnings of this package."""


class ConfigurationWarning(ParPyWarning, RuntimeWarning):
    """A setting, the disk cache or a device is not as the program expects, and ParPy goes on without it."""


def is_ours(frame: FrameType) -> bool:
    """Whether the frame runs code of this package."""
    return str(frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE


def stack_level() -> int:
    """The ``stacklevel`` with which a warning by the caller names the innermost line outside of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and (is_ours(frame) or _imports(frame)):
        level, frame = level + (not _imports(frame)), frame.f_back
    return level


def _imports(frame: FrameType) -> bool:
    """Whether the frame runs Python's import system, whose frames do not count as levels."""
    return frame.f_code.co_filename.startswith("<frozen importlib")


def warn(message: str) -> None:
    """Issues a ``ConfigurationWarning`` at the innermost line outside of this package."""
    warnings.warn(message, ConfigurationWarning, stacklevel=stack_level())
