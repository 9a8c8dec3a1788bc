"""Flow in a cavity whose lid moves, in explicit loops."""

import numpy as np

import parpy as nb


@nb.njit(parallel=True, fastmath=True)
def build_up_b(b, rho, dt, u, v, dx, dy):
    ny, nx = b.shape
    for i in nb.prange(1, ny - 1):
        for j in range(1, nx - 1):
            ux = (u[i, j + 1] - u[i, j - 1]) / (2 * dx)
            vy = (v[i + 1, j] - v[i - 1, j]) / (2 * dy)
            uy = (u[i + 1, j] - u[i - 1, j]) / (2 * dy)
            vx = (v[i, j + 1] - v[i, j - 1]) / (2 * dx)
            b[i, j] = rho * ((ux + vy) / dt - ux**2 - 2 * (uy * vx) - vy**2)


@nb.njit(parallel=True, fastmath=True)
def pressure_poisson(nit, p, pn, dx, dy, b):
    ny, nx = p.shape
    for q in range(nit):
        pn[:] = p
        for i in nb.prange(1, ny - 1):
            for j in range(1, nx - 1):
                p[i, j] = ((pn[i, j + 1] + pn[i, j - 1]) * dy**2 + (pn[i + 1, j] + pn[i - 1, j]) * dx**2) / (
                    2 * (dx**2 + dy**2)
                ) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[i, j]
        for i in range(ny):
            p[i, nx - 1] = p[i, nx - 2]
        for j in range(nx):
            p[0, j] = p[1, j]
        for i in range(ny):
            p[i, 0] = p[i, 1]
        for j in range(nx):
            p[ny - 1, j] = 0


@nb.njit(parallel=True, fastmath=True)
def cavity_flow(nx, ny, nt, nit, u, v, dt, dx, dy, p, rho, nu):
    un = np.empty_like(u)
    vn = np.empty_like(v)
    pn = np.empty_like(p)
    b = np.zeros((ny, nx))
    for n in range(nt):
        un[:] = u
        vn[:] = v
        build_up_b(b, rho, dt, u, v, dx, dy)
        pressure_poisson(nit, p, pn, dx, dy, b)
        for i in nb.prange(1, ny - 1):
            for j in range(1, nx - 1):
                u[i, j] = (
                    un[i, j]
                    - un[i, j] * dt / dx * (un[i, j] - un[i, j - 1])
                    - vn[i, j] * dt / dy * (un[i, j] - un[i - 1, j])
                    - dt / (2 * rho * dx) * (p[i, j + 1] - p[i, j - 1])
                    + nu
                    * (
                        dt / dx**2 * (un[i, j + 1] - 2 * un[i, j] + un[i, j - 1])
                        + dt / dy**2 * (un[i + 1, j] - 2 * un[i, j] + un[i - 1, j])
                    )
                )
                v[i, j] = (
                    vn[i, j]
                    - un[i, j] * dt / dx * (vn[i, j] - vn[i, j - 1])
                    - vn[i, j] * dt / dy * (vn[i, j] - vn[i - 1, j])
                    - dt / (2 * rho * dy) * (p[i + 1, j] - p[i - 1, j])
                    + nu
                    * (
                        dt / dx**2 * (vn[i, j + 1] - 2 * vn[i, j] + vn[i, j - 1])
                        + dt / dy**2 * (vn[i + 1, j] - 2 * vn[i, j] + vn[i - 1, j])
                    )
                )
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0
