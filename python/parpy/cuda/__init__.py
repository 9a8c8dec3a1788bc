"""Kernels written by hand, under the names of ``numba.cuda``; on a GPU, or on the simulator where there is none."""

# ruff: noqa: F403
from ..vocabulary import device as _device
from ..vocabulary.device import *
from . import _arrays, _devices, _streams, cg, random, types
from ._arrays import *
from ._devices import *
from ._kernel import declare_device, jit
from ._reduce import Reduce
from ._streams import *
from .sim import Simulator

sim = Simulator()
reduce = Reduce

__all__ = ["Reduce", "cg", "declare_device", "jit", "random", "reduce", "sim", "types"]
__all__ += _device.__all__
__all__ += _arrays.__all__
__all__ += _devices.__all__
__all__ += _streams.__all__
