"""
Reaction and diffusion
======================

Two substances spread at different speeds and react. Spots appear, grow and divide, as on the skin of animals. The
model is Gray and Scott's.
"""

import numpy as np

import parpy


@parpy.jit
def step(u, v, u_after, v_after, feed, kill):
    n, m = u.shape
    for i in range(n):
        for j in range(m):
            up, down, left, right = (i - 1) % n, (i + 1) % n, (j - 1) % m, (j + 1) % m
            du = u[up, j] + u[down, j] + u[i, left] + u[i, right] - 4 * u[i, j]
            dv = v[up, j] + v[down, j] + v[i, left] + v[i, right] - 4 * v[i, j]
            reaction = u[i, j] * v[i, j] * v[i, j]
            u_after[i, j] = u[i, j] + 0.16 * du - reaction + feed * (1 - u[i, j])
            v_after[i, j] = v[i, j] + 0.08 * dv + reaction - (feed + kill) * v[i, j]


def compute(size=180, steps=6000, feed=0.035, kill=0.062):
    rng = np.random.default_rng(2)
    u, v = np.ones((size, size)), np.zeros((size, size))
    for i, j in rng.integers(10, size - 10, (12, 2)):
        u[i - 5 : i + 5, j - 5 : j + 5] = 0.5
        v[i - 5 : i + 5, j - 5 : j + 5] = 0.25
    u_after, v_after = np.empty_like(u), np.empty_like(v)
    for _ in range(steps):
        step(u, v, u_after, v_after, feed, kill)
        u, v, u_after, v_after = u_after, v_after, u, v
    return u, v


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    plt.imshow(compute()[1], cmap="magma")
    plt.axis("off")
    plt.show()
