"""CudaPy's Mandelbrot set: a kernel with C's types, launched on as many threads as the picture has pixels.

Writes mandelbrot.pgm, a picture that every viewer opens. Runs on a GPU, or on the simulator where there is none.
"""

# ruff: noqa: F821

from __future__ import annotations

from pathlib import Path

import numpy as np

import parpy.cudapy as cp

WIDTH, HEIGHT, LIMIT = 600, 400, 256


# escapes : int (double cr, double ci, int limit)
def escapes(cr, ci, limit):
    x, y = 0.0 * cr, 0.0 * ci
    for i in range(limit):
        x, y = x * x - y * y + cr, 2.0 * x * y + ci
        if x * x + y * y > 4.0:
            return i
    return limit


# mandel : void (int* image, int width, int height, double scale, int limit)
def mandel(image, width, height, scale, limit):
    if idx < width and idy < height:
        cr = (double(idx) - 0.7 * double(width)) * scale
        ci = (double(idy) - 0.5 * double(height)) * scale
        image[idy * width + idx] = escapes(cr, ci, limit)


def main(path: Path = Path("mandelbrot.pgm")) -> None:
    image = cp.CudaArray.allocate(WIDTH * HEIGHT, cp.Int)
    cp.compile([mandel, escapes])(WIDTH, HEIGHT)(image, WIDTH, HEIGHT, 3.0 / WIDTH, LIMIT)
    steps = image.toHost().reshape(HEIGHT, WIDTH)
    shades = np.where(steps == LIMIT, 0, 255 - steps * 255 // LIMIT).astype(np.uint8)
    path.write_bytes(b"P5 %d %d 255\n" % (WIDTH, HEIGHT) + shades.tobytes())
    print(f"{path}: {np.count_nonzero(steps == LIMIT)} of {steps.size} points are in the set")


if __name__ == "__main__":
    main()
