"""The covariances of the columns of a table, by the library."""

import numpy as np


def covariance2(data):
    return np.cov(np.transpose(data))
