"""Failures of running code: compiled code raises the errors of the interpreter, and the process goes on.

CUDA programs run on the simulator, and, in a process of its own, on the emulated driver of the unit tests.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import failing
import fake_driver
import parpy
from failing import EMULATED, FILES, LAST, agrees, backend, on_host, options  # noqa: F401
from parpy import CompileBackend, CompileOptions, _native

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
    """The depth of recursion depends on the stack of the calling thread."""
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


# ---------------------------------------------------------------- stores before a failure


@parpy.jit
def stored_until(x, out):
    for i in range(x.shape[0]):
        if x[i] < 0:
            raise ValueError(i)
        out[i] = x[i]


@pytest.mark.skipif(EMULATED, reason="the emulated driver does not end threads")
def test_what_was_stored_before_a_failure_is_there():
    x, out = np.array([1.0, 2.0, -1.0, 4.0]), np.zeros(4)
    with pytest.raises(ValueError):
        stored_until(x, out, opts=options())
    np.testing.assert_array_equal(out, [1, 2, 0, 0])


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
    (5, 10, LAST - 4),
]


@pytest.mark.parametrize("general", [False, True], ids=["special", "general"])
@pytest.mark.parametrize("bounds", RANGES[4::4] if EMULATED else RANGES)
def test_ranges_end(bounds, general):
    """Ranges end correctly, also near the ends of 64 bits. `general`: the bounds are run-time arguments."""
    if general:
        for k in range(1, 5):
            arguments = (k, k + 9, 1 + k % 3)
            if failing.BACKEND is CompileBackend.Cpu:
                agrees(steps, (np.zeros(16, np.int64), *arguments))
            agrees(inner_steps, (np.zeros(16, np.int64), *arguments, 16), j=16)
            agrees(outer_steps, (np.zeros(16, np.int64), *arguments), i=4)
    else:
        _native.clear_cache(on_disk=False)
    if failing.BACKEND is CompileBackend.Cpu:
        agrees(steps, (np.zeros(16, np.int64), *bounds))
    agrees(inner_steps, (np.zeros(16, np.int64), *bounds, 16), j=16)
    agrees(outer_steps, (np.zeros(16, np.int64), *bounds), i=4)


@parpy.jit
def walk(y, begin, end, step):
    for i in range(begin, end, step):
        y[i] += 1


@on_host
def test_a_step_that_grew_beyond_every_array():
    _native.clear_cache(on_disk=False)
    for step in [1, 2, 3, 4, 5, 6, 7, 8, LAST - 4]:
        agrees(walk, (np.zeros(10, np.int8), 5, 10, step))
        agrees(walk, (np.zeros(10, np.int64), 9, 2, -step))


@pytest.mark.parametrize("warm", [0] if EMULATED else [0, 6])
def test_a_step_of_zero(warm):
    """An error is raised if the loop is reached, and only then."""
    _native.clear_cache(on_disk=False)
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


# ---------------------------------------------------------------- variables


@parpy.jit
def after_a_loop(y, n):
    with parpy.gpu:
        for i in range(n):
            s = i * 2
        y[0] = s
        y[1] = i


@parpy.jit
def in_a_branch(y, n):
    with parpy.gpu:
        for j in range(4):
            if n > 0:
                s = 1
            elif n < -1:
                s = 2
            y[j] = s


@parpy.jit
def carried_on(y, x, n):
    with parpy.gpu:
        for i in range(n):
            if x[i] > 0:
                s = x[i]
            y[i] = s


@parpy.jit
def chosen(y, x, n):
    with parpy.gpu:
        found = False
        for i in range(n):
            if x[i] > 1:
                found = True
                s = x[i]
            y[i] = s if found else -1
            if found and s > 2 and i > 0:
                y[i] += 1
        y[n] = s if x[0] == 3 else 0


@parpy.jit
def by_break(y, x, n):
    with parpy.gpu:
        for i in range(n):
            if x[i] > 1:
                break
            s = x[i]
        y[0] = s


@parpy.jit
def by_continue(y, x, n):
    with parpy.gpu:
        k = 0
        while True:
            k += 1
            if k > n:
                break
            if x[k - 1] > 1:
                continue
            s = x[k - 1]
        y[0] = s


@parpy.jit
def updated(y, x, n):
    with parpy.gpu:
        for i in range(n):
            if i == x[0]:
                s = 5
            s += x[i]
            y[i] = s


@parpy.jit
def maybe(x):
    if x > 1:
        s = x
    if x > 2:
        s += 1
    return s


@parpy.jit
def in_a_helper(y, x, n):
    parpy.label("j")
    for j in range(n):
        y[j] = maybe(x[j])


@parpy.jit
def from_outside(y, x, n):
    if n > 2:
        s = n
    parpy.label("j")
    for j in range(n):
        if x[j] > 1:
            y[j] = s


@parpy.jit
def constant_in_a_branch(y, x, n):
    with parpy.gpu:
        for i in range(n):
            if x[i] > 2:
                s = 3
        y[0] = s


@parpy.jit
def asked_again(y, x, n):
    with parpy.gpu:
        if x[0] > 2:
            s = x[1]
        count = 0
        while count == 0 or s > count:
            count += 1
        y[0] = count


@pytest.mark.parametrize("function", [after_a_loop, in_a_branch])
def test_variables_without_value(function):
    raised = [agrees(function, (np.zeros(9, np.int64), n)) for n in (3, 1, 0, 2, 4, 0, -1, -2)]
    found = [error for error in raised if error is not None]
    assert 0 < len(found) < len(raised)
    assert all(isinstance(error, UnboundLocalError) and "P423" in str(error) for error in found)


@pytest.mark.parametrize(
    "function",
    [
        carried_on,
        chosen,
        by_break,
        by_continue,
        updated,
        in_a_helper,
        from_outside,
        constant_in_a_branch,
        asked_again,
    ],
)
def test_variables_without_value_by_data(function):
    loops = {"j": 4} if function in (in_a_helper, from_outside) else {}
    for x in [(1, 1, 1), (3, 0, 0), (0, 0, 0), (0, 2, 3), (2, 2, 2), (5, 6, 7), (1, 0, 3), (3, 1, 2)]:
        for n in (3, 2) if not EMULATED else (3,):
            agrees(function, (np.zeros(9, np.int64), np.array(x), n), **loops)


def test_variables_with_a_value_are_not_watched():
    @parpy.jit
    def f(y, x, n):
        for i in range(10):
            s = x[i]
            for j in range(n):
                if x[j] > 2:
                    t = 1
                    s -= t
                else:
                    t = 2
                s += t
            y[i] = s
        y[0] = s + i
        while True:
            r = 1
            if y[0] > r:
                break
        y[1] = r

    text = parpy.print_compiled(
        f, (np.zeros(10), np.zeros(10), 10), CompileOptions(backend=CompileBackend.Cpu, parallelize={})
    )
    assert "_set" not in text and "fail(" not in text


# ---------------------------------------------------------------- on the emulated GPU


@on_host
def test_on_the_gpu():
    """Repeats the tests of failures with CUDA programs."""
    if not fake_driver.LIBRARY.exists():
        pytest.skip("no emulated driver")
    emulated = {"FAKE_CUDA_EMULATE": "1", **fake_driver.ENVIRONMENT}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *map(str, FILES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **emulated})
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
