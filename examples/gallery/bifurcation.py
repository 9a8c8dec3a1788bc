"""
From order to chaos
===================

The rule x ← r x (1 − x) describes a population with limited food. For a small growth r it settles; for a larger one
it swings between two, four, eight values, and becomes chaotic. Each column of the picture is one r, with a count of
the values that the population takes.
"""

import numpy as np

import parpy


@parpy.jit
def count_visits(growth, counts, skip, steps):
    height = counts.shape[1]
    for c in range(growth.size):
        x = 0.4
        for _ in range(skip):
            x = growth[c] * x * (1 - x)
        for _ in range(steps):
            x = growth[c] * x * (1 - x)
            counts[c, min(int(x * height), height - 1)] += 1


def compute(columns=600, height=400, steps=4000):
    growth, counts = np.linspace(2.7, 4.0, columns), np.zeros((columns, height), np.int64)
    count_visits(growth, counts, 1000, steps)
    return growth, counts


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    growth, counts = compute()
    plt.imshow(np.log1p(counts.T), origin="lower", cmap="bone_r", extent=(2.7, 4.0, 0, 1), aspect="auto")
    plt.xlabel("growth r")
    plt.show()
