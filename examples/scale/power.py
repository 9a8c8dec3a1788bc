"""The greatest eigenvalue of a matrix and its vector: norms are summed over the parts, until they converge."""

import engines
import numpy as np

import parpy


@parpy.jit
def power(matrix, x, y, value, bound):
    before = 0.0
    now = 1.0
    while abs(now - before) > bound:
        before = now
        square = 0.0
        for i in range(len(x)):
            total = 0.0
            for j in range(len(x)):
                total += matrix[i, j] * x[j]
            y[i] = total
            square += total * total
        now = np.sqrt(square)
        for i in range(len(x)):
            x[i] = y[i] / now
            value[i] = now


def start(count=160):
    """The matrix of springs in a row, whose slowest motion is one arc."""
    matrix = 3 * np.eye(count) + np.eye(count, k=1) + np.eye(count, k=-1)
    return [matrix, np.full(count, count**-0.5), np.zeros(count), np.zeros(count)]


def picture(found):
    heights = 100 * np.abs(found[1]) / np.abs(found[1]).max()
    return np.arange(100)[::-1, None] < heights[None, :]


if __name__ == "__main__":
    engines.main("power", power, start(), 1e-9, gather=True, picture=picture, cmap="Greens")
