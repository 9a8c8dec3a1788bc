"""Warns of environment variables with values that the core cannot read; it then uses its defaults."""

from __future__ import annotations

import os

from .warnings import warn as warn_of

# By variable: its least valid number, and the consequence of an invalid value for the message.
_NUMBERS = {
    "PARPY_NUM_THREADS": (1, "all cores are used"),
    "PARPY_CHUNKS": (1, "loops are split according to their work"),
    "PARPY_CACHE_SIZE": (0, "the bound is 1 GiB"),
    "PARPY_MPI_TIMEOUT": (1, "ranks wait for 600 seconds"),
    "PARPY_TIME_TILES": (0, "loops over time run in tiles where that is faster"),
    "PARPY_WAVES": (0, "nests run in waves where that is faster"),
}


def warn() -> None:
    for name, (least, default) in _NUMBERS.items():
        value = os.environ.get(name, "")
        if value and not (value.isascii() and value.isdecimal() and least <= int(value) < 2**64):
            text = f"the environment variable {name} is {value!r}, not a whole number from {least} on; {default}"
            warn_of(text)
