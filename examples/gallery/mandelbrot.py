"""
Mandelbrot set
==============

Each pixel is a number c. The set consists of the numbers for which z² + c, repeated, stays small. Pixels are
independent, so that the rows run on all cores.
"""

import numpy as np

import parpy


@parpy.jit
def escape_times(left, top, size, limit, image):
    rows, columns = image.shape
    for i in range(rows):
        for j in range(columns):
            c = complex(left + size * j / columns, top + size * i / columns)
            z = c
            steps = 0
            while steps < limit and z.real * z.real + z.imag * z.imag < 4:
                z = z * z + c
                steps += 1
            image[i, j] = steps


def compute(rows=400, columns=600, limit=200):
    image = np.zeros((rows, columns), np.int64)
    escape_times(-2.2, -2.0 * rows / columns * 0.8, 3.2, limit, image)
    return image


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    plt.imshow(np.log1p(compute()), cmap="magma")
    plt.axis("off")
    plt.show()
