"""``parpy.cuda.jit``: kernels written by hand, and how they are launched.

A launch is a call of a native jit function whose first seven parameters are the sizes of the launch
(_frontend_kernels.GEOMETRY); compiled code is made once for the types of the arguments, for all sizes and values.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import update_wrapper
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from .. import _native
from .._device import ForeignFunction
from .._frontend import Surface, parse
from .._frontend_kernels import GEOMETRY
from .._frontend_scope import Program
from .._jit import twin
from .._names import is_array, source_of
from .._options import CompileBackend, CompileOptions
from .._source import FunctionSource
from . import _types
from ._arrays import DeviceNDArray
from ._backend import on_gpu
from ._streams import handle_of
from ._types import Array, Scalar, Signature

_MOST_THREADS = 1024
_LIMITS = ((2**31 - 1, 65535, 65535), (1024, 1024, 64))


class DeviceFunction:
    """A function that kernels call: ``cuda.jit(device=True)``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__parpy_source__ = source_of(function)
        update_wrapper(self, self.__parpy_source__.function)

    @property
    def py_func(self) -> FunctionType:
        return self.__parpy_source__.function

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(f"'{self.__name__}' is a device function: kernels call it")  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"<parpy.cuda device function {self.__qualname__}>"  # type: ignore[attr-defined]


class Kernel:
    """A kernel: ``k[grid, block](…)`` launches it, ``k.forall(n)(…)`` with blocks of a size chosen for it."""

    def __init__(
        self,
        function: Callable[..., Any] | FunctionSource,
        signatures: tuple[Signature, ...],
        options: dict[str, Any],
        link: tuple[str, ...] = (),
        debug: bool = False,
    ) -> None:
        source = source_of(function)
        if any(len(each.arguments) != source.function.__code__.co_argcount for each in signatures):
            count = source.function.__code__.co_argcount
            raise TypeError(
                f"'{source.function.__name__}' has {count} parameters, but its signature is {signatures[0]}"
            )
        if any(each.result is not None for each in signatures):
            raise TypeError(f"a kernel returns nothing: write void(…), not {signatures[0]}")
        self.__parpy_source__ = source
        self.signatures = signatures
        self._options, self._link, self._debug = options, link, debug
        self._by_stream: dict[Any, CompileOptions] = {}
        self._launchers: dict[Any, Launcher] = {}
        self.native = _native_kernel(source.function, self.parse)
        update_wrapper(self, source.function)

    def parse(self) -> Surface:
        """The surface module; called once, and again when what the function relies on has changed."""
        program = Program(kernel=True)
        program.link = self._link
        return parse(self.__parpy_source__, program=program)

    @property
    def py_func(self) -> FunctionType:
        return self.__parpy_source__.function

    def __getitem__(self, configuration: Any) -> Launcher:
        try:
            known = self._launchers[configuration]
        except (KeyError, TypeError):
            known = None
        if known is not None and known.on_gpu == on_gpu():
            return known
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        if not 2 <= len(parts) <= 4:
            raise ValueError(
                f"a launch is configured by [grid, block[, stream[, shared_bytes]]], not by {configuration!r}"
            )
        launcher = self.configure(*parts)
        if len(self._launchers) < 256 and _is_plain(parts):
            self._launchers[configuration] = launcher
        return launcher

    def configure(self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0) -> Launcher:
        """A launch of ``griddim`` blocks of ``blockdim`` threads each: ints, or tuples of up to three."""
        grid = _sizes(griddim, "grid", _LIMITS[0])
        block = _sizes(blockdim, "block", _LIMITS[1])
        threads = block[0] * block[1] * block[2]
        if threads > _MOST_THREADS:
            raise ValueError(f"a block has at most {_MOST_THREADS} threads, not {threads}")
        if isinstance(sharedmem, bool) or not isinstance(sharedmem, int | np.integer) or not 0 <= sharedmem < 2**31:
            raise ValueError(f"the shared memory of a launch is a number of bytes, not {sharedmem!r}")
        return Launcher(self, (*grid, *block, int(sharedmem)), self.options(stream))

    def forall(self, ntasks: int | tuple[int, ...], tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> ForAll:
        """A launch of at least ``ntasks`` threads (an int, or a tuple of up to three), in blocks of ``tpb`` (0: chosen
        for the kernel). The kernel compares its place with the size: the last blocks may be too many. 0: no launch."""
        return ForAll(self, ntasks, tpb, stream, sharedmem)

    def options(self, stream: Any) -> CompileOptions:
        """Of launches on ``stream``; 0 is the default stream."""
        key = handle_of(stream), on_gpu()
        known = self._by_stream.get(key)
        if known is None:
            backend = CompileBackend.Cuda if key[1] else CompileBackend.Sim
            known = CompileOptions(backend=backend, legality="trust", stream=key[0] or None, **self._options)
            if self._debug and not key[1]:
                known.check = "all"
            if len(self._by_stream) < 256:
                self._by_stream[key] = known
        return known

    def specialize(self, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments as the first signature that fits takes them; TypeError where none does."""
        reasons = []
        for each in self.signatures:
            reason, converted = _fit(self, each, arguments)
            if not reason:
                return converted
            reasons.append(reason)
        if len(reasons) == 1:
            raise TypeError(reasons[0])
        name = self.__parpy_source__.function.__name__
        listed = "\n".join(f"  {each}: {reason}" for each, reason in zip(self.signatures, reasons, strict=True))
        raise TypeError(f"no signature of '{name}' takes these arguments:\n{listed}")

    def inspect_source(self, *arguments: Any) -> str:
        """The CUDA C++ and host text for arguments like these."""
        sizes = (1, 1, 1, 32, 1, 1, 0)
        return _native.source_text(self.native, (*sizes, *arguments), self.options(0))

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        name = self.__parpy_source__.function.__name__
        raise ValueError(f"'{name}' is a kernel: say on how many threads it runs, {name}[grid, block](…)")

    def __repr__(self) -> str:
        return f"<parpy.cuda kernel {self.__parpy_source__.function.__qualname__}>"


class Launcher:
    """A kernel with the sizes of its launch: call it with the arguments of the kernel."""

    __slots__ = ("_kernel", "_native", "_options", "_sizes", "on_gpu")

    def __init__(self, kernel: Kernel, sizes: tuple[int, ...], options: CompileOptions) -> None:
        self._kernel, self._native, self._sizes, self._options = kernel, kernel.native, sizes, options
        self.on_gpu = options.backend is CompileBackend.Cuda

    def __call__(self, *arguments: Any) -> None:
        if self._kernel.signatures:
            arguments = self._kernel.specialize(arguments)
        if not self.on_gpu:
            arguments = tuple(a._view if type(a) is DeviceNDArray else a for a in arguments)
        self._native(*self._sizes, *arguments, opts=self._options)

    def __repr__(self) -> str:
        grid, block = self._sizes[:3], self._sizes[3:6]
        return f"<launch of {self._kernel.__name__} on {grid} blocks of {block} threads>"  # type: ignore[attr-defined]


class ForAll:
    """A launch by number of threads."""

    def __init__(self, kernel: Kernel, ntasks: Any, tpb: int, stream: Any, sharedmem: int) -> None:
        tasks = ntasks if isinstance(ntasks, tuple) else (ntasks,)
        if not 1 <= len(tasks) <= 3 or not all(
            isinstance(n, int | np.integer) and not isinstance(n, bool) and n >= 0 for n in tasks
        ):
            raise ValueError(f"forall takes a number of threads, or a tuple of up to three, not {ntasks!r}")
        if not isinstance(tpb, int) or not 0 <= tpb <= _MOST_THREADS:
            raise ValueError(f"a block has 1 to {_MOST_THREADS} threads, not {tpb!r}")
        self._kernel, self._tasks, self._stream, self._sharedmem = kernel, tasks, stream, sharedmem
        self._tpb = tpb or 256

    def __call__(self, *arguments: Any) -> None:
        if 0 in self._tasks:
            return
        block = block_for(self._tasks, self._tpb)
        grid = tuple(-(-n // size) for n, size in zip(self._tasks, block, strict=True))
        self._kernel.configure(grid, block, self._stream, self._sharedmem)(*arguments)


def block_for(tasks: tuple[int, ...], threads: int) -> tuple[int, ...]:
    """How a block of about so many threads lies over the tasks: x first, no longer than they are."""
    block = []
    for n, limit in zip(tasks, _LIMITS[1], strict=False):
        size = 1
        while size * 2 <= min(threads, limit) and size < n:
            size *= 2
        block.append(size)
        threads //= size
    return tuple(block)


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
    **unknown: Any,
) -> Any:
    """Compiles a function of which every thread of a launch runs the body, as ``numba.cuda.jit`` does.

    With a signature, or a list of them, arguments are checked against it and numbers converted to it; without, the
    types of the arguments decide. ``device=True`` makes a function that kernels call; ``debug=True`` lets the
    simulator check subscripts, assertions and variables without a value. ``inline``, ``opt`` and ``cache`` are taken
    for compatibility: device functions are inlined by the compiler, and compiled code is always cached.
    """
    if unknown:
        raise TypeError(f"cuda.jit takes no argument '{next(iter(unknown))}'")
    if inspect.isfunction(func_or_sig):
        return jit(None, device, inline, link, debug, opt, lineinfo, cache, fastmath, max_registers)(func_or_sig)
    sources = linked(link)
    given = [] if func_or_sig is None else func_or_sig if isinstance(func_or_sig, list) else [func_or_sig]
    signatures = tuple(_types.signature(each) for each in given)
    flags = ["--generate-line-info"] if lineinfo else []
    if max_registers is not None:
        flags.append(f"--maxrregcount={int(max_registers)}")
    options = {"fast_math": bool(fastmath), "extra_flags": flags}

    def decorate(function: Callable[..., Any]) -> DeviceFunction | Kernel:
        if device:
            return DeviceFunction(function)
        return Kernel(function, signatures, options, sources, debug)

    return decorate


def linked(link: Any) -> tuple[str, ...]:
    """The paths of the sources to compile with a kernel."""
    paths = tuple(map(str, [link] if isinstance(link, str) or hasattr(link, "__fspath__") else link))
    for path in paths:
        if not path.endswith(".cu"):
            raise NotImplementedError(f"'{path}' cannot be linked: this version of ParPy takes CUDA C++ sources (.cu)")
    return paths


def declare_device(
    name: str, sig: Any, link: Any = (), use_cooperative: bool = False, abi: str = "c"
) -> ForeignFunction:
    """A function of CUDA C++ that kernels call by the name it is assigned to here.

    ``sig``: as ``int32(int32, CPointer(float32))``; arrays go to pointers. ``link``: the sources that define it; or
    give them to ``cuda.jit``. It is ``extern "C" __device__``, and by ``abi`` hands over its result as C does ("c"),
    through a pointer in front of its parameters, itself returning a status ("numba"), or through one behind them
    ("out").
    """
    if not name.isidentifier():
        raise ValueError(f"'{name}' is no name of a function")
    if abi not in ("c", "numba", "out"):
        raise ValueError(f"the abi of a function is 'c', 'numba' or 'out', not {abi!r}")
    wanted = _types.signature(sig)
    types = [each.name if isinstance(each, Scalar) else f"{each.element.name}*" for each in wanted.arguments]
    return ForeignFunction(name, types, wanted.result.name if wanted.result else "void", abi, linked(link))


def _native_kernel(function: FunctionType, parse_again: Callable[[], Surface]) -> _native.JitFunction:
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    bind_own = twin(function, names)

    def bind(*given: Any, **keywords: Any) -> tuple[Any, ...]:
        sizes = given[: len(GEOMETRY)]
        return (*sizes, *bind_own(*given[len(GEOMETRY) :], **keywords))

    plain = not code.co_kwonlyargcount and not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    parameters = (*GEOMETRY, *names)
    return _native.JitFunction(function, parse_again, bind, parameters, len(parameters) if plain else -1)


def _is_plain(parts: tuple[Any, ...]) -> bool:
    flat = [n for part in parts for n in (part if isinstance(part, tuple) else (part,))]
    return all(type(n) is int for n in flat)


def _sizes(given: Any, what: str, limits: tuple[int, int, int]) -> tuple[int, int, int]:
    parts = tuple(given) if isinstance(given, tuple | list) else (given,)
    if not 1 <= len(parts) <= 3 or not all(isinstance(n, int | np.integer) and not isinstance(n, bool) for n in parts):
        raise TypeError(f"a {what} is an int or a tuple of up to three, not {given!r}")
    sizes = (*map(int, parts), 1, 1)[:3]
    for size, limit, axis in zip(sizes, limits, "xyz", strict=True):
        if size < (0 if what == "grid" else 1) or size > limit:
            least = 0 if what == "grid" else 1
            raise ValueError(f"the {what}'s size in {axis} is {least} to {limit}, not {size}")
    return sizes[0], sizes[1], sizes[2]


def _fit(kernel: Kernel, wanted: Signature, arguments: Sequence[Any]) -> tuple[str, tuple[Any, ...]]:
    """Why the arguments do not fit (''), and the arguments as the signature takes them."""
    code = kernel.__parpy_source__.function.__code__
    if len(arguments) != len(wanted.arguments):
        return f"'{code.co_name}' takes {len(wanted.arguments)} arguments, not {len(arguments)}", ()
    converted = []
    for name, kind, argument in zip(code.co_varnames, wanted.arguments, arguments, strict=False):
        if isinstance(kind, Scalar):
            if is_array(argument) and not isinstance(argument, np.generic) and getattr(argument, "ndim", 1) != 0:
                return f"argument '{name}' must be {_a(kind)}, not an array", ()
            value = np.asarray(argument)
            if value.dtype.kind not in "biufc" or not np.can_cast(value.dtype, kind.dtype, "same_kind"):
                return f"argument '{name}' must be {_a(kind)}, not {type(argument).__name__}", ()
            converted.append(kind.dtype.type(argument))
        else:
            reason = _array_misfit(kind, argument)
            if reason:
                return f"argument '{name}' must be {_a(kind)}, not {reason}", ()
            converted.append(argument)
    return "", tuple(converted)


def _a(kind: object) -> str:
    return f"{'an' if str(kind)[0] in 'aeiou' and not str(kind).startswith('uint') else 'a'} {kind}"


def _array_misfit(kind: Any, argument: Any) -> str:
    if not is_array(argument):
        return f"{type(argument).__name__}"
    if not hasattr(argument, "dtype") or not hasattr(argument, "ndim"):
        argument = np.asarray(argument)
    element = kind.element.dtype
    try:
        dtype = np.dtype(str(argument.dtype).removeprefix("torch."))
    except TypeError:
        dtype = None
    if dtype != element or argument.ndim != getattr(kind, "ndim", argument.ndim):
        dims = "dimension" if argument.ndim == 1 else "dimensions"
        return f"an array of {argument.dtype} with {argument.ndim} {dims}"
    if isinstance(kind, Array) and kind.layout != "A" and hasattr(argument, "flags"):
        wanted = "C_CONTIGUOUS" if kind.layout == "C" else "F_CONTIGUOUS"
        if not argument.flags[wanted]:
            return f"an array that is not {wanted.replace('_', '-').lower()}"
    return ""
