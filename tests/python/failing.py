"""Calls of failing programs in tests: on every back end, and against plain Python.

CUDA programs run on the simulator, and, in a process of its own, on the emulated driver of the unit tests.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import pytest

import backends
import places
from parpy import CompileBackend, CompileOptions, threads

FILES = [places.test_module(name) for name in ("test_failures", "test_powers")]
EMULATED = "FAKE_CUDA_EMULATE" in os.environ
BACKENDS = [CompileBackend.Cuda] if EMULATED else [CompileBackend.Cpu, CompileBackend.Sim]
BACKEND = BACKENDS[0]  # the back end of the running test
LAST = 2**63
on_host = pytest.mark.parametrize("backend", [] if EMULATED else BACKENDS[:1], indirect=True)  # no kernels


@pytest.fixture(autouse=True, params=BACKENDS, ids=lambda backend: backend.name)
def backend(request, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "BACKEND", request.param)


def options(**loops: int) -> CompileOptions:
    return CompileOptions(backend=BACKEND, parallelize={label: threads(n) for label, n in loops.items()})


def agrees(function: Any, arguments: tuple[Any, ...], **loops: int) -> BaseException | None:
    """Checks that the call raises the interpreter's exception, or leaves the same arrays; returns the exception."""
    want, got = backends.copies(arguments), backends.copies(arguments)
    raised = None
    try:
        function(*want, seq=True)
    except Exception as error:
        raised = error
    try:
        function(*got, opts=options(**loops))
    except Exception as error:
        assert raised is not None, error
        assert isinstance(error, type(raised)), error
        return error
    assert raised is None, f"the interpreter raised {raised!r}"
    for expected, actual in zip(want, got, strict=True):
        if isinstance(expected, np.ndarray):
            np.testing.assert_array_equal(actual, expected)
    return None
