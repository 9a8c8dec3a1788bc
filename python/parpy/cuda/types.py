"""The types of signatures, as objects: ``void(float32[:], int64)``, ``float32[:, ::1]``, ``CPointer(int32)``.

Names are numba's: ``int_`` and ``intp`` are int64, ``float_`` is float32, ``double`` float64.
"""

from ..vocabulary.signatures import *  # noqa: F403
from ..vocabulary.signatures import __all__ as __all__
