"""Kernels written by hand, under the names of ``numba.cuda``, on a GPU or on the simulator if there is no GPU."""

# ruff: noqa: F403
from ..vocabulary import device as _device
from ..vocabulary import signatures as _signatures
from ..vocabulary import vectors as _vectors
from ..vocabulary.device import *
from ..vocabulary.signatures import *
from ..vocabulary.vectors import *
from . import (
    _arrays,
    _compiling,
    _devices,
    _host_memory,
    _linking,
    _missing,
    _streams,
    bf16,
    cg,
    cudadrv,
    errors,
    fp16,
    libdevice,
    random,
    types,
)
from ._arrays import *
from ._compiling import *
from ._decorators import guvectorize, jit, vectorize
from ._devices import *
from ._host_memory import *
from ._linking import *
from ._missing import *
from ._reduce import Reduce
from ._streams import *
from .arguments import directed as _directed
from .arguments.directed import *
from .sim import Simulator

sim = Simulator()
reduce = Reduce

__all__ = [
    "Reduce",
    "bf16",
    "cg",
    "cudadrv",
    "errors",
    "fp16",
    "guvectorize",
    "jit",
    "libdevice",
    "random",
    "reduce",
    "sim",
    "types",
    "vectorize",
]
for _module in (
    _signatures, _device, _vectors, _directed, _arrays, _compiling, _devices, _host_memory, _linking, _missing,
    _streams,
):  # fmt: skip
    __all__ += _module.__all__
