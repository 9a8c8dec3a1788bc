"""Draws a key from a generator of random numbers for each call of compiled code, which makes its numbers from it."""

from __future__ import annotations

from ..vocabulary.generators import is_generator


def key_of(found: object) -> complex | None:
    """Draws 64 bits from the generator, half of them in each part of the result. None for other objects.

    Programs are never specialised for a complex number, so a new key compiles no new program.
    """
    if not is_generator(found):
        return None
    bits = int.from_bytes(found.bytes(8), "little")
    return complex(bits & 0xFFFFFFFF, bits >> 32)
