"""Distances of points on a sphere, in an explicit loop."""

import numpy as np

import parpy as nb


@nb.jit(nopython=True, parallel=True, fastmath=True)
def arc_distance(theta_1, phi_1, theta_2, phi_2):
    distance = np.empty_like(theta_1)
    for i in nb.prange(theta_1.shape[0]):
        temp = (
            np.sin((theta_2[i] - theta_1[i]) / 2) ** 2
            + np.cos(theta_1[i]) * np.cos(theta_2[i]) * np.sin((phi_2[i] - phi_1[i]) / 2) ** 2
        )
        distance[i] = 2 * np.arctan2(np.sqrt(temp), np.sqrt(1 - temp))
    return distance
