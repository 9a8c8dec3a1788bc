"""
Which die is it? The forward algorithm
======================================

A casino swaps a fair die for a loaded one from time to time. The forward algorithm of hidden Markov models turns the
throws that we see into the probability of each die. Steps of time depend on each other; games are independent.
"""

import numpy as np

import parpy

CHANGE = np.array([[0.95, 0.05], [0.10, 0.90]])
FACES = np.array([[1 / 6] * 6, [0.1] * 5 + [0.5]])


@parpy.jit
def forward(throws, start, change, faces, chance, log_likelihood):
    games, steps = throws.shape
    states = start.size
    for g in range(games):
        total = 0.0
        for s in range(states):
            chance[g, 0, s] = start[s] * faces[s, throws[g, 0]]
            total += chance[g, 0, s]
        log_likelihood[g] = np.log(total)
        for s in range(states):
            chance[g, 0, s] /= total
        for t in range(1, steps):
            total = 0.0
            for s in range(states):
                arrives = 0.0
                for before in range(states):
                    arrives += chance[g, t - 1, before] * change[before, s]
                chance[g, t, s] = arrives * faces[s, throws[g, t]]
                total += chance[g, t, s]
            log_likelihood[g] += np.log(total)
            for s in range(states):
                chance[g, t, s] /= total


def play(games, steps):
    """Random throws, and the die of each throw."""
    rng = np.random.default_rng(6)
    dice, throws = np.zeros((games, steps), np.int64), np.zeros((games, steps), np.int64)
    for t in range(steps):
        if t:
            dice[:, t] = rng.random(games) < CHANGE[dice[:, t - 1], 1]
        throws[:, t] = (rng.random(games)[:, None] > np.cumsum(FACES[dice[:, t]], axis=1)).sum(axis=1)
    return dice, np.minimum(throws, 5)


def compute(games=500, steps=300):
    dice, throws = play(games, steps)
    chance, log_likelihood = np.empty((games, steps, 2)), np.empty(games)
    forward(throws, np.array([1.0, 0.0]), CHANGE, FACES, chance, log_likelihood)
    return dice, throws, chance, log_likelihood


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    dice, throws, chance, _ = compute()
    plt.figure(figsize=(8, 3.2), layout="constrained")
    plt.fill_between(range(dice.shape[1]), dice[0], step="mid", alpha=0.3, label="the loaded die is used")
    plt.plot(chance[0, :, 1], label="its probability")
    plt.xlabel("throw")
    plt.legend(loc="upper right")
    plt.show()
