"""The Mandelbrot set twice: as a kernel with numba.cuda's names, and with CudaPy's C types.

Both count the steps until a point escapes, and must agree in every pixel. Writes mandelbrot.png.
"""

# ruff: noqa: F821

from __future__ import annotations

from pathlib import Path

import numpy as np
from pictures import coloured, milliseconds, program, save

import parpy.cudapy as cp
from parpy import cuda

LIMIT = 200


@cuda.jit(device=True)
def steps(cr, ci, limit):
    x, y = 0.0, 0.0
    for i in range(limit):
        if x * x + y * y > 4.0:
            return i
        x, y = x * x - y * y + cr, 2.0 * x * y + ci
    return limit


@cuda.jit("void(int32[:,:], float64, int64)", fma=False)  # as in CudaPy: the last bit decides where a point escapes
def mandel(image, scale, limit):
    x, y = cuda.grid(2)
    if x < image.shape[1] and y < image.shape[0]:
        image[y, x] = steps((x - 0.7 * image.shape[1]) * scale, (y - 0.5 * image.shape[0]) * scale, limit)


# escapes : int (double cr, double ci, int limit)
def escapes(cr, ci, limit):
    x, y = double(0.0), double(0.0)
    for i in range(limit):
        if x * x + y * y > 4.0:
            return i
        x, y = x * x - y * y + cr, 2.0 * x * y + ci
    return limit


# picture : void (int* image, int width, int height, double scale, int limit)
def picture(image, width, height, scale, limit):
    if idx < width and idy < height:
        cr = (double(idx) - 0.7 * double(width)) * scale
        ci = (double(idy) - 0.5 * double(height)) * scale
        image[idy * width + idx] = escapes(cr, ci, limit)


def main(width: int, folder: Path) -> np.ndarray:
    """Draws the Mandelbrot set."""
    height, scale = 2 * width // 3, 3.0 / width
    image = cuda.device_array((height, width), np.int32)
    launch = mandel.forall((width, height))
    print(f"numba.cuda's names: {milliseconds(lambda: launch(image, scale, LIMIT)):.2f} ms")
    found = image.copy_to_host()

    same = cp.CudaArray.allocate(width * height, cp.Int)
    draw = cp.compile([picture, escapes])(width, height)
    print(f"CudaPy:             {milliseconds(lambda: draw(same, width, height, scale, LIMIT)):.2f} ms")
    np.testing.assert_array_equal(same.toHost().reshape(height, width), found)

    save(folder / "mandelbrot.png", coloured(np.where(found == LIMIT, 0.0, np.log1p(found))))
    print(f"mandelbrot.png: {np.count_nonzero(found == LIMIT)} of {found.size} points are in the set")
    return found


if __name__ == "__main__":
    program(main, 1200)
