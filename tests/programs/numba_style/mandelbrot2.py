"""The Mandelbrot set on a grid: points that have left are taken out of the arrays."""

import numpy as np

import parpy as nb


@nb.jit(nopython=True)
def mgrid(xn, yn):
    Xi = np.empty((xn, yn), dtype=np.int64)
    Yi = np.empty((xn, yn), dtype=np.int64)
    for i in range(xn):
        Xi[i, :] = i
    for j in range(yn):
        Yi[:, j] = j
    return Xi, Yi


@nb.jit(nopython=True, fastmath=True)
def mandelbrot2(xmin, xmax, ymin, ymax, xn, yn, itermax, horizon=2.0):
    Xi, Yi = mgrid(xn, yn)
    X = np.linspace(xmin, xmax, xn)
    Y = np.linspace(ymin, ymax, yn)
    C = np.reshape(X, (xn, 1)) + Y * 1j
    N_ = np.zeros(C.shape, dtype=np.int64)
    Z_ = np.zeros(C.shape, dtype=np.complex128)
    Xiv = np.reshape(Xi, (xn * yn,))
    Yiv = np.reshape(Yi, (xn * yn,))
    Cv = np.reshape(C, (xn * yn,))
    Z = np.zeros(Cv.shape, np.complex128)
    for i in range(itermax):
        if not len(Z):
            break
        np.multiply(Z, Z, Z)
        np.add(Z, Cv, Z)
        I = np.abs(Z) > horizon
        for k in range(len(I)):
            if I[k]:
                N_[Xiv[k], Yiv[k]] = i + 1
                Z_[Xiv[k], Yiv[k]] = Z[k]
        np.logical_not(I, I)
        Z = Z[I]
        Xiv, Yiv = Xiv[I], Yiv[I]
        Cv = Cv[I]
    return Z_.T, N_.T
