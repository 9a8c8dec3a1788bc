"""Plans for repeated calls of a universal function on a device with operands of the same kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arrays.libraries import HOST, Library, is_c_contiguous, library_of, reshaped, shape_of, transposed
from ..calls.options import CompileOptions
from ..cuda._arrays import DeviceNDArray
from .axis_orders import axes_of_results, empty_with_axes

_NUMBERS = (float, int, complex, bool)


def key_of(operands: Sequence[Any], simulated: bool) -> Any:
    """The key of the plan for these operands. Raises AttributeError if an operand is neither an array nor a number."""
    key: list[Any] = [simulated]
    for each in operands:
        kind = each.__class__
        if kind is DeviceNDArray:
            view = each._view
            key.append((kind, view.dtype, view.shape))
        elif kind in _NUMBERS:
            key.append((kind,))
        else:
            key.append((kind, each.dtype, each.shape))
    return tuple(key)


def as_number(kind: Any, value: Any) -> Any:
    """A number converted to the type of the loop. Raises OverflowError for an int that does not fit, as NumPy does."""
    return np.asarray(value).astype(kind)[()] if isinstance(value, np.ndarray) else kind(value)


class Plan:
    """A compiled function with the options and the facts about operands that its calls need."""

    __slots__ = (
        "_anchor", "_arrays", "_changes", "_count", "_dtypes", "_flat", "_function", "_library", "_options", "_scalar",
        "_shape", "_stream", "_whole",
    )  # fmt: skip

    def __init__(
        self,
        function: Any,
        options: CompileOptions,
        changes: Sequence[Callable[[Any], Any] | None],
        library: Library,
        inputs: Sequence[Any],
        dtypes: Sequence[np.dtype[Any]],
        shape: tuple[int, ...],
        stream: Any,
        flat: Any = None,
        whole: bool = False,
    ) -> None:
        """``flat`` is a function for contiguous arrays of the plan's shape, flattened to one dimension. ``whole`` tells
        whether all arrays have the plan's shape."""
        self._function, self._options = function, options
        self._flat, self._count = flat, math.prod(shape)
        self._arrays = [k for k, each in enumerate(inputs) if library_of(each) is not None]
        self._changes = tuple(changes) if any(changes) else None
        self._library, self._dtypes, self._shape, self._stream = library, tuple(dtypes), shape, stream
        self._anchor = next((k for k, each in enumerate(inputs) if library_of(each) is library), 0)
        self._scalar = not shape and library is HOST
        self._whole = whole

    def _given(self, values: Sequence[Any]) -> Sequence[Any]:
        if self._changes is None:
            return values
        return [value if change is None else change(value) for value, change in zip(values, self._changes, strict=True)]

    def new(self, values: Sequence[Any]) -> Any:
        """Makes a call without outputs and without a mask."""
        shape = self._shape
        if len(self._dtypes) > 1 or not shape:
            return self.run(values, [None] * len(self._dtypes), None, self._axes(values))
        axes = self._axes(values)
        if axes is not None:
            return self._with_axes(values, axes)
        made = self._library.empty(shape, self._dtypes[0], values[self._anchor], self._stream)
        if 0 not in shape:
            self._call(values, made)
        return made

    def _axes(self, values: Sequence[Any]) -> tuple[int, ...] | None:
        """The order of the axes of a result for these values; None stands for C order."""
        if len(self._shape) < 2 or all(is_c_contiguous(values[k]) for k in self._arrays):
            return None
        return axes_of_results("K", values, self._shape)

    def _with_axes(self, values: Sequence[Any], axes: tuple[int, ...]) -> Any:
        """Makes a call without outputs whose result has its axes in this order in memory."""
        shape, like = self._shape, values[self._anchor]
        made = empty_with_axes(self._library, shape, self._dtypes[0], like, self._stream, axes)
        if 0 in shape:
            return made
        if not (self._whole and all(_can_turn(values[k]) for k in self._arrays)):
            self._function(*self._given(values), made, opts=self._options)
            return made
        turned = list(values)
        for k in self._arrays:
            turned[k] = transposed(values[k], axes)
        self._call(turned, transposed(made, axes))
        return made

    def _call(self, values: Sequence[Any], out: Any) -> None:
        """Runs the function, which stores to the only output."""
        given = self._given(values)
        if self._flat is None or not all(is_c_contiguous(each) for each in (out, *(given[k] for k in self._arrays))):
            self._function(*given, out, opts=self._options)
            return
        rows = list(given)
        for k in self._arrays:
            rows[k] = reshaped(rows[k], (self._count,))
        self._flat(*rows, reshaped(out, (self._count,)), opts=self._options)

    def into(self, values: Sequence[Any], out: Any) -> Any:
        """Makes a call with one output, which has the plan's shape."""
        if 0 not in self._shape:
            self._call(values, out)
        return out

    def run(self, values: Sequence[Any], outs: Sequence[Any], mask: Any, axes: tuple[int, ...] | None = None) -> Any:
        """Makes a call with any outputs, None for new ones, and with a mask or None. New outputs have their axes in
        this order in memory."""
        whole = self._shape or (1,)
        like = values[self._anchor]
        if library_of(like) is not self._library:
            like = next((each for each in outs if library_of(each) is self._library), like)
        made = [
            empty_with_axes(self._library, whole, dtype, like, self._stream, axes) if each is None else each
            for each, dtype in zip(outs, self._dtypes, strict=True)
        ]
        stored = made if self._shape else [reshaped(each, (1,)) if not shape_of(each) else each for each in made]
        masks = () if mask is None else (_as_mask(mask),)
        if 0 not in whole:
            self._function(*self._given(values), *stored, *masks, opts=self._options)
        results = [
            each if each is not None else value[0] if self._scalar else value if self._shape else reshaped(value, ())
            for each, value in zip(outs, made, strict=True)
        ]
        return results[0] if len(results) == 1 else tuple(results)


def _can_turn(array: Any) -> bool:
    return hasattr(array, "permute") or hasattr(array, "transpose")


def _as_mask(mask: Any) -> Any:
    flags = mask if library_of(mask) is not None else np.asarray(mask)
    return flags if shape_of(flags) else reshaped(flags, (1,))
