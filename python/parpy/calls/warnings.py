"""Which line of the user's code called the package, and warnings that name it."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

_PACKAGE = __name__.partition(".")[0]


def is_ours(frame: FrameType) -> bool:
    """Whether it is code of this package that runs there."""
    return str(frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE


def stack_level() -> int:
    """The level, for a warning of the caller, of the innermost line that is not the package's."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and is_ours(frame):
        level, frame = level + 1, frame.f_back
    return level


def warn(message: str) -> None:
    """A ``RuntimeWarning`` at the innermost line that is not the package's."""
    warnings.warn(message, RuntimeWarning, stacklevel=stack_level())
