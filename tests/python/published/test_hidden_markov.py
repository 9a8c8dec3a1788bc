"""The forward algorithm of benchmarks/hidden_markov at small sizes, and how it is launched."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import nvrtc
import parpy
import places
from backends import TARGETS

sys.path.insert(0, str(places.ROOT / "benchmarks"))
from hidden_markov.kernels import forward, forward_by_kmers, mapping, mapping_by_kmers, one_thread_each
from hidden_markov.model import log_sum, random_model, random_signals, reference


def case(bases, layers, count, samples):
    rng = np.random.default_rng(0)
    model = random_model(rng, bases, layers=layers)
    signals, lengths = random_signals(rng, count, samples)
    states = model["kmers"] * layers
    alphas = [np.full((count, states), np.nan, np.float32) for _ in range(2)]
    return (model, signals, lengths, *alphas, np.zeros(count, np.float32)), states


CASES = [(1, 3, 2, 9), (2, 4, 5, 20), (3, 16, 3, 8)]


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("sizes", CASES, ids=str)
@pytest.mark.parametrize("how", ["blocks", "one thread each", "automatic", "k-mers", "k-mers, automatic"])
def test_likelihoods(sizes, backend, how):
    given, states = case(*sizes)
    kmers = given[0]["kmers"]
    opts = parpy.CompileOptions(automatic=True)
    if how == "k-mers":
        opts = parpy.par(mapping_by_kmers(sizes[2], kmers))
    elif "automatic" not in how:
        opts = parpy.par((mapping if how == "blocks" else one_thread_each)(sizes[2], states))
    opts.backend = parpy.CompileBackend(backend)
    if "k-mers" in how:
        alphas = [each.reshape(len(each), -1, kmers) for each in given[3:5]]
        forward_by_kmers(*given[:3], *alphas, given[-1], opts=opts)
    else:
        forward(*given, opts=opts)
    np.testing.assert_allclose(given[-1], reference(*given[:3]), rtol=1e-5)


def test_in_python():
    given, _ = case(1, 3, 2, 5)
    forward(*given, seq=True)
    np.testing.assert_allclose(given[-1], reference(*given[:3]), rtol=1e-5)


def test_the_reference_adds_up_all_paths():
    """The reference is the sum of the probabilities of all sequences of states together with the samples."""
    rng = np.random.default_rng(1)
    model = random_model(rng, 1, layers=3, levels=5)
    signals, lengths = random_signals(rng, 2, 4, levels=5)
    kmers, layers = model["kmers"], model["layers"]
    moves = np.full((layers, kmers, layers, kmers), -np.inf)
    for w in range(kmers):
        for d in range(layers):
            for before in range(4):
                moves[0, before, d, w] = model["moves"][before, w] + model["durations"][d]
            top = layers - 1
            if d > 0:
                moves[d, w, d - 1, w] = model["leave"] if d == top else 0.0
        moves[layers - 1, w, layers - 1, w] = model["stay"]
    states = kmers * layers
    flat = moves.reshape(states, states)
    np.testing.assert_allclose(np.exp(flat).sum(axis=1), 1, rtol=1e-5)  # the next state of each state
    for n, length in enumerate(lengths):
        emitted = [np.tile(model["emissions"][signals[n, t]], layers) for t in range(length)]
        alpha = model["start"] + emitted[0]
        for t in range(1, length):
            alpha = log_sum(alpha[:, None] + flat, 0) + emitted[t]
        assert log_sum(alpha, 0) == pytest.approx(reference(model, signals, lengths)[n], rel=1e-6)


def test_a_step_is_one_launch():
    given, states = case(2, 4, 5, 20)
    opts = parpy.CompileOptions(parallelize=mapping(5, states), backend=parpy.CompileBackend.Cuda, use_cuda_graphs=True)
    text = parpy.print_compiled(forward, given, opts)
    nvrtc.cubin(text)
    host = text.split(nvrtc.HOST_MARKER)[1]
    step = host.split("for (int t = 1; t < 20; ++t) {")[1].split("\n    }\n")[0]
    then, otherwise = step.split("} else {")
    assert then.count("parpy_launch") == otherwise.count("parpy_launch") == 1  # each with its source and destination
    assert "parpy_fetch" not in host
    kernels = parpy.explain(forward, *given, opts=opts).facts["kernels"]
    assert [kernel["grid"] for kernel in kernels[:3]] == [(1, 5, 1) if states > 256 else (5, 1, 1)] * 3
