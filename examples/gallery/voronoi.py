"""
Cells of a Voronoi diagram
==========================

Every pixel takes the colour of the nearest seed, and becomes darker towards the border, where a second seed is as
near.
"""

import numpy as np

import parpy


@parpy.jit
def nearest_two(seeds, cell, edge):
    rows, columns = cell.shape
    for i in range(rows):
        for j in range(columns):
            first = second = np.inf
            for s in range(seeds.shape[0]):
                far = (seeds[s, 0] - i) ** 2 + (seeds[s, 1] - j) ** 2
                if far < first:
                    second = first
                    first = far
                    cell[i, j] = s
                elif far < second:
                    second = far
            edge[i, j] = np.sqrt(second) - np.sqrt(first)


def compute(rows=300, columns=420, seeds=90):
    places = np.random.default_rng(8).integers(0, (rows, columns), (seeds, 2))
    cell, edge = np.zeros((rows, columns), np.int64), np.zeros((rows, columns))
    nearest_two(places.astype(float), cell, edge)
    return places, cell, edge


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    places, cell, edge = compute()
    colours = plt.get_cmap("viridis")((cell * 37 % len(places)) / len(places))[..., :3]
    plt.imshow(colours * np.clip(edge / 12, 0.15, 1.0)[..., None])
    plt.axis("off")
    plt.show()
