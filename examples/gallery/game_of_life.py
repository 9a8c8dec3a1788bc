"""
Game of life
============

A cell with three living neighbours comes to life, and one with two stays as it is. A gun of gliders fires one every
thirty steps.
"""

import numpy as np

import parpy

GUN = """
........................O
......................O.O
............OO......OO............OO
...........O...O....OO............OO
OO........O.....O...OO
OO........O...O.OO....O.O
..........O.....O.......O
...........O...O
............OO
"""


@parpy.jit
def step(now, after):
    rows, columns = now.shape
    for i in range(rows):
        for j in range(columns):
            alive = 0
            for y in range(-1, 2):
                for x in range(-1, 2):
                    alive += now[(i + y) % rows, (j + x) % columns]
            alive -= now[i, j]
            after[i, j] = alive == 3 or (alive == 2 and now[i, j] == 1)


def board(text, rows, columns, top=0, left=0):
    cells = np.zeros((rows, columns), np.int64)
    for i, line in enumerate(text.split()):
        for j, cell in enumerate(line):
            cells[top + i, left + j] = cell == "O"
    return cells


def run(cells, steps):
    cells, after = cells.copy(), np.empty_like(cells)
    for _ in range(steps):
        step(cells, after)
        cells, after = after, cells
    return cells


def compute(rows=90, columns=120, steps=240):
    return run(board(GUN, rows, columns, 3, 3), steps)


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    plt.imshow(compute(), cmap="Greens", interpolation="nearest")
    plt.axis("off")
    plt.show()
