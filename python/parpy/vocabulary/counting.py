"""The implementations of `math.factorial`, `math.perm`, `math.comb` and `pow(a, b, m)` in compiled code. The
first three require non-negative integers, and return -1 if the result needs more than 64 bits.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math

from ..syntax.source import capture

_LARGEST = 2**63 - 1


def _compiled(function):
    """Attaches the source of the function, by which loops and kernels can call it."""
    function.__parpy_source__ = capture(function)
    return function


@_compiled
def factorial(n):
    if n > 20:
        return -1
    product = 1
    for factor in range(2, n + 1):
        product *= factor
    return product


@_compiled
def perm(n, k):
    if k > n:
        return 0
    product = 1
    for i in range(k):
        if product > _LARGEST // (n - i):
            return -1
        product *= n - i
    return product


@_compiled
def comb(n, k):
    if k > n:
        return 0
    product = 1
    for i in range(min(k, n - k)):
        # Common factors are divided out of the product first, so that it never exceeds the result.
        common = math.gcd(product, i + 1)
        factor = (n - i) // ((i + 1) // common)
        product //= common
        if product > _LARGEST // factor:
            return -1
        product *= factor
    return product


@_compiled
def power(base, exponent, modulus):
    """base ** exponent modulo a modulus that is not 0. The result `modulus` means that the base has no inverse."""
    m = abs(modulus)
    if m == 1:
        return 0
    factor = base % m
    result = 1
    left = exponent
    if exponent < 0:
        factor = _inverse(factor, m)
        if factor == 0:
            return modulus
        result = factor
        left = -(exponent + 1)
    while left > 0:
        if left % 2 == 1:
            result = _product(result, factor, m)
        factor = _product(factor, factor, m)
        left //= 2
    return result + modulus if modulus < 0 and result > 0 else result


@_compiled
def _product(a, b, m):
    """a * b % m for 0 <= a, b < m, without overflow of 64 bits."""
    if m <= 3037000500:
        return a * b % m
    total = 0
    while b > 0:
        if b % 2 == 1:
            total = total - (m - a) if total >= m - a else total + a
        a = a - (m - a) if a >= m - a else a + a
        b //= 2
    return total


@_compiled
def _inverse(a, m):
    """The inverse of a modulo m, by Euclid's algorithm; 0 if there is none."""
    r, s = m, a
    t, u = 0, 1
    while s > 0:
        q = r // s
        r, s = s, r - q * s
        t, u = u, t - q * u
    return t % m if r == 1 else 0
