"""The Mandelbrot set: a worker for each pixel, whose loop ends when the number escapes. Writes mandelbrot.png."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "kernels"))

from pictures import coloured, program, save

import parpy.appy as appy


@appy.jit
def escape(counts, height, width, most):
    #pragma parallel for
    for i in range(height):
        #pragma parallel for simd
        for j in range(width):
            cr = -2.2 + 3.2 * j / width
            ci = -1.2 + 2.4 * i / height
            zr = 0.0
            zi = 0.0
            n = 0
            while n < most and zr * zr + zi * zi <= 4.0:
                zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
                n += 1
            counts[i, j] = n


def picture(size):
    height, width = 3 * size // 4, size
    counts = np.zeros((height, width), np.int64)
    escape(counts, height, width, 200)
    return coloured(np.sqrt(counts / 200))


def main(size: int, folder: Path) -> np.ndarray:
    """The Mandelbrot set."""
    made = picture(size)
    save(folder / "mandelbrot.png", made)
    return made


if __name__ == "__main__":
    program(main, 640)
