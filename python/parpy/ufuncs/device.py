"""Universal functions on a device, which ``parpy.vectorize`` makes for ``target='gpu'``, ``'sim'`` and ``'auto'``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays.libraries import (
    HOST,
    are_apart,
    as_operand,
    copied,
    dtype_of,
    is_number,
    library_of,
    overlap,
    overriding_operand,
    reshaped,
    shape_of,
)
from ..calls.pickling import give_reference
from ..calls.tracebacks import end_at_caller
from ..dates.operations import is_date
from . import reductions
from .axis_orders import axes_of_results
from .choices import Choices
from .dates import are_dates, as_integers, reduced, with_dates
from .element_kernels import Operand, conversion, dimensions_in, elementwise, ir_name
from .operands import OnDevice, library_of_results, outputs_of, refuse_read_only, resolved_types
from .plans import Plan, as_number, key_of
from .prototypes import Prototype
from .targets import Target

if TYPE_CHECKING:
    from .vectorize import Scalars

_MOST_PLANS = 256  # the most plans that are kept
_ORDERS = frozenset("CFAK")
_LEAST_FLAT = 1 << 14  # the least number of elements for which arrays are flattened to one dimension


class DeviceUfunc(OnDevice):
    """A universal function whose calls run on a device, with the methods of ``numpy.ufunc``.

    Arrays of CuPy, PyTorch, ``parpy.cuda``, ``parpy.buffer`` and everything else with ``__cuda_array_interface__`` are
    used in place, and results are arrays of the same library; host arrays are copied to the device, and results back.
    Types are resolved, operands broadcast and results cast as NumPy does. Calls take ``stream=`` as launches do.
    """

    def __init__(self, scalars: Scalars, target: Target) -> None:
        super().__init__(scalars.name, scalars.host_ufunc(True, prepared=False), target, scalars.fast)
        self._scalars = scalars
        self._plans: dict[Any, Plan] = {}
        self._choices = Choices()
        self._twins: dict[Any, DeviceUfunc] = {}
        self.__wrapped__ = scalars.source.function
        if not any(each.dates for each in scalars.prototypes):
            self.__parpy_source__ = scalars.called()
        give_reference(self, scalars.source.function, DeviceUfunc.__init__, scalars, target)

    signature = None

    def resolve_dtypes(self, *arguments: Any, **keywords: Any) -> Any:
        """Returns the types of the loop for these types of operands, as ``numpy.ufunc.resolve_dtypes`` does."""
        return self._host.resolve_dtypes(*arguments, **keywords)

    def __repr__(self) -> str:
        return f"<parpy ufunc '{self.__name__}' on {self._target.value}>"

    # ------------------------------------------------------------ calls

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Has the keywords of ``numpy.ufunc``, ``out where casting order dtype signature subok``, and ``stream``."""
        try:
            key = None
            if not keywords:
                operands = arguments
            elif len(keywords) == 1 and self._scalars.outputs == 1:
                out = keywords.get("out")
                operands = () if out is None or out.__class__ is tuple else (*arguments, out)
            else:
                operands = ()
            if operands:
                try:
                    key = key_of(operands, self._options.simulated)
                    plan = self._plans.get(key)
                except (AttributeError, TypeError):  # an operand is no array, or a keyword has no hash
                    key = plan = None
                if plan is not None:
                    count = self._scalars.inputs
                    if len(operands) == count:
                        return plan.new(operands)
                    if are_apart(operands[-1], operands[:count]):
                        return plan.into(operands[:count], operands[-1])
            return self._call(*arguments, **keywords, key=key)
        except BaseException as error:
            end_at_caller(error)
            raise  # a bare raise: CPython then adds no entry of this frame to the traceback

    def _call(
        self,
        *arguments: Any,
        out: Any = None,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
        signature: Any = None,
        subok: bool = True,
        stream: Any = None,
        key: Any = None,
    ) -> Any:
        overriding = overriding_operand((*arguments, *(out if isinstance(out, tuple) else (out,))))
        if overriding is not None:
            more = {"out": out if isinstance(out, tuple) else (out,)} if out is not None else {}
            given = {"where": (where, True), "casting": (casting, "same_kind"), "order": (order, "K")}
            given |= {"dtype": (dtype, None), "signature": (signature, None), "subok": (subok, True)}
            more |= {name: value for name, (value, default) in given.items() if value is not default}
            return overriding.__array_ufunc__(self, "__call__", *arguments, **more)
        outs = outputs_of(self.__name__, self._scalars.inputs, self._scalars.outputs, arguments, out)
        inputs = [as_operand(each) for each in arguments[: self._scalars.inputs]]
        operands = [*inputs, *(each for each in outs if each is not None)]
        if self._runs_on_host(*operands, where):
            more = {"dtype": dtype, "signature": signature}
            given = {name: value for name, value in more.items() if value is not None}
            if any(each is not None for each in outs):
                given["out"] = tuple(outs)
            on_host = partial(self._host, *inputs, where=where, casting=casting, order=order, subok=subok, **given)
            if given or where is not True or casting != "same_kind" or stream is not None:
                return on_host()
            return self._chosen(inputs, on_host)
        if order not in _ORDERS:
            raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
        return self._on_device(inputs, outs, where, casting, dtype, signature, stream, key, order)

    def _chosen(self, inputs: list[Any], on_host: Callable[[], Any]) -> Any:
        """A call with host arrays and no keywords, on the host or on the device, whichever is faster."""
        if any(library_of(each) not in (None, HOST) for each in inputs):
            return on_host()
        count = max(1 if is_number(each) else each.size for each in inputs)
        types = tuple(each.dtype if isinstance(each, np.ndarray) else type(each) for each in inputs)
        outs = [None] * self._scalars.outputs
        on_device = partial(self._on_device, inputs, outs, True, "same_kind", None, None, None, None)
        return self._choices.run(types, count, on_host, on_device)

    def _on_device(
        self,
        inputs: list[Any],
        outs: list[Any],
        where: Any,
        casting: str,
        dtype: Any,
        signature: Any,
        stream: Any,
        key: Any,
        order: str = "K",
    ) -> Any:
        types = resolved_types(self._host, inputs, outs, casting, dtype, signature)
        if are_dates(types):
            return self._with_dates(inputs, outs, types, where, stream)
        shape = _broadcast([() if is_number(each) else shape_of(each) for each in inputs] + _mask_shape(where))
        for each in outs:
            if each is not None and tuple(shape_of(each)) != shape:
                if _broadcast([shape, shape_of(each)]) != tuple(shape_of(each)):
                    raise ValueError(
                        f"non-broadcastable output operand with shape {_shown(shape_of(each))} doesn't match the "
                        f"broadcast shape {_shown(shape)}"
                    )
                shape = tuple(shape_of(each))
        refuse_read_only(outs)
        axes = None
        if len(shape) > 1 and any(each is None for each in outs):
            masks = [] if where is True else [where if library_of(where) is not None else np.asarray(where)]
            axes = axes_of_results(order, [*inputs, *(each for each in outs if each is not None), *masks], shape)
        inputs = self._apart(inputs, outs, stream)
        plan = self._plan_for(inputs, outs, types, shape, where, stream)
        if key is not None and all(each is not None for each in outs) == (len(key) > 1 + len(inputs)):
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            self._plans[key] = plan
        return plan.run(inputs, outs, None if where is True else where, axes)

    def _with_dates(self, inputs: list[Any], outs: list[Any], types: Any, where: Any, stream: Any) -> Any:
        if where is not True and any(
            each is not None and dtype_of(each) != kind for each, kind in zip(outs, types[len(inputs) :], strict=True)
        ):
            raise TypeError(f"with 'where', outputs of '{self.__name__}' have the types ({', '.join(map(str, types))})")

        def call(given: list[Any], stored: list[Any]) -> Any:
            return self._twin(types)._on_device(given, stored, where, "same_kind", None, None, stream, None)

        return with_dates(call, inputs, outs, types, self._options.on(stream), stream)

    def _twin(self, types: Sequence[np.dtype[Any]]) -> DeviceUfunc:
        """The function of integers for these types, some of which are dates or durations."""
        key = tuple(map(str, types))
        found = self._twins.get(key)
        if found is None:
            count = self._scalars.inputs
            names = tuple("i64" if is_date(each) else ir_name(each) for each in types)
            dates = tuple(str(each) if is_date(each) else "" for each in types)
            source = self._scalars.for_types(Prototype(names[:count], names[count:], dates))
            plain = Prototype(names[:count], names[count:])
            found = DeviceUfunc(self._scalars._replace(source=source, prototypes=(plain,)), self._target)
            self._twins[key] = found
        return found

    def _reduced(self, method: str, array: Any, **more: Any) -> Any:
        """The result of a method for an array of dates or durations."""
        types = resolved_types(self._host, [array] * self._scalars.inputs, [None], "same_kind", None)
        call = getattr(self._twin(types), method)
        return reduced(call, array, types, self._options.on(more.get("stream")), more)

    def _apart(self, inputs: list[Any], outs: list[Any], stream: Any) -> list[Any]:
        """The inputs, with copies of those that overlap an output in other ways than element by element."""
        stored = [each for each in outs if each is not None]
        return [
            copied(each, library_of(each) or HOST, stream)
            if not is_number(each) and any(overlap(other, each) for other in stored)
            else each
            for each in inputs
        ]

    def _plan_for(
        self, inputs: list[Any], outs: list[Any], types: Any, shape: tuple[int, ...], where: Any, stream: Any
    ) -> Plan:
        """The plan for calls with operands like these."""
        whole = shape or (1,)
        operands: list[Operand] = []
        changes: list[Callable[[Any], Any] | None] = []
        for value, wanted in zip(inputs, types, strict=False):
            if is_number(value):
                operands.append(Operand(None, ""))
                changes.append(partial(as_number, wanted.type))
            else:
                found = shape_of(value)
                operands.append(Operand(dimensions_in(found or (1,), whole), conversion(dtype_of(value), wanted)))
                changes.append(None if found else _with_dimension)
        mask = None
        if where is not True:
            flags = where if library_of(where) is not None else np.asarray(where)
            if dtype_of(flags) != np.bool_:
                raise TypeError(
                    f"Cannot cast array data from {dtype_of(flags)!r} to dtype('bool') according to the rule 'safe'"
                )
            mask = Operand(dimensions_in(shape_of(flags) or (1,), whole), "")
        key = (tuple(operands), tuple(map(str, types)), len(whole), mask)
        function = self._function(
            key, lambda: elementwise(self._scalars.source, operands, self._scalars.outputs, len(whole), mask)
        )
        library = library_of_results(inputs, outs)
        flat = None
        rows = [each if each.dimensions is None else Operand((0,), each.converted) for each in operands]
        whole_arrays = all(each.dimensions in (None, tuple(range(len(shape)))) for each in operands)
        many = len(shape) > 1 and math.prod(shape) >= _LEAST_FLAT
        if many and whole_arrays and mask is None and self._scalars.outputs == 1:
            flat = self._function(
                (tuple(rows), key[1], 1, None), lambda: elementwise(self._scalars.source, rows, 1, 1, None)
            )
        dtypes = types[len(inputs) :]
        return Plan(
            function, self._options.on(stream), changes, library, inputs, dtypes, shape, stream, flat, whole_arrays
        )

    # ------------------------------------------------------------ methods

    def outer(self, a: Any, b: Any, /, **keywords: Any) -> Any:
        """Returns the results for all pairs of elements of ``a`` and ``b``, as ``numpy.ufunc.outer`` does."""
        if self.nin != 2:
            raise ValueError("outer product only supported for binary functions")
        overridden, found = _overridden(self, "outer", (a, b), keywords.get("out"), _without_out(keywords))
        if overridden:
            return found
        a, b = as_operand(a), as_operand(b)
        if not is_number(a) and not is_number(b):
            a = reshaped(a, (*shape_of(a), *(1,) * len(shape_of(b))))
        return self(a, b, **keywords)

    def reduce(
        self,
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = np._NoValue,
        where: Any = True,
        *,
        stream: Any = None,
    ) -> Any:
        """Reduces ``array`` along axes, as ``numpy.ufunc.reduce`` does. If the function is a sum, a product, a minimum
        or a maximum, or the ufunc has an identity, threads share the elements of a result; else the order is kept."""
        given: dict[str, tuple[Any, Any]] = {"axis": (axis, 0), "dtype": (dtype, None), "keepdims": (keepdims, False)}
        given |= {"initial": (initial, np._NoValue), "where": (where, True)}
        named = {name: value for name, (value, default) in given.items() if value is not default}
        overridden, found = _overridden(self, "reduce", (array,), out, named)
        if overridden:
            return found
        array = as_operand(array)
        if self._runs_on_host(array, out):
            more = {} if initial is np._NoValue else {"initial": initial}
            return self._host.reduce(array, axis, dtype, out, keepdims, where=where, **more)
        if is_date(getattr(array, "dtype", None)):
            return self._reduced(
                "reduce",
                array,
                axis=axis,
                dtype=dtype,
                out=out,
                keepdims=keepdims,
                initial=initial,
                where=where,
                stream=stream,
            )
        return reductions.reduce(self, array, axis, dtype, out, keepdims, initial, where, stream)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None, *, stream: Any = None) -> Any:
        """Returns all partial reductions of ``array`` along ``axis``, as ``numpy.ufunc.accumulate`` does."""
        named = ({} if axis == 0 else {"axis": axis}) | ({} if dtype is None else {"dtype": dtype})
        overridden, found = _overridden(self, "accumulate", (array,), out, named)
        if overridden:
            return found
        array = as_operand(array)
        if self._runs_on_host(array, out):
            return self._host.accumulate(array, axis, dtype, out)
        if is_date(getattr(array, "dtype", None)):
            return self._reduced("accumulate", array, axis=axis, dtype=dtype, out=out, stream=stream)
        return reductions.accumulate(self, array, axis, dtype, out, stream)

    def reduceat(
        self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None, *, stream: Any = None
    ) -> Any:
        """Reduces the slices of ``array`` between the indices, as ``numpy.ufunc.reduceat`` does."""
        named = ({} if axis == 0 else {"axis": axis}) | ({} if dtype is None else {"dtype": dtype})
        overridden, found = _overridden(self, "reduceat", (array, indices), out, named)
        if overridden:
            return found
        array = as_operand(array)
        if self._runs_on_host(array, out):
            return self._host.reduceat(array, indices, axis, dtype, out)
        if is_date(getattr(array, "dtype", None)):
            return self._reduced("reduceat", array, indices=indices, axis=axis, dtype=dtype, out=out, stream=stream)
        return reductions.reduceat(self, array, indices, axis, dtype, out, stream)

    def at(self, array: Any, indices: Any, b: Any = None, /, *, stream: Any = None) -> Any:
        """Updates the elements of ``array`` at the indices in place and in their order, as ``numpy.ufunc.at`` does. The
        indices are those of NumPy: integers, slices, truth values, or a tuple of them for the dimensions."""
        overridden, found = _overridden(self, "at", (array, indices, *(() if b is None else (b,))), None, {})
        if overridden:
            return found
        if library_of(array) is None:
            raise TypeError("first operand must be array")
        if self._runs_on_host(array):
            self._host.at(array, indices, *(() if b is None else (b,)))
        elif is_date(getattr(array, "dtype", None)):
            operands = [array] if b is None else [array, as_operand(b)]
            types = resolved_types(self._host, operands, [array], "same_kind", None)
            options = self._options.on(stream)
            given = [as_integers(each, kind, options, stream) for each, kind in zip(operands, types, strict=False)]
            self._twin(types).at(given[0], indices, *given[1:], stream=stream)
        else:
            reductions.at(self, array, indices, b, stream)
        return None


def _overridden(
    ufunc: DeviceUfunc, method: str, arrays: tuple[Any, ...], out: Any, named: dict[str, Any]
) -> tuple[bool, Any]:
    """Whether an operand overrides the methods of ufuncs (NEP 13), and its result. ``named`` has the keywords whose
    values are not the defaults."""
    overriding = overriding_operand((*arrays, *(out if isinstance(out, tuple) else (out,))))
    if overriding is None:
        return False, None
    more = {"out": out if isinstance(out, tuple) else (out,)} if out is not None else {}
    return True, overriding.__array_ufunc__(ufunc, method, *arrays, **more, **named)


def _without_out(keywords: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in keywords.items() if name != "out"}


def _with_dimension(value: Any) -> Any:
    return reshaped(value, (1,))


def _mask_shape(where: Any) -> list[tuple[int, ...]]:
    if where is True:
        return []
    return [shape_of(where) if library_of(where) is not None else np.shape(where)]


def _broadcast(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        text = " ".join(map(_shown, shapes))
        raise ValueError(f"operands could not be broadcast together with shapes {text}") from None


def _shown(shape: Any) -> str:
    return f"({','.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
