"""Generalised universal functions on a device: the results of ``parpy.guvectorize`` with ``target='gpu'``, ``'sim'`` or
``'auto'``. The loops around the function are part of the compiled program, which maps them together with the loops of
the function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays.libraries import (
    HOST,
    as_operand,
    copied,
    dtype_of,
    is_number,
    is_read_only,
    library_of,
    overlap,
    reshaped,
    shape_of,
    transposed,
    with_type,
)
from ..calls.pickling import give_reference
from ..dates.operations import is_date
from .core_shapes import Shapes, shapes_of
from .dates import are_dates, with_dates
from .element_kernels import compiled, dimensions_in, ir_name
from .operands import OnDevice, library_of_results, outputs_of, refuse_read_only, resolved_types
from .plans import key_of
from .prototypes import Prototype, core_call
from .targets import Target

if TYPE_CHECKING:
    from .guvectorize import Cores


_MOST_KNOWN = 256  # the most kinds of calls whose types and shapes are kept


class _Core(NamedTuple):
    """The text of an operand's core array, which is subscripted by the loops of the dimensions before the core."""

    loops: tuple[int | None, ...]
    one_element: bool  # whether the function gets a number as an array of one element

    def at(self, name: str) -> str:
        if not self.loops:
            return name
        places = ["0" if each is None else f"i{each}" for each in self.loops]
        if self.one_element:
            last = places[-1]
            places[-1] = f"{last}:{last} + 1"
        return f"{name}[{', '.join(places)}]"


class DeviceGufunc(OnDevice):
    """A generalised universal function whose calls run on a device; its operands are those of ``DeviceUfunc``."""

    def __init__(self, cores: Cores, target: Target) -> None:
        super().__init__(cores.name, cores.host_ufunc(True), target, cores.fast)
        self._cores = cores
        self._known: dict[Any, tuple[Any, Shapes]] = {}
        self._twins: dict[Any, DeviceGufunc] = {}
        self.__wrapped__ = cores.source.function
        give_reference(self, cores.source.function, DeviceGufunc.__init__, cores, target)

    signature = property(lambda self: self._host.signature, doc="The layout.")

    def __repr__(self) -> str:
        return f"<parpy gufunc '{self.__name__}' {self.signature} on {self._target.value}>"

    def __call__(
        self,
        *arguments: Any,
        out: Any = None,
        casting: str = "same_kind",
        dtype: Any = None,
        axes: Any = None,
        axis: int | None = None,
        keepdims: bool = False,
        stream: Any = None,
    ) -> Any:
        """Computes the function. Takes the keywords of a generalised ``numpy.ufunc``, and ``stream``."""
        outs = outputs_of(self.__name__, self._cores.inputs, self._cores.outputs, arguments, out)
        inputs = [as_operand(each) for each in arguments[: self._cores.inputs]]
        if self._runs_on_host(*inputs, *outs):
            more = {"axes": axes, "axis": axis, "dtype": dtype}
            given = {key: value for key, value in more.items() if value is not None}
            if any(each is not None for each in outs):
                given["out"] = tuple(outs)
            return self._host(*inputs, casting=casting, **given, **({"keepdims": True} if keepdims else {}))
        layout = self._cores.layout
        places = self._axes(axes, axis, keepdims)
        whole = outs
        if places is not None:
            inputs = [_moved(each, place) for each, place in zip(inputs, places, strict=False)]
            outs = [
                None if each is None else _moved(each, place)
                for each, place in zip(outs, places[len(inputs) :], strict=True)
            ]
        types, shapes = self._settled(inputs, outs, casting, dtype)
        refuse_read_only(outs)
        if are_dates(types):
            found = with_dates(
                lambda given, stored: self._twin(types)(*given, *stored, casting=casting, stream=stream),
                inputs, outs, types, self._options.on(stream), stream,
            )  # fmt: skip
            return self._returned(found if isinstance(found, tuple) else (found,), whole, places, keepdims)
        library = library_of_results(inputs, outs)
        like = next((each for each in (*inputs, *outs) if library_of(each) is library), None)
        read = self._given(inputs, outs, types, stream)
        stored = [
            library.empty((*shapes.loop, *shapes.shown(dimensions)), kind, like, stream) if each is None else each
            for each, kind, dimensions in zip(outs, types[len(inputs) :], layout.outputs, strict=True)
        ]
        # An output of another type than the loop's gets its elements after the loop.
        results = [
            each if dtype_of(each) == kind else library.empty(tuple(shape_of(each)), kind, like, stream)
            for each, kind in zip(stored, types[len(inputs) :], strict=True)
        ]
        if 0 not in shapes.loop:
            self._run(read, results, shapes, stream)
        for each, result in zip(stored, results, strict=True):
            if each is not result:
                each[...] = with_type(result, dtype_of(each), stream)
        return self._returned(stored, whole, places, keepdims)

    def _returned(self, results: Sequence[Any], whole: Sequence[Any], places: Any, keepdims: bool) -> Any:
        """The results as the caller gets them: ``whole`` are the given outputs, ``places`` the axes of the cores."""
        returned = []
        for number, (value, original) in enumerate(zip(results, whole, strict=True)):
            if original is not None:
                returned.append(original)
                continue
            if places is not None:
                value = _moved_back(value, places[self._cores.inputs + number], keepdims)
            returned.append(value[()] if library_of(value) is HOST and shape_of(value) == () else value)
        return returned[0] if len(returned) == 1 else tuple(returned)

    def _twin(self, types: Sequence[np.dtype[Any]]) -> DeviceGufunc:
        """The function of integers for these types, some of which are dates or durations."""
        key = tuple(map(str, types))
        found = self._twins.get(key)
        if found is None:
            count, arrays = self._cores.inputs, self._arrays()
            names = tuple("i64" if is_date(each) else ir_name(each) for each in types)
            dates = tuple(str(each) if is_date(each) else "" for each in types)
            source = self._cores.for_types(Prototype(names[:count], names[count:], dates), arrays)
            plain = ((Prototype(names[:count], names[count:]), arrays),)
            found = DeviceGufunc(self._cores._replace(source=source, prototypes=plain), self._target)
            self._twins[key] = found
        return found

    def _settled(self, inputs: list[Any], outs: list[Any], casting: str, dtype: Any) -> tuple[Any, Shapes]:
        """The types of the loop and the shapes of a call, which are cached for calls with operands of the same kind."""
        given = [each for each in outs if each is not None]
        key: Any
        try:
            key = (key_of((*inputs, *given), self._options.simulated), len(given), casting, dtype)
            found = self._known.get(key)
        except (AttributeError, TypeError):
            key = found = None
        if found is not None:
            return found
        shapes = shapes_of(
            self._cores.layout,
            self.__name__,
            [() if is_number(each) else tuple(shape_of(each)) for each in inputs],
            [None if each is None else tuple(shape_of(each)) for each in outs],
        )
        types = resolved_types(self._host, inputs, outs, casting, dtype)
        if key is not None and len(given) in (0, len(outs)):
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = types, shapes
        return types, shapes

    def _given(self, inputs: list[Any], outs: list[Any], types: Any, stream: Any) -> list[Any]:
        """The inputs in the types of the loop, with copies of those that overlap an array which the loop stores to."""
        found = []
        for number, (value, kind) in enumerate(zip(inputs, types, strict=False)):
            writable = number in self._cores.writable
            if is_number(value):
                value = np.full((1,), value, kind)
            if writable and (dtype_of(value) != kind or is_read_only(value)):
                raise TypeError(
                    f"'{self.__name__}' stores to operand {number}, which must be a writable array of {kind}"
                )
            if dtype_of(value) != kind:
                value = with_type(value, kind, stream)
            elif not writable and any(each is not None and (each is value or overlap(each, value)) for each in outs):
                value = copied(value, library_of(value) or HOST, stream)
            found.append(value)
        return found

    def _run(self, inputs: Sequence[Any], outputs: Sequence[Any], shapes: Shapes, stream: Any) -> None:
        rank = len(shapes.loop)
        whole = shapes.loop or (1,)
        count = self._cores.inputs
        layout = self._cores.layout
        one_element = self._arrays()
        cores, given = [], []
        for number, (value, dimensions) in enumerate(zip((*inputs, *outputs), layout.operands, strict=True)):
            inner = shapes.cores(dimensions)
            shown = len(shapes.shown(dimensions))
            shape = tuple(shape_of(value))
            front = shape[: len(shape) - shown] if shown else shape
            if not inner and not front:
                front = (1,)
            wanted = (*front, *inner)
            given.append(value if wanted == shape else reshaped(value, wanted))
            loops = dimensions_in(front, whole) if len(front) <= len(whole) else (None,)
            cores.append(_Core(loops, not inner and one_element[number]))
        function = self._function((tuple(cores), rank), lambda: self._compiled(cores, whole, count, rank))
        function(*given, *(whole if rank else ()), opts=self._options.on(stream))

    def _compiled(self, cores: Sequence[_Core], whole: tuple[int, ...], count: int, rank: int) -> Any:
        names = [f"x{k}" for k in range(count)] + [f"y{k}" for k in range(len(cores) - count)]
        sizes = [f"n{d}" for d in range(rank)]
        lines = [f"def gufunc_cores({', '.join(names + sizes)}):"]
        lines += [f"{'    ' * (1 + d)}for i{d} in range(n{d}):" for d in range(rank)]
        given = ", ".join(core.at(name) for core, name in zip(cores, names, strict=True))
        lines.append(f"{'    ' * (1 + rank)}{core_call(self._cores.source, given)}")
        if not rank:
            lines = [line.replace("i0", "0") for line in lines]
        return compiled("\n".join(lines) + "\n", "gufunc_cores", self._cores.source)

    def _arrays(self) -> tuple[bool, ...]:
        if self._cores.prototypes:
            return self._cores.prototypes[0][1]
        layout = self._cores.layout
        return tuple(
            number >= len(layout.inputs) or number in self._cores.writable for number in range(len(layout.operands))
        )

    def _axes(self, axes: Any, axis: int | None, keepdims: bool) -> list[tuple[int, ...]] | None:
        """The axes of the core dimensions of each operand; None if they are the last axes."""
        layout = self._cores.layout
        if keepdims and (
            any(layout.outputs[k] for k in range(len(layout.outputs))) or len(set(map(len, layout.inputs))) > 1
        ):
            raise TypeError(
                f"{self.__name__} does not support keepdims: its outputs have core dimensions, or its inputs a "
                "different number of them"
            )
        if axis is not None:
            if axes is not None:
                raise TypeError("cannot specify both 'axis' and 'axes'")
            if any(len(each) > 1 for each in layout.operands):
                raise TypeError(f"{self.__name__}: axis can only be used with a single shared core dimension")
            axes = [(axis,) if each else () for each in layout.operands]
            if keepdims:
                axes = [(axis,)] * len(layout.operands)
        if axes is None:
            if not keepdims:
                return None
            count = len(layout.inputs[0])
            axes = [tuple(range(-count, 0))] * len(layout.operands)
        if not isinstance(axes, list):
            raise TypeError("axes should be a list")
        found = [(each,) if isinstance(each, int) else tuple(each) for each in axes]
        if len(found) == len(layout.inputs) and not any(layout.outputs):
            found += [found[0] if keepdims else ()] * len(layout.outputs)
        if len(found) != len(layout.operands):
            raise ValueError("axes should be a list with an entry for all inputs and outputs")
        for number, (place, dimensions) in enumerate(zip(found, layout.operands, strict=True)):
            if len(place) != len(dimensions) and not (keepdims and number >= len(layout.inputs)):
                raise ValueError(f"axes item {number} should be a tuple with {len(dimensions)} elements")
        return found


def _moved(array: Any, place: tuple[int, ...]) -> Any:
    """The array with these dimensions moved to the end."""
    rank = 0 if is_number(array) else len(shape_of(array))
    if not place or rank == 0:
        return array
    last = [np.lib.array_utils.normalize_axis_index(each, rank) for each in place]
    return transposed(array, [d for d in range(rank) if d not in last] + last)


def _moved_back(array: Any, place: tuple[int, ...], keepdims: bool) -> Any:
    shape = tuple(shape_of(array))
    if keepdims:
        array = reshaped(array, shape + (1,) * len(place))
    rank = len(shape_of(array))
    if not place:
        return array
    last = [np.lib.array_utils.normalize_axis_index(each, rank) for each in place]
    order = [0] * rank
    rest = iter(range(rank - len(last)))
    for d in range(rank):
        order[d] = rank - len(last) + last.index(d) if d in last else next(rest)
    return transposed(array, order)
