"""
A magnet cools: the Ising model
===============================

Every place of a magnet has a spin, up or down, and prefers that of its neighbours. Heat flips spins at random. The
places of one colour of a chess board have no neighbours of that colour, so that all of them may flip at once. The
random numbers are counter-based: they do not depend on the number of cores.
"""

import math

import numpy as np

import parpy


@parpy.jit
def sweep(spins, colour, temperature, rng):
    n, m = spins.shape
    for i in range(n):
        for j in range(m // 2):
            k = 2 * j + (i + colour) % 2
            around = spins[(i - 1) % n, k] + spins[(i + 1) % n, k] + spins[i, (k - 1) % m] + spins[i, (k + 1) % m]
            cost = 2.0 * spins[i, k] * around
            if cost <= 0.0 or rng.random() < math.exp(-cost / temperature):
                spins[i, k] = -spins[i, k]


def compute(size=200, sweeps=250, temperature=2.3, ordered=False):
    rng = np.random.default_rng(7)
    spins = np.ones((size, size), np.int64)
    if not ordered:
        spins = rng.choice([-1, 1], (size, size))
    for _ in range(sweeps):
        sweep(spins, 0, temperature, rng)
        sweep(spins, 1, temperature, rng)
    return spins


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
    for axis, temperature in zip(axes, (1.8, 2.27, 3.0), strict=True):
        axis.imshow(compute(temperature=temperature), cmap="coolwarm")
        axis.set_title(f"temperature {temperature}")
        axis.axis("off")
    plt.show()
