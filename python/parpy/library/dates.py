"""The arithmetic of dates and durations on the integers that NumPy stores, in which the least integer is NaT."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import builtin


def isnat(a: Any) -> Any:
    return a == -9223372036854775807 - 1


def whole(x: Any) -> Any:
    """A number that is used as a duration, which must be an integer."""
    if isinstance(x, (float, np.floating, complex, np.complexfloating)):
        builtin.static_fail("a float is no duration: convert it to an integer")
    return np.int64(x)


def added(a: Any, b: Any) -> Any:
    return a + b if not isnat(a) and not isnat(b) else -9223372036854775807 - 1


def subtracted(a: Any, b: Any) -> Any:
    return a - b if not isnat(a) and not isnat(b) else -9223372036854775807 - 1


def negated(a: Any) -> Any:
    return -a if not isnat(a) else a


def absolute(a: Any) -> Any:
    return abs(a) if not isnat(a) else a


def _of_float(x: Any) -> Any:
    return np.int64(x) if np.isfinite(x) else -9223372036854775807 - 1


def times(a: Any, x: Any) -> Any:
    """A duration times a number."""
    if isnat(a):
        return a
    if isinstance(x, (float, np.floating)):
        return _of_float(a * x)
    return a * np.int64(x)


def _truncated(a: Any, k: Any) -> Any:
    return abs(a) // abs(k) if (a < 0) == (k < 0) else -(abs(a) // abs(k))


def divided(a: Any, x: Any) -> Any:
    """A duration divided by a number. NumPy rounds towards zero, also where it calls the division `floor_divide`."""
    if isnat(a):
        return a
    if isinstance(x, (float, np.floating)):
        return _of_float(a / x)
    return _truncated(a, np.int64(x)) if x != 0 else -9223372036854775807 - 1


def ratio(a: Any, b: Any) -> Any:
    return np.float64(a) / np.float64(b) if not isnat(a) and not isnat(b) else np.nan


def whole_ratio(a: Any, b: Any) -> Any:
    return a // b if b != 0 and not isnat(a) and not isnat(b) else 0


def remainder(a: Any, b: Any) -> Any:
    return a % b if b != 0 and not isnat(a) and not isnat(b) else -9223372036854775807 - 1


def less(a: Any, b: Any) -> Any:
    return a < b and not isnat(a) and not isnat(b)


def less_equal(a: Any, b: Any) -> Any:
    return a <= b and not isnat(a) and not isnat(b)


def equal(a: Any, b: Any) -> Any:
    return a == b and not isnat(a)


def not_equal(a: Any, b: Any) -> Any:
    return a != b or isnat(a)


def maximum(a: Any, b: Any) -> Any:
    return max(a, b) if not isnat(a) and not isnat(b) else -9223372036854775807 - 1


def minimum(a: Any, b: Any) -> Any:
    return min(a, b)


def fmax(a: Any, b: Any) -> Any:
    return max(a, b)


def fmin(a: Any, b: Any) -> Any:
    return b if isnat(a) else a if isnat(b) else min(a, b)


def greater_of(a: Any, b: Any) -> Any:
    """Python's max, which returns the first of them unless the second is greater."""
    return b if less(a, b) else a


def lesser_of(a: Any, b: Any) -> Any:
    return b if less(b, a) else a


def sign(a: Any) -> Any:
    return a if isnat(a) else np.int64(a > 0) - np.int64(a < 0)


# ------------------------------------------------------------ units


def finer(a: Any, factor: Any) -> Any:
    return a * factor if not isnat(a) else a


def coarser(a: Any, factor: Any) -> Any:
    return a // factor if not isnat(a) else a


def days_of_months(a: Any) -> Any:
    """The first day of a month, both counted from January 1970."""
    if isnat(a):
        return a
    years, month = 1970 + a // 12, a % 12
    before = years - 1 if month < 2 else years  # years that begin in March
    day = (153 * ((month + 10) % 12) + 2) // 5
    era = before // 400
    year = before - era * 400
    return era * 146097 + year * 365 + year // 4 - year // 100 + day - 719468


def months_of_days(a: Any) -> Any:
    """The month of a day, both counted from January 1970."""
    if isnat(a):
        return a
    days = a + 719468
    era = days // 146097
    day = days - era * 146097
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    month = (5 * (day - (365 * year + year // 4 - year // 100)) + 2) // 153  # counted from March
    return (year + era * 400 - 1970) * 12 + month + 2
