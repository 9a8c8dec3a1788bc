"""ParPy: loop nests of Python functions, compiled for all cores of a CPU or for an NVIDIA GPU.

Decorate a function with ``parpy.jit``, name its loops with ``parpy.label``, and say at the call how they run:
``f(x, y, opts=parpy.par({'i': parpy.threads(1024)}))``.
"""

from importlib import import_module
from types import ModuleType

from . import backend, buffer, builtin, cuda, math, types
from ._callback import callback
from ._compile_string import compile_string
from ._errors import BackendError, CompileError, InternalError, ParallelError
from ._explain import explain
from ._external import external
from ._jit import clear_cache, jit, print_compiled, sync
from ._options import (
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
from ._performance import PerformanceWarning
from ._reductions import all, any, max, mean, min, prod, reduce, sum
from ._tune import tune
from .builtin import gpu, label

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
    "external",
    "gpu",
    "jit",
    "label",
    "math",
    "max",
    "mean",
    "min",
    "par",
    "par_reduction",
    "print_compiled",
    "prod",
    "reduce",
    "seq",
    "sum",
    "sync",
    "threads",
    "tune",
    "types",
]


def __getattr__(name: str) -> ModuleType:
    """Languages of their own are loaded when they are asked for."""
    if name == "cudapy":
        return import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
