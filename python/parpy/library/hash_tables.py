"""Dicts and sets of integers and of tuples of integers in the compiled language, for loops in which they grow
(host/grown). A key `k` is a tuple of all its integers, of which `keys` has those of each key in the order in which they
were added. `table` has the place of each key, counted from 1, at its hash or behind it.
`sizes` are the number of keys and the used size of the table, a power of two. The values of a dict are those of a list
(lists.py). Python never runs these functions."""

from __future__ import annotations

# mypy: ignore-errors
import numpy as np

from .. import builtin
from .lists import number, put


def key_of(k):
    if k.ndim != 0:
        builtin.static_fail("a dict or a set that grows in a compiled loop has integers in its keys")
    whole = k >> 0
    if builtin.static_types_eq(k, np.uint64) or builtin.static_types_eq(k, np.bool_):
        builtin.static_fail("a dict or a set that grows in a compiled loop has signed integers in its keys")
    return np.int64(whole)


def slot(keys, table, sizes, k):
    mask = sizes[1] - 1
    mixed = np.int64(0)
    for part in k:
        whole = key_of(part)
        mixed = (mixed ^ whole ^ (whole >> 32)) * 0x45D9F3B
    h = (mixed ^ (mixed >> 16)) & mask
    while table[h] != 0 and not is_key(keys, table[h] - 1, k):
        h = (h + 1) & mask
    return h


def is_key(keys, place, k):
    same = True
    at = place * len(k)
    for part in k:
        same = same and keys[at] == key_of(part)
        at += 1
    return same


def move(keys, table, sizes, place, k):
    """Enters the key at this place into the table; `k` is as long as the key."""
    mask = sizes[1] - 1
    mixed = np.int64(0)
    at = place * len(k)
    for _ in k:
        mixed = (mixed ^ keys[at] ^ (keys[at] >> 32)) * 0x45D9F3B
        at += 1
    h = (mixed ^ (mixed >> 16)) & mask
    while table[h] != 0:
        h = (h + 1) & mask
    table[h] = place + 1


def add(keys, table, sizes, k):
    """The place of the key, which is added if it is not there."""
    h = slot(keys, table, sizes, k)
    if table[h] == 0:
        n = sizes[0]
        at = n * len(k)
        if at + len(k) > keys.shape[0]:
            raise MemoryError("a dict or a set that grows in a compiled loop has more keys than its memory")
        for part in k:
            keys[at] = key_of(part)
            at += 1
        table[h] = n + 1
        sizes[0] = n + 1
        if 2 * n >= sizes[1]:
            sizes[1] *= 2
            for i in range(sizes[1]):
                table[i] = 0
            for i in range(n + 1):
                move(keys, table, sizes, i, k)
        return n
    return table[h] - 1


def has(keys, table, sizes, k):
    return table[slot(keys, table, sizes, k)] != 0


def set_item(floats, wholes, kinds, keys, table, sizes, like, k, v):
    put(floats, wholes, kinds, like, add(keys, table, sizes, k), v)


def get_item(floats, wholes, keys, table, sizes, like, k):
    place = table[slot(keys, table, sizes, k)]
    if place == 0:
        if len(k) == 1:
            raise KeyError(k[0])
        if len(k) == 2:
            raise KeyError(k[0], k[1])
        raise KeyError(k[0], k[1], k[2])
    return number(floats, wholes, like, place - 1)


def count(sizes):
    return sizes[0]


def empty(table, sizes):
    for i in range(sizes[1]):
        table[i] = 0
    sizes[0] = 0
