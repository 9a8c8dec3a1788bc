"""Lists of numbers in the compiled language, for loops in which they grow (host/grown). Their elements are in
`floats` or in `wholes`, as the type of `like` says, which holds all of them. `kinds` has the type of each element, and
`ends` the places of the first element and behind the last one. Python never runs these functions."""

from __future__ import annotations

# mypy: ignore-errors
import functools

import numpy as np

from .. import builtin
from .texts import function_of

# The types of elements besides Python's. The elements of a list with such a type all have it.
SMALL = ("int8", "int16", "int32", "uint8", "uint16", "uint32", "float32")


def kind_of(v):
    kind = 3
    if builtin.static_types_eq(v, np.float64):
        kind = 2
    elif builtin.static_types_eq(v, np.int64):
        kind = 1
    elif builtin.static_types_eq(v, np.bool_):
        kind = 0
        w = v + v
        if builtin.static_types_eq(w, np.bool_):  # NumPy's
            kind = 4
    return np.uint8(kind)


_STRICT = """def strict_{number}(like, v):
    if v.ndim == 0:
        if builtin.static_types_eq(v, np.float64):
            if not builtin.static_types_eq(like, np.float64):
                builtin.static_fail("list {number} has floats")
        elif builtin.static_types_eq(v, np.bool_):
            if builtin.static_types_eq(like, np.float64):
                builtin.static_fail("{mixed}")
            else:
{bools}
        elif builtin.static_types_eq(v, np.int64):
            if not builtin.static_types_eq(like, np.int64):
                builtin.static_fail("{mixed}")
        else:
{small}
    else:
        builtin.static_fail("a list that grows in a compiled loop has numbers as elements")
    return v
"""

# Python's bools are int beside each other, NumPy's are not.
_BOOLS = """                w = v + v
                if builtin.static_types_eq(w, np.bool_):
                    if not builtin.static_types_eq(like, np.bool_):
                        builtin.static_fail("list {number} has truths")
                    else:
                        u = like + like
                        if not builtin.static_types_eq(u, np.bool_):
                            builtin.static_fail("{mixed}")
                else:
                    if not builtin.static_types_eq(like, np.bool_):
                        builtin.static_fail("list {number} has bools")
                    else:
                        u = like + like
                        if builtin.static_types_eq(u, np.bool_):
                            builtin.static_fail("{mixed}")"""

_OPERAND = """def operand_{number}(like, v):
    if builtin.static_types_eq(like, np.float64):
        if v.ndim == 0:
            if not builtin.static_types_eq(v, np.float64):
                builtin.static_fail("{mixed}")
        elif v.dtype != np.float64:
            builtin.static_fail("{mixed}")
    return v
"""

_OTHERS = """            if builtin.static_types_eq(v, np.{name}):
                if not builtin.static_types_eq(like, np.{name}):
                    builtin.static_fail("list {number} has {name}")
            el"""
_REFUSED = "a list that grows in a compiled loop has real numbers of at most 64 bits, other than float16 and uint64"


def _of_small_types(number):
    tests = "".join(_OTHERS.format(name=name, number=number).lstrip(" " if name != SMALL[0] else "") for name in SMALL)
    return f'{tests}se:\n                builtin.static_fail("{_REFUSED}")'


MIXED = "it computes with elements of a list, queue or dict that has elements of several types"

_CHECKED = """def checked_{number}(like, v):
    if v.ndim == 0:
        if builtin.static_types_eq(v, np.float64):
            if not builtin.static_types_eq(like, np.float64):
                builtin.static_fail("list {number} has floats")
        elif builtin.static_types_eq(v, np.bool_):
            if not builtin.static_types_eq(like, np.float64):
{bools}
        elif builtin.static_types_eq(v, np.int64):
            if not builtin.static_types_eq(like, np.int64) and not builtin.static_types_eq(like, np.float64):
                builtin.static_fail("{mixed}")
        else:
{small}
    else:
        builtin.static_fail("a list that grows in a compiled loop has numbers as elements")
    return v
"""


def _filled_in(text, number, bools):
    parts = {"number": number, "mixed": MIXED}
    return text.format(**parts, small=_of_small_types(number), bools=bools.format(**parts))


@functools.cache
def checked(number):
    """The function that returns the value `v` for the list of this number, if its type `like` holds it. Integers count
    as floats and bools as integers."""
    bools = """                if not builtin.static_types_eq(like, np.int64):
                    builtin.static_fail("{mixed}")"""
    return function_of(_filled_in(_CHECKED, number, bools), f"checked_{number}", "<list>")


@functools.cache
def added(number):
    """The same as checked for a list whose elements a loop adds to numbers: bools count as floats alone."""
    text = _CHECKED.replace("checked_{number}", "added_{number}")
    return function_of(_filled_in(text, number, _BOOLS), f"added_{number}", "<list>")


@functools.cache
def strict(number):
    """The same as checked for a list whose elements all have one type."""
    return function_of(_filled_in(_STRICT, number, _BOOLS), f"strict_{number}", "<list>")


@functools.cache
def operand(number):
    """The function that returns `v`, which must be a float if the elements of the list of this number are floats."""
    return function_of(_OPERAND.format(number=number, mixed=MIXED), f"operand_{number}", "<list>")


def put(floats, wholes, kinds, like, place, v):
    kinds[place] = kind_of(v)
    if builtin.static_types_eq(like, np.float64) or builtin.static_types_eq(like, np.float32):
        floats[place] = v
    if not builtin.static_types_eq(v, np.float64) and not builtin.static_types_eq(v, np.float32):
        wholes[place] = v


def append(floats, wholes, kinds, ends, like, v):
    n = ends[1]
    if n == kinds.shape[0]:
        raise MemoryError("a list that grows in a compiled loop has more numbers than its memory")
    put(floats, wholes, kinds, like, n, v)
    ends[1] = n + 1


def place_of(ends, i):
    n = ends[1] - ends[0]
    if i < -n or i >= n:
        raise IndexError("list index out of range")
    return ends[0] + i if i >= 0 else ends[1] + i


def replace(floats, wholes, kinds, ends, like, i, v):
    put(floats, wholes, kinds, like, place_of(ends, i), v)


def number(floats, wholes, like, place):
    if builtin.static_types_eq(like, np.float64):
        return floats[place]
    elif builtin.static_types_eq(like, np.bool_):
        u = like + like
        if builtin.static_types_eq(u, np.bool_):
            return wholes[place] != 0
        else:
            return bool(wholes[place] != 0)
    elif builtin.static_types_eq(like, np.float32):
        return np.float32(floats[place])
    elif builtin.static_types_eq(like, np.int8):
        return np.int8(wholes[place])
    elif builtin.static_types_eq(like, np.int16):
        return np.int16(wholes[place])
    elif builtin.static_types_eq(like, np.int32):
        return np.int32(wholes[place])
    elif builtin.static_types_eq(like, np.uint8):
        return np.uint8(wholes[place])
    elif builtin.static_types_eq(like, np.uint16):
        return np.uint16(wholes[place])
    elif builtin.static_types_eq(like, np.uint32):
        return np.uint32(wholes[place])
    else:
        return wholes[place]


def element(floats, wholes, ends, like, i):
    return number(floats, wholes, like, place_of(ends, i))


def code(wholes, ends, i):
    """The number of a character of a text."""
    n = ends[1]
    if i < -n or i >= n:
        raise IndexError("string index out of range")
    return wholes[i] if i >= 0 else wholes[n + i]


def pop(floats, wholes, ends, like, i):
    """Removes and returns the last element, or for i=0 the first one."""
    if ends[0] == ends[1]:
        raise IndexError("pop from empty list")
    place = ends[0]
    if i == 0:
        ends[0] += 1
    else:
        ends[1] -= 1
        place = ends[1]
    return number(floats, wholes, like, place)


def length(ends):
    return ends[1] - ends[0]


def clear(ends):
    ends[1] = ends[0]


def take(floats, wholes, kinds, ends, other_floats, other_wholes, other_kinds, other_ends):
    """Copies the numbers of another list."""
    n = other_ends[1] - other_ends[0]
    for i in range(n):
        floats[i] = other_floats[other_ends[0] + i]
        wholes[i] = other_wholes[other_ends[0] + i]
        kinds[i] = other_kinds[other_ends[0] + i]
    ends[0], ends[1] = 0, n
