"""What a generator of random numbers gives to one call of compiled code: a key, with which the call makes its own."""

from __future__ import annotations

from typing import Any

import numpy as np

GLOBAL_STATE: np.random.RandomState = np.random.mtrand._rand
"""What ``np.random.seed`` seeds, and the functions of ``np.random`` draw from."""


def is_generator(found: object) -> bool:
    """Whether compiled code can draw a key from it."""
    return isinstance(found, np.random.Generator | np.random.RandomState)


def key_of(found: Any) -> complex | None:
    """64 bits of the generator, which moves on: half of them in each part. None of other objects.

    A complex number is passed to a program at run time whatever its value: no call compiles for its key.
    """
    if not is_generator(found):
        return None
    bits = int.from_bytes(found.bytes(8), "little")
    return complex(bits & 0xFFFFFFFF, bits >> 32)
