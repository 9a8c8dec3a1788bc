"""`print` in compiled functions: Python prints between the compiled parts."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options


@parpy.jit
def steps(x, y):
    print("begin", x.shape, end=";\n")
    total = 0.0
    for t in range(4):
        for i in range(x.shape[0]):
            y[i] = x[i] * t
        total = 0.0
        for i in range(x.shape[0]):
            total += y[i]
        if t % 2 == 0:
            print(f"step {t}: {total:.2f}", y[1])
    z = y * 2
    print(z, t)
    return total, z


@parpy.jit
def successor(v):
    print("at", int(v))
    return v + 1


@parpy.jit
def in_a_helper(x):
    for i in range(2):
        x[i] = successor(x[i])


@pytest.mark.parametrize("backend", TARGETS)
def test_what_python_would_print(backend, capsys):
    x, y = np.arange(3.0), np.zeros(3)
    total, z = steps(x, y, opts=options(backend, {}))
    ours = capsys.readouterr().out
    steps(x, y, seq=True)
    assert ours == capsys.readouterr().out
    assert "step 2: 6.00 2.0" in ours
    assert total == 9
    assert z.tolist() == [0, 6, 12]
    in_a_helper(x, opts=options(backend, {}))
    assert capsys.readouterr().out == "at 0\nat 1\n"
    assert x.tolist() == [1, 2, 2]


def test_nothing_is_printed_to_find_out(capsys):
    arguments = np.arange(3.0), np.zeros(3)
    parpy.print_compiled(steps, arguments)
    str(parpy.explain(steps, *arguments))
    assert capsys.readouterr().out == ""


def test_a_loop_that_prints_is_mapped_inside():
    text = str(parpy.explain(steps, np.arange(3000.0), np.zeros(3000)))
    assert text.count("for i in range(x.shape[0])") >= 1
    compiled, _, by_python = text.partition("Python runs:")
    assert "for t in" not in compiled and "for t in" in by_python
