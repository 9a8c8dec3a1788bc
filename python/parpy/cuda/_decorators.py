"""``cuda.jit`` makes a Python function a kernel, or a device function that kernels call."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Literal, ParamSpec, Protocol, TypeVar, overload

from ..calls.tracebacks import hides_frames
from ..syntax.source import FunctionSource
from ..syntax.walks import walk
from ..vocabulary.operators import is_numba
from ..vocabulary.signatures import Signature, number_signature
from ._device_functions import DeviceFunction
from ._kernel import Kernel, check_count
from ._linking import linked
from ._options import WITHOUT_EFFECT, KernelOptions, kernel_options

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _KernelDecorator(Protocol):
    """The type of ``jit(…)``, which makes kernels."""

    def __call__(self, function: Callable[..., Any], /) -> Kernel: ...


class _DeviceDecorator(Protocol):
    """The type of ``jit(device=True)``, which makes functions that kernels call."""

    def __call__(self, function: Callable[_P, _R], /) -> DeviceFunction[_P, _R]: ...


@overload
def jit(func_or_sig: Callable[..., Any], /) -> Kernel: ...
@overload
def jit(
    func_or_sig: Any = None,
    *,
    device: Literal[True],
    inline: Any = ...,
    link: Sequence[Any] = ...,
    debug: bool = ...,
    opt: bool = ...,
    lineinfo: bool = ...,
    cache: bool = ...,
    fastmath: bool = ...,
    fma: bool = ...,
    boundscheck: bool | None = ...,
    forceinline: bool = ...,
) -> _DeviceDecorator: ...
@overload
def jit(
    func_or_sig: Any = None,
    device: Literal[False] = False,
    inline: Any = ...,
    link: Sequence[Any] = ...,
    debug: bool = ...,
    opt: bool = ...,
    lineinfo: bool = ...,
    cache: bool = ...,
    fastmath: bool = ...,
    max_registers: int | None = ...,
    fma: bool = ...,
    boundscheck: bool | None = ...,
    extensions: Sequence[Any] | None = ...,
    launch_bounds: int | tuple[int, ...] | None = ...,
    shared_memory_carveout: int | str | None = ...,
    *,
    lto: bool = ...,
    forceinline: bool = ...,
) -> _KernelDecorator: ...
@hides_frames
def jit(
    func_or_sig: Any = None,
    device: bool = False,
    inline: Any = "never",
    link: Sequence[Any] = (),
    debug: bool = False,
    opt: bool = True,
    lineinfo: bool = False,
    cache: bool = False,
    fastmath: bool = False,
    max_registers: int | None = None,
    fma: bool = True,
    boundscheck: bool | None = None,
    extensions: Sequence[Any] | None = None,
    launch_bounds: int | tuple[int, ...] | None = None,
    shared_memory_carveout: int | str | None = None,
    **unknown: Any,
) -> Any:
    """Compiles a kernel: a function whose body every thread of a launch runs, as with ``numba.cuda.jit``.

    With a signature, or a list of signatures, arguments are checked and numbers are converted to its types; without
    one, the arguments decide the types. ``device=True`` makes a function that kernels call. ``debug=True`` (or
    ``boundscheck=True``) checks subscripts, assertions and variables without a value, and on the simulator also races
    and barriers. ``link`` lists the files that define foreign functions (see ``declare_device``). ``fma`` says whether
    a GPU may round ``a * b + c`` once, as CUDA C++ does; the simulator rounds twice. ``launch_bounds`` is the largest
    number of threads of a block, or a tuple of that and the number of blocks that a multiprocessor should hold.
    ``max_registers`` is the largest number of registers of a thread. ``extensions`` are objects whose method
    ``prepare_args(ty, val, stream, retr)`` replaces an argument by one that kernels take.

    ``inline``, ``forceinline``, ``opt``, ``lto``, ``cache`` and ``shared_memory_carveout`` are accepted for
    compatibility and have no effect: the compiler inlines device functions, compiled code is always cached, and the
    driver divides the memory of a multiprocessor.

    Raises TypeError for other keywords. With a signature, the decorator raises CompileError for a kernel that cannot be
    compiled; without one, the launch raises it.
    """
    for name in unknown:
        if name not in WITHOUT_EFFECT:
            raise TypeError(f"cuda.jit takes no argument '{name}'")
    if not (callable(inline) or inline in (True, False, "never", "always")):
        raise ValueError(f"inline is 'never', 'always' or a function, not {inline!r}")
    options = kernel_options(
        fastmath, fma, lineinfo, debug or boundscheck, max_registers, launch_bounds, shared_memory_carveout, extensions
    )
    sources = linked(link)
    function = _function_of(func_or_sig)
    given = [] if function or func_or_sig is None else func_or_sig if isinstance(func_or_sig, list) else [func_or_sig]
    signatures = tuple(number_signature(each) for each in given)

    @hides_frames
    def decorate(function: Callable[..., Any]) -> DeviceFunction[..., Any] | Kernel:
        plain: Any = _function_of(function) or function
        if device:
            made = DeviceFunction(plain, signatures)
            _check_calls(made, signatures, options, sources)
            return made
        kernel = Kernel(plain, signatures, options, sources)
        kernel.check_signatures()
        return kernel

    return decorate if function is None else decorate(function)


def _function_of(given: Any) -> FunctionType | None:
    """The decorated Python function, taken out of a decoration by Numba; None for a signature."""
    if is_numba(given):
        given = getattr(given, "py_func", None)
    return given if inspect.isfunction(given) else None


def _check_calls(
    function: DeviceFunction[..., Any], signatures: tuple[Signature, ...], options: KernelOptions, link: tuple[str, ...]
) -> None:
    """Compiles calls of a device function with the types of its signatures; raises CompileError if one is wrong."""
    for each in signatures:
        check_count(function.__parpy_source__.function, each)
        names = ", ".join(f"a{i}" for i in range(len(each.arguments)))
        # Errors are reported at the place of the function, which is also that of its signature.
        text, own = f"def call({names}): function({names})\n", function.__parpy_source__
        tree = ast.parse(text).body[0]
        for node in walk(tree):
            ast.copy_location(node, own.tree())
        space: dict[str, Any] = {"function": function}
        exec(text, space)
        source = FunctionSource(space["call"], own.name, own.text, own.first_line, tree)
        Kernel(source, (Signature(None, each.arguments),), options, link).check_signatures()


@hides_frames
def vectorize(signatures: Any = None, /, *, target: str = "cuda", **keywords: Any) -> Any:
    """``parpy.vectorize`` with ``'cuda'`` as the default target: makes a universal function of a function of numbers.
    Keywords, results and errors are those of ``parpy.vectorize``."""
    from ..ufuncs.vectorize import vectorize as made

    return made(signatures, target=target, **keywords)


@hides_frames
def guvectorize(signatures: Any, layout: str | None = None, /, *, target: str = "cuda", **keywords: Any) -> Any:
    """``parpy.guvectorize`` with ``'cuda'`` as the default target: makes a generalised universal function of a function
    of arrays. Keywords, results and errors are those of ``parpy.guvectorize``."""
    from ..ufuncs.guvectorize import guvectorize as made

    return made(signatures, layout, target=target, **keywords)
