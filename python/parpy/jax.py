"""Jit functions in programs of JAX: ``parpy.jax.call`` is one operation, which ``jax.jit`` and ``vmap`` accept.

    @jax.jit
    def model(x):
        return parpy.jax.call(f, x, 2.0, result=jax.ShapeDtypeStruct(x.shape, x.dtype)) + 1

The function runs on the device of the program, the CPU or a GPU, and uses the memory of the arrays in place: the
operation is a call through XLA's foreign function interface (``jax.ffi``). JAX 0.5 or later must be installed;
``import parpy`` does not load it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from .arrays import xla
from .calls.jit import _as_jit
from .calls.options import CompileBackend, CompileOptions, auto
from .calls.tracebacks import hides_frames

try:
    import jax
except ModuleNotFoundError as error:
    error.msg = "parpy.jax needs JAX: pip install jax"
    raise
if not hasattr(jax, "ffi"):
    raise ImportError(f"parpy.jax needs JAX 0.5 or later, which has jax.ffi, not {jax.__version__}: pip install -U jax")

__all__ = ["call"]

_TARGET = "parpy_call"
for _platform, _handler in (("cpu", xla.ON_HOST), ("CUDA", xla.ON_GPU)):
    jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(_handler), platform=_platform)  # type: ignore[no-untyped-call]

_numbers: dict[Hashable, int] = {}  # of functions that programs call, by all that makes them different


@hides_frames
def call(
    function: Callable[..., Any],
    *args: Any,
    result: Any,
    opts: CompileOptions | None = None,
    vmap_method: str | None = "sequential",
) -> Any:
    """Returns the results of ``function(*args)`` as JAX arrays with the shapes and types of ``result``.

    ``function`` is decorated with ``parpy.jit`` or not. ``result`` is a ``jax.ShapeDtypeStruct``, or a tuple of them
    for several results. A function that returns nothing must store its results to its last parameters: it is called
    with new arrays of zeros after ``args``. JAX arrays never change, so the function cannot store to ``args``. Python
    numbers stay numbers of the call, and arrays of shape ``()`` are numbers of their type. ``opts`` are the options of
    the call; by default its loops are mapped automatically for the device that the program runs on. ``vmap_method`` is
    that of ``jax.ffi.ffi_call``. For gradients, put a ``jax.custom_vjp`` around the call.

    Raises TypeError if the function takes another number of arguments. Whatever the call raises, JAX raises as an
    error with the same message.
    """
    compiled = _as_jit(function)
    several = isinstance(result, tuple | list)
    results = tuple(result) if several else (result,)
    stores = _stores(compiled.__parpy_source__.function, len(args), len(results))
    # Python numbers are no operands of the JAX operation; `fixed` has them by position.
    fixed = {place: each for place, each in enumerate(args) if isinstance(each, bool | int | float | complex)}
    key = (compiled, len(args), tuple((place, type(each), repr(each)) for place, each in fixed.items()), stores,
           several, repr(opts))  # fmt: skip
    number = _numbers.get(key)
    if number is None:
        number = _numbers[key] = xla.number_of(_Call(compiled, len(args), fixed, stores, several, opts))
    operation = jax.ffi.ffi_call(_TARGET, results if several else results[0], vmap_method=vmap_method)
    return operation(*(each for place, each in enumerate(args) if place not in fixed), call=np.int64(number))


class _Call:
    """The function that a program of JAX calls: a jit function with those of its arguments that are numbers."""

    def __init__(
        self,
        compiled: Any,
        count: int,
        fixed: dict[int, Any],
        stores: bool,
        several: bool,
        opts: CompileOptions | None,
    ) -> None:
        """``count``: the number of arguments; ``stores``: the function stores its results to parameters."""
        self._compiled, self._count, self._fixed = compiled, count, fixed
        self._stores, self._several, self._opts = stores, several, opts

    def __call__(self, buffers: xla.Buffers) -> None:
        run = self._on_host if buffers.stream is None else self._on_gpu
        run(buffers)

    def _values(self, arrays: Sequence[Any]) -> list[Any]:
        left = iter(arrays)
        return [self._fixed[place] if place in self._fixed else next(left) for place in range(self._count)]

    def _returned(self, values: list[Any], results: Sequence[Any], opts: CompileOptions) -> Sequence[tuple[Any, Any]]:
        """The results of the function beside the arrays that get them."""
        returned = self._compiled(*values, opts=opts)
        found = tuple(returned) if self._several else (returned,)
        if len(found) != len(results):
            raise ValueError(f"the function returns {len(found)} results, and 'result' describes {len(results)}")
        for one, into in zip(found, results, strict=True):
            if np.shape(one) != into.shape:
                raise ValueError(f"the function returns shape {np.shape(one)} where 'result' says {into.shape}")
        return tuple(zip(found, results, strict=True))

    def _on_host(self, buffers: xla.Buffers) -> None:
        opts = auto(backend=CompileBackend.Cpu) if self._opts is None else self._opts
        values = self._values(buffers.arguments)
        if self._stores:
            for each in buffers.results:
                each[...] = 0
            self._compiled(*values, *buffers.results, opts=opts)
            return
        for one, into in self._returned(values, buffers.results, opts):
            into[...] = np.asarray(one).astype(into.dtype, copy=False)

    def _on_gpu(self, buffers: xla.Buffers) -> None:
        from .cuda import as_cuda_array, external_stream

        chosen = auto(backend=CompileBackend.Cuda) if self._opts is None else self._opts
        opts = CompileOptions(**{**chosen._values, "stream": buffers.stream})
        stream = external_stream(buffers.stream or 0)
        arguments = [as_cuda_array(each).view(each.dtype) for each in buffers.arguments]
        memory = [as_cuda_array(each) for each in buffers.results]
        results = [array.view(each.dtype) for array, each in zip(memory, buffers.results, strict=True)]
        values = self._values([each if each.shape else _number(each, stream) for each in arguments])
        if self._stores:
            for array in memory:
                array.fill(0, stream)
            self._compiled(*values, *results, opts=opts)
            return
        for one, into in self._returned(values, results, opts):
            on_device = hasattr(one, "__cuda_array_interface__")
            into.copy_to_device(as_cuda_array(one) if on_device else np.asarray(one).astype(into.dtype), stream)


def _number(array: Any, stream: Any) -> Any:
    """The element of an array of no dimension on a GPU, which the host waits for."""
    element = array.copy_to_host(stream=stream)
    if array.on_gpu:
        stream.synchronize()
    return element[()]


def _stores(function: Callable[..., Any], arguments: int, results: int) -> bool:
    """Whether the function has parameters for its results."""
    parameters = inspect.signature(function).parameters.values()
    most = len(parameters)
    least = sum(each.default is inspect.Parameter.empty for each in parameters)
    if least <= arguments <= most:
        return False
    if least <= arguments + results <= most:
        return True
    name = getattr(function, "__name__", "the function")
    raise TypeError(
        f"'{name}' takes {least} arguments, not {arguments}, or {arguments + results} with those for results"
    )
