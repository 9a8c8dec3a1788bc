"""Means of rings by two histograms that are counted in loops."""

import numpy as np

import parpy as nb


@nb.jit(nopython=True)
def get_bin_edges(a, bins):
    bin_edges = np.zeros((bins + 1,), dtype=np.float64)
    a_min = a.min()
    a_max = a.max()
    delta = (a_max - a_min) / bins
    for i in range(bin_edges.shape[0]):
        bin_edges[i] = a_min + i * delta
    bin_edges[-1] = a_max
    return bin_edges


@nb.jit(nopython=True)
def compute_bin(x, bin_edges):
    # The bins are of one width.
    n = bin_edges.shape[0] - 1
    a_min = bin_edges[0]
    a_max = bin_edges[-1]
    if x == a_max:
        return n - 1
    return int(n * (x - a_min) / (a_max - a_min))


@nb.jit(nopython=True, parallel=True)
def histogram(a, bins, weights):
    hist = np.zeros((bins,), dtype=a.dtype)
    bin_edges = get_bin_edges(a, bins)
    for i in range(a.shape[0]):
        bin = compute_bin(a[i], bin_edges)
        hist[bin] += weights[i]
    return hist, bin_edges


@nb.jit(nopython=True, parallel=True)
def azimint_hist(data, radius, npt):
    histu, edges = histogram(radius, npt, np.ones_like(radius))
    histw, edges = histogram(radius, npt, data)
    return histw / histu
