"""CudaPy: kernels with the types of C, launched with a number of threads.

An example, saxpy::

    import parpy.cudapy as cp

    # saxpy : void (float alpha, float* X, float* Y)
    def saxpy(alpha, X, Y):
        if idx < len(X):
            Y[idx] = alpha * X[idx] + Y[idx]

    Y = cp.CudaArray([1.0, 2.0])
    cp.compile(saxpy)(len(Y))(2.0, [3.0, 4.0], Y)
    Y.toList()
"""

from ._arrays import CudaArray, elemType
from ._compile import Launcher, Template, compile, dim3, kernel, template
from ._errors import CudaError, CudaPyError, CudaTypeError, TemplateError
from ._ready import map, reduce, scan, zipWith
from ._types import Bool, Double, Float, Int, Pointer, Void

__all__ = [
    "Bool", "CudaArray", "CudaError", "CudaPyError", "CudaTypeError", "Double", "Float", "Int", "Launcher", "Pointer",
    "Template", "TemplateError", "Void", "compile", "dim3", "elemType", "kernel", "map", "reduce", "scan", "template",
    "zipWith",
]  # fmt: skip
