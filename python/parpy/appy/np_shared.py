"""``appy.np_shared``: arrays that the host and a GPU share, where there is one memory. Here they are NumPy's own, which
are copied to a GPU and back as calls need it."""

import numpy as np

empty, empty_like, zeros, zeros_like = np.empty, np.empty_like, np.zeros, np.zeros_like
ones, ones_like, full, copy, randn = np.ones, np.ones_like, np.full, np.copy, np.random.randn

__all__ = ["copy", "empty", "empty_like", "full", "ones", "ones_like", "randn", "zeros", "zeros_like"]
