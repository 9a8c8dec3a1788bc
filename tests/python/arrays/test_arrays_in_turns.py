"""Names that alternate between several arrays (`src, dst = dst, src`): one program, with the loop that changes them."""

from __future__ import annotations

import ast
import inspect
import textwrap

import numpy as np
import pytest

import nvrtc
import parpy
from backends import BACKENDS, copies, cuda_text, run
from parpy.syntax.turns import with_turns


@parpy.jit
def swapped(a, b, n):
    src, dst = a, b
    for t in range(n):
        parpy.label("i")
        for i in range(1, a.shape[0] - 1):
            dst[i] = src[i - 1] + src[i + 1] * 0.5 + t
        src, dst = dst, src
    parpy.label("i")
    for i in range(a.shape[0]):
        a[i] = src[i] + dst[i]


@parpy.jit
def by_parity(a, b, n):
    for t in range(n):
        src, dst = a, b
        if t & 1:
            src, dst = b, a
        parpy.label("i")
        for i in range(a.shape[0]):
            dst[i] = src[i] + t


@parpy.jit
def inside_of_mapped_loops(a, b, n):
    for t in range(n):
        parpy.label("i")
        for i in range(a.shape[0] // 4):
            src = a
            dst = b
            if t % 2 == 1:
                src = b
                dst = a
            parpy.label("j")
            for j in range(4):
                dst[4 * i + j] = src[4 * i + j] + t


@parpy.jit
def by_iteration(a, b, n):
    parpy.label("i")
    for i in range(a.shape[0]):
        x = a if i % 3 == 0 else b
        if a[i] < n:  # noqa: SIM108
            y = b
        else:
            y = a
        y[i] += 1
        x[i] += y[i] * 2


@parpy.jit
def in_three_steps(a, b, n):
    s, d = a, b
    for t in range(n):
        old = s
        s = d
        d = old
        parpy.label("i")
        for i in range(a.shape[0]):
            d[i] = s[i] - t


@parpy.jit
def three_arrays(a, b, c, n):
    x, y, z = a, b, c
    t = 0
    while t < n:
        parpy.label("i")
        for i in range(a.shape[0]):
            z[i] = x[i] + 2 * y[i]
        x, y, z = y, z, x
        t += 1


@parpy.jit
def added(x, y, i):
    return x[i] + y[i]


@parpy.jit
def passed_on(a, b, n):
    src, dst = a, b
    for t in range(n):
        parpy.label("i")
        for i in range(a.shape[0]):
            dst[i] = added(src, dst, i) + len(src) - src.shape[0]
        src, dst = dst, src


@parpy.jit
def never_changed(a, b, n):
    x = a
    parpy.label("i")
    for i in range(4):
        x[i] = n
    x = b
    parpy.label("i")
    x[:] += 1


@parpy.jit
def arrays_of_its_own(a, b, n):
    u = np.zeros(a.shape[0])
    v = a + 1
    now, then = u, v
    for t in range(n):
        parpy.label("i")
        for i in range(a.shape[0]):
            now[i] = then[i] * 0.5 + b[i]
        now, then = then, now
    a[:] = now - then


TWO = [swapped, by_parity, inside_of_mapped_loops, by_iteration, in_three_steps, passed_on, never_changed]
ALL = [*TWO, three_arrays, arrays_of_its_own]


def arguments(function, n=5):
    r = np.random.default_rng(0)
    count = 3 if function is three_arrays else 2
    return (*(r.random(40) for _ in range(count)), n)


@pytest.mark.parametrize("n", [0, 1, 4, 5])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_results(function, backend, n):
    if backend == "eval" and function is arrays_of_its_own:
        pytest.skip("the interpreter of the IR makes no arrays for Python")
    got, want = arguments(function, n), arguments(function, n)
    function.__wrapped__(*want)
    run(backend, function, got, {"i": 4, "j": 32})
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


@pytest.mark.parametrize("backend", [parpy.CompileBackend.Cpu, parpy.CompileBackend.Sim])
@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_automatic_mode(function, backend):
    got, want = arguments(function), arguments(function)
    function.__wrapped__(*want)
    function(*got, opts=parpy.auto(backend=backend))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


@pytest.mark.parametrize("function", TWO, ids=lambda f: f.__name__)
def test_it_is_one_program(function):
    given = arguments(function)
    text = cuda_text(function, copies(given), {"i": 32, "j": 32})
    nvrtc.cubin(text)
    host = text.split(nvrtc.HOST_MARKER)[1]
    steps = {swapped: 2, by_parity: 2, inside_of_mapped_loops: 2, in_three_steps: 2, passed_on: 2}
    if function in steps:
        assert "for (int t = 0; t < 5; ++t)" in host
        assert host.split("for (int t = 0")[1].count("parpy_launch") >= steps[function]


@parpy.jit
def in_place(a, b, n):
    src, dst = a, b
    for t in range(n):
        parpy.label("i")
        for i in range(1, a.shape[0]):
            dst[i] = src[i - 1] + dst[i - 1]
        src, dst = dst, src


def test_conflicts_are_refuted():
    with pytest.raises(parpy.ParallelError, match=r"iteration t=0, i=1 writes b\[1\], iteration t=0, i=2 reads b\[1\]"):
        in_place(*arguments(in_place), opts=parpy.par({"i": parpy.threads(4)}, backend=parpy.CompileBackend.Cpu))


def test_overlapping_arrays_are_seen():
    a = np.zeros(50)
    with pytest.raises(parpy.ParallelError):
        by_parity(a[:40], a[1:41], 4, opts=parpy.par({"i": parpy.threads(32)}, backend=parpy.CompileBackend.Sim))


# ---------------------------------------------------------------- programs that do not change


@parpy.jit
def returned(a, b, n):
    x, y = a, b
    for t in range(n):
        y[:] = x + t
        x, y = y, x
    return x


@parpy.jit
def left_early(a, b, n):
    x, y = a, b
    for t in range(n):
        x, y = y, x
        if x[0] > 0.2:
            break
        x[0] += 0.25
    y[1] = 3


@parpy.jit
def numbers(a, b, n):
    x, y = n, n + 1
    for t in range(n):
        x, y = y, x
    a[x] = y


@parpy.jit
def new_arrays(a, b, n):
    x = a
    for t in range(n):
        x = x + 1
    b[:] = x


@pytest.mark.parametrize("function", [returned, left_early, numbers, new_arrays], ids=lambda f: f.__name__)
def test_others(function):
    got, want = arguments(function), arguments(function)
    expected = function.__wrapped__(*want)
    result = function(*got)
    for a, b in zip((*got, result), (*want, expected), strict=True):
        if a is not None:
            np.testing.assert_allclose(a, b)
    tree = ast.parse(textwrap.dedent(inspect.getsource(function.__wrapped__))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    assert with_turns(tree) is tree or ast.unparse(with_turns(tree)) == ast.unparse(tree)
