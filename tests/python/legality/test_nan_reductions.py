"""Minima and maxima of floats with NaNs: reordered reductions give the sequential result, others are refused."""

from __future__ import annotations

import linecache
import re

import numpy as np
import pytest

import parpy
from backends import BACKENDS, NAMES, options, run

# The statement, and whether its result is independent of the order of the iterations.
SPELLINGS = {
    "m = max(m, x[i])": True,
    "m = min(m, x[i])": True,
    "m = max(x[i], m)": False,
    "m = min(x[i], m)": False,
    "m = x[i] if x[i] > m else m": True,
    "m = x[i] if m <= x[i] else m": True,
    "m = m if m > x[i] else x[i]": False,
    "m = m if x[i] >= m else x[i]": False,
    "if x[i] > m: m = x[i]": True,
    "if m > x[i]: m = x[i]": True,
    "m = np.maximum(m, x[i])": True,
    "m = np.minimum(x[i], m)": True,
    "m = np.fmax(x[i], m)": True,
    "m = np.fmin(m, x[i])": True,
}
N = 700


def function(statement: str):
    source = (
        f"def f(x, out, start):\n    m = start\n    parpy.label('i')\n    for i in range({N}):\n        {statement}\n"
    )
    source += "    with parpy.gpu:\n        out[0] = m\n"
    name = f"<reduction {abs(hash(source))}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace = {"np": np, "parpy": parpy}
    exec(compile(source, name, "exec"), namespace)
    return parpy.jit(namespace["f"])


FUNCTIONS = {statement: function(statement) for statement in SPELLINGS}


def inputs():
    rng = np.random.default_rng(5)
    for start in (0.25, float("nan"), -float("inf")):
        for holes in ([], [0], [3, 400], [N - 1], list(range(N))):
            x = rng.standard_normal(N)
            x[holes] = np.nan
            yield x, start


def sequential(f, x, start):
    out = np.zeros(1)
    f(x, out, start, seq=True)
    return out[0]


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("statement", SPELLINGS)
def test_automatic_mode_gives_the_sequential_result(statement, dtype):
    f = FUNCTIONS[statement]
    for x, start in inputs():
        x, start = x.astype(dtype), np.dtype(dtype).type(start)
        want = sequential(f, x, start)
        for backend in NAMES[1:]:
            out = np.zeros(1)
            f(x, out, start, opts=parpy.auto(backend=parpy.CompileBackend(backend)))
            np.testing.assert_array_equal(out[0], want, err_msg=f"{backend} {start}")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("statement", [s for s, free in SPELLINGS.items() if free])
def test_what_does_not_depend_on_the_order_is_exact_by_hand(statement, backend):
    f = FUNCTIONS[statement]
    for x, start in inputs():
        for threads in (32, 96, 1024):
            out = np.zeros(1)
            run(backend, f, (x, out, start), {"i": parpy.threads(threads).tpb(64)})
            np.testing.assert_array_equal(out[0], sequential(f, x, start))


@pytest.mark.parametrize("statement", SPELLINGS)
def test_strict_legality_and_automatic_mode_refuse_the_others(statement):
    free = SPELLINGS[statement]
    f, arguments = FUNCTIONS[statement], (np.ones(N), np.zeros(1), 0.0)
    strict = options("cpu", {"i": parpy.threads(4).reduce()})
    strict.legality = "strict"
    found = parpy.explain(f, *arguments, opts=parpy.auto(backend=parpy.CompileBackend.Sim))
    (loop,) = found.facts["loops"]
    assert loop["verdict"] == "reduction" and ("NaN" in loop["reason"]) == (not free)
    assert bool(found.mapping) == free
    if free:
        f(*arguments, opts=strict)
    else:
        with pytest.raises(parpy.ParallelError, match=re.escape("the value of 'm' after a NaN depends on the order")):
            f(*arguments, opts=strict)


def test_integers_have_no_nan():
    f = FUNCTIONS["m = max(x[i], m)"]
    opts = parpy.auto(backend=parpy.CompileBackend.Sim)
    assert parpy.explain(f, np.arange(N), np.zeros(1, np.int64), 0, opts=opts).mapping


@parpy.jit
def extremes_of_pairs(x, y, out, n):
    for i in range(n):
        out[0, i] = np.minimum(x[i], y[i])
        out[1, i] = np.maximum(x[i], y[i])
        out[2, i] = np.fmin(x[i], y[i])
        out[3, i] = np.fmax(x[i], y[i])


@pytest.mark.parametrize("backend", BACKENDS)
def test_of_zeros_of_both_signs_the_one_that_numpy_takes(backend):
    """Of two equal float16 numbers NumPy takes the first."""
    x = np.array([0.0, -0.0, 0.0, -0.0, np.nan, 1.0], np.float16)
    y = np.array([-0.0, 0.0, 0.0, -0.0, 1.0, np.nan], np.float16)
    out = np.zeros((4, 6), np.float16)
    run(backend, extremes_of_pairs, (x, y, out, 6), {"gpu": 1} if backend in ("sim", "cuda") else {})
    want = np.array([f(x, y) for f in (np.minimum, np.maximum, np.fmin, np.fmax)])
    np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(np.signbit(out), np.signbit(want))
