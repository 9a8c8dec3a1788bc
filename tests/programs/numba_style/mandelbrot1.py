"""The Mandelbrot set on a grid, point by point."""

import numpy as np

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def mandelbrot1(xmin, xmax, ymin, ymax, xn, yn, maxiter, horizon=2.0):
    X = np.linspace(xmin, xmax, xn)
    Y = np.linspace(ymin, ymax, yn)
    N = np.zeros((yn, xn), dtype=np.int64)
    Z = np.zeros((yn, xn), dtype=np.complex128)
    for i in nb.prange(yn):
        for j in range(xn):
            c = complex(X[j], Y[i])
            z = 0j
            for n in range(maxiter):
                if abs(z) >= horizon:
                    break
                N[i, j] = n
                z = z * z + c
            Z[i, j] = z
            if N[i, j] == maxiter - 1:
                N[i, j] = 0
    return Z, N
