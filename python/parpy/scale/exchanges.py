"""Exchanges between parts that are threads of one process: each carries out the actions of a plan on its own arrays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from ..arrays.device_arrays import described
from ..calls.options import SIZES
from .partitioned import rows
from .plan import Action, Plan

_Array = np.ndarray[Any, Any]
_COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "*": np.multiply,
    "min": np.fmin,
    "max": np.fmax,
    "fmin": np.fmin,
    "fmax": np.fmax,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "and": np.logical_and,
    "or": np.logical_or,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
}


class Meeting:
    """The threads of one call meet here. If one fails, those that wait for it fail as well."""

    def __init__(self, parts: int) -> None:
        self._barrier = threading.Barrier(parts)
        self.posted: list[Any] = [None] * parts
        self._given: dict[Any, Any] = {}
        self._changed = threading.Condition()

    def wait(self) -> None:
        """Raises BrokenBarrierError if another part failed."""
        self._barrier.wait()

    def fail(self) -> None:
        self._barrier.abort()
        with self._changed:
            self._changed.notify_all()

    def give(self, key: Any, value: Any) -> None:
        """Something for those who take it."""
        with self._changed:
            self._given[key] = value
            self._changed.notify_all()

    def take(self, key: Any) -> Any:
        """What is given under this key, when it is. Raises BrokenBarrierError if another part failed."""
        with self._changed:
            self._changed.wait_for(lambda: key in self._given or self._barrier.broken)
            if key not in self._given:
                raise threading.BrokenBarrierError
            return self._given[key]

    def forget(self, key: Any) -> None:
        with self._changed:
            del self._given[key]


class Exchanges:
    """The hook of ``run_part``: carries out the actions of one part."""

    def __init__(self, plan: Plan, part: int, meeting: Meeting, arrays: Mapping[str, _Array]) -> None:
        self._plan, self._part, self._meeting, self._arrays = plan, part, meeting, arrays
        self._turns: dict[str, int] = {}  # how often a reduction in order was done

    def __call__(self, number: int, value: Any) -> Any:
        if self._plan.parts == 1:
            return value
        action = self._plan.actions[number]
        if not action.array:
            return self._number(action, value)
        array = self._array(action, value)
        if action.kind in ("start", "pass", "keep", "combine"):
            self._reduced(action, array)
        else:
            self._move(action, array)
        return None

    def _array(self, action: Action, address: int) -> _Array:
        """The part's array: an argument, or one that the program made, which lies in C order at this address."""
        if action.name in self._arrays:
            return self._arrays[action.name]
        shape, scalar = self._plan.shapes[action.name]
        made: _Array = described(address, shape, SIZES[scalar].dtype, None)
        return made

    def _post(self, value: Any) -> list[Any]:
        """Returns the values that all parts have posted, when all have."""
        self._meeting.posted[self._part] = value
        self._meeting.wait()
        return self._meeting.posted

    def _move(self, action: Action, array: _Array) -> None:
        posted = self._post(array)
        assert action.cut is not None
        axis = action.cut.axis
        for source, first, last in action.transfers(self._part):
            rows(array, axis, first, last)[...] = rows(posted[source], axis, first, last)
        self._meeting.wait()

    # ------------------------------------------------------------ reductions

    def _number(self, action: Action, value: Any) -> Any:
        if action.ordered:
            return self._in_order(action, value)
        if action.kind == "start":
            return value if self._part == 0 or action.identity is None else action.identity
        posted = list(self._post(value))
        self._meeting.wait()
        result = reduce(combine_of(action), (np.asarray(each)[()] for each in posted))
        return int(result) if isinstance(value, int) else float(result)

    def _in_order(self, action: Action, value: Any) -> Any:
        """Before the loop: what the part before this one ended with. Behind it: what the last one ended with."""
        if action.kind == "keep" or (action.kind == "start" and self._part == 0):
            return value
        turn = self._turns.get(action.name, 0)
        if action.kind == "start":
            return self._meeting.take((action.name, turn, self._part - 1))
        if action.kind == "pass":
            self._meeting.give((action.name, turn, self._part), value)
            return value
        result = self._meeting.take((action.name, turn, self._plan.parts - 1))
        self._turns[action.name] = turn + 1
        self._meeting.wait()  # all have taken what this part gave
        self._meeting.forget((action.name, turn, self._part))
        return result

    def _reduced(self, action: Action, array: _Array) -> None:
        if action.ordered:
            given = self._in_order(action, array.copy() if action.kind == "pass" else array)
            if action.kind in ("start", "combine") and given is not array:
                array[...] = given
        elif action.kind == "start":
            if self._part > 0 and action.identity is not None:
                array[...] = action.identity
        else:
            posted = self._post(array)
            result = reduce(combine_of(action), posted[1:], posted[0].copy())
            self._meeting.wait()
            array[...] = result
            self._meeting.wait()


def combine_of(action: Action) -> Callable[[Any, Any], Any]:
    if action.op not in _COMBINE:
        raise NotImplementedError(f"parts cannot combine by {action.op}")
    return _COMBINE[action.op]
