"""The common part of the hooks of ``run_part``: finds the action of a plan and the part's array for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..arrays.device_arrays import described
from ..vocabulary.sizes import SIZES
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


def combine_of(action: Action) -> Callable[[Any, Any], Any]:
    if action.op not in _COMBINE:
        raise NotImplementedError(f"parts cannot combine by {action.op}")
    return _COMBINE[action.op]


class Actions(ABC):
    """Calls `number`, `reduce` or `move` for an action. Each engine implements these for its parts."""

    def __init__(self, plan: Plan, arrays: Mapping[str, _Array]) -> None:
        self._plan, self._arrays = plan, arrays

    def __call__(self, number: int, value: Any) -> Any:
        action = self._plan.actions[number]
        if not action.array:
            return self.number(action, value)
        array = self._array(action, value)
        if action.kind in ("start", "pass", "keep", "combine"):
            self.reduce(action, array)
        else:
            self.move(action, array)
        return None

    def _array(self, action: Action, address: int) -> _Array:
        """The part's array: an argument, or an array that the program made, in C order at this address."""
        if action.name in self._arrays:
            return self._arrays[action.name]
        shape, scalar = self._plan.shapes[action.name]
        made: _Array = described(address, shape, SIZES[scalar].dtype, None)
        return made

    @abstractmethod
    def number(self, action: Action, value: Any) -> Any:
        """The value of a reduced number with which the part continues."""

    @abstractmethod
    def reduce(self, action: Action, array: _Array) -> None:
        """Sets the elements of a reduced array with which the part continues."""

    @abstractmethod
    def move(self, action: Action, array: _Array) -> None:
        """Copies the rows that the action needs from other parts to the array."""
