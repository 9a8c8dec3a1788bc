"""
Ray marching
============

A ray walks through a scene in steps as long as the distance to the nearest surface. Functions that return the
distance describe the scene: three balls that melt together, and a floor. Every pixel is a loop of its own.
"""

import math

import numpy as np

import parpy


@parpy.jit
def distance(x, y, z):
    """The distance to the nearest surface."""
    one = math.sqrt(x * x + y * y + z * z) - 1.0
    two = math.sqrt((x - 1.4) ** 2 + (y + 0.3) ** 2 + (z - 0.2) ** 2) - 0.7
    three = math.sqrt((x + 1.3) ** 2 + (y + 0.4) ** 2 + (z + 0.5) ** 2) - 0.6
    melted = -0.25 * math.log(math.exp(-4 * one) + math.exp(-4 * two) + math.exp(-4 * three))
    return min(melted, y + 1.0)


@parpy.jit
def shadow(x, y, z):
    """The share of the lamp's light that reaches a point."""
    along, light = 0.05, 1.0
    while along < 6.0 and light > 0.0:
        near = distance(x + 0.48 * along, y + 0.72 * along, z - 0.5 * along)
        light = min(light, 8 * near / along)
        along += max(near, 0.02)
    return max(light, 0.0)


@parpy.jit
def render(image, depth):
    rows, columns = image.shape
    for i in range(rows):
        for j in range(columns):
            dx, dy = (j - 0.5 * columns) / rows, (0.5 * rows - i) / rows
            norm = math.sqrt(dx * dx + dy * dy + 1.0)
            dx, dy, dz = dx / norm, dy / norm, 1.0 / norm
            along = 0.0
            near = 1.0
            while along < 20.0 and near > 1e-4:
                near = distance(along * dx, along * dy, along * dz - 4.0)
                along += near
            depth[i, j] = along
            if along >= 20.0:
                image[i, j] = 0.9 - 0.5 * dy
            else:
                x, y, z = along * dx, along * dy, along * dz - 4.0
                e = 1e-4
                nx = distance(x + e, y, z) - distance(x - e, y, z)
                ny = distance(x, y + e, z) - distance(x, y - e, z)
                nz = distance(x, y, z + e) - distance(x, y, z - e)
                size = math.sqrt(nx * nx + ny * ny + nz * nz)
                facing = max((0.48 * nx + 0.72 * ny - 0.5 * nz) / size, 0.0)
                image[i, j] = 0.15 + 0.8 * facing * shadow(x + 0.01 * nx / size, y + 0.01 * ny / size, z)


def compute(rows=270, columns=400):
    image, depth = np.zeros((rows, columns)), np.zeros((rows, columns))
    render(image, depth)
    return image, depth


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    plt.imshow(compute()[0], cmap="bone", vmin=0, vmax=1.1)
    plt.axis("off")
    plt.show()
