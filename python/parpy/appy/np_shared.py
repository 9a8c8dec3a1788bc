"""``appy.np_shared``: the arrays that the host and a GPU share in APPy. Here they are NumPy arrays, which calls copy to
the GPU and back if necessary."""

import numpy as np

empty, empty_like, zeros, zeros_like = np.empty, np.empty_like, np.zeros, np.zeros_like
ones, ones_like, full, copy, randn = np.ones, np.ones_like, np.full, np.copy, np.random.randn

__all__ = ["copy", "empty", "empty_like", "full", "ones", "ones_like", "randn", "zeros", "zeros_like"]
