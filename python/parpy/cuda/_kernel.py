"""``parpy.cuda.jit``: kernels written by hand, and their launches.

A launch is a call of a native jit function whose first seven parameters are the sizes of the launch
(vocabulary/device.py, GEOMETRY); compiled code is made once for the types of the arguments, for all sizes and values.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import update_wrapper
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from .. import _native
from ..arrays.device_arrays import is_int
from ..calls.elements import Elements, comes_apart, composed_kind
from ..calls.errors import CompileError
from ..calls.options import CompileBackend, CompileOptions
from ..calls.pickling import ByReference, give_reference
from ..calls.tracebacks import hides_frames
from ..frontend.forms import Composed, Kind, Single, TupleKind
from ..frontend.languages import KERNELS
from ..frontend.parse import Surface, parse
from ..frontend.program import Program
from ..syntax.names import source_of
from ..syntax.source import FunctionSource
from ..syntax.starred import takes_rest, without_star
from ..syntax.viewed_parameters import with_views
from ..syntax.written_records import written_records
from ..vocabulary.device import GEOMETRY, Launchable
from ..vocabulary.signatures import Signature
from ._arrays import constant_of, to_device
from ._backend import on_gpu
from ._devices import get_current_device, launch_limits
from ._launches import ForAll, Launcher, PreparingLauncher, launch_sizes, native_kernel, sizes_of
from ._linking import DEVICE_CODE
from ._options import KernelOptions
from ._overloads import SAMPLE_SIZES, Inspected, Overloads, asked_types, sample
from ._streams import Stream, handle_of
from .arguments import matching
from .arguments.dates import as_integers, is_date, kind_of_type, kinds_of, of_integers, viewed
from .arguments.directed import Directed, In, InOut, prepared, type_of, with_records
from .arguments.kinds import Fields, has_records, kind_of

_INCLUDES = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"', re.MULTILINE)


class Kernel(Inspected, Launchable, ByReference):
    """A kernel. ``k[grid, block](…)`` launches it, and ``k.forall(n)(…)`` also chooses the size of the blocks."""

    def __init__(
        self,
        function: Callable[..., Any] | FunctionSource,
        signatures: tuple[Signature, ...],
        options: KernelOptions,
        link: tuple[str, ...] = (),
    ) -> None:
        given = self._given_source = source_of(function)
        source, self._written_records = written_records(without_star(given))
        source, self._views = with_views(source)
        self.py_func: FunctionType = given.function
        """The Python function."""
        self.overloads = Overloads(self)
        """The compiled kernels by the types of their arguments, with the needs of each on the device and its text."""
        # The number of parameters before the starred one in `def k(a, *rest)`.
        self._plain_arguments = given.function.__code__.co_argcount if takes_rest(given.function) else None
        for each in signatures:
            check_count(given.function, each)
            self.overloads.note(each.arguments)
        if any(each.result is not None for each in signatures):
            raise TypeError(f"a kernel returns nothing: write void(…), not {signatures[0]}")
        self.__parpy_source__ = source
        self.declared = signatures
        self._options, self._link = options, link
        self._surface: Surface | None = None  # a parsed module that the native function has not fetched yet
        self._device_code: list[str] = []
        self._folders: list[str] = []  # the folders of linked sources that include files beside them
        self.may_have_dates = not signatures or any(
            kind_of_type(kind) is not None for each in signatures for kind in each.arguments
        )
        self._fields: dict[str, list[str]] = {}  # the record fields that the kernel uses, by parameter
        # The kernel is parsed for the kinds of the parameters in `_asked`, or of all parameters if `_asks_all`.
        # `_known` has the kinds that are given, and `_variants` the kernels by these kinds.
        self._asked: tuple[str, ...] = ()
        self._asks_all = False
        self._known: dict[str, Kind] = {}
        self._knows_all = False
        self._tuples: dict[str, Composed] = {}  # parameters that are tuples
        self._takes_tuples = False  # whether a launch has passed a tuple
        self._refused: CompileError | None = None  # the error of launches without a tuple among the arguments
        self._variants: dict[tuple[Kind | Composed | None, ...], Kernel] = {}
        self._specialized: dict[tuple[Any, ...], Kernel] = {}  # the kernels with one signature, by its types
        self._dated: dict[Any, Kernel | None] = {}  # the kernels of integers by the types of dates and durations
        self._by_stream: dict[Any, CompileOptions] = {}
        self._launchers: dict[Any, Launcher] = {}
        self._blocks: dict[Any, int] = {}
        self.native = native_kernel(source.function, self.parse)
        self.native.on_misfit = self._relaunch
        if not signatures:
            self.native.on_compiled = self._note
        update_wrapper(self, given.function)
        give_reference(self, given.function, Kernel.__init__, given, signatures, options, link)

    def _note(self, values: tuple[Any, ...]) -> None:
        """Notes that a program was compiled for these values of the parameters."""
        self.overloads.note(map(type_of, self._given(values)))

    def _given(self, values: Sequence[Any]) -> Sequence[Any]:
        """The arguments of a launch among the values of all parameters."""
        return values[len(GEOMETRY) : len(values) - len(self._views)]

    def parse(self) -> Surface:
        """The surface module. The native function calls this once, and again if an object that it uses changes."""
        surface, self._surface = self._surface, None
        return self._parse() if surface is None else surface

    def _parse(self) -> Surface:
        program = self.program()
        program.known, program.knows_all, program.known_kinds = self._known, self._knows_all, self._tuples
        try:
            surface = parse(self.__parpy_source__, program)
        except CompileError:
            self._asks_all = program.asks_all and not self._knows_all
            raise
        self._asks_all = False
        self._device_code = [path for path in program.linked if path.endswith(DEVICE_CODE)]
        including = [path for path, (_, text) in program.linked.items() if text is not None and _INCLUDES.search(text)]
        self._folders = list(dict.fromkeys(os.path.dirname(os.path.abspath(path)) for path in including))
        self._asked = tuple(sorted(program.asked - self._known.keys()))
        self._fields = {}
        for param in surface.params:
            if param.key is not None and param.name not in self._tuples:
                self._fields.setdefault(param.name, []).append(param.key)
        return surface

    def program(self) -> Program:
        """A new program that the kernel and its functions are parsed into."""
        program = Program(KERNELS)
        program.link = self._link
        program.make_constant = constant_of
        return program

    @property
    def is_callable(self) -> bool:  # type: ignore[override]
        """Whether other kernels may call the function. A function with signatures is a kernel for launches only."""
        return not self.declared

    @hides_frames
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
        launcher = self._configured(*parts)
        if len(self._launchers) < 256 and self._refused is None and _is_plain(parts):
            self._launchers[configuration] = launcher
        return launcher

    def configure(self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0) -> Launcher:
        """Returns a launch of ``griddim`` blocks of ``blockdim`` threads each: ints, or tuples of up to three ints."""
        return self._configured(griddim, blockdim, stream, sharedmem)

    def _configured(self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0) -> Launcher:
        sizes = launch_sizes(griddim, blockdim)
        most, threads = self._options.most_threads, sizes[3] * sizes[4] * sizes[5]
        if most and threads > most:
            raise ValueError(
                f"by its launch_bounds '{self.py_func.__name__}' has blocks of at most {most} threads, not {threads}"
            )
        if not is_int(sharedmem) or not 0 <= sharedmem < 2**31:
            raise ValueError(f"the shared memory of a launch is a number of bytes, not {sharedmem!r}")
        options = self.options(stream)
        deep = any("." in key for keys in self._fields.values() for key in keys)
        asks = bool(self._asked) or self._asks_all or self._takes_tuples or self._refused is not None
        changes = (
            bool(self._options.extensions or self._written_records or self._views) or self._plain_arguments is not None
        )
        looks = asks or changes or deep or bool(self.declared) or (self.has_records and on_gpu())
        return (PreparingLauncher if looks else Launcher)(self, (*sizes, int(sharedmem)), options)

    @hides_frames
    def forall(self, ntasks: int | tuple[int, ...], tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> ForAll:
        """Returns a launch of at least ``ntasks`` threads (an int, or a tuple of up to three) in blocks of ``tpb``; 0
        chooses ``tpb``. The kernel must skip the excess threads of the last blocks. Without tasks nothing runs."""
        return ForAll(self, ntasks, tpb, stream, sharedmem)

    def options(self, stream: Any) -> CompileOptions:
        """The options of launches on ``stream``; 0 is the default stream."""
        return self.options_on(handle_of(stream))

    def options_on(self, handle: int) -> CompileOptions:
        """The options of launches on the stream with this handle."""
        key = handle, on_gpu()
        known = self._by_stream.get(key)
        if not self._by_stream or self._refused is not None:
            self._try_to_parse()
        if known is None:
            known = self._options_on(key[1], key[0])
            if len(self._by_stream) < 256:
                self._by_stream[key] = known
        return known

    def _try_to_parse(self) -> None:
        """Parses the kernel. An error is kept for launches, since the kernel may be right for tuples as arguments."""
        self._refused = None
        try:
            self._surface = self._parse()
        except CompileError as error:
            if self._tuples or not (self.program().language.records and self.py_func.__code__.co_argcount):
                raise
            self._refused = None if self._asks_all else error

    def _options_on(self, gpu: bool, stream: int = 0) -> CompileOptions:
        return CompileOptions(
            backend=CompileBackend.Cuda if gpu else CompileBackend.Sim,
            legality="trust",
            check="all" if self._options.debug else None,
            stream=stream or None,
            libs=self._device_code,
            includes=self._folders,
            fast_math=self._options.fast_math,
            extra_flags=[*self._options.flags] if gpu else [],
        )

    def _anew(self) -> Kernel:
        """A new kernel of the same function without signatures."""
        return Kernel(self.__parpy_source__, (), self._options, self._link)

    def with_signature(self, wanted: Signature) -> Kernel:
        """A kernel of the same function with this signature. Raises CompileError if it cannot be compiled for it."""
        made = Kernel(self._given_source, (wanted,), self._options, self._link)
        made.check_signatures()
        return made

    def options_for_gpu(self) -> CompileOptions:
        """The options of code for a GPU, whether or not this machine has one."""
        return self._options_on(True)

    def surface_anew(self) -> None:
        """Parses the function. Raises CompileError if it is wrong, also if only the kinds of arguments are missing."""
        self._surface = self._parse()

    @property
    def asks_all(self) -> bool:
        """Whether the function cannot be parsed without the kinds of all arguments."""
        return self._asks_all

    def check_signatures(self) -> None:
        """Raises CompileError if the kernel is wrong for its signatures. Undefined names are no error yet.

        The parsed kernel is discarded, because a launch reads the globals of its own time.
        """
        for each in self.declared:
            probe = self._of_integers((*map(kind_of_type, each.arguments),)) or self._anew()
            try:
                samples = [sample(kind) for kind in each.arguments]
            except TypeError:  # NumPy has no type for the elements
                continue
            try:
                probe._check(self.with_views(samples))
            except CompileError as error:
                if not error.says("name", "back end"):
                    raise

    def _check(self, samples: Sequence[Any]) -> None:
        """Raises CompileError if the kernel is wrong for such arguments."""
        try:
            self.surface_anew()
        except CompileError:
            if not self._asks_all:
                raise
        kernel = self.variant(samples)
        _native.source_text(kernel.native, (*SAMPLE_SIZES, *kernel.with_fields(samples)), self._options_on(False))

    def taken(self, arguments: tuple[Any, ...], stream: int) -> tuple[tuple[Any, ...], list[Callable[[], Any]]]:
        """The arguments of a launch in the form of the parameters, and calls to make after the launch."""
        arguments, behind = prepared(arguments, self._options.extensions, Stream(stream))
        count = self._plain_arguments
        if count is not None:
            arguments = (*arguments[:count], arguments[count:])
        return with_records(arguments, self._written_records, behind), behind

    def with_views(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """The arguments, followed by the views that the kernel needs. Raises TypeError if an argument is no array."""
        if not self._views:
            return arguments
        views = []
        for place, dtype in self._views:
            array: Any = arguments[place] if place < len(arguments) else None
            if not hasattr(array, "view"):
                raise TypeError(f"argument {place + 1} must be an array, of which the kernel takes a view as {dtype}")
            views.append(array.view(dtype))
        return (*arguments, *views)

    def matched(self, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments converted to the types of the signature that fits best. Raises TypeError if none fits."""
        return matching.best(self.__parpy_source__.function, self.declared, arguments)

    @property
    def has_records(self) -> bool:
        """Whether the kernel uses fields of records."""
        return bool(self._fields)

    def prepared(self, arguments: Sequence[Any]) -> tuple[Kernel, Sequence[Any]]:
        """The variant for such arguments, and the arguments in its form. Without arguments they are samples of the
        types of the first signature."""
        given = asked_types(arguments)
        types = self.declared[0].arguments if self.declared and not arguments else given
        if types is not None:
            arguments, kinds = [*map(sample, types)], (*map(kind_of_type, types),)
        else:
            arguments, _ = self.taken((*arguments,), 0)
            arguments = self.matched(arguments) if self.declared else arguments
            kinds, arguments = kinds_of(arguments), viewed(arguments)
        kernel = self._of_integers(kinds)
        if kernel is not None:
            return kernel.prepared(arguments)
        arguments = self.with_views(arguments)
        kernel = self.variant(arguments)
        return kernel, kernel.with_fields(arguments)

    def variant(self, arguments: Sequence[Any]) -> Kernel:
        """The kernel parsed for arguments of such kinds; the kernel itself if parsing needs no kinds."""
        function = self.__parpy_source__.function
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        given = dict(zip(names, arguments, strict=False))
        for name, default in zip(reversed(names), reversed(function.__defaults__ or ()), strict=False):
            given.setdefault(name, default)
        apart = {} if self._tuples else {name: each for name, each in given.items() if comes_apart(each)}
        tuples = {name: composed_kind(each, kind_of) for name, each in apart.items()}
        if self._refused is not None and not tuples:
            raise self._refused
        if self._knows_all or len(given) < len(names):  # a call with too few arguments fails later
            return self
        whole = any(has_records(each) and name not in self._fields for name, each in given.items())
        if not (self._asked or self._asks_all or whole or tuples):
            return self
        self._takes_tuples = self._takes_tuples or bool(tuples)
        asked = names if self._asks_all or whole or tuples else self._asked
        kinds = {name: tuples.get(name) or kind_of(given[name]) for name in asked}
        for name in self._asked:
            kind = kinds[name]
            if isinstance(kind, Single) or (isinstance(kind, TupleKind) and kind.is_none):
                continue
            if not isinstance(kind, Kind) or not kind.element:
                raise TypeError(f"argument '{name}' must be an array: the kernel uses the type of its elements")
        key = (*kinds.values(),)
        if key not in self._variants:
            made = self._anew()
            made._known = {name: kind for name, kind in kinds.items() if isinstance(kind, Kind)}
            made._tuples = tuples
            made._knows_all = asked is names
            self._variants[key] = made
        return self._variants[key]

    def with_fields(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """The arguments, in which nested records are replaced by dicts of the fields that the kernel uses."""
        deep = {name for name, keys in self._fields.items() if any("." in key for key in keys)}
        if not deep and not self._tuples:
            return arguments
        names = self.__parpy_source__.function.__code__.co_varnames
        taken: list[Any] = []
        for name, each in zip(names, arguments, strict=False):
            if name in self._tuples and comes_apart(each):
                taken.append(Elements(each))
            elif name in deep and not isinstance(each, Fields):
                taken.append(Fields(each, self._fields[name]))
            else:
                taken.append(each)
        return taken

    def launch(self, sizes: Sequence[int], arguments: Sequence[Any], options: CompileOptions) -> None:
        """Launches the kernel. Records are copied to the GPU as a whole, because their fields are interleaved."""
        if not (self.has_records and _places_records(options)):
            self.native(*sizes, *self.with_fields(arguments), opts=options)
            return
        from .arguments.packed import aligned

        placed = [to_device(each) if isinstance(each, np.ndarray) and has_records(each) else each for each in arguments]
        names = self.__parpy_source__.function.__code__.co_varnames
        keys = [self._fields.get(name, []) for name, _ in zip(names, placed, strict=False)]
        taken, moved = aligned(placed, keys, Stream(options.stream or 0))
        self.native(*sizes, *self.with_fields(taken), opts=options)
        for each in moved:
            each.store()
        for given, device in zip(arguments, placed, strict=True):
            if given is not device and given.flags.writeable:
                device.copy_to_host(given)

    def _relaunch(self, error: Exception, values: tuple[Any, ...], options: CompileOptions) -> Any:
        """Repeats a failed launch with converted arguments or for their kinds; NotImplemented if neither can help."""
        sizes = values[: len(GEOMETRY)]
        arguments = [each.records if isinstance(each, Fields) else each for each in self._given(values)]
        if any(isinstance(each, Directed) for each in arguments):
            PreparingLauncher(self, (*sizes,), options)(*arguments)
            return None
        if any(map(is_date, arguments)):
            if not self.launched_with_dates(sizes, arguments, options.stream or 0):
                self.native(*sizes, *as_integers(self.with_views(arguments)), opts=options)
            return None
        if not isinstance(error, CompileError):
            return NotImplemented
        if any(map(_needs_uint64, arguments)):
            wide = [np.uint64(each) if _needs_uint64(each) else each for each in arguments]
            PreparingLauncher(self, (*sizes,), options)(*wide)
            return None
        if error.says("as number") and any(map(_is_point, arguments)):  # the kernel subscripts a 0-d array
            given = [(InOut if each.flags.writeable else In)(each) if _is_point(each) else each for each in arguments]
            PreparingLauncher(self, (*sizes,), options)(*given)
            return None
        refused = error.says("apart", "by key")
        given_tuples = refused and any(map(comes_apart, arguments)) and not self._tuples
        records = error.says("elements") and any(map(has_records, arguments))
        if self._knows_all or not (given_tuples or records):
            return NotImplemented
        self._asks_all = self._asks_all or records
        self._launchers.clear()
        arguments = [*self.with_views(arguments)]
        kernel = self.variant(arguments)
        kernel.launch(sizes, arguments, kernel.options_on(options.stream or 0))
        return None

    def launched_with_dates(self, sizes: Sequence[int], arguments: Sequence[Any], stream: int) -> bool:
        """Launches the kernel of integers for these arguments. False if there are no dates or durations among them, or
        if the kernel does more with them than NumPy's operations."""
        kernel = self._of_integers(kinds_of(arguments))
        if kernel is not None:
            kernel[sizes[:3], sizes[3:6], stream, sizes[6]](*viewed(arguments))
        return kernel is not None

    def _of_integers(self, kinds: tuple[Any, ...]) -> Kernel | None:
        """The kernel of integers for parameters of these types, which are None for numbers; None if it needs none."""
        if any(kinds) and kinds not in self._dated:
            source = of_integers(self._given_source, kinds)
            self._dated[kinds] = None if source is None else Kernel(source, (), self._options, self._link)
        return self._dated.get(kinds)

    def suggest_block(self, *arguments: Any, sharedmem: int = 0) -> int:
        """Returns the number of threads per block with the highest occupancy of the device."""
        return self.facts(arguments, sharedmem=sharedmem)["best_block"]

    def best_block(self, arguments: tuple[Any, ...], sharedmem: int) -> int:
        """The result of `suggest_block`, cached by the types of the arguments; 256 on the simulator and for records."""
        most = self._options.most_threads or 1024
        if self.has_records or not on_gpu():
            return min(256, most)
        kinds = tuple((a.dtype, a.ndim) if hasattr(a, "ndim") else type(a) for a in arguments)
        key = get_current_device().id, sharedmem, kinds
        known = self._blocks.get(key)
        if known is None:
            known = min(self.suggest_block(*arguments, sharedmem=sharedmem), most)
            if len(self._blocks) < 256:
                self._blocks[key] = known
        return known

    def max_cooperative_grid_blocks(self, blockdim: Any, *arguments: Any, dynsmemsize: int = 0) -> int:
        """Returns the largest number of blocks in a grid whose kernel calls ``cg.this_grid().sync()``."""
        block = sizes_of(blockdim, "block", launch_limits().block)
        return self.facts(arguments, block[0] * block[1] * block[2], dynsmemsize)["resident_blocks"]

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        name = self.py_func.__name__
        raise ValueError(f"'{name}' is a kernel: say on how many threads it runs, {name}[grid, block](…)")

    def __repr__(self) -> str:
        return f"<parpy.cuda kernel {self.py_func.__qualname__}>"


def check_count(function: FunctionType, wanted: Signature) -> None:
    """Raises TypeError if the signature has more or fewer arguments than the function."""
    count = function.__code__.co_argcount
    if len(wanted.arguments) != count:
        raise TypeError(f"'{function.__name__}' has {count} parameters, but its signature is {wanted}")


def _places_records(options: CompileOptions) -> bool:
    """Whether records must be copied to GPU memory."""
    return options.backend is CompileBackend.Cuda


def _needs_uint64(value: Any) -> bool:
    """Whether the value is a Python integer that fits uint64 but not int64."""
    return type(value) is int and 2**63 <= value < 2**64


def _is_point(value: Any) -> bool:
    """Whether the value is a 0-d array, which kernels receive as a number unless they subscript it."""
    return isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.names is None


def _is_plain(parts: tuple[Any, ...]) -> bool:
    flat = [n for part in parts for n in (part if isinstance(part, tuple) else (part,))]
    return all(type(n) is int for n in flat)
