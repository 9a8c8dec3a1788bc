"""Arrays that an iteration makes get memory of their own (expand-arrays), so that the loop runs in parallel."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS

CPU = parpy.auto(backend=parpy.CompileBackend.Cpu)
CUDA = parpy.auto(backend=parpy.CompileBackend.Cuda)


@parpy.jit
def centred(a, b):
    for i in range(a.shape[0]):
        t = a[i] * 2
        t[1:] += a[i, :-1]
        b[i] = t - t.mean()


@parpy.jit
def reversed_sums(a, b):
    for i in range(a.shape[0]):
        t = np.cumsum(a[i])
        b[i] = t[::-1]


@parpy.jit
def nested(a, b):
    for i in range(a.shape[0] // 2):
        for k in range(2):
            t = np.sqrt(a[2 * i + k])
            b[2 * i + k] = t[::-1] * t


def rows(n=6, m=3000):
    rng = np.random.default_rng(2)
    return rng.random((n, m)), np.zeros((n, m))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [centred, reversed_sums, nested], ids=lambda f: f.__name__)
def test_results_are_those_of_the_loop_in_order(function, backend):
    got, want = rows(), rows()
    function(*want, seq=True)
    if backend == "eval":
        parpy.calls.jit.interpret(function, got, CPU)
    else:
        function(*got, opts=parpy.auto(backend=parpy.CompileBackend(backend)))
    np.testing.assert_allclose(got[1], want[1], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("function", [centred, reversed_sums, nested], ids=lambda f: f.__name__)
@pytest.mark.parametrize("opts", [CPU, CUDA], ids=["cpu", "cuda"])
def test_the_outer_loop_runs_in_parallel(function, opts):
    found = parpy.explain(function, *rows(200), opts=opts)
    assert found.facts["loops"][0]["verdict"] == "proved", str(found)
    assert found.facts["loops"][0]["threads"] > 0, str(found)
    assert not any("P313" in note for note in found.facts["notes"])


def test_a_mapping_by_hand_maps_the_loop():
    @parpy.jit
    def by_hand(a, b):
        parpy.label("i")
        for i in range(a.shape[0]):
            t = np.exp(a[i])
            b[i] = t[::-1]

    got, want = rows(), rows()
    by_hand(*got, opts=parpy.par({"i": parpy.threads(32)}, backend=parpy.CompileBackend.Sim))
    by_hand(*want, seq=True)
    np.testing.assert_allclose(got[1], want[1], rtol=1e-14)


def test_what_an_iteration_may_leave_is_kept():
    @parpy.jit
    def carried(a, b):
        t = np.zeros(3000)
        for i in range(a.shape[0]):
            for j in range(1, 3000):
                t[j] = t[j - 1] + a[i, j]
            b[i] = t

    for opts in (CPU, parpy.auto(backend=parpy.CompileBackend.Sim)):
        got, want = rows(), rows()
        carried(*got, opts=opts)
        carried(*want, seq=True)
        np.testing.assert_allclose(got[1], want[1], rtol=1e-13)


def test_memory_for_all_iterations_is_not_too_much():
    found = parpy.explain(centred, np.empty((20_000, 5000)), np.empty((20_000, 5000)), opts=CUDA)
    assert found.facts["loops"][0]["threads"] == 0
