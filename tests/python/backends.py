"""Runs a decorated function on one backend by name: the interpreter, the CPU, or the GPU where there is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import parpy

BACKENDS = ["eval", "cpu"]
if parpy.backend.is_enabled(parpy.CompileBackend.Cuda):
    BACKENDS.append("cuda")


def options(backend: str, mapping: Mapping[str, int | parpy.LoopPar]) -> parpy.CompileOptions:
    loops = {label: n if isinstance(n, parpy.LoopPar) else parpy.threads(n) for label, n in mapping.items()}
    target = parpy.CompileBackend.Cuda if backend == "cuda" else parpy.CompileBackend.Cpu
    return parpy.CompileOptions(parallelize=loops, backend=target)


def run(
    backend: str, function: Callable[..., None], arguments: tuple[Any, ...], mapping: Mapping[str, int | parpy.LoopPar]
) -> None:
    if backend == "eval":
        parpy._jit.interpret(function, arguments, options("cpu", mapping))
    else:
        function(*arguments, opts=options(backend, mapping))
