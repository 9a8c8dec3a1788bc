"""``parpy.cudalib`` under NumbaPro's name; its modules can also be imported from here."""

import sys

from ...cudalib import cublas, cufft, curand

for _module in (cublas, cufft, curand):
    sys.modules[f"{__name__}.{_module.__name__.rpartition('.')[2]}"] = _module

__all__ = ["cublas", "cufft", "curand"]
