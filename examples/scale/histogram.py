"""The number of pixels of each brightness in an image: every part counts its own rows, and the counts are added."""

import engines
import numpy as np

import parpy


@parpy.jit
def histogram(image, counts):
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            counts[image[i, j]] += 1


def start(rows=240, columns=320):
    y, x = np.mgrid[:rows, :columns]
    waves = np.sin(x / 17) * np.cos(y / 23) + 0.3 * np.sin((x + y) / 5)
    return [np.clip((waves + 1.3) * 48, 0, 127).astype(np.int64), np.zeros(128, np.int64)]


def picture(found):
    heights = 100 * found[1] / found[1].max()
    return np.arange(100)[::-1, None] < heights[None, :]


if __name__ == "__main__":
    engines.main("histogram", histogram, start(), picture=picture, cmap="Blues")
