"""The Game of Life on a torus: rows and columns wrap around. See engines.py for the engines."""

import engines
import numpy as np

import parpy


@parpy.jit
def life(alive, after, steps):
    rows, columns = alive.shape
    for t in range(steps):
        for i in range(rows):
            up, down = (i - 1) % rows, (i + 1) % rows
            for j in range(columns):
                left, right = (j - 1) % columns, (j + 1) % columns
                around = alive[up, left] + alive[up, j] + alive[up, right] + alive[i, left] + alive[i, right]
                around += alive[down, left] + alive[down, j] + alive[down, right]
                after[i, j] = 1 if around == 3 or (around == 2 and alive[i, j] == 1) else 0
        for i in range(rows):
            for j in range(columns):
                alive[i, j] = after[i, j]


def start(rows=240, columns=320):
    alive = (np.random.default_rng(2).random((rows, columns)) < 0.3).astype(np.int8)
    return [alive, np.zeros_like(alive)]


if __name__ == "__main__":
    engines.main("life", life, start(), 25, cmap="gray_r")
