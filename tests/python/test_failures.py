"""What fails while it runs: compiled code raises what the interpreter raises, and the process goes on.

The CUDA programs run on the emulated driver of the unit tests, in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parpy
import simt
from parpy import CompileBackend, CompileOptions, threads

EMULATED = "FAKE_CUDA_EMULATE" in os.environ
BACKEND = CompileBackend.Cuda if EMULATED else CompileBackend.Cpu
LAST = 2**63
on_host = pytest.mark.skipif(EMULATED, reason="array access in host code")


def options(**loops: int) -> CompileOptions:
    return CompileOptions(backend=BACKEND, parallelize={label: threads(n) for label, n in loops.items()})


def agrees(function: Any, arguments: tuple[Any, ...], **loops: int) -> BaseException | None:
    """Whether the call raises what the interpreter raises, or leaves the same arrays; returns the exception."""
    want, got = simt.copies(arguments), simt.copies(arguments)
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


# ---------------------------------------------------------------- recursion


@parpy.jit
def depth(n):
    if n == 0:
        return 0
    return 1 + depth(n - 1)


@parpy.jit
def even(n):
    if n == 0:
        return 1
    return odd(n - 1)


@parpy.jit
def odd(n):
    if n == 0:
        return 0
    return even(n - 1)


@parpy.jit
def endless(n):
    if n < 0:
        return 0
    return endless(n + 1)


@parpy.jit
def twice_endless(n):
    if n < 0:
        return 0
    return twice_endless(n + 1) + twice_endless(n + 2)


@parpy.jit
def fill(y, n):
    if n > 0:
        y[n % 4] = n
        fill(y, n - 1)


@parpy.jit
def depths(y, n, m):
    parpy.label("i")
    for i in range(m):
        y[i] = depth(n)


@parpy.jit
def evens(y, n, m):
    parpy.label("i")
    for i in range(m):
        y[i] = even(n)


@parpy.jit
def endlesses(y, n, m):
    parpy.label("i")
    for i in range(m):
        y[i] = endless(n)


@parpy.jit
def both_endless(y, n, m):
    parpy.label("i")
    for i in range(m):
        y[i] = twice_endless(n)


@parpy.jit
def filled(y, n, m):
    parpy.label("i")
    for i in range(1):
        fill(y, n)


@pytest.mark.parametrize("function", [depths, evens, filled])
def test_recursion_that_ends(function):
    for n in (0, 1, 7, 30, 31, 32)[:: 3 if EMULATED else 1]:
        agrees(function, (np.zeros(100, np.int64), n, 100), i=100)


@pytest.mark.parametrize(
    "function", [depths, both_endless] if EMULATED else [depths, evens, endlesses, both_endless, filled]
)
def test_recursion_that_goes_too_deep(function):
    y = np.zeros(50_000 if not EMULATED else 64, np.int64)
    for count in (1, y.size, 1):
        with pytest.raises(RecursionError, match=r"test_failures\.py:\d+:1: error\[P424\]: maximum recursion depth"):
            function(y, 10**8 if function is not endlesses else 0, count, opts=options(i=y.size))
        if function not in (endlesses, both_endless):
            function(y, 20, count, opts=options(i=y.size))  # the next call runs


@on_host
def test_recursion_in_host_code():
    @parpy.jit
    def f(y, n):
        y[0] = depth(n)

    y = np.zeros(1)
    f(y, 30_000, opts=options())
    assert y[0] == 30_000
    with pytest.raises(RecursionError):
        f(y, 10**8, opts=options())


@on_host
@pytest.mark.parametrize("size", [64 * 1024, 256 * 1024, 16 * 1024 * 1024])
def test_the_stack_is_that_of_the_thread(size):
    """Each thread has the depth that its own stack allows."""
    deepest = []

    def search():
        y, n = np.zeros(1, np.int64), 64
        try:
            while n < 10**9:
                depths(y, n, 1, opts=options())
                n *= 2
        except RecursionError:
            deepest.append(n)

    before = threading.stack_size(size)
    thread = threading.Thread(target=search)
    thread.start()
    threading.stack_size(before)
    thread.join()
    assert size // 512 < deepest[0] < size


def test_functions_that_do_not_recur_carry_nothing():
    @parpy.jit
    def twice(x):
        return x + x

    @parpy.jit
    def f(y, n):
        parpy.label("i")
        for i in range(n):
            y[i] = twice(i)

    text = parpy.print_compiled(f, (np.zeros(9), 9), options(i=9))
    assert "fail(" not in text and "stack" not in text


# ---------------------------------------------------------------- ranges


@parpy.jit
def steps(y, a, b, s):
    count = 0
    last = 0
    for i in range(a, b, s):
        count += 1
        last = i
    y[0] = count
    y[1] = last


@parpy.jit
def inner_steps(y, a, b, s, m):
    parpy.label("j")
    for j in range(m):
        count = 0
        for i in range(a, b, s):
            count ^= i
        y[j] = count


@parpy.jit
def outer_steps(y, a, b, s):
    parpy.label("i")
    for i in range(a, b, s):
        y[0] ^= i


@parpy.jit
def loaded_steps(y, s, n, m):
    parpy.label("j")
    for j in range(m):
        count = 0
        for i in range(0, n, s[j]):
            count ^= i
        y[j] = count


@parpy.jit
def stepped(n, s):
    count = 0
    for i in range(0, n, s):
        count ^= i
    return count


@parpy.jit
def helper_steps(y, n, s, m):
    parpy.label("j")
    for j in range(m):
        y[j] = stepped(n, s)


@parpy.jit
def conditional_steps(y, n, s, m):
    parpy.label("j")
    for j in range(m):
        if s != 0:
            for i in range(0, n, s):
                y[j] += i


RANGES = [
    (0, 10, 1),
    (0, 10, 3),
    (10, 0, -3),
    (5, 5, 4),
    (LAST - 10, LAST - 1, 4),
    (LAST - 10, LAST - 1, 1),
    (LAST - 10, LAST - 1, 3),
    (LAST - 10, LAST - 1, LAST - 1),
    (-LAST + 10, -LAST, -4),
    (-LAST + 10, -LAST, -1),
    (-LAST + 10, -LAST, -LAST),
    (-LAST, LAST - 1, LAST - 1),
    (LAST - 1, -LAST, -LAST),
    (LAST - 1, LAST - 10, 4),
    (-LAST, -LAST + 10, -4),
    (0, 20, 7),
]


@pytest.mark.parametrize("general", [False, True], ids=["special", "general"])
@pytest.mark.parametrize("bounds", RANGES[4::4] if EMULATED else RANGES)
def test_ranges_end(bounds, general):
    """Near the ends of 64 bits too. General: the bounds are run-time arguments."""
    if general:
        for k in range(1, 5):
            arguments = (k, k + 9, 1 + k % 3)
            if not EMULATED:
                agrees(steps, (np.zeros(16, np.int64), *arguments))
            agrees(inner_steps, (np.zeros(16, np.int64), *arguments, 16), j=16)
            agrees(outer_steps, (np.zeros(16, np.int64), *arguments), i=4)
    else:
        parpy.clear_cache()
    if not EMULATED:
        agrees(steps, (np.zeros(16, np.int64), *bounds))
    agrees(inner_steps, (np.zeros(16, np.int64), *bounds, 16), j=16)
    agrees(outer_steps, (np.zeros(16, np.int64), *bounds), i=4)


@pytest.mark.parametrize("warm", [0] if EMULATED else [0, 6])
def test_a_step_of_zero(warm):
    """Where the loop is reached, and only there."""
    parpy.clear_cache()
    y = np.zeros(16, np.int64)
    for k in range(1, warm):
        agrees(inner_steps, (y, 0, 10, k, 16), j=16)
        agrees(outer_steps, (y, 0, 10, k), i=4)
        agrees(helper_steps, (y, 10, k, 16), j=16)
        agrees(conditional_steps, (y, 10, k, 16), j=16)
    for function, arguments, loops in [
        (inner_steps, (0, 10, 0, 16), {"j": 16}),
        (inner_steps, (5, 5, 0, 16), {"j": 16}),
        (outer_steps, (0, 10, 0), {"i": 4}),
        (helper_steps, (10, 0, 16), {"j": 16}),
        (loaded_steps, (np.array([1, 2, 0, 3]), 10, 4), {"j": 4}),
    ]:
        error = agrees(function, (y, *arguments), **loops)
        assert "range() arg 3 must not be zero" in str(error) and "test_failures.py:" in str(error)
    assert agrees(inner_steps, (y, 0, 10, 0, 0), j=16) is None
    assert agrees(conditional_steps, (y, 10, 0, 16), j=16) is None
    assert agrees(loaded_steps, (y, np.array([1, 2, 0, 3]), 10, 2), j=4) is None


@on_host
def test_ordinary_loops_are_not_counted():
    @parpy.jit
    def f(y, x, a, b):
        for i in range(a, b, 2):
            y[i] = x[i]
        for k in range(a, b):
            y[0] += k

    y = np.zeros(99)
    f(y, y.copy(), 0, 50, opts=options())
    text = parpy.print_compiled(f, (y, y.copy(), 0, 50), options())
    assert "i_number" not in text and "fail(" not in text


# ---------------------------------------------------------------- on the emulated GPU


@on_host
def test_on_the_gpu():
    """This file again, with CUDA programs."""
    fake = Path(os.environ.get("PARPY_OPT", "build/parpy-opt")).resolve().parent / "libfake_cuda.so"
    if not fake.exists() or simt.COMPILER is None:
        pytest.skip("no emulated driver")
    emulated = {"FAKE_CUDA_EMULATE": "1", "PARPY_CUDA_DRIVER": str(fake), "PARPY_NVRTC": str(fake)}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **emulated})
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
