"""NVIDIA's libraries for Fourier transforms, linear algebra and random numbers, for arrays of every library.

For arrays on a GPU, ``cufft``, ``cublas`` and ``curand`` call the libraries of the toolkit, or of the wheels
``nvidia-cufft-cu12``, ``nvidia-cublas-cu12`` and ``nvidia-curand-cu12``. Without a GPU, and on the simulator, the same
calls run on NumPy, or on SciPy if NumPy has no such function.
"""

from . import cublas, cufft, curand
from ._libraries import LibraryError, MissingLibraryError

__all__ = ["LibraryError", "MissingLibraryError", "cublas", "cufft", "curand"]
