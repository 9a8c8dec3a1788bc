"""
Clusters of points: k-means
===========================

Every point joins the nearest centre, and every centre moves to the mean of its points. Counting the points of a
centre is a sum into an element that depends on data. ParPy makes these additions atomic if it runs the loop in
parallel.
"""

import numpy as np

import parpy


@parpy.jit
def join(points, centres, nearest):
    """Returns the sum of the squared distances."""
    spread = 0.0
    for i in range(points.shape[0]):
        best = np.inf
        for k in range(centres.shape[0]):
            far = (points[i, 0] - centres[k, 0]) ** 2 + (points[i, 1] - centres[k, 1]) ** 2
            if far < best:
                best = far
                nearest[i] = k
        spread += best
    return spread


@parpy.jit
def move(points, nearest, centres, counts):
    counts[:] = 0
    centres[:, :] = 0.0
    for i in range(points.shape[0]):
        counts[nearest[i]] += 1
        for d in range(2):
            centres[nearest[i], d] += points[i, d]
    for k in range(centres.shape[0]):
        for d in range(2):
            centres[k, d] /= max(counts[k], 1)


def compute(points=20_000, clusters=7, rounds=25):
    rng = np.random.default_rng(11)
    angle = 2 * np.pi * np.arange(clusters) / clusters
    true = 3 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    cloud = true[rng.integers(0, clusters, points)] + rng.normal(0, 0.6, (points, 2))
    centres = true * 0.4 + rng.normal(0, 0.1, true.shape)
    nearest, counts, spreads = np.zeros(points, np.int64), np.zeros(clusters, np.int64), []
    for _ in range(rounds):
        spreads.append(join(cloud, centres, nearest))
        move(cloud, nearest, centres, counts)
    return cloud, nearest, centres, np.array(spreads), true


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    cloud, nearest, centres, _, _ = compute()
    plt.scatter(*cloud.T, c=nearest, s=1.0, cmap="tab10")
    plt.plot(*centres.T, "k+", markersize=14)
    plt.gca().set_aspect("equal")
    plt.axis("off")
    plt.show()
