"""
Two galaxies meet
=================

Each star feels every other star. The loop over stars is parallel, and the loop over the others is a sum that vectors
of the processor add up side by side.
"""

import numpy as np

import parpy


@parpy.jit
def accelerate(place, mass, acceleration):
    for i in range(place.shape[0]):
        ax = ay = az = 0.0
        for j in range(place.shape[0]):
            dx = place[j, 0] - place[i, 0]
            dy = place[j, 1] - place[i, 1]
            dz = place[j, 2] - place[i, 2]
            near = dx * dx + dy * dy + dz * dz + 0.01
            pull = mass[j] / (near * np.sqrt(near))
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        acceleration[i, 0], acceleration[i, 1], acceleration[i, 2] = ax, ay, az


def galaxy(rng, stars, centre, drift):
    """A disc of light stars around a heavy middle."""
    radius, angle = rng.uniform(0.2, 1.5, stars), rng.uniform(0, 2 * np.pi, stars)
    radius[0] = 0.0
    place = np.stack([radius * np.cos(angle), radius * np.sin(angle), rng.normal(0, 0.03, stars)], axis=1)
    speed = np.sqrt(radius**2 / (radius**2 + 0.01) ** 1.5)
    velocity = np.stack([-speed * np.sin(angle), speed * np.cos(angle), np.zeros(stars)], axis=1)
    mass = np.full(stars, 0.05 / stars)
    mass[0] = 1.0
    return place + centre, velocity + drift, mass


def compute(stars=600, steps=200, dt=0.025):
    rng = np.random.default_rng(4)
    one = galaxy(rng, stars, [-1.9, -0.8, 0.0], [0.45, 0.1, 0.0])
    two = galaxy(rng, stars, [1.9, 0.8, 0.3], [-0.45, -0.1, 0.0])
    place, velocity, mass = (np.concatenate(pair) for pair in zip(one, two, strict=True))
    acceleration = np.empty_like(place)
    accelerate(place, mass, acceleration)
    for _ in range(steps):
        velocity += 0.5 * dt * acceleration
        place += dt * velocity
        accelerate(place, mass, acceleration)
        velocity += 0.5 * dt * acceleration
    return place, velocity, mass


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    place, velocity, mass = compute()
    half = len(mass) // 2
    plt.style.use("dark_background")
    plt.scatter(*place[:half, :2].T, s=1.0, color="#9bd0ff")
    plt.scatter(*place[half:, :2].T, s=1.0, color="#ffcf8a")
    plt.xlim(-4, 4)
    plt.ylim(-3, 3)
    plt.axis("off")
    plt.show()
