"""Calls of checked programs in tests: on every back end that checks, and against the reference interpreter."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parpy
from parpy import CompileBackend, CompileOptions, LoopPar, threads

BACKEND = CompileBackend.Cpu  # the back end of the running test


@pytest.fixture(autouse=True, params=[CompileBackend.Cpu, CompileBackend.Sim], ids=lambda backend: backend.name)
def backend(request, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "BACKEND", request.param)


on_host = pytest.mark.parametrize("backend", [CompileBackend.Cpu], indirect=True)  # array access outside of kernels


def options(check: str | None, **loops: int | LoopPar) -> CompileOptions:
    mapping = {label: n if isinstance(n, LoopPar) else threads(n) for label, n in loops.items()}
    # These tests are not about errors that are reported before the run.
    return CompileOptions(backend=BACKEND, check=check, parallelize=mapping, legality="trust")


def message(kind: type[Exception], function: Callable[..., Any], arguments: tuple[Any, ...], opts: Any) -> str:
    """The error of the call, which equals that of the interpreter; the simulator adds the thread."""
    arrays = [a for a in arguments if isinstance(a, np.ndarray) and a.flags.writeable]
    before = [a.copy() for a in arrays]
    with pytest.raises(kind) as compiled:
        function(*arguments, opts=opts)
    for array, values in zip(arrays, before, strict=True):  # in place: arguments may overlap
        array[...] = values
    with pytest.raises(kind) as interpreted:
        parpy.calls.jit.interpret(function, arguments, opts, "instrument-races")
    text = re.sub(r"note: in thread .*\n?", "", str(compiled.value)).strip()
    assert text == str(interpreted.value).strip()
    return text
