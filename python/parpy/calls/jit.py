"""The decorator and what belongs to it: print_compiled, clear_cache, introspection.

The call path itself is native (bindings/calls/jit_function.cpp); Python code runs at decoration, where it captures
the source, and when a function is parsed.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import partial, update_wrapper
from types import FunctionType
from typing import Any, NamedTuple, ParamSpec, Protocol, overload

from .. import _native
from ..frontend.forms import Composed
from ..frontend.languages import LOOPS
from ..frontend.parse import Surface, parse
from ..frontend.program import Program
from ..host.driver import Driver, driver_of
from ..host.kept import NOTHING_KEPT, Kept, is_list
from ..host.kept_drivers import KeptDrivers
from ..host.regions import RegionSource
from ..host.structures import Places, Structures
from ..syntax.annotations import annotations_of, as_declared, converted_to
from ..syntax.names import Guard, is_array, is_scalar, source_of
from ..syntax.source import FunctionSource
from ..syntax.starred import takes_rest, without_star
from ..types import BufferType, Symbol, TypeVar, bound_to
from ..vocabulary.signatures import is_signature
from . import decorations, environment
from .argument_lists import arguments_of
from .elements import attribute_of, comes_apart, is_misused
from .errors import CompileError
from .interface import source_text
from .objects import Reads, is_object
from .options import CompileBackend, CompileOptions
from .pickling import give_reference
from .pragma_parts import is_wrong_elsewhere
from .scalars import in_their_place
from .tracebacks import hides_frames

_STARS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS

environment.warn()  # once: when the package is imported


_MISSING: Any = object()
_P = ParamSpec("_P")
_R = typing.TypeVar("_R")


class _Decorator(Protocol):
    """``jit(…)`` with keywords or a signature."""

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
def jit(function: Any = _MISSING, /, **keywords: Any) -> Any:
    """Compiles ``function`` for the types and shapes of its calls.

    A call takes the arguments of the function and three keywords. ``opts`` is a ``parpy.CompileOptions``, for example
    from ``parpy.par``, and says how the loops run. ``seq=True`` runs the Python function itself. ``debug=True`` prints
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
    if function is _MISSING or is_signature(function):
        given = () if function is _MISSING else (function,)
        return partial(_decorated, decoration=decorations.read(given, keywords))
    return _decorated(function, decorations.read((), keywords))


def _decorated(function: Callable[..., Any], decoration: decorations.Decoration) -> _native.JitFunction:
    if isinstance(function, _native.JitFunction):
        return function
    source = source_of(function)
    if not source.unparsed:
        _ = source.pragmas  # those that are wrong are refused at once
    made = jit_of_source(decoration.applied(source))
    made.__wrapped__ = made.py_func = function
    return made


njit = jit


def jit_of_part(source: FunctionSource, part: str) -> _native.JitFunction:
    """A jit function of the same source whose programs are one part of a call (src/passes/parts/part_text.h)."""

    def parsed() -> Surface:
        surface = parse(source)
        surface.module.add_source("<part of a call>", part, 1)
        return surface

    made = _native.JitFunction.__new__(_native.JitFunction)
    _begin(made, source, parsed)
    return made


def jit_of_source(source: FunctionSource) -> _native.JitFunction:
    """The jit function of a captured source."""
    made = _native.JitFunction.__new__(_native.JitFunction)
    _fill(made, source)
    return made


def _fill(made: _native.JitFunction, written: FunctionSource) -> None:
    source = without_star(written)
    structures = Structures(source, partial(_for_kinds, source))
    keeping = KeptDrivers(source, structures, _driver_of)

    def parse_again() -> Surface | DriverSurface:
        keeping.guarded = False
        if keeping.wanted or structures.wanted:
            return DriverSurface(keeping, ())
        driver = _driver(source)
        if driver is None:
            return parse(source)
        keeping.forget()
        keeping.guarded = True
        return DriverSurface(keeping, driver.guards)

    def with_pragmas_alone(values: tuple[Any, ...], options: CompileOptions | None) -> Any:
        """A call that compiles the statements with pragmas and nothing else, from now on."""
        source.only_pragmas = True
        keeping.forget()
        try:
            result = keeping(values, options, False)
        except CompileError:
            source.only_pragmas = False
            keeping.forget()
            return NotImplemented
        _native.parse_anew(made)
        return result

    def on_misfit(error: Exception, values: tuple[Any, ...], options: CompileOptions | None) -> Any:
        """A call whose arguments compiled code cannot take: those that come apart do so from now on. Functions that
        cannot be compiled may be so if it is known what they get."""
        codes = error.codes if isinstance(error, CompileError) else ()
        repeated = _numbers_taken(written, codes, values)
        if repeated is not None:
            return made(*repeated[0], **repeated[1], opts=options)
        if is_wrong_elsewhere(source, error):
            return with_pragmas_alone(values, options)
        unclear = (
            bool(codes)
            and any(is_object(each) or is_list(each) for each in values)
            and not any(code.startswith(("P4", "P55")) for code in codes)
        )
        fits = "P550" in codes or unclear
        keeping.refused = keeping.refused or not {"P217", "P223", "P228"}.isdisjoint(codes) or _is_of_numpy(error)
        # P557: an object that computes the attribute once may fail to, which matters only if that is read.
        # P558: an entry of a dict that is there behind an assignment.
        may_fit = fits or keeping.refused or not {"P557", "P558"}.isdisjoint(codes)
        by_python = may_fit and not keeping.wanted and keeping.kept(values) != NOTHING_KEPT
        if structures.wanted or keeping.wanted or not (by_python or (fits and structures.are_for(values))):
            return NotImplemented
        try:
            result = (keeping if by_python else structures)(values, options, False)
        except CompileError as other:
            runs = any(code.startswith("P4") for code in other.codes)
            if runs or not is_misused(values, other.codes):
                raise
            return NotImplemented  # the first message says more of what the function is not made for
        structures.wanted, keeping.wanted = not by_python, by_python
        _native.parse_anew(made)
        return result

    _begin(made, written, parse_again)
    made.on_misfit = on_misfit


def _is_of_numpy(error: Exception) -> bool:
    """Whether it says that compiled code has a function of NumPy for other dimensions alone."""
    return re.search(r"(parpy/library/\w+\.py|<[\w.]+>):\d+:\d+: error\[P232\]", str(error)) is not None


def _numbers_taken(
    source: FunctionSource, codes: tuple[str, ...], values: tuple[Any, ...]
) -> tuple[list[Any], dict[str, Any]] | None:
    """What a call that ended with these errors may be repeated with, if that is about numbers."""
    code = source.function.__code__
    if not {"P231", "P556"}.intersection(codes) or code.co_flags & _STARS:
        return None
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return in_their_place(source.function, codes, dict(zip(names, values, strict=False)))


def looked_at(compiled: _native.JitFunction, args: tuple[Any, ...], look: Callable[[tuple[Any, ...]], Any]) -> Any:
    """`look(args)` for what a call of these positional arguments runs."""
    try:
        return look(args)
    except CompileError as error:
        source = compiled.__parpy_source__
        if is_wrong_elsewhere(source, error):
            source.only_pragmas = True
            _native.parse_anew(compiled)
            return look(args)
        repeated = _numbers_taken(source, error.codes, args)
        if repeated is None:
            raise
        return look(tuple(repeated[0]))


def _for_kinds(source: FunctionSource, kinds: Mapping[str, Composed]) -> tuple[_native.JitFunction, Places]:
    """The jit function of which these parameters are no numbers and no arrays, and the places of what it reads outside
    of itself."""

    def parsed() -> Surface:
        program = Program(LOOPS)
        program.known_kinds = dict(kinds)
        return parse(source, program)

    first: list[Surface] = [parsed()]
    places = [(capture.container, capture.key) for capture in first[0].captures]
    made = _native.JitFunction.__new__(_native.JitFunction)
    _begin(made, source, lambda: first.pop() if first else parsed())
    return made, places


def _begin(made: _native.JitFunction, source: FunctionSource, parse_again: Callable[[], Any]) -> None:
    code = source.function.__code__
    plain = without_star(source).function.__code__
    names = plain.co_varnames[: plain.co_argcount + plain.co_kwonlyargcount]
    bind = twin(source.function, names)
    made.__init__(  # type: ignore[misc]
        _with_symbols(source.function, names),
        parse_again,
        bind,
        names,
        -1 if code.co_kwonlyargcount or code.co_posonlyargcount or code.co_flags & _STARS else len(names),
        *source.defaults,
    )
    update_wrapper(made, source.function)
    made.__parpy_source__ = source
    made.py_func = source.function
    give_reference(made, source.function, _fill, source)


@dataclass(frozen=True, slots=True)
class DriverSurface:
    """What stands for a parsed function where Python runs a part of it."""

    driver: Driver | Structures | KeptDrivers
    guards: tuple[Guard, ...]


def _driver(source: FunctionSource) -> Driver | None:
    return None if isinstance(source, RegionSource) else _driver_of(source)


def _driver_of(
    source: FunctionSource, kept: Kept = NOTHING_KEPT, methods: Sequence[FunctionSource] = ()
) -> Driver | None:
    """What runs calls of a function, as `driver_of`. Where a function with pragmas cannot be compiled as a whole, only
    the statements behind these are."""
    if not source.pragmas:
        return driver_of(source, kept, methods)
    try:
        driver = driver_of(source, kept, methods)
        if driver is None:
            parse(source)
        return driver
    except CompileError as error:
        if is_wrong_elsewhere(source, error):
            only = copy(source)
            only.only_pragmas = True
            with suppress(CompileError):  # the first one says more
                return driver_of(only, kept, methods)
        raise


def driver_behind(function: _native.JitFunction, args: Sequence[Any]) -> Driver | Structures | None:
    """What runs a call of these arguments, unless it is the function itself."""
    source: FunctionSource = function.__parpy_source__
    structures = Structures(source, partial(_for_kinds, source))
    keeping = KeptDrivers(source, structures, _driver_of)
    if not isinstance(source, RegionSource) and keeping.kept(args) != NOTHING_KEPT:
        return keeping.of(args)
    driver = _driver(source)
    defaults = {} if driver is not None else inspect.signature(source.function).parameters
    left_out = [each.default for each in (*defaults.values(),)[len(args) :]]
    if driver is not None or not (any(map(comes_apart, (*args, *left_out))) or _needs_kinds(source, args)):
        return driver
    return structures


def _needs_kinds(source: FunctionSource, args: Sequence[Any]) -> bool:
    """Whether objects among the arguments are more to it than attributes that are numbers and arrays, which it
    reads."""
    given = dict(zip(source.function.__code__.co_varnames, args, strict=False))
    objects = {name: value for name, value in given.items() if is_object(value)}
    if not objects:
        return False
    reads = Reads(source)
    if any(
        is_scalar(attribute_of(each, name))
        for each in objects.values()
        for name in reads.stored.intersection(reads.of(each))
    ):
        return True
    try:
        params = [param for param in parse(source).params if param.name in objects and not param.unused]
    except CompileError:
        return True
    read = [None if param.key is None else attribute_of(objects[param.name], param.key) for param in params]
    return not all(is_scalar(value) or is_array(value) for value in read)


def _with_symbols(function: FunctionType, names: tuple[str, ...]) -> FunctionType:
    """The function as Python runs it: with the values of the symbols in its annotations, and numbers of their types."""
    annotations = {name: each for name, each in annotations_of(function).items() if name in names}
    scalars = {name: each for name, each in annotations.items() if converted_to(each) is not None}
    if not scalars and not any(isinstance(each, BufferType | Symbol | TypeVar) for each in annotations.values()):
        return function

    def call(arguments: tuple[Any, ...]) -> Any:
        given = dict(zip(names, arguments, strict=True))
        given |= {name: as_declared(given[name], each) for name, each in scalars.items()}
        with bound_to(annotations, given):
            code = function.__code__
            positional = [given[name] for name in names[: code.co_argcount]]
            begin = code.co_argcount + (1 if takes_rest(function) else 0)
            positional += [each for name in names[code.co_argcount : begin] for each in given[name]]
            return function(*positional, **{name: given[name] for name in names[begin:]})

    made = twin(function, names, call)
    update_wrapper(made, function)
    return made


def twin(
    function: FunctionType, names: tuple[str, ...], of: Callable[[tuple[Any, ...]], Any] | None = None
) -> FunctionType:
    """A function with the same parameters that returns the tuple of its arguments by these names, or what ``of`` makes
    of it.

    It binds the arguments of calls that are not plain, with the errors that Python itself would raise.
    """
    code = function.__code__
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    positional = list(own[: code.co_argcount])
    if code.co_posonlyargcount:
        positional.insert(code.co_posonlyargcount, "/")
    keyword_only = list(own[code.co_argcount :])
    starred = iter(code.co_varnames[len(own) :])
    if code.co_flags & inspect.CO_VARARGS:
        keyword_only.insert(0, f"*{next(starred)}")
    elif keyword_only:
        keyword_only.insert(0, "*")
    if code.co_flags & inspect.CO_VARKEYWORDS:
        keyword_only.append(f"**{next(starred)}")
    parameters = ", ".join(positional + keyword_only)
    space: dict[str, Any] = {"of": of, "__name__": __name__}
    values = f"({', '.join(names)}{',' if names else ''})"
    exec(f"def twin({parameters}): return {'of' if of is not None else ''}{'(' + values + ')'}", space)
    twin: FunctionType = space["twin"]
    twin.__defaults__ = function.__defaults__
    twin.__kwdefaults__ = function.__kwdefaults__
    twin.__name__, twin.__qualname__ = function.__name__, function.__qualname__
    return twin


def _as_jit(function: Callable[..., Any]) -> _native.JitFunction:
    return function if isinstance(function, _native.JitFunction) else jit(function)


@hides_frames
def print_compiled(function: Callable[..., Any], *args: Any, opts: CompileOptions | None = None) -> str:
    """Returns the source text that ``function`` becomes for arguments like ``args``: the device part and the host part.

    The function may be decorated or not. The arguments are given as in a call, ``print_compiled(f, x, n, opts=p)``, or
    as one list or tuple, ``print_compiled(f, [x, n], p)``. The hardware need not be present. The same arguments and
    options give the same text in every process, unless ``parpy.tune`` has found a mapping for an automatic call.

    Raises CompileError if the function cannot be compiled for these arguments.
    """
    compiled = _as_jit(function)
    args, opts = arguments_of(compiled, args, opts)
    text: str = looked_at(compiled, args, partial(_text, compiled, opts))
    return text


def _text(compiled: _native.JitFunction, opts: CompileOptions | None, args: tuple[Any, ...]) -> str:
    python: FunctionType = compiled.__parpy_source__.function
    driver = driver_behind(compiled, args)
    if driver is None:
        return source_text(compiled, args, opts, python)
    look: Any = partial(source_text, part_of=python.__name__) if isinstance(driver, Driver) else print_compiled
    return "\n".join(driver.inspect(args, opts, look))


def interpret(function: Callable[..., Any], args: Sequence[Any], opts: CompileOptions, until: str = "") -> None:
    """Runs ``function`` in the reference interpreter of the compiler's IR, after the passes of the back end up to
    ``until``; without ``until``, after all of the CPU's. Of a GPU's pipeline those count that come before kernels are
    made.

    For tests: slow, checks every subscript, and is what the back ends are compared with.
    """
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
    """What was compiled of one function.

    ``specializations`` counts what calls choose from, ``compilations`` how often the compiler ran, and ``run_time``
    names the values that are passed at run time because they kept changing, such as ``'n'`` or ``'x.shape[0]'``.
    """

    specializations: int
    compilations: int
    run_time: tuple[str, ...]


def cache_info(function: Callable[..., Any]) -> CacheInfo:
    """What was compiled of a jit function in this process."""
    specializations, compilations, names = _native.cache_info(_as_jit(function))
    return CacheInfo(specializations, compilations, tuple(names))
