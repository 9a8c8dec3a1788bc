"""A wave in a basin: the water at each place is drawn to the height around it. See engines.py for the engines."""

import engines
import numpy as np

import parpy


@parpy.jit
def wave(height, speed, steps):
    rows, columns = height.shape
    for t in range(steps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                around = height[i - 1, j] + height[i + 1, j] + height[i, j - 1] + height[i, j + 1]
                speed[i, j] += 0.25 * (around - 4 * height[i, j])
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                height[i, j] += speed[i, j]


def start(rows=240, columns=320):
    y, x = np.mgrid[:rows, :columns]
    height = np.zeros((rows, columns))
    for row, column in ((rows // 3, columns // 4), (rows // 2, 2 * columns // 3)):
        height += np.exp(-((y - row) ** 2 + (x - column) ** 2) / 40)
    return [height, np.zeros_like(height)]


if __name__ == "__main__":
    engines.main("wave", wave, start(), 70, cmap="RdBu", vmin=-0.3, vmax=0.3)
