"""ParPy compiles loops of Python functions for all cores of a CPU or for an NVIDIA GPU.

Decorate a function with ``parpy.jit`` and call it. The compiler chooses how its loops run, and refuses a parallel loop
that would change the result. To map loops by hand, name them with ``parpy.label`` and write ``f(x, y,
opts=parpy.par({'i': parpy.threads(1024)}))``.
"""

from typing import TYPE_CHECKING, cast

try:
    from . import _native
except ImportError as _error:
    from .calls.missing_core import advice

    raise ImportError(advice(_error)) from None

from . import builtin, math, types
from . import reduce as _reduce
from .builtin import gpu, label
from .calls.errors import BackendError, CompileError, InternalError, ParallelError
from .calls.external import external
from .calls.jit import clear_cache, jit, njit, print_compiled, sync
from .calls.options import (
    CompileBackend,
    CompileOptions,
    LoopPar,
    Target,
    auto,
    par,
    par_reduction,
    seq,
    threads,
)
from .calls.performance import PerformanceWarning
from .calls.warnings import ConfigurationWarning, ParPyWarning
from .reduce import Reduce
from .syntax.lazy import imported as _imported
from .vocabulary.reductions import all, any, max, mean, min, prod, sum
from .vocabulary.sizes import ElemSize

__version__: str = _native.version
reduce: Reduce = cast(Reduce, _reduce)
prange = range  # the compiler proves whether its iterations may run in parallel; the name claims nothing

__all__ = [
    "BackendError",
    "CompileBackend",
    "CompileError",
    "CompileOptions",
    "ConfigurationWarning",
    "ElemSize",
    "InternalError",
    "LoopPar",
    "ParPyWarning",
    "ParallelError",
    "PerformanceWarning",
    "Target",
    "__version__",
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
    "halo",
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
    "show_config",
    "sum",
    "sync",
    "threads",
    "tune",
    "types",
    "vectorize",
]

# Modules, and names with their modules: the first access to one of them imports the module.
_MODULES = ("appy", "backend", "buffer", "cuda", "cudalib", "cudapy", "dask", "jax", "numbapro", "torch")
_NAMES = {
    "callback": ".arrays.callbacks",
    "compile_string": ".calls.compile_string",
    "explain": ".studies.explain",
    "explain_code": ".studies.codes",
    "guvectorize": ".ufuncs.guvectorize",
    "halo": ".scale.halo",
    "load_ipython_extension": ".studies.cell_magic",
    "show_config": ".studies.configuration",
    "tune": ".studies.tune",
    "unload_ipython_extension": ".studies.cell_magic",
    "vectorize": ".ufuncs.vectorize",
}

if TYPE_CHECKING:
    from . import appy as appy
    from . import backend as backend
    from . import buffer as buffer
    from . import cuda as cuda
    from . import cudalib as cudalib
    from . import cudapy as cudapy
    from . import dask as dask
    from . import jax as jax
    from . import numbapro as numbapro
    from . import torch as torch
    from .arrays.callbacks import callback
    from .calls.compile_string import compile_string
    from .scale.halo import halo
    from .studies.cell_magic import load_ipython_extension as load_ipython_extension
    from .studies.cell_magic import unload_ipython_extension as unload_ipython_extension
    from .studies.codes import explain_code
    from .studies.configuration import show_config
    from .studies.explain import explain
    from .studies.tune import tune
    from .ufuncs.guvectorize import guvectorize
    from .ufuncs.vectorize import vectorize
else:

    def __getattr__(name):
        """Imports the modules and names that few programs need at their first use."""
        if name in _MODULES:
            return _imported(f"{__name__}.{name}")
        if name not in _NAMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(_imported(__name__ + _NAMES[name]), name)
        return found

    def __dir__():
        return sorted({*globals(), *_MODULES, *_NAMES})
