"""A hidden Markov model with durations, its data, and the forward algorithm with NumPy.

A pore sees k bases of a strand at a time, one of K = 4^k k-mers w, as one of S levels of current; each k-mer is seen
for some samples. A state is a k-mer with the number of samples to come, at most D - 1 of them: s = d K + w. From a
state with d > 0 the model goes to d - 1; with the most samples it stays there with probability g. From d = 0 the strand
moves on by a base: from w to one of four k-mers w' = 4 w mod K + base, with probability A(w, w'), of which the next d
is drawn from P(d). Each sample x_t is drawn from E(w, x). So the four predecessors of w' are p_b = w' // 4 + b K/4, and
with f_0(s) = P(s) E(w, x_0),

    f_t(w, d) = E(w, x_t) [ P(d) sum_b A(p_b, w) f_{t-1}(p_b, 0)  +  c(d) f_{t-1}(w, min(d + 1, D - 1)) ],
    c(D - 1) = g,   c(D - 2) = 1 - g,   c(d) = 1 else,

and the likelihood of a signal of T samples is the sum of f_{T-1}(s) over all s. All numbers are logarithms: thousands
of steps leave the range of floating-point numbers otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Model = dict[str, Any]


def random_model(rng: np.random.Generator, bases: int, layers: int = 16, levels: int = 101) -> Model:
    """A model of k-mers, k = `bases`; tables of logarithms, float32.

    moves (4, K): A(p_b, w); durations (D,): P(d); emissions (S, K): E(w, x); start (D K,): the first state.
    """
    kmers = 4**bases

    def logs(shape: tuple[int, ...], axis: int) -> np.ndarray:
        weights = rng.random(shape) + 0.1
        return np.log(weights / weights.sum(axis=axis, keepdims=True)).astype(np.float32)

    after = logs((kmers, 4), 1)  # for each k-mer, the next base
    before = np.arange(kmers)[None, :] // 4 + np.arange(4)[:, None] * (kmers // 4)
    gamma = 0.7
    return {
        "moves": np.ascontiguousarray(after[before, np.arange(kmers) % 4]),
        "durations": logs((layers,), 0),
        "emissions": logs((levels, kmers), 0),
        "start": logs((layers * kmers,), 0),
        "stay": float(np.log(gamma)),
        "leave": float(np.log1p(-gamma)),
        "kmers": kmers,
        "layers": layers,
    }


def random_signals(
    rng: np.random.Generator, count: int, samples: int, levels: int = 101
) -> tuple[np.ndarray, np.ndarray]:
    """Levels (count, samples) and the number of samples of each signal: from half of them to all; one has all."""
    lengths = rng.integers(samples // 2, samples + 1, count)
    lengths[0] = samples
    return rng.integers(0, levels, (count, samples)).astype(np.int32), lengths.astype(np.int32)


def log_sum(x: np.ndarray, axis: int) -> np.ndarray:
    most = x.max(axis=axis, keepdims=True)
    return np.squeeze(most, axis) + np.log(np.exp(x - most).sum(axis=axis))


def reference(model: Model, signals: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The logarithms of the likelihoods, in float64."""
    kmers, layers = model["kmers"], model["layers"]
    before = np.arange(kmers)[None, :] // 4 + np.arange(4)[:, None] * (kmers // 4)
    moves, emissions = model["moves"].astype(np.float64), model["emissions"].astype(np.float64)
    durations = model["durations"].astype(np.float64)
    carry = np.zeros((layers, 1))
    carry[layers - 1], carry[layers - 2] = model["stay"], model["leave"]
    found = np.empty(len(lengths))
    for n, length in enumerate(lengths):
        alpha = model["start"].astype(np.float64).reshape(layers, kmers) + emissions[signals[n, 0]]
        for t in range(1, length):
            moved = log_sum(moves + alpha[0][before], 0)
            waited = carry + alpha[np.minimum(np.arange(layers) + 1, layers - 1)]
            alpha = np.logaddexp(durations[:, None] + moved, waited) + emissions[signals[n, t]]
        found[n] = log_sum(alpha.ravel(), 0)
    return found
