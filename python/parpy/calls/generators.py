"""Gives each call of compiled code a key from a generator of random numbers; the call makes its own numbers from it."""

from __future__ import annotations

from ..vocabulary.generators import is_generator


def key_of(found: object) -> complex | None:
    """64 bits of the generator, which moves on: half of them in each part. None of other objects.

    A complex number is passed to a program at run time whatever its value: no call compiles for its key.
    """
    if not is_generator(found):
        return None
    bits = int.from_bytes(found.bytes(8), "little")
    return complex(bits & 0xFFFFFFFF, bits >> 32)
