"""
Flow around a cylinder
======================

The lattice Boltzmann method moves small packets of fluid along nine directions and lets them collide. Behind the
cylinder the flow swings and sheds vortices. The picture shows how fast the fluid turns.
"""

import numpy as np

import parpy

DX = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
DY = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
WEIGHT = np.array([4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36])
BACK = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])


@parpy.jit
def step(f, g, solid, omega, speed, ux, uy):
    rows, columns = solid.shape
    for y in range(rows):
        for x in range(columns):
            density = u = v = 0.0
            for k in range(9):
                packet = f[k, (y - DY[k]) % rows, (x - DX[k]) % columns]
                g[k, y, x] = packet
                density += packet
                u += DX[k] * packet
                v += DY[k] * packet
            u /= density
            v /= density
            if x == 0:
                density, u, v = 1.0, speed, 0.0
            ux[y, x], uy[y, x] = u, v
            if not solid[y, x]:
                for k in range(9):
                    along = 3 * (DX[k] * u + DY[k] * v)
                    rest = WEIGHT[k] * density * (1 + along + along * along / 2 - 1.5 * (u * u + v * v))
                    g[k, y, x] = rest if x == 0 else g[k, y, x] + omega * (rest - g[k, y, x])


@parpy.jit
def bounce(g, solid):
    for y in range(solid.shape[0]):
        for x in range(solid.shape[1]):
            if solid[y, x]:
                for k in range(1, 9):
                    if k < BACK[k]:
                        g[k, y, x], g[BACK[k], y, x] = g[BACK[k], y, x], g[k, y, x]


def compute(rows=80, columns=240, steps=3600, speed=0.12):
    y, x = np.mgrid[:rows, :columns]
    solid = (x - columns // 5) ** 2 + (y - rows // 2) ** 2 < (rows // 9) ** 2
    aside = 0.3 * speed * np.exp(-(((x - columns // 3) / 10) ** 2))  # a push that makes the flow swing soon
    along = 3 * (DX[:, None, None] * speed + DY[:, None, None] * aside)
    f = WEIGHT[:, None, None] * (1 + along + along**2 / 2 - 1.5 * (speed**2 + aside**2))
    g, ux, uy = np.empty_like(f), np.zeros((rows, columns)), np.zeros((rows, columns))
    for _ in range(steps):
        step(f, g, solid, 1.9, speed, ux, uy)
        bounce(g, solid)
        f, g = g, f
    ux[solid] = uy[solid] = 0.0
    return f.sum(axis=0), ux, uy, solid


if __name__ == "__main__":
    import matplotlib.pyplot as plt

    density, ux, uy, solid = compute()
    turning = np.gradient(uy, axis=1) - np.gradient(ux, axis=0)
    plt.imshow(np.where(solid, np.nan, turning)[:, :-6], cmap="RdBu", vmin=-0.04, vmax=0.04)
    plt.axis("off")
    plt.show()
