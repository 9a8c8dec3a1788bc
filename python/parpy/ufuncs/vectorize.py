"""``parpy.vectorize`` makes a universal function of a function of numbers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, Unpack, overload

import numpy as np

from .. import _native
from ..calls.tracebacks import hides_frames
from ..syntax.source import FunctionSource
from ..vocabulary.signatures import BY_IR_NAME, Scalar, Signature, Tuple, from_dtype
from . import prototypes
from .loops import LoopSource, element_loop, result_types
from .prototypes import Prototype, date_of
from .targets import Target, target_of

if TYPE_CHECKING:
    from .device import DeviceUfunc


class Keywords(TypedDict, total=False):
    """The keywords of both decorators besides the target."""

    identity: Any
    fastmath: bool
    cache: bool
    nopython: bool


class Scalars(NamedTuple):
    """A function of numbers with its signatures and options."""

    source: FunctionSource
    prototypes: tuple[Prototype, ...]  # empty if calls determine the types
    inputs: int
    outputs: int
    identity: Any  # a number, "reorderable" or None
    fast: bool

    @property
    def name(self) -> str:
        return self.source.function.__name__

    def host_ufunc(self, parallel: bool, prepared: bool = True) -> Any:
        """NumPy's ufunc of the function. Loops that are not ``prepared`` are compiled when they first run."""

        def made(types: Prototype, prepared: bool) -> LoopSource:
            return element_loop(self.for_types(types), types, parallel, self.fast, prepared)

        def loop_for(inputs: tuple[str, ...], _: tuple[str | None, ...]) -> LoopSource:
            return made(self.found(inputs), prepared=False)

        reorderable = self.identity is not None
        return _native.make_ufunc(
            self.name,
            self.source.function.__doc__ or "",
            self.inputs,
            self.outputs,
            None,
            None if self.identity == "reorderable" else self.identity,
            reorderable,
            [made(each, prepared=prepared) for each in self.prototypes],
            None if self.prototypes else loop_for,
            [],
        )

    def called(self) -> FunctionSource:
        """The function that compiled code calls for single elements."""
        typed = tuple(map(self._typed, self.prototypes))
        if not typed or self.outputs > 1:  # the elements of a tuple keep their own types
            return typed[0] if len(typed) == 1 else self.source
        made = copy(self.source)
        made.in_order, made.alternatives = True, typed
        return made

    def _typed(self, types: Prototype) -> FunctionSource:
        made = copy(self.source)
        names = self.source.function.__code__.co_varnames
        made.declared = dict(zip(names, types.inputs, strict=False))
        if len(types.outputs) == 1:
            made.declared["return"] = types.outputs[0]
        made.shown = str(types)
        return made

    def for_types(self, types: Prototype) -> FunctionSource:
        """The function for operands of these types, with integers for dates and durations."""
        if not types.dates:
            return self.source
        from ..dates.rewriting import in_integers

        return in_integers(self.source, types.kinds[: self.inputs], types.kinds[self.inputs :]).source

    def found(self, inputs: tuple[str, ...]) -> Prototype:
        """The types of a call without signatures. Raises TypeError if the number of results is another one."""
        made = prototype_for(self.source, inputs)
        if len(made.outputs) != self.outputs:
            raise TypeError(
                f"'{self.name}' returns {len(made.outputs)} numbers for ({', '.join(inputs)}), not {self.outputs}"
            )
        return made


def prototype_for(source: FunctionSource, inputs: tuple[str, ...]) -> Prototype:
    """The types of the function for inputs of these types, which compiled code determines. Dates and durations have
    NumPy's names."""
    kinds = [date_of(each) for each in inputs]
    if not any(kinds):
        return Prototype(inputs, result_types(source, inputs))
    from ..dates.rewriting import in_integers

    made = in_integers(source, kinds)
    given = tuple(each if kind is None else "i64" for each, kind in zip(inputs, kinds, strict=True))
    outputs = result_types(made.source, given)
    found = tuple("i64" if kind else each for each, kind in zip(outputs, made.results, strict=True))
    return Prototype(given, found, tuple("" if kind is None else str(kind) for kind in (*kinds, *made.results)))


@overload
def vectorize(function: Callable[..., Any], /) -> np.ufunc: ...
@overload
def vectorize(
    signatures: Any = ...,
    /,
    *,
    target: Literal["cpu", "parallel"] = ...,
    **keywords: Unpack[Keywords],
) -> Callable[[Callable[..., Any]], np.ufunc]: ...
@overload
def vectorize(
    signatures: Any = ...,
    /,
    *,
    target: Literal["gpu", "cuda", "sim", "auto"],
    **keywords: Unpack[Keywords],
) -> Callable[[Callable[..., Any]], DeviceUfunc]: ...
@overload
def vectorize(
    signatures: Any = ...,
    /,
    *,
    target: str,
    **keywords: Unpack[Keywords],
) -> Callable[[Callable[..., Any]], Any]: ...
@hides_frames
def vectorize(
    signatures: Any = None,
    /,
    *,
    target: str = "cpu",
    identity: Any = None,
    fastmath: bool = False,
    cache: bool = True,
    nopython: bool = True,
) -> Any:
    """Makes a universal function from a function of numbers. Calls accept arrays of any shapes that broadcast, and
    compute the results element by element.

    ``signatures`` is a list of signatures, one signature, or nothing, as in ``@vectorize(['float32(float32,
    float32)'])``. A call uses the first signature to whose types the arguments can be cast safely. Without signatures,
    each combination of types is compiled at its first call. A function that returns a tuple has one result for each
    element of the tuple.

    ``target`` is ``'cpu'`` (one thread), ``'parallel'`` (all cores if the loop is long enough), ``'gpu'`` or
    ``'cuda'``, ``'sim'`` (the simulator of a GPU) or ``'auto'`` (the GPU for arrays there, the faster place for large
    host arrays). For ``'cpu'`` and ``'parallel'`` the result is a ``numpy.ufunc``, for others it has the same methods.
    ``identity`` is the start value of a reduction, ``'reorderable'`` if a reduction without one may run in any order,
    or None if it may not. ``fastmath=True`` lets the compiler reorder operations. ``cache`` and ``nopython`` are
    accepted for compatibility: compiled code is always cached.

    Raises TypeError for signatures that cannot be read or do not fit the function, ValueError for another target, and
    CompileError for a function that cannot be compiled.
    """
    if prototypes.begins_with_function(signatures):
        return vectorize(None, target=target, identity=identity, fastmath=fastmath)(signatures)
    chosen = target_of(target)
    found = prototypes.signatures_of(signatures)
    if identity is not None and identity != "reorderable" and not isinstance(identity, int | float | complex):
        raise ValueError(f"'identity' is a number, 'reorderable' or None, not {identity!r}")

    @hides_frames
    def decorated(function: Callable[..., Any]) -> Any:
        source = prototypes.source_behind(function)
        count = prototypes.parameter_count(source)
        if count == 0:
            raise TypeError(f"'{source.function.__name__}' has no parameters; a ufunc has one at least")
        closed = [with_result(each, source, count) for each in found]
        types = tuple(prototypes.element_prototype(each, source.function.__name__, count) for each in closed)
        outputs = len(types[0].outputs) if types else prototypes.result_count(source)
        if any(len(each.outputs) != outputs for each in types):
            raise TypeError(f"the signatures of '{source.function.__name__}' have results of different numbers")
        return _made(Scalars(source, types, count, outputs, identity, bool(fastmath)), chosen)

    return decorated


def with_result(found: Signature, source: FunctionSource, parameters: int) -> Signature:
    """The signature with the type of the result, which tuples of types leave out. Compiled code determines the type."""
    if not found.open or found.result is not None or len(found.arguments) != parameters:
        return found
    numbers = [each for each in found.arguments if isinstance(each, Scalar)]
    if len(numbers) != parameters:
        return found
    names = tuple(each.shown if each.is_date else each.name for each in numbers)
    made = prototype_for(source, names)
    dates = made.dates[parameters:] or ("",) * len(made.outputs)
    results = [from_dtype(date) if date else BY_IR_NAME[each] for each, date in zip(made.outputs, dates, strict=True)]
    return (results[0] if len(results) == 1 else Tuple(results))(*numbers)


def _made(scalars: Scalars, target: Target) -> Any:
    if target in (Target.CPU, Target.PARALLEL):
        made = scalars.host_ufunc(target is Target.PARALLEL)
        if not any(each.dates for each in scalars.prototypes):
            with suppress(AttributeError):  # the ufuncs of older NumPy have no attributes, so Python calls them
                made.__parpy_source__ = scalars.called()
        return made
    from .device import DeviceUfunc

    return DeviceUfunc(scalars, target)
