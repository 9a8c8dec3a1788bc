"""Names of the user that CUDA, C++ or the preludes use too: as functions, variables, parameters and entries."""

from __future__ import annotations

import keyword

import numpy as np
import pytest

import parpy
from nvrtc import cubin, why_missing
from parpy import cuda, threads

# fmt: off
# Names that NVRTC and the preludes of CUDA text and the simulator declare, and macros.
TAKEN = [
    "rsqrt", "rsqrtf", "any", "all", "ballot", "std", "sinpi", "sinpif", "cospi", "rhypot", "norm", "norm3df",
    "normcdf", "normcdfinv", "rcbrt", "exp10", "logb", "ilogb", "fdivide", "lrint", "llround", "sincos", "sincospi",
    "remquo", "scalbn", "scalbln", "cyl_bessel_i0f", "erfcinv", "erfcx", "nan", "nanf", "free", "malloc", "memcpy",
    "umin", "ullmax", "llabs", "dadd", "double2uint", "clock", "clock64", "ptrdiff_t", "size_t", "dim3", "int4",
    "uchar1", "ulonglong2", "double4_16a", "float3", "make_int2", "make_double4_32a", "make_ushort3", "tex1D",
    "tex2DLod", "texCubemap", "surf2Dread", "atomicExch", "atomicAdd_system", "cudaArray", "cudaStream_t",
    "CUDA_R_16F", "CUuuid", "syncthreads_or", "threadIdx", "warpSize", "MAJOR_VERSION", "WordOf", "grid_arrivals",
    "has_failed", "report_failure", "simulated_stack", "replace_atomically", "assert", "parpy_sim", "parpy_failure",
    "parpy_launch", "PARPY_SIM", "fail", "Word", "concept", "typeof", "register", "union", "exit", "index", "strlen",
    "strdup", "qsort", "getenv", "abort", "write", "read", "open", "close", "time", "puts",
]
# Similar names that are free.
FREE = [
    "cudax", "atomic", "text", "surface", "tex", "maker", "make_", "float5", "int0", "unsigned_", "uint", "my_rsqrt",
    "parpyx", "long_1", "CU", "xatomicAdd",
]
# fmt: on
NAMES = [name for name in TAKEN if not keyword.iskeyword(name)]


def text_of(decorator: str, names: list[str]) -> str:
    lines = [f"@{decorator}\ndef {name}(a):\n    return a + {i}\n" for i, name in enumerate(names)]
    return "\n".join(lines)


def made(text: str, **names) -> dict:
    exec(text, names)
    return names


def test_device_functions(simulator):
    text = text_of("cuda.jit(device=True)", NAMES)
    text += "@cuda.jit\ndef call_all(x):\n" + "".join(f"    x[{i}] = {n}(x[{i}])\n" for i, n in enumerate(NAMES))
    kernel = made(text, cuda=cuda)["call_all"]
    x = np.zeros(len(NAMES))
    if not why_missing():
        cubin(kernel.inspect_source(x))
    kernel[1, 1](x)
    assert x.tolist() == list(range(len(NAMES)))


def test_builtin_functions_beside_them(simulator):
    rsqrt = made("@cuda.jit(device=True)\ndef rsqrt(a):\n    return a + 1\n", cuda=cuda)["rsqrt"]

    @cuda.jit
    def both(x):
        x[0] = rsqrt(x[0])
        x[1] = cuda.rsqrt(x[1])

    @cuda.jit
    def variable(x):
        rsqrt = x[0] + 1
        x[1] = cuda.rsqrt(x[1]) + rsqrt

    @cuda.jit
    def parameter(x, rsqrt):
        x[1] = cuda.rsqrt(x[1]) + rsqrt

    x = np.full(2, 4.0)
    both[1, 1](x)
    assert x.tolist() == [5, 0.5]
    for kernel, arguments in ((variable, ()), (parameter, (5.0,))):
        x = np.full(2, 4.0)
        if not why_missing():
            cubin(kernel.inspect_source(x, *arguments))
        kernel[1, 1](x, *arguments)
        assert x.tolist() == [4, 5.5]


def test_variables_of_kernels(simulator):
    text = "@cuda.jit\ndef count(x):\n" + "".join(f"    {n} = x[{i}] + {i}\n" for i, n in enumerate(NAMES))
    text += "".join(f"    x[{i}] = {n}\n" for i, n in enumerate(NAMES))
    kernel = made(text, cuda=cuda)["count"]
    x = np.zeros(len(NAMES))
    if not why_missing():
        cubin(kernel.inspect_source(x))
    kernel[1, 1](x)
    assert x.tolist() == list(range(len(NAMES)))


@pytest.mark.parametrize("backend", ["Cpu", "Sim"])
def test_loops(backend):
    """Such names for helper functions, variables and arrays in loops."""
    text = text_of("parpy.jit", NAMES)
    text += "@parpy.jit\ndef call_all(x, n):\n    parpy.label('i')\n    for i in range(n):\n"
    text += "".join(f"        x[i, {i}] = {n}(x[i, {i}])\n" for i, n in enumerate(NAMES))
    text += "@parpy.jit\ndef count(x, n):\n    parpy.label('i')\n    for i in range(n):\n"
    text += "".join(f"        {n} = x[i, {i}] + {i}\n" for i, n in enumerate(NAMES))
    text += "".join(f"        x[i, {i}] = {n}\n" for i, n in enumerate(NAMES))
    found = made(text, parpy=parpy)
    options = parpy.par({"i": threads(32)})
    options.backend = getattr(parpy.CompileBackend, backend)
    for name in ("call_all", "count"):
        x = np.zeros((3, len(NAMES)))
        found[name](x, 3, opts=options)
        assert (x == np.arange(len(NAMES))).all()


@pytest.mark.parametrize("backend", ["Cpu", "Sim"])
@pytest.mark.parametrize("name", NAMES[::4])
def test_entries_and_parameters(name, backend):
    text = f"@parpy.jit\ndef {name}({name}, n):\n    parpy.label('i')\n    for i in range(n):\n        {name}[i] += 1\n"
    options = parpy.par({"i": threads(32)})
    options.backend = getattr(parpy.CompileBackend, backend)
    x = np.zeros(3)
    made(text, parpy=parpy)[name](x, 3, opts=options)
    assert x.tolist() == [1, 1, 1]


def test_free_names_stay():
    text = "@parpy.jit\ndef f(x, n):\n    for i in range(n):\n"
    text += "".join(f"        {n} = x[i] + {i}\n" for i, n in enumerate(FREE))
    text += "        x[i] = " + " * ".join(FREE) + "\n"
    shown = parpy.print_compiled(made(text, parpy=parpy)["f"], [np.zeros(3), 3])
    for name in FREE:
        assert f"double {name} =" in shown
