"""Bodies that attract each other: each part needs all positions, which are gathered before each step."""

import engines
import numpy as np

import parpy


@parpy.jit
def nbody(x, y, u, v, mass, steps, dt):
    for t in range(steps):
        for i in range(len(x)):
            across = 0.0
            up = 0.0
            for j in range(len(x)):
                dx = x[j] - x[i]
                dy = y[j] - y[i]
                square = dx * dx + dy * dy + 0.01
                pull = mass[j] / (square * np.sqrt(square))
                across += dx * pull
                up += dy * pull
            u[i] += dt * across
            v[i] += dt * up
        for i in range(len(x)):
            x[i] += dt * u[i]
            y[i] += dt * v[i]


def start(count=600):
    rng = np.random.default_rng(1)
    angle, far = rng.random(count) * 2 * np.pi, 0.2 + rng.random(count)
    x, y = far * np.cos(angle), far * np.sin(angle)
    return [x, y, -0.8 * y, 0.8 * x, np.full(count, 1.0 / count)]


def picture(found):
    return np.histogram2d(found[1], found[0], bins=120, range=[[-1.5, 1.5], [-1.5, 1.5]])[0] ** 0.5


if __name__ == "__main__":
    engines.main("nbody", nbody, start(), 30, 0.02, gather=True, picture=picture, cmap="magma")
