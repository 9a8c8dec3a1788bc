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


def seconds(program, opts: parpy.CompileOptions) -> float:
    """The time of all passes and the text of a program, without machine code."""
    function, arguments = program
    gc.collect()
    gc.freeze()  # the collector skips objects of other tests
    begin = time.process_time()
    parpy.print_compiled(function, arguments, opts)
    taken = time.process_time() - begin
    gc.unfreeze()
    return taken


def check_growth(few, many, most: float, most_times: float, opts: parpy.CompileOptions) -> None:
    """Checks the time of the program `many`, in seconds and as a multiple of that of `few`. The best of three times
    counts for each, because other programs of the machine may disturb some; `many` is not repeated needlessly."""
    of_few = max(0.02, min(seconds(few, opts) for _ in range(TRIALS)))
    of_many: list[float] = []
    while not of_many or (min(of_many) >= min(most, most_times * of_few) and len(of_many) < TRIALS):
        of_many.append(seconds(many, opts))
    assert min(of_many) < min(most, most_times * of_few), (of_few, of_many)


@pytest.mark.parametrize("backend", [CPU, SIM], ids=lambda b: b.value)
def test_deep_nests(backend):
    """Each further loop once tripled the time; from 12 loops to 18 that is 700 times as long."""
    opts = parpy.auto(backend=backend)
    check_growth(nest(12), nest(18), 10, 60, opts)


@pytest.mark.parametrize(("backend", "each"), [(CPU, 100), (CPU, 10_000), (SIM, 100)], ids=str)
def test_many_statements(backend, each):
    """Four times as many statements take four times as long, not sixteen times."""
    opts = parpy.auto(backend=backend)
    check_growth(statements(1500, each), statements(6000, each), 30, 10, opts)


def test_what_was_compiled_fast_is_right():
    function, (x, y) = nest(18)
    function(x, y, opts=parpy.auto(backend=CPU))
    np.testing.assert_array_equal(y, x * 2 + np.arange(2**18) % 2)
    function, (x, y) = statements(300)
    want = y.copy()
    function(x, want, seq=True)
    function(x, y, opts=parpy.auto(backend=CPU))
    np.testing.assert_allclose(y, want)
