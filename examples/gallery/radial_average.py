"""
Rings of a diffraction pattern
==============================

A detector saw rings around its centre. The average over each ring, plotted against its radius, shows the distances of
the crystal. Each pixel adds to the bin of its radius, which depends on data.
"""

import numpy as np

import parpy


@parpy.jit
def radial_sums(image, cy, cx, sums, counts):
    rows, columns = image.shape
    for i in range(rows):
        for j in range(columns):
            ring = int(np.sqrt((i - cy) ** 2 + (j - cx) ** 2))
            if ring < sums.size:
                sums[ring] += image[i, j]
                counts[ring] += 1


def pattern(size):
    y, x = np.mgrid[:size, :size]
    radius = np.hypot(y - 0.45 * size, x - 0.52 * size)
    rings = sum(
        np.exp(-(((radius - size * r) / (0.008 * size)) ** 2)) / (1 + k) for k, r in enumerate((0.1, 0.17, 0.26))
    )
    return rings + 0.3 * np.exp(-radius / (0.2 * size)) + np.random.default_rng(0).normal(0, 0.2, radius.shape)


def compute(size=600):
    image = pattern(size)
    sums, counts = np.zeros(size // 2), np.zeros(size // 2, np.int64)
    radial_sums(image, 0.45 * size, 0.52 * size, sums, counts)
    return image, sums, counts


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    image, sums, counts = compute()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    left.imshow(image, cmap="gray")
    left.axis("off")
    right.plot(sums / np.maximum(counts, 1))
    right.set_xlabel("radius in pixels")
    plt.show()
