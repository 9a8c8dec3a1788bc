"""The description of a kernel in a module of kernels/: data, reference, loops, mappings, cost.

Functions of sizes have them as keyword arguments. The parameters of every form of a kernel are filled by name from
the results of `initialize` and from the sizes. A form stores its outputs to arguments, or returns them; `returns` names
the results of the texts of tests/programs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import parpy

from . import texts

Sizes = Mapping[str, int]
Threads = Mapping[str, parpy.LoopPar]

BACKENDS = {"cpu": parpy.CompileBackend.Cpu, "cuda": parpy.CompileBackend.Cuda}
CORES = parpy.threads(len(os.sched_getaffinity(0)))
SIMD = parpy.threads(64)


def presets(names: str, **values: tuple[int, ...]) -> dict[str, dict[str, int]]:
    """Sizes by preset: presets("M N", S=(4, 5)) is {"S": {"M": 4, "N": 5}}."""
    return {preset: dict(zip(names.split(), row, strict=True)) for preset, row in values.items()}


def share(n: int, each: int) -> parpy.LoopPar:
    """One thread for each group of `each` among n iterations; a mapping of blocks gives a block a row of iterations."""
    return parpy.threads(max(1, -(-n // each)))


@dataclass(frozen=True)
class Kernel:
    """One benchmark. `presets` has NPBench's S, M, L and paper, and `tiny` for tests."""

    name: str  # also the name of its texts in tests/programs
    function: Callable[..., Any]  # the loops, under parpy.jit
    initialize: Callable[..., dict[str, Any]]  # (rng, **sizes): arguments by name, random where values matter
    outputs: tuple[str, ...]  # the arrays that are compared, NPBench's outputs; other stores are scratch
    presets: Mapping[str, Sizes]
    bytes: Callable[..., float]  # least memory traffic; each pass that a dependence forces reads and writes once
    flops: Callable[..., float]  # additions, multiplications, divisions, roots and exponentials count 1
    unit: str = "f64"  # the fastest unit that can do them, a key of floor.PEAKS
    cpu: Threads | None = None  # the best mapping found by hand, as `cuda`; None: not searched
    cuda: Callable[..., Threads] | None = None
    reference: Callable[..., Any] | None = None  # with NumPy, into arguments; set if it is faster than the text
    returns: tuple[str, ...] = ()  # the outputs that the texts return, in this order
    steps: str = ""  # the size that is a number of time steps, which a check may cut
    tolerance: float = 0.0  # relative error in the 2-norm; 0: depends on the type of the result
    cpu_function: Callable[..., None] | None = None  # a form by rows, which may be faster on a CPU

    @property
    def by_hand(self) -> bool:
        """Whether there are mappings found by hand."""
        return self.cuda is not None

    @property
    def oracle(self) -> Callable[..., Any]:
        """The function of NumPy that computes the expected outputs."""
        return self.reference or texts.numpy_style(self.name)

    def on(self, backend: str) -> Callable[..., None]:
        return self.cpu_function or self.function if backend == "cpu" else self.function

    def mapping(self, backend: str, sizes: Sizes) -> Threads:
        assert self.cpu is not None and self.cuda is not None, f"{self.name} has no mapping by hand"
        return self.cpu if backend == "cpu" else self.cuda(**sizes)

    def options(self, backend: str, sizes: Sizes, **fields: Any) -> parpy.CompileOptions:
        return parpy.CompileOptions(parallelize=self.mapping(backend, sizes), backend=BACKENDS[backend], **fields)

    def data(self, sizes: Sizes, seed: int = 42) -> dict[str, Any]:
        return {**self.initialize(np.random.default_rng(seed), **sizes), **sizes}


def arguments(function: Callable[..., Any], data: Mapping[str, Any]) -> tuple[Any, ...]:
    """The arguments of `function`, by the names of its parameters."""
    return tuple(data[name] for name in texts.parameters(function))


def results(kernel: Kernel, returned: Any, data: Mapping[str, Any], names: tuple[str, ...] = ()) -> dict[str, Any]:
    """The outputs after a call with `data` that returned `returned`; `names` are the outputs in it (default: those that
    the texts return)."""
    names = names or kernel.returns
    values = tuple(returned) if isinstance(returned, tuple | list) else () if returned is None else (returned,)
    assert len(values) in (0, len(names)), f"{len(values)} values are returned where there are {len(names)}"
    found = {**data, **dict(zip(names, values, strict=False))}
    return {name: found[name] for name in kernel.outputs}


def expected(kernel: Kernel, data: dict[str, Any]) -> dict[str, Any]:
    """The outputs by NumPy, which modifies `data`."""
    found = results(kernel, kernel.oracle(*arguments(kernel.oracle, data)), data)
    return {name: np.asarray(value) for name, value in found.items()}


def error(got: Any, want: Any) -> float:
    """The relative error in the 2-norm; infinite if only one of them is finite."""
    got, want = np.asarray(got), np.asarray(want)
    if got.size != want.size:
        return float("inf")
    got, kind = got.reshape(want.shape), np.complex128 if np.iscomplexobj(want) else np.float64
    with np.errstate(invalid="ignore"):
        difference = np.subtract(got, want, dtype=kind)
    difference = np.asarray(difference)
    if not np.isfinite(difference).all():
        difference[(got == want) | (np.isnan(got) & np.isnan(want))] = 0.0
    if not np.isfinite(difference).all():
        return float("inf")
    size = float(np.linalg.norm(want[np.isfinite(want)]))
    return float(np.linalg.norm(difference.ravel())) / (size or 1.0)


def check(kernel: Kernel, got: Mapping[str, Any], want: Mapping[str, Any]) -> None:
    """Raises AssertionError that names an output if it differs by more than rounding explains."""
    for name in kernel.outputs:
        wide = want[name].dtype.itemsize // (2 if want[name].dtype.kind == "c" else 1) == 8
        limit = kernel.tolerance or (0.0 if want[name].dtype.kind in "iub" else 1e-11 if wide else 1e-5)
        found = error(got[name], want[name])
        assert found <= limit, f"{name} is off by {found:.1e}, allowed are {limit:.0e}"
