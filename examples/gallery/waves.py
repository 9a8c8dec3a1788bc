"""
Waves through two slits
=======================

A wave comes from the left, passes two slits in a wall and interferes with itself behind it. The next height of a
place follows from its last two heights and its neighbours.
"""

import numpy as np

import parpy


@parpy.jit
def step(before, now, after, wall, speed):
    rows, columns = now.shape
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            if wall[i, j]:
                after[i, j] = 0.0
            else:
                bend = now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1] - 4 * now[i, j]
                after[i, j] = 2 * now[i, j] - before[i, j] + speed * bend


def compute(rows=241, columns=360, steps=480):
    before, now, after = np.zeros((3, rows, columns))
    wall = np.zeros((rows, columns), bool)
    wall[:, columns // 4 : columns // 4 + 4] = True
    for slit in (-24, 24):
        middle = rows // 2 + slit
        wall[middle - 5 : middle + 6, :] = False
    for t in range(steps):
        now[:, 1] = np.sin(0.35 * t)
        step(before, now, after, wall, 0.4)
        before, now, after = now, after, before
    return now


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    plt.imshow(compute(), cmap="RdBu", vmin=-1, vmax=1)
    plt.axis("off")
    plt.show()
