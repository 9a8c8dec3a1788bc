"""Divisions of integers by constants, which are shifts, masks and comparisons on a CPU: Python's results."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, run

TYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
CPU = parpy.auto(backend=parpy.CompileBackend.Cpu)


@parpy.jit
def divided(x, quotients, remainders):
    parpy.label("i")
    for i in range(len(x)):
        quotients[i, 0] = x[i] // 2
        quotients[i, 1] = x[i] // 64
        quotients[i, 2] = x[i] // 12
        remainders[i, 0] = x[i] % 2
        remainders[i, 1] = x[i] % 64
        remainders[i, 2] = x[i] % 12


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", TYPES)
def test_quotients_and_remainders_round_as_python_does(backend, dtype):
    info = np.iinfo(dtype)
    values = [v for v in (-129, -128, -65, -64, -63, -13, -12, -2, -1) if v >= info.min]
    x = np.array([*values, 0, 1, 2, 11, 12, 13, 63, 64, 65, 127, info.min, info.min + 1, info.max], dtype)
    quotients, remainders = np.zeros((2, len(x), 3), dtype)
    run(backend, divided, (x, quotients, remainders), {"i": 4})
    for k, divisor in enumerate((2, 64, 12)):
        assert quotients[:, k].tolist() == [v // divisor for v in x.tolist()]
        assert remainders[:, k].tolist() == [v % divisor for v in x.tolist()]


@parpy.jit
def neighbours(x, y, n):
    parpy.label("i")
    for i in range(n):
        y[i, 0] = x[(i + 1) % 12]
        y[i, 1] = x[(i - 1) % 12]
        y[i, 2] = x[(i + 12) % 12]
        y[i, 3] = x[(i - 12) % 12]
        y[i, 4] = x[(3 * i - 13) % 12]
        y[i, 5] = x[(11 - i) % 12]


@pytest.mark.parametrize("backend", BACKENDS)
def test_subscripts_that_wrap_around(backend):
    x, y = np.arange(12), np.zeros((12, 6), int)
    want = y.copy()
    neighbours(x, want, 12, seq=True)
    run(backend, neighbours, (x, y, 12), {"i": 4})
    np.testing.assert_array_equal(y, want)


def test_the_text_divides_by_no_constant_that_a_processor_need_not_divide_by():
    @parpy.jit
    def f(x, y):
        s = 42
        for i in range(12):
            s = (1103515245 * s + 12345) % 2**31
            y[i] = x[(i + 1) % 12] + x[(i - 1) % 12] + s // 65536

    lines = parpy.print_compiled(f, (np.arange(12), np.zeros(12, int)), CPU).split("\n")
    text = "\n".join(line for line in lines if not line.strip().startswith("//"))
    assert "% 2147483648" not in text and "& 2147483647" in text
    assert "% 12" not in text and ">= 12 ?" in text and ">> 16" in text
