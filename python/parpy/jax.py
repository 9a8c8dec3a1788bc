"""Jit functions in JAX programs: ``parpy.jax.call`` is one JAX operation, which works under ``jax.jit`` and ``vmap``.

    @jax.jit
    def model(x):
        return parpy.jax.call(f, x, 2.0, result=jax.ShapeDtypeStruct(x.shape, x.dtype)) + 1

The function runs on the CPU and reads the memory of the JAX arrays in place. JAX must be installed; ``import parpy``
does not load it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .calls.jit import _as_jit
from .calls.options import CompileBackend, CompileOptions, auto
from .calls.tracebacks import hides_frames

try:
    import jax
except ModuleNotFoundError as error:
    error.msg = "parpy.jax needs JAX: pip install jax"
    raise

__all__ = ["call"]


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
    numbers stay numbers of the call, and arrays of shape ``()`` are numbers of their type. ``vmap_method`` is that of
    ``jax.pure_callback``. For gradients, put a ``jax.custom_vjp`` around the call.

    Raises TypeError if the function takes another number of arguments, and every exception that the call raises.
    """
    compiled = _as_jit(function)
    given_opts = auto(backend=CompileBackend.Cpu) if opts is None else opts
    several = isinstance(result, tuple | list)
    results = tuple(result) if several else (result,)
    stores = _stores(compiled.__parpy_source__.function, len(args), len(results))
    # Python numbers are no operands of the JAX operation; `arrays` holds the positions of the arguments that are.
    arrays = [place for place, each in enumerate(args) if not isinstance(each, bool | int | float | complex)]

    def on_host(*given: Any) -> Any:
        values = list(args)
        for place, each in zip(arrays, given, strict=True):
            values[place] = np.asarray(each)
        if stores:
            made = tuple(np.zeros(each.shape, each.dtype) for each in results)
            compiled(*values, *made, opts=given_opts)
        else:
            found = compiled(*values, opts=given_opts)
            made = tuple(
                np.asarray(one, each.dtype) for one, each in zip(found if several else (found,), results, strict=True)
            )
        return made if several else made[0]

    shapes = results if several else results[0]
    return jax.pure_callback(on_host, shapes, *(args[place] for place in arrays), vmap_method=vmap_method)


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
    raise TypeError(f"'{name}' takes {least} arguments, not {arguments}, nor these and {results} for results")
