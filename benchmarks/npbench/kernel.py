"""What a module of kernels/ says about its kernel: data, reference, loops, mappings, cost.

Everything that takes sizes takes them by name, as keyword arguments. Arguments of `function` and `reference` are chosen
by the names of their parameters from what `initialize` makes and from the sizes.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import parpy

Sizes = Mapping[str, int]
Threads = Mapping[str, parpy.LoopPar]

BACKENDS = {"cpu": parpy.CompileBackend.Cpu, "cuda": parpy.CompileBackend.Cuda}
CORES = parpy.threads(len(os.sched_getaffinity(0)))
SIMD = parpy.threads(64)


def presets(names: str, **values: tuple[int, ...]) -> dict[str, dict[str, int]]:
    """Sizes by preset: presets("M N", S=(4, 5)) is {"S": {"M": 4, "N": 5}}."""
    return {preset: dict(zip(names.split(), row, strict=True)) for preset, row in values.items()}


def share(n: int, each: int) -> parpy.LoopPar:
    """As many threads as there are groups of `each` among n iterations: of blocks, which then take neighbours."""
    return parpy.threads(max(1, -(-n // each)))


@dataclass(frozen=True)
class Kernel:
    """One benchmark. `presets` has NPBench's S, M, L and paper, and `tiny` for tests."""

    function: Callable[..., None]  # the loops, under parpy.jit
    reference: Callable[..., None]  # the same with NumPy, into the same arrays
    initialize: Callable[..., dict[str, Any]]  # (rng, **sizes): arguments by name, random where values matter
    outputs: tuple[str, ...]  # the arrays that are compared; what else a kernel stores is scratch
    presets: Mapping[str, Sizes]
    cpu: Threads  # the best mapping found by hand, so for cuda
    cuda: Callable[..., Threads]
    bytes: Callable[..., float]  # least memory traffic, each pass that a dependence forces reads and writes once
    flops: Callable[..., float]  # additions, multiplications, divisions, roots and exponentials count 1
    steps: str = ""  # the size that is a number of time steps, which a check may cut
    tolerance: float = 0.0  # relative error in the 2-norm; 0: what the type of the result suggests
    cpu_function: Callable[..., None] | None = None  # where the CPU wants its loops in another order

    def on(self, backend: str) -> Callable[..., None]:
        return self.cpu_function or self.function if backend == "cpu" else self.function

    def mapping(self, backend: str, sizes: Sizes) -> Threads:
        return self.cpu if backend == "cpu" else self.cuda(**sizes)

    def options(self, backend: str, sizes: Sizes, **fields: Any) -> parpy.CompileOptions:
        return parpy.CompileOptions(parallelize=self.mapping(backend, sizes), backend=BACKENDS[backend], **fields)

    def data(self, sizes: Sizes, seed: int = 42) -> dict[str, Any]:
        return {**self.initialize(np.random.default_rng(seed), **sizes), **sizes}


def arguments(function: Callable[..., Any], data: Mapping[str, Any]) -> tuple[Any, ...]:
    """What `function` is called with."""
    return tuple(data[name] for name in inspect.signature(getattr(function, "__wrapped__", function)).parameters)


def error(got: Any, want: Any) -> float:
    """Relative, in the 2-norm; infinite where only one of them is finite."""
    kind = np.complex128 if np.iscomplexobj(want) else np.float64
    with np.errstate(invalid="ignore"):
        difference = np.subtract(got, want, dtype=kind)
    if not np.isfinite(difference).all():
        difference[(got == want) | (np.isnan(got) & np.isnan(want))] = 0.0
    if not np.isfinite(difference).all():
        return float("inf")
    size = float(np.linalg.norm(want[np.isfinite(want)]))
    return float(np.linalg.norm(difference.ravel())) / (size or 1.0)


def check(kernel: Kernel, got: Mapping[str, Any], want: Mapping[str, Any]) -> None:
    """Raises AssertionError naming the outputs that differ by more than rounding explains."""
    for name in kernel.outputs:
        wide = want[name].dtype.itemsize // (2 if want[name].dtype.kind == "c" else 1) == 8
        limit = kernel.tolerance or (0.0 if want[name].dtype.kind in "iub" else 1e-11 if wide else 1e-5)
        found = error(got[name], want[name])
        assert found <= limit, f"{name} is off by {found:.1e}, allowed are {limit:.0e}"
