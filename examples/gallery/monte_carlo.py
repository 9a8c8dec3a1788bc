"""
The price of an option by simulation
====================================

A share follows a random path. An option pays what the share is worth above a limit in the end. The mean over many
paths is the price, for which there is a formula to compare with. Paths are independent, and each draws from its own
stream.
"""

import math

import numpy as np

import parpy


@parpy.jit
def simulate(start, rate, volatility, years, rng, paths):
    count, steps = paths.shape
    dt = years / steps
    for i in range(count):
        price = start
        for t in range(steps):
            price *= math.exp((rate - 0.5 * volatility**2) * dt + volatility * math.sqrt(dt) * rng.standard_normal())
            paths[i, t] = price


def formula(start, limit, rate, volatility, years):
    """The price of a call option by the formula of Black and Scholes."""
    d = (math.log(start / limit) + (rate + 0.5 * volatility**2) * years) / (volatility * math.sqrt(years))
    below = [0.5 * (1 + math.erf(each / math.sqrt(2))) for each in (d, d - volatility * math.sqrt(years))]
    return start * below[0] - limit * math.exp(-rate * years) * below[1]


def compute(count=40_000, steps=50):
    paths = np.empty((count, steps))
    simulate(100.0, 0.03, 0.25, 1.0, np.random.default_rng(3), paths)
    gains = np.maximum(paths[:, -1] - 105.0, 0.0) * math.exp(-0.03)
    return paths, gains.mean(), gains.std() / math.sqrt(count), formula(100.0, 105.0, 0.03, 0.25, 1.0)


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    paths, price, error, exact = compute()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    left.plot(paths[:60].T, linewidth=0.6)
    left.axhline(105, color="black", linestyle="--")
    right.hist(paths[:, -1], bins=120)
    right.set_title(f"price {price:.2f} ± {error:.2f}, formula {exact:.2f}")
    plt.show()
