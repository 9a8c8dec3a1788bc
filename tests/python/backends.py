"""Runs a decorated function by the name of a back end: interpreter, CPU, simulator, and the GPU if there is one.

BACKENDS and TARGETS (those with a compiler) parametrize tests; tests that use NAMES have the mark `gpu`.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import parpy

ON_GPU = parpy.backend.is_enabled(parpy.CompileBackend.Cuda)
NAMES = ("eval", "cpu", "sim", "cuda") if ON_GPU else ("eval", "cpu", "sim")
BACKENDS = [pytest.param(name, marks=pytest.mark.gpu) if name == "cuda" else name for name in NAMES]
TARGETS = BACKENDS[1:]


def copies(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def options(backend: str, mapping: Mapping[str, int | parpy.LoopPar]) -> parpy.CompileOptions:
    loops = {label: n if isinstance(n, parpy.LoopPar) else parpy.threads(n) for label, n in mapping.items()}
    return parpy.CompileOptions(parallelize=loops, backend=parpy.CompileBackend(backend))


def run(
    backend: str, function: Callable[..., None], arguments: tuple[Any, ...], mapping: Mapping[str, int | parpy.LoopPar]
) -> None:
    if backend == "eval":
        parpy.calls.jit.interpret(function, arguments, options("cpu", mapping))
    else:
        function(*arguments, opts=options(backend, mapping))


def cuda_text(
    function: Callable[..., None], arguments: tuple[Any, ...], mapping: Mapping[str, int | parpy.LoopPar]
) -> str:
    return parpy.print_compiled(function, arguments, options("cuda", mapping))


@contextlib.contextmanager
def compiled_throughout() -> Iterator[None]:
    """Fails where Python runs a loop: its warning is an error here. That nothing is mapped is no reason to warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", parpy.PerformanceWarning)
        warnings.filterwarnings("ignore", message="(?s).*P316")
        yield


def run_automatic(
    backend: str, function: Callable[..., Any], given: tuple[Any, ...], until: str, of_eval: str = "cpu", **fields: Any
) -> tuple[Any, ...]:
    """The arguments after a call of a program of its own in the automatic mode. "eval" interprets what the passes up to
    `until` make for the back end `of_eval`."""
    got, compiled = copies(given), parpy.jit(function)
    opts = parpy.auto(backend=parpy.CompileBackend(of_eval if backend == "eval" else backend), **fields)
    if backend == "eval":
        parpy.calls.jit.interpret(compiled, got, opts, until)
    else:
        compiled(*got, opts=opts)
    return got


def explained(function: Callable[..., Any], given: tuple[Any, ...], opts: parpy.CompileOptions) -> str:
    """The text of parpy.explain in one line."""
    return " ".join(str(parpy.explain(parpy.jit(function), *copies(given), opts=opts)).split())


def check_as_python(backend: str, function: Callable[..., Any], given: tuple[Any, ...]) -> None:
    """Checks that compiled code, of which Python runs no loop, returns Python's result and leaves equal arrays."""
    want, got = copies(given), copies(given)
    expected = function(*want)
    with compiled_throughout():
        result = parpy.jit(function)(*got, opts=options(backend, {}))
    np.testing.assert_allclose(result or 0, expected or 0, rtol=1e-12)
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
