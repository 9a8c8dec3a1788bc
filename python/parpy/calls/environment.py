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
    "PARPY_VECTOR_BYTES": (0, "vectors are as long as the processor's"),
    "PARPY_PERF_MAP": (0, "compiled functions have no names in perf"),
    "PARPY_BLOCK_STEPS": (0, "loops of dependent steps run in blocks where that is faster"),
    "PARPY_SCANS": (0, "loops that pass on sums or counts are split where that is faster"),
    "PARPY_TIME_TILES": (0, "loops over time run in tiles where that is faster"),
    "PARPY_WAVES": (0, "nests run in waves where that is faster"),
}


def warn() -> None:
    for name, (least, default) in _NUMBERS.items():
        value = os.environ.get(name, "")
        if value and not (value.isascii() and value.isdecimal() and least <= int(value) < 2**64):
            text = f"the environment variable {name} is {value!r}, not a whole number from {least} on; {default}"
            warn_of(text)
