"""APPy's names: annotated loops and tensor expressions for GPUs. ``import parpy.appy as appy`` runs programs of APPy.

``appy.jit`` is ``parpy.jit`` with APPy's options. ``#pragma`` comments have the same meaning under both. The functions
are NumPy's own, so that programs also run without the decorator.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from ..math import erf
from ..vocabulary.workers import MVL, mv, prange, vidx
from ..vocabulary.workers import range as range
from . import measuring as utils
from . import np_shared
from ._jit import compile_from_src, cpu_shader, jit, shader
from ._transfers import to_cpu, to_gpu
from .library import atomic_add, cdiv, debug_barrier, rsqrt

step = vindex = vidx  # the names of older versions of APPy

config = SimpleNamespace(auto_simd=True, default_float="float64", default_int="int64")
"""``auto_simd`` has no effect: the last dimension of tensor statements always runs in vectors."""

tensorlib = np
"""The library that ``appy.empty`` and similar functions create arrays with."""

empty, empty_like, zeros, zeros_like = np.empty, np.empty_like, np.zeros, np.zeros_like
ones, ones_like, full, arange = np.ones, np.ones_like, np.full, np.arange
randn, randint, copy = np.random.randn, np.random.randint, np.copy
sum, max, min, mean, argmax, argmin, dot = np.sum, np.max, np.min, np.mean, np.argmax, np.argmin, np.dot
maximum, minimum, where, clamp = np.maximum, np.minimum, np.where, np.clip
abs, sqrt, exp, log, log2, floor, ceil = np.abs, np.sqrt, np.exp, np.log, np.log2, np.floor, np.ceil
sin, cos, tan, sinh, cosh, tanh = np.sin, np.cos, np.tan, np.sinh, np.cosh, np.tanh

# The names of Python's own functions are left out, so that `from parpy.appy import *` does not replace them.
__all__ = [
    "MVL", "arange", "argmax", "argmin", "atomic_add", "cdiv", "ceil", "clamp", "compile_from_src", "config",
    "copy", "cos", "cosh", "cpu_shader", "debug_barrier", "dot", "empty", "empty_like", "erf", "exp", "floor",
    "full", "jit", "log", "log2", "math", "maximum", "mean", "minimum", "mv", "np_shared", "ones", "ones_like",
    "prange", "randint", "randn", "rsqrt", "shader", "sin", "sinh", "sqrt", "step", "tan", "tanh", "tensorlib",
    "to_cpu", "to_gpu", "utils", "vidx", "vindex", "where", "zeros", "zeros_like",
]  # fmt: skip
