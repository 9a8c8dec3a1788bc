"""The simulator as a back end: it runs the text of the CUDA back end, in place, with threads in any order."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import parpy
from backends import options
from parpy import threads


@pytest.fixture(autouse=True)
def settings():
    yield
    parpy.cuda.sim.seed, parpy.cuda.sim.warp_size = 0, 32


@parpy.jit
def total(x, y, n):
    parpy.label("n")
    for i in range(n):
        y[0] += x[i]


def test_it_is_a_back_end():
    sim = parpy.CompileBackend.Sim
    assert sim in parpy.backend.backends() and parpy.backend.is_enabled(sim)
    assert sim in parpy.backend.available()


def test_it_runs_the_text_of_cuda():
    x, y = np.ones(1000), np.zeros(1)
    mapping = {"n": threads(1000).tpb(128)}
    assert parpy.print_compiled(total, (x, y, 1000), options("sim", mapping)) == parpy.print_compiled(
        total, (x, y, 1000), options("cuda", mapping)
    )


def test_auto_does_not_choose_it():
    x, y = np.ones(10), np.zeros(1)
    text = parpy.print_compiled(total, (x, y, 10), parpy.CompileOptions())
    assert "__global__" not in text or parpy.backend.is_enabled(parpy.CompileBackend.Cuda)


def test_it_can_be_the_default():
    parpy.backend.set_default(parpy.CompileBackend.Sim)
    try:
        x, y = np.arange(100.0), np.zeros(1)
        total(x, y, 100, opts=parpy.par({"n": threads(100)}))
        assert y[0] == x.sum()
    finally:
        parpy.backend.set_default(parpy.CompileBackend.Auto)


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
def test_every_order_gives_the_sum(seed):
    parpy.cuda.sim.seed = seed
    x, y = np.arange(3000.0), np.zeros(1)
    total(x, y, 3000, opts=options("sim", {"n": threads(2048).tpb(256)}))
    assert y[0] == x.sum()


def test_a_seed_stands_for_one_order():
    x = np.random.default_rng(0).random(4000)
    results = []
    for seed in (5, 5, 5):
        parpy.cuda.sim.seed = seed
        y = np.zeros(1)
        total(x, y, 4000, opts=options("sim", {"n": threads(4000).tpb(128)}))
        results.append(y[0])
    assert results[0] == results[1] == results[2]


def test_settings_are_checked():
    for bad in (-1, 2**64, 1.5, True, "x"):
        with pytest.raises(ValueError, match="seed"):
            parpy.cuda.sim.seed = bad
    for bad in (0, 3, 64, "x"):
        with pytest.raises(ValueError, match="warp"):
            parpy.cuda.sim.warp_size = bad
    assert repr(parpy.cuda.sim) == "parpy.cuda.sim(warp_size=32, seed=0)"


@pytest.mark.parametrize("place", [2**45, -(2**45), 2**60])
def test_addresses_that_cannot_exist(place):
    @parpy.jit
    def put(y, p):
        parpy.label("i")
        for i in range(len(p)):
            y[p[i]] = 1

    y = np.zeros(5)
    with pytest.raises(parpy.BackendError, match=r"P541.* accessed memory at an invalid address"):
        put(y, np.array([0, place]), opts=options("sim", {"i": threads(64)}))
    put(y, np.array([0, 1]), opts=options("sim", {"i": threads(64)}))
    assert y.tolist() == [1, 1, 0, 0, 0]


def test_several_python_threads():
    arrays = [(np.arange(5000.0) + k, np.zeros(1)) for k in range(4)]
    mapping = options("sim", {"n": threads(4096).tpb(256)})
    workers = [threading.Thread(target=total, args=(x, y, 5000), kwargs={"opts": mapping}) for x, y in arrays]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for x, y in arrays:
        assert y[0] == x.sum()


@parpy.jit
def rows(x, y, n, m):
    parpy.label("n")
    for i in range(n):
        parpy.label("m")
        for j in range(m):
            y[i, j] = x[j, i] * 2


def test_views_in_place():
    x = np.arange(600.0).reshape(20, 30)[::2, ::3]
    y = np.zeros((20, 20))[::2, ::-2]
    rows(x, y, 10, 10, opts=options("sim", {"n": threads(10), "m": threads(32)}))
    np.testing.assert_array_equal(y, 2 * x.T)
