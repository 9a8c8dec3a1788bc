"""How compile time grows with the size of a function: with its loops and its statements, not with a power of them.

Processor time of this process, in the ratio of two sizes: a busy machine changes neither much. The bounds in seconds
are many times what benchmarks/compile_latency.py measures.
"""

from __future__ import annotations

import gc
import time

import numpy as np
import pytest

import parpy
from large_programs import nest, statements

CPU, SIM = parpy.CompileBackend.Cpu, parpy.CompileBackend.Sim
TRIALS = 3


def seconds(program, opts: parpy.CompileOptions) -> float:
    """The time of all passes and the text, without machine code."""
    best = float("inf")
    for _ in range(TRIALS):
        function, arguments = program
        gc.collect()
        gc.freeze()  # what other tests left alive is not looked through again and again
        begin = time.process_time()
        parpy.print_compiled(function, arguments, opts)
        best = min(best, time.process_time() - begin)
        gc.unfreeze()
        if best > 20:
            break
    return best


@pytest.mark.parametrize("backend", [CPU, SIM], ids=lambda b: b.value)
def test_deep_nests(backend):
    """Each further loop tripled the time; from 12 loops to 18 that is 700 times as long."""
    opts = parpy.auto(backend=backend)
    few, many = seconds(nest(12), opts), seconds(nest(18), opts)
    assert many < 10 and many / max(few, 0.02) < 60, (few, many)


@pytest.mark.parametrize(("backend", "each"), [(CPU, 100), (CPU, 10_000), (SIM, 100)], ids=str)
def test_many_statements(backend, each):
    """Four times as many take four times as long, not sixteen times."""
    opts = parpy.auto(backend=backend)
    few, many = seconds(statements(2500, each), opts), seconds(statements(10_000, each), opts)
    assert many < 30 and many / few < 10, (few, many)


def test_what_was_compiled_fast_is_right():
    function, (x, y) = nest(18)
    function(x, y, opts=parpy.auto(backend=CPU))
    np.testing.assert_array_equal(y, x * 2 + np.arange(2**18) % 2)
    function, (x, y) = statements(300)
    want = y.copy()
    function(x, want, seq=True)
    function(x, y, opts=parpy.auto(backend=CPU))
    np.testing.assert_allclose(y, want)
