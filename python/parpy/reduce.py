"""Reductions of slices, such as ``parpy.reduce.sum(x[:, :], axis=1)``. The package has the same functions as
``parpy.sum`` and so on.

Calling the module, ``parpy.reduce()``, returns a LoopPar that declares its loop to be a reduction.
"""

from __future__ import annotations

import sys
from types import ModuleType

from .calls.options import LoopPar, par_reduction
from .vocabulary.reductions import all, any, max, mean, min, prod, sum

__all__ = ["all", "any", "max", "mean", "min", "prod", "sum"]


class Reduce(ModuleType):
    """The class of this module."""

    def __call__(self) -> LoopPar:
        """Returns a LoopPar that declares its loop to be a reduction."""
        return par_reduction()


sys.modules[__name__].__class__ = Reduce
