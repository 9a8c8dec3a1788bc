"""
Remove noise and keep edges
===========================

A bilateral filter averages a pixel with those near it that have a similar brightness. Flat areas become smooth, and
edges stay sharp. The loops over the neighbourhood reduce into two sums for each pixel.
"""

import math

import numpy as np

import parpy


@parpy.jit
def bilateral(image, out, reach, width, contrast):
    rows, columns = image.shape
    for i in range(rows):
        for j in range(columns):
            total = weight = 0.0
            for y in range(max(i - reach, 0), min(i + reach + 1, rows)):
                for x in range(max(j - reach, 0), min(j + reach + 1, columns)):
                    apart = ((y - i) ** 2 + (x - j) ** 2) / (2 * width * width)
                    unlike = (image[y, x] - image[i, j]) ** 2 / (2 * contrast * contrast)
                    w = math.exp(-apart - unlike)
                    total += w * image[y, x]
                    weight += w
            out[i, j] = total / weight


def scene(rows=220, columns=320):
    """A picture without noise: blocks of one brightness each, and a disc."""
    y, x = np.mgrid[:rows, :columns]
    blocks = 0.25 + 0.5 * ((x // 64 + y // 55) % 2)
    return np.where((x - columns // 2) ** 2 + (y - rows // 2) ** 2 < (rows // 3) ** 2, 0.95 - blocks, blocks)


def compute(rows=220, columns=320):
    clean = scene(rows, columns)
    noisy = clean + np.random.default_rng(0).normal(0, 0.08, clean.shape)
    filtered = np.empty_like(noisy)
    bilateral(noisy, filtered, 6, 3.0, 0.2)
    return clean, noisy, filtered


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.3), layout="constrained")
    for axis, picture in zip(axes, compute()[1:], strict=True):
        axis.imshow(picture, cmap="gray", vmin=0, vmax=1)
        axis.axis("off")
    plt.show()
