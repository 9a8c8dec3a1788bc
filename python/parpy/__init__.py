"""ParPy: loop nests of Python functions, compiled for all cores of a CPU or for an NVIDIA GPU.

Decorate a function with ``parpy.jit``, name its loops with ``parpy.label``, and say at the call how they run:
``f(x, y, opts=parpy.par({'i': parpy.threads(1024)}))``.
"""

from importlib import import_module
from types import ModuleType
from typing import cast

from . import backend, buffer, builtin, cuda, math, types
from . import reduce as _reduce
from .arrays.callbacks import callback
from .builtin import gpu, label
from .calls.compile_string import compile_string
from .calls.errors import BackendError, CompileError, InternalError, ParallelError
from .calls.external import external
from .calls.jit import clear_cache, jit, njit, print_compiled, sync
from .calls.options import (
    CompileBackend,
    CompileOptions,
    ElemSize,
    LoopPar,
    Target,
    auto,
    par,
    par_reduction,
    seq,
    threads,
)
from .calls.performance import PerformanceWarning
from .reduce import Reduce
from .studies.codes import explain_code
from .studies.explain import explain
from .studies.tune import tune
from .ufuncs.guvectorize import guvectorize
from .ufuncs.vectorize import vectorize
from .vocabulary.reductions import all, any, max, mean, min, prod, sum

reduce = cast(Reduce, _reduce)
prange = range  # whether its iterations run in parallel is proved, not claimed

__all__ = [
    "BackendError",
    "CompileBackend",
    "CompileError",
    "CompileOptions",
    "ElemSize",
    "InternalError",
    "LoopPar",
    "ParallelError",
    "PerformanceWarning",
    "Target",
    "all",
    "any",
    "auto",
    "backend",
    "buffer",
    "builtin",
    "callback",
    "clear_cache",
    "compile_string",
    "cuda",
    "explain",
    "explain_code",
    "external",
    "gpu",
    "guvectorize",
    "jit",
    "label",
    "math",
    "max",
    "mean",
    "min",
    "njit",
    "par",
    "par_reduction",
    "prange",
    "print_compiled",
    "prod",
    "reduce",
    "seq",
    "sum",
    "sync",
    "threads",
    "tune",
    "types",
    "vectorize",
]


def __getattr__(name: str) -> ModuleType:
    """Languages of their own are loaded when they are asked for."""
    if name in ("appy", "cudalib", "cudapy", "numbapro"):
        return import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
