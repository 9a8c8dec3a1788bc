"""Warns of settings in the environment that the core cannot read, and for which it takes its defaults."""

from __future__ import annotations

import os
import warnings

_LARGEST = 2**64


def _is_number(text: str, least: int) -> bool:
    return text.isascii() and text.isdecimal() and least <= int(text) < _LARGEST


def _check(name: str, least: int, default: str) -> None:
    value = os.environ.get(name, "")
    if value and not _is_number(value, least):
        warnings.warn(
            f"the environment variable {name} is {value!r}, which is no whole number from {least} on; {default}",
            RuntimeWarning,
            stacklevel=2,
        )


def warn() -> None:
    _check("PARPY_NUM_THREADS", 1, "all cores are used")
    _check("PARPY_CHUNKS", 1, "loops are split by the work that they have")
    _check("PARPY_CACHE_SIZE", 0, "the bound is 1 GiB")
