"""
A pile of sand
==============

A place with four grains or more topples and gives a grain to each of its neighbours. A heap in the middle spreads
until nothing topples, and leaves a pattern. The order in which places topple does not matter.
"""

import numpy as np

import parpy


@parpy.jit
def topple(now, after):
    """Returns the number of places that toppled."""
    toppled = 0
    rows, columns = now.shape
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            given = now[i - 1, j] // 4 + now[i + 1, j] // 4 + now[i, j - 1] // 4 + now[i, j + 1] // 4
            after[i, j] = now[i, j] % 4 + given
            toppled += now[i, j] >= 4
    return toppled


def compute(size=151, grains=20_000):
    now = np.zeros((size, size), np.int64)
    now[size // 2, size // 2] = grains
    after = np.zeros_like(now)
    while topple(now, after):
        now, after = after, now
    return now


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    plt.imshow(compute(), cmap="YlOrBr_r", interpolation="nearest")
    plt.axis("off")
    plt.show()
