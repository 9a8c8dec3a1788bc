"""``cuda.reduce`` makes a function of two numbers a reduction of arrays on the device."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from ..arrays.device_arrays import is_int
from ..syntax.names import source_of
from ..syntax.source import FunctionSource, capture_expression
from ..vocabulary import device as _device
from ._arrays import DeviceNDArray, device_array, to_device
from ._decorators import jit
from ._device_functions import DeviceFunction
from ._kernel import Kernel

cuda: Any = _device
_kernel: Callable[[Callable[..., Any]], Kernel] = jit
_of_kernels: Callable[[Callable[..., Any]], Callable[..., Any]] = jit(device=True)
_BLOCK = 256  # threads per block
_MOST_BLOCKS = 1024
_ROUND = 8  # loads of a thread in flight at once: about 40 KB in flight per multiprocessor saturate a GPU's memory


class Reduce:
    """A reduction of one-dimensional arrays by an associative and commutative function of two numbers. Decorate the
    function ``f`` with ``@cuda.reduce`` and call ``f(array)``."""

    def __init__(self, functor: Callable[..., Any]) -> None:
        _check_parameters(functor)
        self._functor = functor if isinstance(functor, DeviceFunction) else DeviceFunction(_source_of(functor))
        self._kernels = _kernels(self._functor)

    def __call__(self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: Any = 0) -> Any:
        """Reduces ``init`` and the elements of ``arr``, or its first ``size`` elements. Returns a value of the element
        type or, given a device array ``res``, stores it to ``res[0]`` in the order of ``stream`` and returns None."""
        source = arr if isinstance(arr, DeviceNDArray) else to_device(arr, stream)
        if source.dtype.names is not None:
            raise TypeError(f"numbers are reduced, not records of type {source.dtype}")
        if source.ndim != 1:
            raise TypeError(f"an array of one dimension is reduced, not one of {source.ndim}")
        count = source.size if size is None else size
        if not is_int(count) or not 0 <= count <= source.size:
            raise ValueError(f"size is a number of elements, 0 to {source.size}, not {size!r}")
        start = _as_element(init, source.dtype)
        if res is not None:
            _check_result(res, source.dtype)
        first, last = self._kernels
        blocks = min(-(-int(count) // (_BLOCK * _ROUND)), _MOST_BLOCKS)
        made = device_array(blocks + 1, source.dtype, stream=stream)
        partial, result = made[:blocks], made[blocks:] if res is None else res
        if blocks > 0:
            first[blocks, _BLOCK, stream](source, int(count), partial)
        last[1, _BLOCK, stream](partial, blocks, start, result)
        return result.copy_to_host(stream=stream)[0] if res is None else None

    def __repr__(self) -> str:
        return f"<parpy.cuda reduction by {self._functor!r}>"


def _source_of(functor: Any) -> FunctionSource:
    """The source of a function or a lambda. Raises CompileError if it has none."""
    return capture_expression(functor, "reduced") if isinstance(functor, FunctionType) else source_of(functor)


def _check_parameters(functor: Any) -> None:
    """Raises TypeError if a function cannot be called with two arguments."""
    function = functor if isinstance(functor, FunctionType) else getattr(functor, "__wrapped__", None)
    if not isinstance(function, FunctionType):
        return  # _source_of refuses objects that are no functions
    signature = inspect.signature(function)
    fits = all(each.kind is not inspect.Parameter.VAR_POSITIONAL for each in signature.parameters.values())
    try:
        signature.bind(0, 0)
    except TypeError:
        fits = False
    if not fits:
        raise TypeError(f"an array is reduced by a function of two numbers; '{function.__name__}' takes {signature}")


def _check_result(res: Any, dtype: np.dtype[Any]) -> None:
    """Raises TypeError or ValueError if the reduction cannot store to element 0 of ``res``."""
    if not hasattr(res, "shape") or getattr(res, "dtype", None) != dtype:
        given = f"one of {res.dtype}" if hasattr(res, "dtype") else f"an object of type '{type(res).__name__}'"
        raise TypeError(f"the result goes to an array of {dtype}, not to {given}")
    if len(res.shape) != 1 or res.shape[0] == 0:
        raise ValueError(f"the result goes to element 0 of an array of one dimension, not to one of shape {res.shape}")


def _as_element(value: Any, dtype: np.dtype[Any]) -> Any:
    """`init` as an element. Raises TypeError for other values, such as an int beyond the range of the type."""
    given = np.asarray(float(value) if type(value) is int and dtype.kind not in "iub" else value)
    if given.ndim == 0 and given.dtype.kind in "biufc":
        if given.dtype.kind == "c" and dtype.kind != "c" and given.imag == 0:
            given = given.real
        with np.errstate(invalid="ignore", over="ignore"):
            if dtype.kind not in "iub":
                if given.dtype.kind != "c" or dtype.kind == "c":
                    return given.astype(dtype)[()]
            elif given.dtype.kind != "c" and given == given.astype(dtype):
                return given.astype(dtype)[()]
    raise TypeError(f"init is a number of the type {dtype}, not {value!r}")


def _kernels(functor: Any) -> tuple[Kernel, Kernel]:
    """A kernel whose blocks each make a partial result, and a kernel of one block that reduces the partial results."""

    @_of_kernels
    def of_block(own: Any, count: Any) -> None:
        """Reduces the first `count` elements of own to own[0]."""
        t = cuda.threadIdx.x
        half = _BLOCK // 2
        while half > 0:
            cuda.syncthreads()
            if t < half and t + half < count:
                own[t] = functor(own[t], own[t + half])
            half //= 2

    @_kernel
    def first(x: Any, count: Any, partial: Any) -> None:
        own = cuda.shared.array(_BLOCK, x.dtype)
        i, step = cuda.grid(1), cuda.gridsize(1)
        n = min(count, len(x))  # the minimum tells the compiler how wide the subscripts are
        whole = n - n % (_ROUND * step)
        if i < n:
            value = x[i]
            left = i + step
            if whole > 0:
                left = whole + i
                for j in range(1, _ROUND):
                    value = functor(value, x[i + j * step])
            for k in range(i + _ROUND * step, whole, _ROUND * step):
                # The loads of a round are independent of each other.
                a = functor(x[k], x[k + step])
                b = functor(x[k + 2 * step], x[k + 3 * step])
                c = functor(x[k + 4 * step], x[k + 5 * step])
                d = functor(x[k + 6 * step], x[k + 7 * step])
                value = functor(value, functor(functor(a, b), functor(c, d)))
            for k in range(left, n, step):
                value = functor(value, x[k])
            own[cuda.threadIdx.x] = value
        of_block(own, min(_BLOCK, count - cuda.blockIdx.x * _BLOCK))
        if cuda.threadIdx.x == 0:
            partial[cuda.blockIdx.x] = own[0]

    @_kernel
    def last(partial: Any, count: Any, start: Any, res: Any) -> None:
        own = cuda.shared.array(_BLOCK, partial.dtype)
        t = cuda.threadIdx.x
        if t < count:
            value = partial[t]
            for k in range(t + _BLOCK, count, _BLOCK):
                value = functor(value, partial[k])
            own[t] = value
        of_block(own, min(_BLOCK, count))
        if t == 0:
            res[0] = functor(start, own[0]) if count > 0 else start

    return first, last
