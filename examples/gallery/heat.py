"""
Heat in a plate
===============

Two hot bars cool in an insulated plate. Every place moves towards the average of its neighbours. The step writes to a
second array, so that all places can move at once.
"""

import numpy as np

import parpy


@parpy.jit
def step(now, after, rate):
    rows, columns = now.shape
    for i in range(rows):
        for j in range(columns):
            above, below = now[max(i - 1, 0), j], now[min(i + 1, rows - 1), j]
            left, right = now[i, max(j - 1, 0)], now[i, min(j + 1, columns - 1)]
            after[i, j] = now[i, j] + rate * (above + below + left + right - 4 * now[i, j])


def compute(size=200, steps=1500):
    now = np.zeros((size, size))
    now[size // 5 : size // 4, size // 5 : -size // 5] = 1.0
    now[size // 2 : -size // 5, size // 2 : size // 2 + size // 20] = 1.0
    after = np.empty_like(now)
    for _ in range(steps):
        step(now, after, 0.2)
        now, after = after, now
    return now


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    plt.imshow(compute(), cmap="inferno")
    plt.axis("off")
    plt.show()
