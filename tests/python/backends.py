"""Runs a decorated function by name of back end: interpreter, CPU, simulator, and the GPU where there is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import parpy

BACKENDS = ["eval", "cpu", "sim"]
if parpy.backend.is_enabled(parpy.CompileBackend.Cuda):
    BACKENDS.append("cuda")


def copies(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def options(backend: str, mapping: Mapping[str, int | parpy.LoopPar]) -> parpy.CompileOptions:
    loops = {label: n if isinstance(n, parpy.LoopPar) else parpy.threads(n) for label, n in mapping.items()}
    return parpy.CompileOptions(parallelize=loops, backend=parpy.CompileBackend(backend))


def run(
    backend: str, function: Callable[..., None], arguments: tuple[Any, ...], mapping: Mapping[str, int | parpy.LoopPar]
) -> None:
    if backend == "eval":
        parpy._jit.interpret(function, arguments, options("cpu", mapping))
    else:
        function(*arguments, opts=options(backend, mapping))


def cuda_text(
    function: Callable[..., None], arguments: tuple[Any, ...], mapping: Mapping[str, int | parpy.LoopPar]
) -> str:
    return parpy.print_compiled(function, arguments, options("cuda", mapping))
