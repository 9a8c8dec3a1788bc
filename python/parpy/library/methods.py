"""Methods of Python's tuples, integers and objects in the compiled language. Python never runs them."""

from __future__ import annotations

# mypy: ignore-errors
import numpy as np


def index(t, v):
    place = -1
    for number, each in enumerate(t):
        if place < 0 and each == v:
            place = number
    if place < 0:
        raise ValueError("tuple.index(x): x not in tuple")
    return place


def count(t, v):
    times = 0
    for each in t:
        if each == v:
            times += 1
    return times


def bit_length(n):
    """The number of bits of the magnitude, by a binary search with shifts of decreasing width."""
    left = np.uint64(np.int64(n))
    if n < 0:
        left = np.uint64(0) - left
    bits = 0
    for step in (32, 16, 8, 4, 2, 1):
        if left >> np.uint64(step) > 0:
            left = left >> np.uint64(step)
            bits += step
    return bits + 1 if left > 0 else bits


def truth(p):
    """The truth of an object whose class has neither `__bool__` nor `__len__`."""
    return True
