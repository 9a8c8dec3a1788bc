"""Rings around the centre of a noisy picture: each pixel is shown as the mean of its ring. One worker for each ring
reads all pixels, as in azimuthal integration. Writes radial_average.png."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "kernels"))

from pictures import coloured, program, save

import parpy.appy as appy


@appy.jit(auto_simd=True)
def means(values, radius, result, N, rings):
    largest = max(radius[:N])
    #pragma parallel for
    for i in range(rings):
        inner = largest * i / rings
        outer = largest * (i + 1) / rings
        inside = sum(appy.where((inner <= radius[:N]) & (radius[:N] < outer), 1, 0))
        total = sum(appy.where((inner <= radius[:N]) & (radius[:N] < outer), values[:N], 0.0))
        result[i] = total / inside if inside > 0 else 0.0


def picture(size):
    y, x = np.mgrid[0:size, 0:size] - size / 2
    radius = np.hypot(x, y).ravel()
    noise = np.random.default_rng(1).random(size * size)
    values = np.sin(radius * 30 / size) ** 2 + noise
    rings = size // 2
    result = np.zeros(rings)
    means(values, radius, result, size * size, rings)
    number = np.minimum((radius / radius.max() * rings).astype(int), rings - 1)
    shown = np.where(x.ravel() < 0, values / 2, result[number] / 1.5)
    return coloured(np.clip(shown, 0, 1).reshape(size, size))


def main(size: int, folder: Path) -> np.ndarray:
    """Averages over rings."""
    made = picture(size)
    save(folder / "radial_average.png", made)
    return made


if __name__ == "__main__":
    program(main, 640)
