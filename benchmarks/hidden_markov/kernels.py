"""The forward algorithm of model.py as loops: two arrays of f alternate, a step of all signals is one launch.

`forward` is the usual form of such programs: the parity of a step decides which array it reads and which it writes,
and signals that have ended are not changed. `model` is a dict; a function of its own computes the contribution of a
state's predecessors. `forward_by_kmers` does the same with a thread for each k-mer, whose layers share their
predecessors: the sum over these is computed once.
"""

from __future__ import annotations

import parpy
from parpy import threads


@parpy.jit
def advanced(model, alpha, n, level, s):
    """f of a state, from those of the step before."""
    kmers = model["kmers"]
    layers = model["layers"]
    d = s // kmers
    w = s % kmers
    quarter = kmers // 4
    waited = alpha[n, s]
    if d < layers - 1:
        waited = alpha[n, s + kmers]
    if d == layers - 1:
        waited += model["stay"]
    elif d == layers - 2:
        waited += model["leave"]
    duration = model["durations"][d]
    a = duration + model["moves"][0, w] + alpha[n, w // 4]
    b = duration + model["moves"][1, w] + alpha[n, w // 4 + quarter]
    c = duration + model["moves"][2, w] + alpha[n, w // 4 + 2 * quarter]
    e = duration + model["moves"][3, w] + alpha[n, w // 4 + 3 * quarter]
    most = max(max(max(a, b), max(c, e)), waited)
    total = parpy.math.exp(a - most) + parpy.math.exp(b - most) + parpy.math.exp(c - most)
    total += parpy.math.exp(e - most) + parpy.math.exp(waited - most)
    return most + parpy.math.log(total) + model["emissions"][level, w]


@parpy.jit
def sum_up(lengths, alpha1, alpha2, likelihoods):
    """The likelihoods of the signals, whose last f is in the one array or in the other."""
    parpy.label("signals")
    for n in range(lengths.shape[0]):
        last = alpha1
        if lengths[n] % 2 == 0:
            last = alpha2
        most = last[n, 0]
        parpy.label("sums")
        for s in range(alpha1.shape[1]):
            most = max(most, last[n, s])
        total = 0.0
        parpy.label("sums")
        for s in range(alpha1.shape[1]):
            total += parpy.math.exp(last[n, s] - most)
        likelihoods[n] = most + parpy.math.log(total)


@parpy.jit
def forward(model, signals, lengths, alpha1, alpha2, likelihoods):
    """Fills `likelihoods` (N,); alpha1 and alpha2 are (N, D K) and of any values."""
    parpy.label("signals")
    for n in range(signals.shape[0]):
        parpy.label("states")
        for s in range(alpha1.shape[1]):
            alpha1[n, s] = model["start"][s] + model["emissions"][signals[n, 0], s % model["kmers"]]
    for t in range(1, signals.shape[1]):
        src, dst = alpha1, alpha2
        if t % 2 == 0:
            src, dst = alpha2, alpha1
        parpy.label("signals")
        for n in range(signals.shape[0]):
            parpy.label("states")
            for s in range(alpha1.shape[1]):
                if t < lengths[n]:
                    dst[n, s] = parpy.builtin.inline(advanced(model, src, n, signals[n, t], s))
    parpy.builtin.inline(sum_up(lengths, alpha1, alpha2, likelihoods))


@parpy.jit
def forward_by_kmers(model, signals, lengths, alpha1, alpha2, likelihoods):
    """The same for alpha1 and alpha2 of shape (N, D, K)."""
    layers = alpha1.shape[1]
    kmers = alpha1.shape[2]
    parpy.label("signals")
    for n in range(signals.shape[0]):
        parpy.label("kmers")
        for w in range(kmers):
            for d in range(layers):
                alpha1[n, d, w] = model["start"][d * kmers + w] + model["emissions"][signals[n, 0], w]
    for t in range(1, signals.shape[1]):
        src, dst = alpha1, alpha2
        if t % 2 == 0:
            src, dst = alpha2, alpha1
        parpy.label("signals")
        for n in range(signals.shape[0]):
            parpy.label("kmers")
            for w in range(kmers):
                if t < lengths[n]:
                    a = model["moves"][0, w] + src[n, 0, w // 4]
                    b = model["moves"][1, w] + src[n, 0, w // 4 + kmers // 4]
                    c = model["moves"][2, w] + src[n, 0, w // 4 + 2 * (kmers // 4)]
                    e = model["moves"][3, w] + src[n, 0, w // 4 + 3 * (kmers // 4)]
                    most = max(max(a, b), max(c, e))
                    total = parpy.math.exp(a - most) + parpy.math.exp(b - most)
                    total += parpy.math.exp(c - most) + parpy.math.exp(e - most)
                    moved = most + parpy.math.log(total)
                    emitted = model["emissions"][signals[n, t], w]
                    for d in range(layers):
                        waited = src[n, min(d + 1, layers - 1), w]
                        if d == layers - 1:
                            waited += model["stay"]
                        elif d == layers - 2:
                            waited += model["leave"]
                        other = model["durations"][d] + moved
                        high = max(waited, other)
                        low = min(waited, other)
                        dst[n, d, w] = high + parpy.math.log1p(parpy.math.exp(low - high)) + emitted
    parpy.label("signals")
    for n in range(signals.shape[0]):
        last = alpha1
        if lengths[n] % 2 == 0:
            last = alpha2
        parpy.label("layers")
        parpy.label("sums")
        most = parpy.max(last[n, :, :])
        parpy.label("layers")
        parpy.label("sums")
        total = parpy.sum(parpy.math.exp(last[n, :, :] - most))
        likelihoods[n] = most + parpy.math.log(total)


def mapping(signals: int, states: int) -> dict[str, parpy.LoopPar]:
    """Blocks for each signal; a thread for each state."""
    return {
        "signals": threads(signals),
        "states": threads(states).tpb(256),
        "sums": threads(min(states, 1024)).reduce(),
    }


def mapping_by_kmers(signals: int, kmers: int) -> dict[str, parpy.LoopPar]:
    """A thread for each k-mer, which runs over the layers."""
    return {"signals": threads(signals), "kmers": threads(kmers).tpb(128), "sums": threads(min(kmers, 1024)).reduce()}


def one_thread_each(signals: int, states: int) -> dict[str, parpy.LoopPar]:
    """The published form: a thread for each state in the largest blocks, and the sums of a signal in one block."""
    return {"signals": threads(signals), "states": threads(states), "sums": threads(min(states, 1024)).reduce()}
