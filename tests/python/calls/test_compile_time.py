"""The growth of compile time with the size of a function: linear in its loops and its statements.

Measures processor time of this process, as the ratio of two sizes: a busy machine changes neither much. The bounds in
seconds are many times the figures of benchmarks/compile_latency.py.
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


def seconds(few, many, opts: parpy.CompileOptions) -> tuple[float, float]:
    """The best times of all passes and the text, without machine code, of two programs. They alternate, so that a busy
    period of the machine affects both."""
    best = [float("inf")] * 2
    for _ in range(TRIALS):
        for place, (function, arguments) in enumerate((few, many)):
            gc.collect()
            gc.freeze()  # the collector skips objects of other tests
            begin = time.process_time()
            parpy.print_compiled(function, arguments, opts)
            best[place] = min(best[place], time.process_time() - begin)
            gc.unfreeze()
    return best[0], best[1]


@pytest.mark.parametrize("backend", [CPU, SIM], ids=lambda b: b.value)
def test_deep_nests(backend):
    """Each further loop once tripled the time; from 12 loops to 18 that is 700 times as long."""
    opts = parpy.auto(backend=backend)
    few, many = seconds(nest(12), nest(18), opts)
    assert many < 10 and many / max(few, 0.02) < 60, (few, many)


@pytest.mark.parametrize(("backend", "each"), [(CPU, 100), (CPU, 10_000), (SIM, 100)], ids=str)
def test_many_statements(backend, each):
    """Four times as many statements take four times as long, not sixteen times."""
    opts = parpy.auto(backend=backend)
    few, many = seconds(statements(1500, each), statements(6000, each), opts)
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
