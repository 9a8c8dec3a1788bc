"""Programs that CPython compiles nest far deeper than its recursion limit: chains of elif, ternaries and operators."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

import parpy
from fresh_functions import CPU, fresh

LOOP = "@parpy.jit\ndef f(x, y):\n    for i in range(len(x)):\n"


def elifs(n: int) -> str:
    chain = "".join(f"        elif x[i] == {k}:\n            y[i] = {7 * k}\n" for k in range(1, n))
    return f"{LOOP}        if x[i] == 0:\n            y[i] = 0\n{chain}        else:\n            y[i] = -1\n"


def ternaries(n: int) -> str:
    return f"{LOOP}        y[i] = " + " else ".join(f"{7 * k} if x[i] == {k}" for k in range(n)) + " else -1\n"


def terms(n: int) -> str:
    return f"{LOOP}        y[i] = x[i]" + "".join(f" + {k}*x[i]" for k in range(n)) + "\n"


def signs(n: int) -> str:
    return f"{LOOP}        y[i] = {'-' * n}x[i]\n"


@pytest.mark.parametrize(("text", "n"), [(elifs, 450), (ternaries, 350), (terms, 450), (signs, 1500)])
def test_deep_nesting_compiles(text, n, tmp_path):
    limit = sys.getrecursionlimit()
    f = fresh(text(n), tmp_path)
    x = np.array([0, 1, n - 1, n, -5])
    want, got = np.zeros_like(x), np.zeros_like(x)
    f(x, want, seq=True)
    f(x, got, opts=CPU)
    assert got.tolist() == want.tolist()
    assert sys.getrecursionlimit() == limit


def test_mistakes_in_deep_code_are_located(tmp_path):
    f = fresh(elifs(450).replace("y[i] = -1", "y[i] = missing"), tmp_path)
    with pytest.raises(NameError, match=r":905:20: error\[P101\]: name 'missing' is not defined"):
        f(np.zeros(3), np.zeros(3), opts=CPU)


def test_deep_code_on_a_small_stack(tmp_path):
    """A thread with a stack of 256 KiB runs every part that walks a program."""
    f = fresh(elifs(400), tmp_path)
    x, found = np.arange(5), []

    def work():
        f(x, np.zeros_like(x), opts=CPU)
        found.append(parpy.print_compiled(f, (x, np.zeros_like(x)), CPU))
        found.append(str(parpy.explain(f, x, np.zeros_like(x), opts=CPU)))

    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert len(found) == 2 and "for i in range(len(x))" in found[1]
