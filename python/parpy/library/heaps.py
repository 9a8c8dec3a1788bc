"""The algorithms of heapq in the compiled language, for lists that grow in compiled loops (lists.py). The elements of a
list are numbers, or tuples of as many numbers as it has columns, and are compared and moved as heapq does it."""

from __future__ import annotations

import functools
from typing import Any

from .lists import number
from .texts import function_of

_LESS = """def less_{columns}({parts}, a, b):
{tests}
    return False
"""
# Integers among floats are compared as floats; only of two equal ones all digits decide.
_TEST = """    x_{n} = number(floats_{n}, wholes_{n}, like_{n}, a)
    y_{n} = number(floats_{n}, wholes_{n}, like_{n}, b)
    if x_{n} != y_{n}:
        return x_{n} < y_{n}
    if kinds_{n}[a] == 1 and kinds_{n}[b] == 1 and wholes_{n}[a] != wholes_{n}[b]:
        return wholes_{n}[a] < wholes_{n}[b]"""
_SWAP = """def swap_{columns}({parts}, a, b):
{moves}
"""
_MOVE = """    float_{n}, whole_{n}, kind_{n} = floats_{n}[a], wholes_{n}[a], kinds_{n}[a]
    floats_{n}[a], wholes_{n}[a], kinds_{n}[a] = floats_{n}[b], wholes_{n}[b], kinds_{n}[b]
    floats_{n}[b], wholes_{n}[b], kinds_{n}[b] = float_{n}, whole_{n}, kind_{n}"""
_RISE = """def rise_{columns}({parts}, first, top, place):
    while place > top:
        parent = (place - 1) >> 1
        if not less({parts}, first + place, first + parent):
            break
        swap({parts}, first + place, first + parent)
        place = parent
"""
_SINK = """def sink_{columns}({parts}, first, count, top):
    place = top
    child = 2 * place + 1
    while child < count:
        if child + 1 < count and not less({parts}, first + child, first + child + 1):
            child += 1
        swap({parts}, first + place, first + child)
        place = child
        child = 2 * place + 1
    rise({parts}, first, top, place)
"""
_PUSHED = """def pushed_{columns}({parts}, ends):
    rise({parts}, ends[0], 0, ends[1] - ends[0] - 1)
"""
_LEAST_LAST = """def least_last_{columns}({parts}, ends):
    count = ends[1] - ends[0]
    if count == 0:
        raise IndexError("index out of range")
    if count > 1:
        swap({parts}, ends[0], ends[1] - 1)
        sink({parts}, ends[0], count - 1, 0)
    return -1
"""
_HEAPIFIED = """def heapified_{columns}({parts}, ends):
    count = ends[1] - ends[0]
    for place in range(count // 2 - 1, -1, -1):
        sink({parts}, ends[0], count, place)
"""

PARTS = ("floats", "wholes", "kinds", "like")  # of each column, in the order of the parameters


@functools.cache
def functions(columns: int) -> dict[str, Any]:
    """The functions for lists with so many columns: `heappush` moves the last element to its place, `heappop` makes the
    least element the last one and returns its place, -1, and `heapify` makes a heap of the list."""
    parts = ", ".join(f"{part}_{n}" for n in range(columns) for part in PARTS)
    used: dict[str, Any] = {"number": number}
    for name, text in (("less", _LESS), ("swap", _SWAP), ("rise", _RISE), ("sink", _SINK)):
        used[name] = _function(name, text, columns, parts, used)
    names = {
        "heappush": ("pushed", _PUSHED),
        "heappop": ("least_last", _LEAST_LAST),
        "heapify": ("heapified", _HEAPIFIED),
    }
    return {method: _function(name, text, columns, parts, used) for method, (name, text) in names.items()}


def _function(name: str, text: str, columns: int, parts: str, used: dict[str, Any]) -> Any:
    tests = "\n".join(_TEST.format(n=n) for n in range(columns))
    moves = "\n".join(_MOVE.format(n=n) for n in range(columns))
    written = text.format(columns=columns, parts=parts, tests=tests, moves=moves)
    return function_of(written, f"{name}_{columns}", "<heap>", **used)
