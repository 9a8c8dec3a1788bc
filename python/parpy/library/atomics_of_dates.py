"""Atomic operations on dates and durations as NumPy stores them: integers, of which the least is NaT. All functions
return the old element."""

from __future__ import annotations

from typing import Any

from ..vocabulary.device import atomic


def added(array: Any, index: Any, duration: Any) -> Any:
    """Adds a duration. NaT stays, and adding NaT makes the element NaT."""
    if duration == -9223372036854775807 - 1:
        return atomic.exch(array, index, duration)
    assumed = 0
    old = atomic.cas(array, index, assumed, duration)
    while old != assumed:
        assumed = old
        made = assumed + duration if assumed != -9223372036854775807 - 1 else assumed
        old = atomic.cas(array, index, assumed, made)
    return old


def greater(array: Any, index: Any, value: Any) -> Any:
    """Keeps the greater of both. The element stays if one of them is NaT."""
    assumed = value
    old = atomic.cas(array, index, assumed, value)
    while old != assumed:
        assumed = old
        made = value if value > assumed and assumed != -9223372036854775807 - 1 else assumed
        old = atomic.cas(array, index, assumed, made)
    return old


def lesser(array: Any, index: Any, value: Any) -> Any:
    """Keeps the lesser of both. The element stays if one of them is NaT."""
    return atomic.min(array, index, value if value != -9223372036854775807 - 1 else 9223372036854775807)


def greater_time(array: Any, index: Any, value: Any) -> Any:
    """Keeps the greater of both, of which NaT counts as missing."""
    return atomic.max(array, index, value)


def lesser_time(array: Any, index: Any, value: Any) -> Any:
    """Keeps the lesser of both, of which NaT counts as missing."""
    assumed = value
    old = atomic.cas(array, index, assumed, value)
    while old != assumed:
        assumed = old
        is_missing = assumed == -9223372036854775807 - 1
        made = value if value != -9223372036854775807 - 1 and (is_missing or value < assumed) else assumed
        old = atomic.cas(array, index, assumed, made)
    return old
