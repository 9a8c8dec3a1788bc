"""Runs a region in place of a small statement that differs between Python and compiled code (small_statements.py)."""

from __future__ import annotations

import sys
from collections.abc import Mapping, MutableSequence, Set
from typing import Any

from ..calls.errors import CompileError
from ..calls.options import CompileOptions
from .checks import Beyond, NoNumber
from .regions import Region, run_region

_OFTEN = 16  # the number of such runs in a group after which the whole group becomes a region


class SmallRegions:
    """The regions of the small statements of one function. `by_python` tells which groups of them Python runs."""

    def __init__(self, statements: list[Region], by_python: list[bool]) -> None:
        self._statements = statements
        self._by_python = by_python
        self._left: dict[int, int] = {}

    def run(self, index: int, group: int, inputs: tuple[Any, ...], opts: CompileOptions | None) -> Any:
        """Runs the region of a statement whose only effect so far is an exception. A group whose operands are no
        numbers, or that often gets here, becomes a region from now on."""
        self._left[group] = self._left.get(group, _OFTEN) - 1
        failed = sys.exc_info()[1]
        if group >= 0 and (self._left[group] <= 0 or isinstance(failed, NoNumber)):
            self._by_python[group] = False
        try:
            return run_region(self._statements[index], inputs, opts)
        except Exception as error:
            of_python = any(isinstance(each, MutableSequence | Set | Mapping) for each in inputs)
            is_own = isinstance(failed, Beyond | NoNumber)
            if isinstance(error, CompileError) and failed is not None and of_python and not is_own:
                raise failed from None  # compiled code has no such values
            error.__suppress_context__ = True
            raise
