"""`math.factorial`, `math.perm` and `math.comb` as compiled code computes them: jit functions of integers that are not
negative. -1 says that the result needs more than 64 bits.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math

from ._jit import jit

_LARGEST = 2**63 - 1


@jit
def factorial(n):
    if n > 20:
        return -1
    product = 1
    for factor in range(2, n + 1):
        product *= factor
    return product


@jit
def perm(n, k):
    if k > n:
        return 0
    product = 1
    for i in range(k):
        if product > _LARGEST // (n - i):
            return -1
        product *= n - i
    return product


@jit
def comb(n, k):
    if k > n:
        return 0
    product = 1
    for i in range(min(k, n - k)):
        # What divides the product is divided out of it first: it never is larger than the result.
        common = math.gcd(product, i + 1)
        factor = (n - i) // ((i + 1) // common)
        product //= common
        if product > _LARGEST // factor:
            return -1
        product *= factor
    return product
