"""The decorator ``jit`` and functions about jit functions: print_compiled, clear_cache, introspection.

The call path itself is native (bindings/calls/jit_function.cpp). Python code runs at decoration, where it captures the
source, and when a function is parsed (compiling.py).
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, Protocol, overload

from .. import _native
from ..syntax.lazy import imported, lazy
from ..syntax.names import source_of
from ..syntax.source import FunctionSource
from ..syntax.starred import without_star
from ..vocabulary.signatures import is_signature
from . import decorations, environment
from .argument_lists import arguments_of
from .made import begin
from .options import CompileBackend, CompileOptions
from .tracebacks import hides_frames

if TYPE_CHECKING:
    from .compiling import Compiling

environment.warn()  # once, when the package is imported


_P = ParamSpec("_P")
_R = typing.TypeVar("_R")


class _Decorator(Protocol):
    """The type of ``jit(…)`` with keywords or a signature."""

    def __call__(self, function: Callable[_P, _R], /) -> _native.JitFunction[_P, _R]: ...


@overload
def jit(function: _native.JitFunction[_P, _R], /) -> _native.JitFunction[_P, _R]: ...
@overload
def jit(function: Callable[_P, _R], /) -> _native.JitFunction[_P, _R]: ...
@overload
def jit(
    signature: Any = ...,
    /,
    *,
    nopython: bool = ...,
    parallel: bool = ...,
    fastmath: bool = ...,
    cache: bool = ...,
    nogil: bool = ...,
    inline: str = ...,
    error_model: str = ...,
    boundscheck: bool | None = ...,
) -> _Decorator: ...
@hides_frames
def jit(
    function: Any = ...,
    /,
    *,
    nopython: bool = True,
    parallel: bool = True,
    fastmath: bool = False,
    cache: bool = True,
    nogil: bool = True,
    inline: str = "never",
    error_model: str = "python",
    boundscheck: bool | None = None,
    **others: Any,
) -> Any:
    """Compiles ``function`` for the types and shapes of its calls.

    A call has the arguments of the function and three keywords. ``opts`` is a ``parpy.CompileOptions``, for example
    from ``parpy.par``, and maps the loops. ``seq=True`` runs the Python function itself. ``debug=True`` prints
    the program after every stage of its compilation and checks assertions. The attribute ``__wrapped__`` is the
    undecorated function.

    ``jit`` accepts the keywords and signatures of ``numba.jit``. For calls without ``opts``, ``fastmath=True`` means
    ``fast_math=True`` and ``boundscheck=True`` means ``check="bounds"``. The keywords ``nopython``, ``parallel``,
    ``cache``, ``nogil``, ``inline`` and ``error_model`` have no effect, because ParPy always runs proved loops in
    parallel, keeps compiled code on disk and lets other threads run during a call. A signature such as
    ``"float64(float64[:], int32)"`` gives the types of numbers, to which arguments are converted, and the element types
    and dimensions of arrays, which are checked. In a list of signatures, each call uses the one that has the types of
    its arguments.

    Raises TypeError for other keywords. A call raises CompileError if the function cannot be compiled for the
    arguments, and ParallelError if a requested loop cannot run in parallel.
    """
    if isinstance(function, _native.JitFunction):
        return function
    keywords = {
        "nopython": nopython, "parallel": parallel, "fastmath": fastmath, "cache": cache, "nogil": nogil,
        "inline": inline, "error_model": error_model, "boundscheck": boundscheck, **others,
    }  # fmt: skip
    if function is ... or is_signature(function):
        given = () if function is ... else (function,)
        return partial(_decorated, decoration=decorations.read(given, keywords))
    return _decorated(function, decorations.read((), keywords))


def _decorated(function: Callable[..., Any], decoration: decorations.Decoration) -> _native.JitFunction:
    if isinstance(function, _native.JitFunction):
        return function
    source = source_of(function)
    if not source.unparsed:
        _ = source.pragmas  # parses the pragmas, so that a wrong one is refused at decoration
    made = jit_of_source(decoration.applied(source))
    made.__wrapped__ = made.py_func = function
    return made


njit = jit


def jit_of_source(source: FunctionSource) -> _native.JitFunction:
    """The jit function of a captured source."""
    made = _native.JitFunction.__new__(_native.JitFunction)
    _fill(made, source)
    return made


def _fill(made: _native.JitFunction, written: FunctionSource) -> None:
    later = _Later(made, written)
    begin(made, written, lambda: later.compiling.parse(), _fill)
    made.on_misfit = lambda *call: later.compiling.on_misfit(*call)


class _Later:
    """Compiles a function at its first call, so that programs without such calls do not load the compiler."""

    def __init__(self, made: _native.JitFunction, written: FunctionSource) -> None:
        self._made, self._written = made, written

    @lazy
    def compiling(self) -> Compiling:
        kind: type[Compiling] = imported("parpy.calls.compiling").Compiling
        return kind(self._made, self._written, without_star(self._written))


def _as_jit(function: Callable[..., Any]) -> _native.JitFunction:
    """The jit function of a function. Raises TypeError for kernels and functions of generated text."""
    if isinstance(function, _native.JitFunction):
        return function
    module = (function if isinstance(function, FunctionType) else type(function)).__module__ or ""
    name = getattr(function, "__name__", type(function).__name__)
    if module == "parpy.calls.compile_string":
        raise TypeError(f"'{name}' runs generated text, which has no Python loops: pass the Python function instead")
    if module.startswith("parpy.cuda."):
        raise TypeError(
            f"'{name}' is a kernel or device function, whose threads the program maps itself: "
            "inspect_source(…) of a kernel shows its code"
        )
    made: _native.JitFunction = jit(function)
    return made


@hides_frames
def print_compiled(function: Callable[..., Any], *args: Any, opts: CompileOptions | None = None) -> str:
    """Returns the source text that ``function`` becomes for arguments like ``args``: the device part and the host part.

    The function may be decorated or not. The arguments are given as in a call, ``print_compiled(f, x, n, opts=p)``, or
    as one list or tuple, ``print_compiled(f, [x, n], p)``. The hardware need not be present. The same arguments and
    options give the same text in every process, unless ``parpy.tune`` has found a mapping for an automatic call.

    Raises CompileError if the function cannot be compiled for these arguments.
    """
    from .compiling import looked_at

    compiled = _as_jit(function)
    args, opts = arguments_of(compiled, args, opts)
    text: str = looked_at(compiled, opts, args, _text)
    return text


def _text(
    compiled: _native.JitFunction, opts: CompileOptions | None, args: tuple[Any, ...], refused: bool = False
) -> str:
    from ..host.driver import Driver
    from .compiling import driver_behind
    from .interface import source_text

    python: FunctionType = compiled.__parpy_source__.function
    driver = driver_behind(compiled, args, refused)
    if driver is None:
        return source_text(compiled, args, opts, python)
    part = partial(source_text, part_of=python.__name__)
    look: Any = part if isinstance(driver, Driver) else lambda function, given, opts: _text(function, opts, given)
    return "\n".join(driver.inspect(args, opts, look))


def interpret(function: Callable[..., Any], args: Sequence[Any], opts: CompileOptions, until: str = "") -> None:
    """Runs ``function`` in the reference interpreter of the compiler's IR, after the passes of the back end up to
    ``until``; without ``until``, after all passes of the CPU. For a GPU, ``until`` must precede the creation of
    kernels.

    The interpreter serves tests: it is slow, checks every subscript, and is the reference for all back ends.
    """
    from ..host.structures import Structures
    from .compiling import driver_behind

    compiled = _as_jit(function)
    driver = driver_behind(compiled, args)

    def look(part: _native.JitFunction, given: tuple[Any, ...], options: CompileOptions) -> None:
        _native.interpret(part, given, options, until)

    if isinstance(driver, Structures):
        driver.inspect(tuple(args), opts, look)
    else:
        look(compiled, tuple(args), opts)


def clear_cache() -> None:
    """Forgets all compiled code, in this process and on disk, and returns freed GPU memory to the system, as
    ``parpy.buffer.empty_cache`` does.
    """
    _native.clear_cache()
    _native.empty_device_cache()


def sync(backend: CompileBackend | None = None) -> None:
    """Waits until the GPUs have finished all work of this process.

    With a ``backend`` it waits for that back end alone. On the CPU and on the simulator a call has finished when it
    returns, so there is nothing to wait for.

    Raises BackendError if a kernel failed, and TypeError if ``backend`` is not a ``CompileBackend``.
    """
    if backend is not None and not isinstance(backend, CompileBackend):
        raise TypeError(f"expected a parpy.CompileBackend, not {backend!r}")
    if backend in (None, CompileBackend.Auto, CompileBackend.Cuda):
        _native.synchronize()


class CacheInfo(NamedTuple):
    """Statistics about the compiled code of one function.

    ``specializations`` is the number of programs that calls choose from, and ``compilations`` that of runs of the
    compiler. ``run_time`` names the values that are passed at run time because they kept changing, such as ``'n'``.
    """

    specializations: int
    compilations: int
    run_time: tuple[str, ...]


def cache_info(function: Callable[..., Any]) -> CacheInfo:
    """Returns statistics about the code that was compiled for a jit function in this process."""
    specializations, compilations, names = _native.cache_info(_as_jit(function))
    return CacheInfo(specializations, compilations, tuple(names))
