"""Exchanges between parts that are threads of one process. Each thread carries out the actions on its own arrays."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np

from .actions import Actions, combine_of
from .partitioned import rows
from .plan import Action, Plan

_Array = np.ndarray[Any, Any]


class Meeting:
    """The synchronisation of the threads of one call. If a thread fails, the threads that wait for it fail as well."""

    def __init__(self, parts: int) -> None:
        self._barrier = threading.Barrier(parts)
        self.posted: list[Any] = [None] * parts
        self._given: dict[Any, Any] = {}
        self._changed = threading.Condition()

    def wait(self) -> None:
        """Waits until all parts have arrived. Raises BrokenBarrierError if another part failed."""
        self._barrier.wait()

    def fail(self) -> None:
        self._barrier.abort()
        with self._changed:
            self._changed.notify_all()

    def give(self, key: Any, value: Any) -> None:
        """Publishes a value under a key for `take`."""
        with self._changed:
            self._given[key] = value
            self._changed.notify_all()

    def take(self, key: Any) -> Any:
        """Waits for the value of this key and returns it. Raises BrokenBarrierError if another part failed."""
        with self._changed:
            self._changed.wait_for(lambda: key in self._given or self._barrier.broken)
            if key not in self._given:
                raise threading.BrokenBarrierError
            return self._given[key]

    def forget(self, key: Any) -> None:
        with self._changed:
            del self._given[key]


class Exchanges(Actions):
    """The hook of ``run_part``: carries out the actions of one part."""

    def __init__(self, plan: Plan, part: int, meeting: Meeting, arrays: Mapping[str, _Array]) -> None:
        super().__init__(plan, arrays)
        self._part, self._meeting = part, meeting
        self._turns: dict[str, int] = {}  # by name, the number of completed ordered reductions

    def __call__(self, number: int, value: Any) -> Any:
        return value if self._plan.parts == 1 else super().__call__(number, value)

    def _post(self, value: Any) -> list[Any]:
        """Posts a value, and returns the values of all parts once all have posted one."""
        self._meeting.posted[self._part] = value
        self._meeting.wait()
        return self._meeting.posted

    def move(self, action: Action, array: _Array) -> None:
        if action.kind == "post":  # rows are copied where they are awaited; the interior does not change them
            return
        posted = self._post(array)
        assert action.cut is not None
        axis = action.cut.axis
        for source, first, last in action.transfers(self._part):
            rows(array, axis, first, last)[...] = rows(posted[source], axis, first, last)
        self._meeting.wait()

    # ------------------------------------------------------------ reductions

    def number(self, action: Action, value: Any) -> Any:
        if action.ordered:
            return self._in_order(action, value)
        if action.kind == "start":
            return value if self._part == 0 or action.identity is None else action.identity
        posted = list(self._post(value))
        self._meeting.wait()
        result = reduce(combine_of(action), (np.asarray(each)[()] for each in posted))
        return int(result) if isinstance(value, int) else float(result)

    def _in_order(self, action: Action, value: Any) -> Any:
        """The value for an ordered reduction: before the loop the previous part's, after it the last part's."""
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
        self._meeting.wait()  # all parts have received the value
        self._meeting.forget((action.name, turn, self._part))
        return result

    def reduce(self, action: Action, array: _Array) -> None:
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
