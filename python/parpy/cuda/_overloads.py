"""A kernel for one combination of argument types, ``k.overloads[types]``, and what a kernel tells about its code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .. import _native
from ..calls.interface import HOST, source_text
from ..calls.options import CompileOptions
from ..vocabulary.signatures import Record, Scalar, Signature, TupleType, argument_type, signature
from ._devices import get_current_device
from ._options import KernelOptions
from .arguments.directed import type_of

if TYPE_CHECKING:
    from ._kernel import Kernel

SAMPLE_SIZES = (1, 1, 1, 32, 1, 1, 0)  # the sizes of a launch that is compiled for an inspection


class Overload:
    """A kernel for arguments of some types, with its needs on the device and its text."""

    def __init__(self, kernel: Kernel, types: tuple[Any, ...]) -> None:
        self._kernel, self.argument_types = kernel, types
        self.signature = Signature(None, types)

    def samples(self) -> tuple[Any, ...]:
        """Arguments of these types, which serve to compile the kernel."""
        return tuple(map(_with_date, map(sample, self.argument_types), self.argument_types))

    def _fact(self, name: str) -> int:
        return self._kernel.facts(self.samples())[name]

    regs_per_thread = property(lambda self: self._fact("registers"), doc="Registers of a thread.")
    shared_mem_per_block = property(lambda self: self._fact("shared_bytes"), doc="Bytes that a block shares.")
    local_mem_per_thread = property(lambda self: self._fact("local_bytes"), doc="Bytes of a thread in no register.")
    const_mem_size = property(lambda self: self._fact("constant_bytes"), doc="Bytes of constants.")
    max_threads_per_block = property(lambda self: self._fact("most_threads"), doc="The most threads of a block.")

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """Returns the largest number of blocks in a grid whose kernel calls ``cg.this_grid().sync()``."""
        return self._kernel.max_cooperative_grid_blocks(blockdim, *self.samples(), dynsmemsize=dynsmemsize)

    def inspect_asm(self) -> str:
        """Returns the PTX."""
        return str(self._kernel.inspect_asm(*self.samples()))

    def inspect_source(self) -> str:
        """Returns the CUDA C++ and host text."""
        return str(self._kernel.inspect_source(*self.samples()))

    def __repr__(self) -> str:
        return f"<{self._kernel!r} for {self.signature}>"


class Overloads(dict[tuple[Any, ...], Overload]):
    """The overloads of a kernel by the types of their arguments, from its signatures or its launches. A subscript with
    other types compiles a new overload."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__()
        self._kernel = kernel

    def __missing__(self, key: Any) -> Overload:
        types = types_of(key)
        return self[types] if types in self else self.setdefault(types, Overload(self._kernel, types))

    def note(self, types: Iterable[Any]) -> None:
        """Notes that the kernel is compiled for arguments of these types."""
        key = tuple(types)
        if None not in key and key not in self:
            self[key] = Overload(self._kernel, key)


class Inspected:
    """The inspections of a kernel: its texts, its needs on a device and its signatures."""

    if TYPE_CHECKING:
        declared: tuple[Signature, ...]
        native: Any
        overloads: Overloads
        py_func: Any
        _device_code: list[str]
        _folders: list[str]
        _options: KernelOptions
        _specialized: dict[tuple[Any, ...], Any]

        def options(self, stream: Any) -> CompileOptions: ...
        def prepared(self, arguments: Sequence[Any]) -> tuple[Kernel, Sequence[Any]]: ...
        def with_signature(self, wanted: Signature) -> Kernel: ...

    def inspect_source(self, *arguments: Any) -> Any:
        """Returns the CUDA C++ and host text for arguments like these, or for a tuple of their types. A kernel with a
        signature needs no arguments; any other kernel then returns a dict of the texts of all ``overloads``."""
        if not arguments and not self.declared and self.overloads:
            return of_each(self, Overload.inspect_source)
        self.options(0)
        kernel, given = self.prepared(arguments)
        return source_text(kernel.native, (*SAMPLE_SIZES, *given), kernel.options(0))

    def inspect_asm(self, *arguments: Any) -> Any:
        """Returns the PTX for arguments like these, or for a tuple of their types; without arguments a dict of the PTX
        of all ``overloads``."""
        if not arguments:
            return of_each(self, Overload.inspect_asm)
        device = self.inspect_source(*arguments).split(HOST)[0]
        major, minor = get_current_device().compute_capability
        flags = [*self._options.flags, *(f"--include-path={folder}" for folder in self._folders)]
        ptx = _native.compile_cuda(
            device, f"{self.py_func.__name__}.cu", f"sm_{major}{minor}", self._options.fast_math,
            [*flags, *(["--relocatable-device-code=true"] if self._device_code else [])], True,
        )  # fmt: skip
        return ptx.decode().rstrip("\0")

    def inspect_types(self, file: Any = None) -> None:
        """Prints the CUDA C++ of each overload, in which all variables have their types."""
        for types, each in self.overloads.items():
            print(f"// {self.__name__}{types}", each.inspect_source(), sep="\n", file=file)  # type: ignore[attr-defined]

    def inspect_llvm(self, *_: Any) -> NoReturn:
        """Raises NotImplementedError: kernels become CUDA C++, not LLVM IR."""
        raise NotImplementedError("kernels become CUDA C++, not LLVM IR: write k.inspect_source() or k.inspect_asm()")

    def inspect_lto_ptx(self, *arguments: Any) -> Any:
        """Returns the PTX, as ``inspect_asm`` does."""
        return self.inspect_asm(*arguments)

    def inspect_sass(self, *_: Any) -> NoReturn:
        """Raises NotImplementedError: only tools of the CUDA toolkit show the assembly of a GPU."""
        raise NotImplementedError("write k.inspect_asm() for PTX; SASS is shown by the toolkit's nvdisasm")

    def specialize(self, *arguments: Any) -> Any:
        """Returns a kernel of the same function with one signature, the types of these arguments. Where signatures have
        no type for an argument, it is the kernel itself, which is then compiled for them."""
        types = tuple(map(type_of, arguments))
        if None in types:
            self.inspect_source(*arguments)
            return self
        if types not in self._specialized:
            self._specialized[types] = self.with_signature(Signature(None, types))
        return self._specialized[types]

    @property
    def specialized(self) -> bool:
        """Whether the kernel has exactly one signature."""
        return len(self.declared) == 1

    @property
    def signatures(self) -> list[tuple[Any, ...]]:
        """The tuples of argument types that the kernel is compiled for, from its signatures or its launches."""
        return list(self.overloads)

    @property
    def extensions(self) -> tuple[Any, ...]:
        """The objects whose ``prepare_args`` converts arguments."""
        return self._options.extensions

    def compile(self, sig: Any) -> Overload:
        """Compiles the kernel for a signature or a tuple of the types of its arguments, and returns that overload."""
        made = self.overloads[signature(sig).arguments]
        made.inspect_source()
        return made

    def facts(self, arguments: Sequence[Any] = (), block: int = 32, sharedmem: int = 0) -> dict[str, int]:
        """The needs of a launch with such arguments on the device. Compiles the kernel for them."""
        sizes = (1, 1, 1, block, 1, 1, sharedmem)
        self.options(0)
        kernel, given = self.prepared(arguments)
        return _native.kernel_facts(kernel.native, (*sizes, *given), kernel.options(0), block, sharedmem)

    def _fact(self, name: str, arguments: Sequence[Any]) -> Any:
        """One of the `facts` for these arguments or types, or for the only signature. Without either it is a dict with
        the fact of each overload, by its types."""
        if not arguments and not self.specialized:
            return of_each(self, lambda each: self.facts(each.samples())[name])
        return self.facts(arguments)[name]

    def get_regs_per_thread(self, *arguments: Any) -> Any:
        """Returns the registers of a thread for arguments or a tuple of their types; 0 on the simulator. A kernel
        that has not exactly one signature returns, without arguments, a dict of the numbers of all ``overloads``."""
        return self._fact("registers", arguments)

    def get_shared_mem_per_block(self, *arguments: Any) -> Any:
        """Returns the bytes of static shared memory of a block; the arguments are those of ``get_regs_per_thread``."""
        return self._fact("shared_bytes", arguments)

    def get_local_mem_per_thread(self, *arguments: Any) -> Any:
        """Returns the bytes of local memory of a thread; the arguments are those of ``get_regs_per_thread``."""
        return self._fact("local_bytes", arguments)

    def get_const_mem_size(self, *arguments: Any) -> Any:
        """Returns the bytes of constant memory; the arguments are those of ``get_regs_per_thread``."""
        return self._fact("constant_bytes", arguments)

    def get_max_threads_per_block(self, *arguments: Any) -> Any:
        """Returns the largest number of threads of a block of the kernel."""
        most = self._options.most_threads
        return most if most else self._fact("most_threads", arguments)


def types_of(given: Any) -> tuple[Any, ...]:
    """The types of the arguments in a signature, a tuple of types or a single type."""
    if isinstance(given, Signature):
        return given.arguments
    return tuple(map(argument_type, given if isinstance(given, tuple | list) else (given,)))


def asked_types(arguments: Sequence[Any]) -> tuple[Any, ...] | None:
    """The types, if the only argument of an inspection is a signature or a tuple of types; None if it is a value."""
    if len(arguments) != 1 or not isinstance(arguments[0], tuple | Signature):
        return None
    try:
        return types_of(arguments[0])
    except TypeError:
        return None


def of_each(kernel: Inspected, get: Callable[[Overload], Any]) -> dict[tuple[Any, ...], Any]:
    """The results of `get` for all overloads, by the types of their arguments."""
    return {types: get(each) for types, each in kernel.overloads.items()}


def sample(kind: Any) -> Any:
    """An argument of this type, which serves to compile a kernel."""
    if isinstance(kind, Scalar):
        return _plain(kind).type(0)
    if isinstance(kind, Record):
        return np.zeros(1, kind.dtype)[0]
    if isinstance(kind, TupleType):
        return tuple(map(sample, kind.parts))
    order = "F" if getattr(kind, "layout", "A") == "F" else "C"
    return np.zeros((1,) * getattr(kind, "ndim", 1), _plain(kind.element), order)  # type: ignore[call-overload]


def _with_date(value: Any, kind: Any) -> Any:
    """A sample with the type of dates or durations, if `kind` is one of them."""
    element = getattr(kind, "element", kind)
    return value.view(element.dtype) if isinstance(element, Scalar) and element.is_date else value


def _plain(kind: Scalar | Record) -> np.dtype[Any]:
    """The NumPy type of such elements in kernels, in which dates and durations are int64."""
    return np.dtype(np.int64) if isinstance(kind, Scalar) and kind.is_date else kind.dtype
