"""Heat in a plate by tensor statements: averages of neighbours, warm at two edges. Writes stencil.png."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "kernels"))

from pictures import coloured, program, save

import parpy.appy as appy


@appy.jit(auto_simd=True)
def relax(A, B, N, steps):
    for t in range(steps):
        #pragma 1:N-1=>parallel 1:N-1=>parallel
        B[1:N-1, 1:N-1] = 0.25 * (A[1:N-1, :N-2] + A[1:N-1, 2:N] + A[2:N, 1:N-1] + A[:N-2, 1:N-1])
        #pragma 1:N-1=>parallel 1:N-1=>parallel
        A[1:N-1, 1:N-1] = 0.25 * (B[1:N-1, :N-2] + B[1:N-1, 2:N] + B[2:N, 1:N-1] + B[:N-2, 1:N-1])


def picture(size):
    plate = np.zeros((size, size))
    plate[0, :] = 1.0
    plate[:, -1] = np.linspace(1.0, 0.0, size)
    relax(plate, plate.copy(), size, 4 * size)
    return coloured(plate)


def main(size: int, folder: Path) -> np.ndarray:
    """Heat in a plate."""
    made = picture(size)
    save(folder / "stencil.png", made)
    return made


if __name__ == "__main__":
    program(main, 640)
