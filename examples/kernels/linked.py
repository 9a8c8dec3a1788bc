"""A kernel in Python that calls CUDA C++: NumbaPro's linked .cu file, without nvcc and for any GPU.

Writes julia.png.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pictures import program, save

from parpy import cuda

SOURCE = Path(__file__).with_name("palette.cu")
LIMIT = 120

palette = cuda.declare_device("palette", "int32(int32, int32)", link=SOURCE, abi="out")
julia = cuda.declare_device("julia", "int32(float64, float64, CPointer(float64), int32)", link=SOURCE)


@cuda.jit("void(int32[:,:], float64[:])", fma=False)  # the same picture on a GPU and on the simulator
def draw(image, c):
    x, y = cuda.grid(2)
    if x < image.shape[1] and y < image.shape[0]:
        scale = 3.2 / image.shape[1]
        steps = julia((x - 0.5 * image.shape[1]) * scale, (y - 0.5 * image.shape[0]) * scale, c, LIMIT)
        image[y, x] = palette(steps, LIMIT)


def main(width: int, folder: Path) -> np.ndarray:
    """Draws a Julia set."""
    image = np.zeros((width * 3 // 4, width), np.int32)
    draw.forall(image.shape[::-1])(image, np.array([-0.79, 0.15]))
    save(folder / "julia.png", np.stack([image >> 16 & 255, image >> 8 & 255, image & 255], -1).astype(np.uint8))
    print(f"julia.png: {np.unique(image).size} colours")
    return image


if __name__ == "__main__":
    program(main, 800)
