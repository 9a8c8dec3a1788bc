"""A user's program with types: checkers find no errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import parpy
import parpy.cuda as cuda
from parpy import CompileBackend, CompileOptions, ElemSize, LoopPar, Target

Array = npt.NDArray[np.float64]


@parpy.jit
def scale(x: Array, a: float, n: int = 0) -> float:
    total = 0.0
    parpy.label("i")
    for i in range(len(x)):
        x[i] = x[i] * a
        total += x[i]
    return float(total + n)


@parpy.jit(fastmath=True)
def halve(x: Array) -> None:
    for i in parpy.prange(len(x)):
        x[i] = x[i] / 2


@parpy.njit("float64(float64)")
def twice(a: float) -> float:
    return float(parpy.math.sqrt(a * a) * 2)


class Filter:
    weight = 0.5

    @parpy.jit
    def apply(self, x: Array) -> float:
        return float(x[0]) * self.weight


@parpy.callback
def show(step: int) -> None:
    print(step)


@parpy.external("cbrt", CompileBackend.Cpu, Target.Host, header="<cmath>")
def cube_root(x: float) -> float:
    return float(x ** (1 / 3))


@parpy.vectorize
def add(a: float, b: float) -> float:
    return a + b


@parpy.vectorize(["float64(float64)"], target="parallel")
def square(a: float) -> float:
    return a * a


@parpy.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
def total(x: Array, out: Array) -> None:
    out[0] = x.sum()


@cuda.jit
def fill(x: Array, value: float) -> None:
    i = cuda.grid(1)
    k = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    assert_type(k, int)
    if i < x.size:
        x[i] = value + third(value)
        cuda.atomic.add(x, 0, 1.0)
    cuda.syncthreads()


@cuda.jit(device=True)
def third(a: float) -> float:
    return a / 3


@cuda.jit("void(float64[:])", fastmath=True, launch_bounds=128)
def clear(x: Array) -> None:
    x[cuda.grid(1)] = 0.0


def use() -> None:
    x = np.ones(10)
    assert_type(scale(x, 2.0), float)
    assert_type(scale(x, a=2.0, n=3), float)
    assert_type(scale(x, 2.0, opts=parpy.par({"i": parpy.threads(8).reduce()})), float)
    assert_type(scale(x, 2.0, seq=True), float)
    assert_type(scale(x, 2.0, debug=True), float)
    halve(x)
    assert_type(twice(1.0), float)
    assert_type(Filter().apply(x), float)
    show(3)
    assert_type(cube_root(8.0), float)
    python: Callable[[Array, float, int], float] = scale.py_func
    python(x, 1.0, 2)

    sums = add(x, x) + square(x)
    reduced = add.reduce(x)
    print(total(x), sums, reduced)
    fill[1, 32](x, 1.0)
    fill.forall(len(x))(x, 1.0)
    clear[1, 32](x)

    fields = CompileOptions(backend=CompileBackend.Sim, legality="strict", check="bounds", max_unroll_count=4)
    fields.deterministic = True
    fields.parallelize = {"i": parpy.threads(4)}
    fields.force_float_size = ElemSize.F32
    loops: dict[str, LoopPar] = {"i": parpy.threads(32).tpb(64), "j": parpy.reduce()}
    both = [parpy.par(loops, fast_math=True, stream=None), parpy.auto(backend=CompileBackend.Cpu), parpy.seq(), fields]

    print(parpy.print_compiled(scale, [x, 2.0, 0], both[0]))
    explained = parpy.explain(scale, x, 2.0, opts=both[1])
    print(explained, explained.json(), explained.seconds, explained.mapping["i"])
    best = parpy.tune(scale, x, 2.0, seconds=0.5)
    scale(x, 2.0, opts=best)
    function = parpy.compile_string("scale", parpy.print_compiled(scale, (x, 2.0, 0)))
    function(x, 2.0, 0)

    buffer = parpy.buffer.zeros((4,), parpy.types.F32, CompileBackend.Cpu)
    on_host = buffer.numpy()
    print(buffer.shape, buffer.dtype, on_host.sum(), parpy.sum(x, axis=0), parpy.reduce.max(x))
    print(parpy.numbapro.vectorize, parpy.appy.MVL, parpy.cudapy.compile, parpy.cudalib.cufft)
    parpy.sync()
    parpy.clear_cache()
    with parpy.gpu:
        pass
    try:
        scale(x, 2.0)
    except parpy.ParallelError as error:
        codes: tuple[str, ...] = error.codes
        print(codes)
    except parpy.CompileError:
        raise


def run(function: Callable[..., Any]) -> Any:
    return function()


run(use)
