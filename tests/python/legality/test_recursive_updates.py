"""Functions that call themselves, in parallel loops: their updates are atomic, their loads are analysed."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, options, run


@parpy.jit
def count_down(h, k, n):
    if n > 0:
        h[k % h.shape[0]] += 1
        count_down(h, k + n, n - 1)


@parpy.jit
def even(h, n):
    if n > 0:
        h[0] += n
        odd(h, n - 1)


@parpy.jit
def odd(h, n):
    if n > 0:
        h[1] += n
        even(h, n - 1)


@parpy.jit
def histogram(h, x):
    parpy.label("i")
    for i in range(x.shape[0]):
        count_down(h, x[i], 5)


@parpy.jit
def mutual(h, x):
    parpy.label("i")
    for i in range(x.shape[0]):
        even(h, x[i] % 9)


@parpy.jit
def tree_sum(t, node):
    if node >= t.shape[0]:
        return 0.0
    return t[node] + tree_sum(t, 2 * node + 1) + tree_sum(t, 2 * node + 2)


@parpy.jit
def sums(y, t):
    parpy.label("i")
    for i in range(y.shape[0]):
        y[i] = tree_sum(t, i)


@parpy.jit
def overwrite(h, k, n):
    if n > 0:
        h[k % h.shape[0]] = n
        overwrite(h, k + 1, n - 1)


@parpy.jit
def overwritten(h, x):
    parpy.label("i")
    for i in range(x.shape[0]):
        overwrite(h, x[i], 3)


@parpy.jit
def exchange(a, b, n):
    if n > 0:
        b[0] += 1
        exchange(b, a, n - 1)


@parpy.jit
def exchanged(a, b, x):
    parpy.label("i")
    for i in range(x.shape[0]):
        exchange(a, b, x[i] % 4)


def data(kind="q"):
    return np.zeros(7, kind), np.random.default_rng(0).integers(0, 1000, 3000)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ["q", "d"])
@pytest.mark.parametrize("function", [histogram, mutual])
def test_updates_are_atomic(function, kind, backend):
    got, want = data(kind), data(kind)
    function(*want, seq=True)
    run(backend, function, got, {"i": 64})
    assert np.array_equal(got[0], want[0])


def test_arrays_that_change_places():
    x = np.arange(400)
    got, want = (np.zeros(1), np.zeros(1)), (np.zeros(1), np.zeros(1))
    exchanged(*want, x, seq=True)
    exchanged(*got, x, opts=options("cpu", {"i": 8}))
    assert np.array_equal(got, want)
    text = parpy.print_compiled(exchanged, [*got, x], options("cuda", {"i": 400}))
    assert text.count("atomic_add(") + text.count("atomicAdd(") >= 1


def test_they_are_told():
    facts = parpy.explain(histogram, *data(), opts=options("cpu", {"i": 64})).facts["loops"][0]
    assert facts["verdict"] == "reduction"
    assert facts["atomic"]
    deterministic = options("cpu", {"i": 64})
    deterministic.deterministic = True
    with pytest.raises(parpy.ParallelError, match=r"P402.*deterministic=True"):
        histogram(*data("d"), opts=deterministic)
    histogram(*data("q"), opts=deterministic)  # integer sums do not depend on the order


def test_what_they_read_is_known():
    y, t = np.zeros(40), np.arange(100.0)
    facts = parpy.explain(sums, y, t, opts=options("cpu", {"i": 8})).facts["loops"][0]
    assert facts["verdict"] == "proved"
    sums(y, t, opts=options("cpu", {"i": 8}))
    sums(want := np.zeros(40), t, seq=True)
    assert np.array_equal(y, want)


def test_what_they_overwrite_is_not():
    facts = parpy.explain(overwritten, *data(), opts=options("cpu", {"i": 8})).facts["loops"][0]
    assert facts["verdict"] == "unknown"
    strict = options("cpu", {"i": 8})
    strict.legality = "strict"
    with pytest.raises(parpy.ParallelError, match="P402"):
        overwritten(*data(), opts=strict)


@parpy.jit
def calls_itself_behind_a_loop(x, n):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] += 1
    if n > 0:
        calls_itself_behind_a_loop(x, n - 1)


def test_messages_name_functions_that_call_themselves_as_they_are():
    with pytest.raises(parpy.CompileError, match="its loop is in 'calls_itself_behind_a_loop', which calls itself"):
        calls_itself_behind_a_loop(np.ones(4), 2, opts=options("cpu", {"i": 4}))
