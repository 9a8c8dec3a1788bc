"""The convolution of NumbaPro's slides: cuFFT transforms image and filter, a universal function multiplies them,
all in place on the device.

Writes convolution.png: a picture of discs, blurred along a ring.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pictures import coloured, milliseconds, program, save

from parpy import cuda
from parpy.numbapro import vectorize
from parpy.numbapro.cudalib import cufft


@vectorize(["complex64(complex64, complex64)"], target="gpu")
def product(a, b):
    return a * b


def convolved(image: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """The circular convolution of two images of equal size."""
    there, filtering = cuda.to_device(image.astype(np.complex64)), cuda.to_device(kernel.astype(np.complex64))
    cufft.fft_inplace(there)
    cufft.fft_inplace(filtering)
    product(there, filtering, out=there)
    cufft.ifft_inplace(there)
    return there.copy_to_host().real / image.size  # cuFFT scales neither direction


def main(width: int, folder: Path) -> np.ndarray:
    """Blurs discs."""
    y, x = np.mgrid[:width, :width] / width
    image = sum(((x - a) ** 2 + (y - b) ** 2 < r * r) * h for a, b, r, h in
                [(0.3, 0.3, 0.12, 1.0), (0.7, 0.4, 0.18, 0.6), (0.45, 0.72, 0.1, 0.8)])  # fmt: skip
    distance = np.hypot(np.minimum(x, 1 - x), np.minimum(y, 1 - y))
    kernel = np.exp(-(((distance - 0.06) / 0.02) ** 2))
    kernel /= kernel.sum()
    found = convolved(image, kernel)
    wanted = np.fft.ifft2(np.fft.fft2(image) * np.fft.fft2(kernel)).real
    np.testing.assert_allclose(found, wanted, atol=1e-4)
    print(f"{width} x {width}: {milliseconds(lambda: convolved(image, kernel)):.3f} ms with both copies")
    save(folder / "convolution.png", coloured(found))
    return found


if __name__ == "__main__":
    program(main, 900)
