"""Maxwell's equations in two dimensions, in explicit loops."""

import parpy as nb


@nb.njit(parallel=True, fastmath=True)
def fdtd_2d(TMAX, ex, ey, hz, _fict_):
    NX, NY = ex.shape
    for t in range(TMAX):
        for j in nb.prange(NY):
            ey[0, j] = _fict_[t]
        for i in nb.prange(1, NX):
            for j in range(NY):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in nb.prange(NX):
            for j in range(1, NY):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in nb.prange(NX - 1):
            for j in range(NY - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])
