"""Cooperative groups: ``cg.this_grid().sync()`` in a kernel waits for all its threads."""

from ..vocabulary.device import this_grid

__all__ = ["this_grid"]
