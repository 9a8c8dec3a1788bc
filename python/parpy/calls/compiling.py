"""The first call of a jit function: it parses the function, finds out whether Python runs a part of it, and passes
calls that compiled code cannot make on. That call loads this module, not the decorator (jit.py)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

from .. import _native
from ..frontend.forms import Composed
from ..frontend.languages import LOOPS
from ..frontend.parse import Surface, parse
from ..frontend.program import Program
from ..host.driver import Driver, driver_of
from ..host.kept import NOTHING_KEPT, Kept, has_objects, is_list
from ..host.kept_drivers import KeptDrivers
from ..host.regions import RegionSource
from ..host.structures import Places, Structures
from ..syntax.names import Guard, is_array, is_scalar
from ..syntax.source import FunctionSource
from ..syntax.starred import packed_values, takes_rest_alone, without_star
from .elements import attribute_of, comes_apart, has_operators, has_other_keys, is_misused
from .errors import CompileError
from .made import begin
from .misfits import is_wrong_elsewhere, numbers_taken
from .objects import Reads, is_object
from .options import CompileOptions


@dataclass(frozen=True, slots=True)
class DriverSurface:
    """Takes the place of the parsed function if Python runs a part of it."""

    driver: Driver | Structures | KeptDrivers
    guards: tuple[Guard, ...]


class Compiling:
    """The compilation of one jit function, `made`, whose source is `written`."""

    def __init__(self, made: _native.JitFunction, written: FunctionSource, source: FunctionSource) -> None:
        """`source`: the same without stars among the parameters."""
        self._made, self._written, self._source = made, written, source
        self._structures = _structures_of(source)
        self._keeping = KeptDrivers(source, self._structures, _driver_of, _structures_of)

    def parse(self) -> Surface | DriverSurface:
        """The program or the driver that later calls run."""
        keeping = self._keeping
        keeping.guarded = False
        if keeping.wanted or self._structures.wanted:
            return DriverSurface(keeping, ())
        driver = _driver(self._source)
        if driver is None:
            return parse(self._source)
        if keeping.tests.texts:
            return DriverSurface(keeping, ())
        keeping.begin_with(driver)
        keeping.guarded = True
        return DriverSurface(keeping, driver.guards)

    def _with_pragmas_alone(self, values: tuple[Any, ...], options: CompileOptions | None) -> Any:
        """A call that compiles the statements with pragmas and nothing else, from now on."""
        source, keeping = self._source, self._keeping
        source.only_pragmas = True
        keeping.forget()
        try:
            result = keeping(values, options, False)
        except CompileError:
            source.only_pragmas = False
            keeping.forget()
            return NotImplemented
        _native.parse_anew(self._made)
        return result

    def on_misfit(self, error: Exception, values: tuple[Any, ...], options: CompileOptions | None) -> Any:
        """Repeats a call that cannot be compiled, in another way: with the parts of its arguments or, if a statement
        is outside of the language and the caller maps no loops, by a driver, so that Python runs the statement."""
        if not isinstance(error, CompileError) or (self._source.undivided and error.python_may_call):
            return NotImplemented
        keeping = self._keeping
        try:
            result = self._repeated(error, values, options)
        except CompileError as other:
            if other.says("run") or not keeping.may_divide(other, values, options):
                raise
            error, result = other, NotImplemented
        if result is not NotImplemented or not keeping.may_divide(error, values, options):
            return result
        result = keeping.divided(error, values, options, False)
        self._structures.wanted, keeping.wanted = False, True
        _native.parse_anew(self._made)
        return result

    def _repeated(self, error: CompileError, values: tuple[Any, ...], options: CompileOptions | None) -> Any:
        """Repeats a call whose arguments compiled code cannot take, with the parts of arguments that have parts. A
        function that cannot be compiled for unknown arguments may be compiled for these."""
        structures, keeping = self._structures, self._keeping
        repeated = numbers_taken(self._written, error, values)
        if repeated is not None:
            return self._made(*repeated[0], **repeated[1], opts=options)
        if is_wrong_elsewhere(self._source, error):
            return self._with_pragmas_alone(values, options)
        unclear = (
            bool(error.facts)
            and any(is_object(each) or is_list(each) for each in values)
            and not error.says("run", "argument")
        )
        fits = error.says("apart") or unclear
        if error.python_may_call:
            keeping.refuse(values)
        # "by key": an object that computes the attribute once may fail to, which matters only if that is read, and
        # an entry of a dict may be there behind an assignment.
        may_fit = fits or keeping.is_refused(values) or error.says("by key") or bool(keeping.tests.texts)
        by_python = may_fit and not keeping.wanted and keeping.kept(values) != NOTHING_KEPT
        if structures.wanted or keeping.wanted or not (by_python or (fits and structures.are_for(values))):
            return NotImplemented
        try:
            result = (keeping if by_python else structures)(values, options, False)
        except CompileError as other:
            computes = other.says_only("as number") and any(map(has_operators, values))
            in_texts = keeping.takes_texts_apart(values)
            as_wholes = computes or in_texts or any(map(has_other_keys, values))
            has_them = any(is_object(each) or has_objects(each) for each in values)
            has_them = has_them or ("P025" in other.codes and any(type(each) is tuple for each in values))
            has_them = has_them or (other.says("text") and any(type(each) is str for each in values))
            may_be_kept = as_wholes or (other.python_may_call and has_them)
            if may_be_kept and not self._source.part and not keeping.keeps_objects:
                keeping.keeps_objects = keeping.is_refused(values) or as_wholes
                keeping.refuse(values)
                try:
                    return self._repeated(error, values, options)
                except TypeError as failed:
                    if not (computes or in_texts) or isinstance(failed, CompileError):
                        raise
                    raise (error if in_texts else other) from failed  # Python cannot compute with the value either
            if other.says("run") or not is_misused(values, other):
                raise
            return NotImplemented  # the first message is the more exact one
        structures.wanted, keeping.wanted = not by_python, by_python
        _native.parse_anew(self._made)
        return result


def jit_of_source(source: FunctionSource) -> _native.JitFunction:
    """The jit function of a captured source, which is compiled soon."""
    made = _native.JitFunction.__new__(_native.JitFunction)
    fill(made, source)
    return made


def fill(made: _native.JitFunction, written: FunctionSource) -> None:
    """Makes an empty jit function that of the source."""
    compiling = Compiling(made, written, without_star(written))
    begin(made, written, compiling.parse, fill)
    made.on_misfit = compiling.on_misfit


def jit_of_part(source: FunctionSource, part: str) -> _native.JitFunction:
    """A jit function of the same source whose programs are one part of a call (src/passes/parts/part_text.h)."""

    def parsed() -> Surface:
        surface = parse(source)
        surface.module.add_source("<part of a call>", part, 1)
        return surface

    made = _native.JitFunction.__new__(_native.JitFunction)
    begin(made, source, parsed, fill)
    return made


def looked_at(
    compiled: _native.JitFunction, opts: CompileOptions | None, args: tuple[Any, ...], look: Callable[..., Any]
) -> Any:
    """`look(compiled, opts, args)`, repeated for the parts of the function that can be compiled if the whole cannot:
    with `refused` if Python makes calls that compiled code refuses. `args` are the positional arguments of a call;
    `look` gets those of a starred parameter as one tuple."""
    args = packed_values(compiled.__parpy_source__.function, args)
    try:
        return look(compiled, opts, args)
    except CompileError as error:
        source = compiled.__parpy_source__
        if is_wrong_elsewhere(source, error):
            source.only_pragmas = True
            _native.parse_anew(compiled)
            return look(compiled, opts, args)
        repeated = numbers_taken(source, error, args)
        if repeated is not None:
            return look(compiled, opts, tuple(repeated[0]))
        if error.python_may_call and driver_behind(compiled, args, refused=True) is not None:
            with suppress(Exception):  # the first error says more
                return look(compiled, opts, args, refused=True)
        keeping = _keeping(source)
        if not keeping.may_divide(error, args, opts):
            raise
        keeping.divide(error, args)
        with suppress(Exception):  # the first error says more
            return look(compiled, opts, args)
        raise


def _structures_of(source: FunctionSource) -> Structures:
    return Structures(source, partial(_for_kinds, source))


def _for_kinds(source: FunctionSource, kinds: Mapping[str, Composed]) -> tuple[_native.JitFunction, Places]:
    """The jit function of which these parameters are no numbers and no arrays, and the places of the values that
    it reads outside of itself."""

    def parsed() -> Surface:
        program = Program(LOOPS)
        program.known_kinds = dict(kinds)
        return parse(source, program)

    first: list[Surface] = [parsed()]
    places = [(capture.container, capture.key) for capture in first[0].captures]
    made = _native.JitFunction.__new__(_native.JitFunction)
    begin(made, source, lambda: first.pop() if first else parsed(), fill, gets_all=True)
    return made, places


def _driver(source: FunctionSource) -> Driver | None:
    return None if isinstance(source, RegionSource) else _driver_of(source)


def _driver_of(
    source: FunctionSource, kept: Kept = NOTHING_KEPT, methods: Sequence[FunctionSource] = ()
) -> Driver | None:
    """The driver of a function, as `driver_of`. If a function with pragmas cannot be compiled as a whole, only the
    statements with pragmas are."""
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


def _starless(source: FunctionSource) -> FunctionSource:
    return without_star(source) if takes_rest_alone(source.function) else source


def _keeping(source: FunctionSource) -> KeptDrivers:
    own = _starless(source)
    return KeptDrivers(own, _structures_of(own), _driver_of, _structures_of)


def driver_behind(
    function: _native.JitFunction, args: Sequence[Any], refused: bool = False
) -> Driver | Structures | None:
    """The driver for a call of these arguments; None if the compiled function itself runs. With `refused`, compiled
    code has refused a call that Python can make."""
    source = _starless(function.__parpy_source__)
    structures = _structures_of(source)
    keeping = KeptDrivers(source, structures, _driver_of, _structures_of)
    if refused:
        keeping.refuse(args)
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
