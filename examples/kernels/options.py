"""The price of an option by Monte Carlo, as in NumbaPro's examples: a universal function advances all paths by one
step, and cuRAND makes the random numbers.

Writes options.png: the number of paths at each price, step by step.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from pictures import coloured, milliseconds, program, save

from parpy import cuda
from parpy.numbapro import vectorize
from parpy.numbapro.cudalib import curand

STOCK, STRIKE, RATE, VOLATILITY, YEARS = 20.83, 21.5, 0.021, 0.2, 5 / 12


@vectorize(["float64(float64, float64, float64, float64, float64)"], target="gpu")
def step(price, dt, c0, c1, noise):
    return price * math.exp(c0 * dt + c1 * noise)


def paths(steps: int, noises: object) -> list[object]:
    """The prices after each step, on the device."""
    dt = YEARS / steps
    c0, c1 = RATE - 0.5 * VOLATILITY**2, VOLATILITY * math.sqrt(dt)
    prices = [cuda.to_device(np.full(noises.shape[1], STOCK))]
    for k in range(steps):
        prices.append(step(prices[-1], dt, c0, c1, noises[k]))
    return prices


def main(width: int, folder: Path) -> np.ndarray:
    """Simulates paths, and prices the option."""
    steps, count = 64, 50 * width
    noises = cuda.to_device(np.random.default_rng(1).standard_normal((steps, count)))
    prices = [each.copy_to_host() for each in paths(steps, noises)]

    generator, random = curand.PRNG(seed=1), cuda.device_array((1, 200_001))
    generator.normal(random, 0.0, 1.0)
    last = paths(1, random)[-1].copy_to_host()
    expected = STOCK * math.exp(RATE * YEARS)
    assert abs(last.mean() - expected) < 5 * last.std() / math.sqrt(last.size)
    worth = math.exp(-RATE * YEARS) * np.maximum(last - STRIKE, 0).mean()
    print(f"the stock: {last.mean():.3f}, {expected:.3f} expected; the option: {worth:.3f}")
    print(f"{count} paths, {steps} steps: {milliseconds(lambda: paths(steps, noises)):.3f} ms")

    edges = np.linspace(14, 30, width + 1)
    found = np.array([np.histogram(each, edges)[0] for each in prices[1:]]) / count
    save(folder / "options.png", coloured(np.sqrt(np.repeat(found, 4, 0))))
    return found


if __name__ == "__main__":
    program(main, 900)
