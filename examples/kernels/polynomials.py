"""NumbaPro's first example, a universal function for three targets: roots of polynomials, on one core, on all, and on
the device.

Writes polynomials.png: the larger root of a x^2 + b x + 1 over a and b.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from pictures import coloured, milliseconds, program, save

from parpy.numbapro import vectorize


def root(a, b, c):
    inside = b * b - 4 * a * c
    if inside < 0:
        return 0.0
    return (-b + math.sqrt(inside)) / (2 * a)


PROTOTYPES = ["float32(float32, float32, float32)", "float64(float64, float64, float64)"]


def main(width: int, folder: Path) -> np.ndarray:
    """Finds the roots on each target."""
    a, b = np.linspace(0.1, 2, width)[:, None], np.linspace(-4, 4, width)
    found = {}
    for target in ("cpu", "parallel", "gpu"):
        roots = vectorize(PROTOTYPES, target=target)(root)
        found[target] = roots(a, b, 1)
        print(f"{target}: {milliseconds(lambda: roots(a, b, 1)):.3f} ms")  # noqa: B023
    np.testing.assert_allclose(found["parallel"], found["cpu"])
    np.testing.assert_allclose(found["gpu"], found["cpu"], rtol=1e-12, atol=1e-12)
    save(folder / "polynomials.png", coloured(found["gpu"]))
    return found["gpu"]


if __name__ == "__main__":
    program(main, 900)
