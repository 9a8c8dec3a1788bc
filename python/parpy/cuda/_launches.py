"""Launches: a kernel together with the sizes of a grid and its blocks, or with a number of threads."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from math import prod
from types import FunctionType
from typing import TYPE_CHECKING, Any

from .. import _native
from ..arrays.device_arrays import is_int
from ..calls.made import twin
from ..calls.options import CompileBackend, CompileOptions
from ..calls.tracebacks import hides_frames
from ..frontend.parse import Surface
from ..vocabulary.device import GEOMETRY
from ._devices import launch_limits
from .arguments import matching
from .arguments.directed import type_of

if TYPE_CHECKING:
    from ._kernel import Kernel

_WARP = 32


class Launcher(partial[None]):
    """A kernel with the sizes of its launch. Calling it with the arguments of the kernel launches the kernel."""

    kernel: Kernel
    on_gpu: bool

    def __new__(cls, kernel: Kernel, sizes: tuple[int, ...], options: CompileOptions) -> Launcher:
        made = super().__new__(cls, kernel.native, *sizes, opts=options)
        made.kernel, made.on_gpu = kernel, options.backend is CompileBackend.Cuda
        return made

    def __repr__(self) -> str:
        grid, block = self.args[:3], self.args[3:6]
        return f"<launch of {self.kernel.__name__} on {grid} blocks of {block} threads>"  # type: ignore[attr-defined]


class PreparingLauncher(Launcher):
    """A launcher that first checks the arguments against signatures and copies records to the GPU."""

    noted = False  # whether the kernel's overloads have the types of this launch

    @hides_frames
    def __call__(self, /, *arguments: Any, **keywords: Any) -> None:
        kernel, options = self.kernel, self.keywords["opts"]
        stream = options.stream or 0
        arguments, behind = kernel.taken(matching.bound(kernel.py_func, arguments, keywords), stream)
        if kernel.declared:
            arguments = kernel.matched(arguments)
        if not (kernel.may_have_dates and kernel.launched_with_dates(self.args, arguments, stream)):
            given = kernel.with_views(arguments)
            chosen = kernel.variant(given)
            chosen.launch(self.args, given, options if chosen is kernel else chosen.options_on(stream))
        if not (self.noted or kernel.declared):
            self.noted = True
            kernel.overloads.note(map(type_of, arguments))
        for each in behind:
            each()


class ForAll:
    """A launch by the number of threads, the result of ``Kernel.forall``."""

    def __init__(self, kernel: Kernel, ntasks: Any, tpb: int, stream: Any, sharedmem: int) -> None:
        tasks = ntasks if isinstance(ntasks, tuple) else (ntasks,)
        if not 1 <= len(tasks) <= 3 or not all(is_int(n) and n >= 0 for n in tasks):
            raise ValueError(f"forall takes a number of threads, or a tuple of up to three, not {ntasks!r}")
        most = launch_limits().threads
        if not isinstance(tpb, int) or isinstance(tpb, bool) or not 0 <= tpb <= most:
            raise ValueError(f"a block has 1 to {most} threads, not {tpb!r}")
        self._kernel, self._tasks, self._stream, self._sharedmem = kernel, tasks, stream, sharedmem
        self._tpb = tpb

    @hides_frames
    def __call__(self, /, *arguments: Any, **keywords: Any) -> None:
        arguments = matching.bound(self._kernel.py_func, arguments, keywords)
        none = 0 in self._tasks  # no block is launched, but the arguments are checked
        threads = self._tpb or (_WARP if none else self._kernel.best_block(arguments, self._sharedmem))
        block = block_for(self._tasks, threads, exact=self._tpb > 0)
        grid = tuple(-(-n // size) for n, size in zip(self._tasks, block, strict=True))
        self._kernel.configure(grid, block, self._stream, self._sharedmem)(*arguments)
        if not self._kernel.declared:  # best_block may have compiled the kernel
            self._kernel.overloads.note(map(type_of, arguments))


def launch_sizes(griddim: Any, blockdim: Any) -> tuple[int, ...]:
    """The three sizes of a grid and the three of its blocks. Raises ValueError if they exceed the device's limits."""
    limits = launch_limits()
    grid = sizes_of(griddim, "grid", limits.grid)
    block = sizes_of(blockdim, "block", limits.block)
    threads = block[0] * block[1] * block[2]
    if threads > limits.threads:
        raise ValueError(f"a block has at most {limits.threads} threads, not {threads}")
    return (*grid, *block)


def block_for(tasks: tuple[int, ...], threads: int, exact: bool) -> tuple[int, ...]:
    """The shape of a block, which fills x first and no axis beyond its tasks. The block has exactly ``threads`` threads
    if ``exact``; otherwise it consists of whole warps and has at most that many."""
    block = []
    left = threads
    for n, limit in zip(tasks, launch_limits().block, strict=False):
        size = 1
        while size < n and size * 2 <= min(left, limit) and not (exact and left % (size * 2)):
            size *= 2
        block.append(size)
        left //= size
    block[0] *= left if exact else max(_WARP // prod(block), 1)
    return tuple(block)


def sizes_of(given: Any, what: str, limits: tuple[int, int, int]) -> tuple[int, int, int]:
    parts = tuple(given) if isinstance(given, tuple | list) else (given,)
    if not 1 <= len(parts) <= 3 or not all(map(is_int, parts)):
        raise TypeError(f"a {what} is an int or a tuple of up to three, not {given!r}")
    sizes = (*map(int, parts), 1, 1)[:3]
    least = 0 if what == "grid" else 1
    for size, limit, axis in zip(sizes, limits, "xyz", strict=True):
        if not least <= size <= limit:
            raise ValueError(f"the {what}'s size in {axis} is {least} to {limit}, not {size}")
    return sizes[0], sizes[1], sizes[2]


def native_kernel(function: FunctionType, parse_again: Callable[[], Surface]) -> _native.JitFunction:
    """The jit function of a kernel, whose first parameters are the sizes of a launch."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    bind_own = twin(function, names)

    def bind(*given: Any, **keywords: Any) -> tuple[Any, ...]:
        sizes = given[: len(GEOMETRY)]
        return (*sizes, *bind_own(*given[len(GEOMETRY) :], **keywords))

    plain = not code.co_kwonlyargcount and not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    parameters = (*GEOMETRY, *names)
    return _native.JitFunction(function, parse_again, bind, parameters, len(parameters) if plain else -1)
