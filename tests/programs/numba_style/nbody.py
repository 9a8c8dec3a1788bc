"""Bodies that attract each other, by the leapfrog; energies of every step."""

import numpy as np

import parpy as nb


@nb.njit(fastmath=True)
def getAcc(pos, mass, G, softening):
    N = pos.shape[0]
    a = np.zeros((N, 3))
    for i in range(N):
        for j in range(N):
            d = pos[j] - pos[i]
            r2 = d[0] ** 2 + d[1] ** 2 + d[2] ** 2 + softening**2
            if r2 > 0:
                a[i] += G * d * r2 ** (-1.5) * mass[j, 0]
    return a


@nb.njit(fastmath=True)
def getEnergy(pos, vel, mass, G):
    KE = 0.5 * np.sum(mass * vel**2)
    PE = 0.0
    N = pos.shape[0]
    for i in range(N):
        for j in range(i + 1, N):
            d = pos[j] - pos[i]
            r = np.sqrt(np.sum(d * d))
            if r > 0:
                PE -= G * mass[i, 0] * mass[j, 0] / r
    return KE, PE


@nb.njit(fastmath=True)
def nbody(mass, pos, vel, N, Nt, dt, G, softening):
    vel -= np.sum(mass * vel, axis=0) / np.sum(mass)
    acc = getAcc(pos, mass, G, softening)
    KE = np.empty(Nt + 1, dtype=np.float64)
    PE = np.empty(Nt + 1, dtype=np.float64)
    KE[0], PE[0] = getEnergy(pos, vel, mass, G)
    t = 0.0
    for i in range(Nt):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = getAcc(pos, mass, G, softening)
        vel += acc * dt / 2.0
        t += dt
        KE[i + 1], PE[i + 1] = getEnergy(pos, vel, mass, G)
    return KE, PE
