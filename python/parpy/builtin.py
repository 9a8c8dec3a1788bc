"""Operators of compiled code beyond Python's own. All of them also work in plain Python."""

from .vocabulary.operators import *  # noqa: F403
from .vocabulary.operators import __all__ as __all__
