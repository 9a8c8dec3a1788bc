"""``parpy.guvectorize`` makes a generalised universal function of a function of small arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack, overload

import numpy as np

from .. import _native
from ..calls.tracebacks import hides_frames
from ..syntax.source import FunctionSource
from ..vocabulary.operators import NAME_OF
from . import prototypes
from .layouts import Layout, core_prototype, parse_layout
from .loops import LoopSource, core_loop
from .prototypes import Prototype, date_of
from .targets import Target, target_of
from .vectorize import Keywords

if TYPE_CHECKING:
    from .device_cores import DeviceGufunc


class CoreKeywords(Keywords, total=False):
    """The keywords of guvectorize besides the target."""

    writable_args: Sequence[int | str]


class Cores(NamedTuple):
    """A function of small arrays with its layout, signatures and options."""

    source: FunctionSource
    layout: Layout
    prototypes: tuple[tuple[Prototype, tuple[bool, ...]], ...]  # the flags tell which operands are arrays
    writable: tuple[int, ...]  # the inputs that the function stores to
    identity: Any
    fast: bool

    @property
    def name(self) -> str:
        return self.source.function.__name__

    @property
    def inputs(self) -> int:
        return len(self.layout.inputs)

    @property
    def outputs(self) -> int:
        return len(self.layout.outputs)

    def host_ufunc(self, parallel: bool) -> Any:
        """NumPy's generalised ufunc of the function."""

        def loop_of(prototype: Prototype, arrays: tuple[bool, ...]) -> LoopSource:
            return core_loop(self.for_types(prototype, arrays), prototype, self.layout, arrays, parallel, self.fast)

        def loop_for(inputs: tuple[str, ...], outputs: tuple[str | None, ...]) -> LoopSource:
            return loop_of(*self.found(inputs, outputs))

        return _native.make_ufunc(
            self.name,
            self.source.function.__doc__ or "",
            self.inputs,
            self.outputs,
            str(self.layout),
            None if self.identity == "reorderable" else self.identity,
            self.identity is not None,
            [loop_of(*each) for each in self.prototypes],
            None if self.prototypes else loop_for,
            list(self.writable),
        )

    def for_types(self, types: Prototype, arrays: Sequence[bool]) -> FunctionSource:
        """The function for operands of these types, with integers for dates and durations."""
        if not types.dates:
            return self.source
        from ..dates.rewriting import Elements, in_integers

        kinds = [
            Elements(kind, max(len(dimensions), 1)) if kind is not None and (dimensions or array) else kind
            for kind, dimensions, array in zip(types.kinds, self.layout.operands, arrays, strict=True)
        ]
        return in_integers(self.source, kinds).source

    def found(self, inputs: Sequence[str], outputs: Sequence[str | None]) -> tuple[Prototype, tuple[bool, ...]]:
        """The types of a call without signatures. Outputs that are not given have the common type of the inputs.
        Operands without core dimensions are numbers, unless the function stores to them."""
        common = np.result_type(*(date_of(each) or np.dtype(_NUMPY_NAME[each]) for each in inputs))
        missing = NAME_OF.get(common.name, str(common))
        chosen = tuple(missing if each is None else each for each in outputs)
        arrays = [bool(each) for each in self.layout.inputs] + [True] * self.outputs
        for number in self.writable:
            arrays[number] = True
        dates = tuple(each if date_of(each) else "" for each in (*inputs, *chosen))
        if not any(dates):
            return Prototype(tuple(inputs), chosen), tuple(arrays)
        names = tuple("i64" if date else each for each, date in zip((*inputs, *chosen), dates, strict=True))
        return Prototype(names[: self.inputs], names[self.inputs :], dates), tuple(arrays)


_NUMPY_NAME = {name: shown for shown, name in NAME_OF.items()}


@overload
def guvectorize(
    signatures: Any,
    layout: str | None = ...,
    /,
    *,
    target: Literal["cpu", "parallel"] = ...,
    **keywords: Unpack[CoreKeywords],
) -> Callable[[Callable[..., None]], np.ufunc]: ...
@overload
def guvectorize(
    signatures: Any,
    layout: str | None = ...,
    /,
    *,
    target: Literal["gpu", "cuda", "sim", "auto"],
    **keywords: Unpack[CoreKeywords],
) -> Callable[[Callable[..., None]], DeviceGufunc]: ...
@overload
def guvectorize(
    signatures: Any,
    layout: str | None = ...,
    /,
    *,
    target: str,
    **keywords: Unpack[CoreKeywords],
) -> Callable[[Callable[..., None]], Any]: ...
@hides_frames
def guvectorize(
    signatures: Any,
    layout: str | None = None,
    /,
    *,
    target: str = "cpu",
    identity: Any = None,
    writable_args: Sequence[int | str] = (),
    fastmath: bool = False,
    cache: bool = True,
    nopython: bool = True,
) -> Any:
    """Makes a generalised universal function from a function of arrays that stores its results to its last arguments:
    ``@guvectorize(['void(float32[:,:], float32[:,:], float32[:,:])'], '(m,n),(n,p)->(m,p)')``.

    The layout, in NumPy's grammar, names the core dimensions of each operand. Equal names are equal sizes, numbers are
    fixed sizes, and ``n?`` is a dimension that may be missing in all operands. An operand without core dimensions is a
    number or, with the type ``float32[:]``, an array of one element; outputs are always arrays. All dimensions before
    the core dimensions are loops: they broadcast, and the compiler maps them together with the loops of the function.
    Without signatures (``guvectorize('(n)->()')``) each combination of types is compiled at its first call, and results
    have the common type of the inputs unless ``out`` has another type.

    ``writable_args`` lists inputs, by number or name, that the function stores to; calls must pass arrays of the exact
    type for them. ``target`` and the other keywords are those of ``parpy.vectorize``.

    Raises TypeError for signatures that do not fit the layout and the function, ValueError for a layout that cannot be
    read, and CompileError for a function that cannot be compiled.
    """
    if layout is None:
        if not isinstance(signatures, str) or "->" not in signatures:
            raise TypeError(
                "guvectorize takes signatures and a layout, such as '(m,n),(n,p)->(m,p)', or a layout alone"
            )
        signatures, layout = None, signatures
    chosen = target_of(target)
    parsed = parse_layout(layout)
    found = prototypes.signatures_of(signatures)

    @hides_frames
    def decorated(function: Callable[..., Any]) -> Any:
        source = prototypes.source_behind(function)
        name = source.function.__name__
        count = prototypes.parameter_count(source)
        if count != len(parsed.operands):
            raise TypeError(
                f"the layout '{parsed}' has {len(parsed.operands)} operands, but '{name}' has {count} parameters"
            )
        types = tuple(core_prototype(each, parsed, name, count) for each in found)
        parameters = source.function.__code__.co_varnames[:count]
        writable = _writable(writable_args, parameters[: len(parsed.inputs)], name)
        for _, arrays in types:
            for number in writable:
                if not arrays[number]:
                    raise TypeError(f"'{name}' cannot store to its argument '{parameters[number]}', a number")
        return _made(Cores(source, parsed, types, writable, identity, bool(fastmath)), chosen)

    return decorated


def _writable(given: Sequence[int | str], inputs: Sequence[str], name: str) -> tuple[int, ...]:
    found = []
    for each in given:
        if isinstance(each, str) and each in inputs:
            found.append(inputs.index(each))
        elif isinstance(each, int) and 0 <= each < len(inputs):
            found.append(each)
        else:
            raise ValueError(
                f"'writable_args' are inputs of '{name}': {', '.join(inputs)}, or their numbers, not {each!r}"
            )
    return tuple(sorted(set(found)))


def _made(cores: Cores, target: Target) -> Any:
    if target in (Target.CPU, Target.PARALLEL):
        return cores.host_ufunc(target is Target.PARALLEL)
    from .device_cores import DeviceGufunc

    return DeviceGufunc(cores, target)
