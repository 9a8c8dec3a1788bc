"""An elementwise expression of integers."""

import numpy as np


def compute(array_1, array_2, a, b, c):
    return np.clip(array_1, 2, 10) * a + array_2 * b + c
