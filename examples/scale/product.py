"""The product of two matrices: each part has rows of the first one and of the result, and all of the second one."""

import engines
import numpy as np

import parpy


@parpy.jit
def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


def start(rows=150, inner=90, columns=200):
    y, x = np.mgrid[:rows, :inner]
    a = np.sin(x * y / 700)
    y, x = np.mgrid[:inner, :columns]
    return [a, np.cos((x - 100) * y / 900), np.zeros((rows, columns))]


if __name__ == "__main__":
    engines.main("product", product, start(), picture=lambda found: found[2], cmap="coolwarm")
