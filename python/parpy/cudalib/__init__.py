"""NVIDIA's libraries of Fourier transforms, linear algebra and random numbers, for arrays of every library.

``cufft``, ``cublas`` and ``curand`` call the libraries of the toolkit, or of the wheels ``nvidia-cufft-cu12``,
``nvidia-cublas-cu12`` and ``nvidia-curand-cu12``, where arrays are on a GPU. Without a GPU, and on the simulator, the
same calls run on NumPy, and on SciPy where NumPy has no such function.
"""

from . import cublas, cufft, curand
from ._libraries import LibraryError, MissingLibraryError

__all__ = ["LibraryError", "MissingLibraryError", "cublas", "cufft", "curand"]
