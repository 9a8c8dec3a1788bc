"""The names of NumbaPro, for programs written for it: ``from parpy.numbapro import vectorize, cuda``.

``vectorize`` and ``guvectorize`` are ParPy's. ``jit`` and ``autojit`` compile functions for the host, ``cuda`` has
kernels, ``cudalib`` has NVIDIA's libraries, and ``CU`` runs a function of the thread's number on a device. Types are
those of signatures: ``float32``, ``f4``, ``int32[:]``.
"""

from ..ufuncs.guvectorize import guvectorize
from ..ufuncs.vectorize import vectorize
from ..vocabulary import signatures as _signatures
from ..vocabulary.signatures import *  # noqa: F403
from . import cuda, cudalib
from ._builders import GUVectorize, Vectorize
from ._jit import autojit, jit
from ._units import CU

__all__ = ["CU", "GUVectorize", "Vectorize", "autojit", "cuda", "cudalib", "guvectorize", "jit", "vectorize"]
__all__ += _signatures.__all__
