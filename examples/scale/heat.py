"""Heat in a plate whose borders stay cold. See engines.py for the engines."""

import engines
import numpy as np

import parpy


@parpy.jit
def heat(now, after, steps):
    rows, columns = now.shape
    for t in range(steps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                around = now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1]
                after[i, j] = now[i, j] + 0.2 * (around - 4 * now[i, j])
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                now[i, j] = after[i, j]


def start(rows=240, columns=320):
    now = np.zeros((rows, columns))
    now[rows // 4 : rows // 2, columns // 3 : columns // 2] = 1.0
    now[rows // 2 : 3 * rows // 4, columns // 2 : 3 * columns // 4] = 0.7
    return [now, np.zeros_like(now)]


if __name__ == "__main__":
    engines.main("heat", heat, start(), 60, cmap="inferno")
