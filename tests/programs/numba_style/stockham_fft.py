"""Stockham's Fourier transform of any radix, in explicit loops."""

import numpy as np

import parpy as nb


@nb.njit(parallel=True, fastmath=True)
def stockham_fft(N, R, K, x, y):
    dft_mat = np.empty((R, R), dtype=np.complex128)
    for i in range(R):
        for j in range(R):
            dft_mat[i, j] = np.exp(-2.0j * np.pi * i * j / R)
    y[:] = x
    tmp = np.empty(N, dtype=np.complex128)
    for i in range(K):
        left = R**i
        right = R ** (K - i - 1)
        for l in nb.prange(left):
            for j in range(R):
                twiddle = np.exp(-2.0j * np.pi * j * l / R ** (i + 1))
                for r in range(right):
                    tmp[(j * left + l) * right + r] = twiddle * y[(l * R + j) * right + r]
        for m in nb.prange(left * right):
            for a in range(R):
                s = 0.0 + 0.0j
                for b in range(R):
                    s += dft_mat[a, b] * tmp[b * left * right + m]
                y[a * left * right + m] = s
