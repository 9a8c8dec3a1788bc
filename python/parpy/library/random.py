"""Random numbers in the compiled language: a counter-based generator, and distributions made of its words.

Philox 4x32-10 of Salmon, Moraes, Dror and Shaw ("Parallel random numbers: as easy as 1, 2, 3", 2011) makes four 32-bit
words from a key of 64 bits and a counter of 128 bits, and has no other state. One half of the counter is the number of
an iteration, the other half the place in the sequence of that iteration; docs/reference/random.md tells how draws are
numbered. All operations are wrapping integer arithmetic, so every back end makes the same words.
"""

from __future__ import annotations

# mypy: ignore-errors
import numpy as np

from .. import builtin
from .texts import function_of

_TO_UNIT = 2.0**-53
# The distance in the sequence from a rejected word to the word that is drawn in its place.
_AGAIN = 2**40


_ROUND = """
    p = a * 0xD2511F53
    q = c * 0xCD9E8D57
    a = (q >> 32) ^ b ^ {k}
    b = q & 0xFFFFFFFF
    c = (p >> 32) ^ d ^ {l}
    d = p & 0xFFFFFFFF"""
_STEPS = {"k": 0x9E3779B9, "l": 0xBB67AE85}  # the increments of the halves of the key in each round


def _round(number):
    """The text of one of the ten rounds, which are unrolled so that loops around them are vectorised."""
    grown = {half: f"(({half} + 0x{number * step & 0xFFFFFFFF:08X}) & 0xFFFFFFFF)" for half, step in _STEPS.items()}
    return _ROUND.format(**(grown if number > 0 else {half: half for half in _STEPS}))


_PHILOX = f"""def philox(key, index, number, half):
    k = key & 0xFFFFFFFF
    l = key >> 32
    a = number & 0xFFFFFFFF
    b = number >> 32
    c = index & 0xFFFFFFFF
    d = index >> 32{"".join(map(_round, range(10)))}
    return ((d << 32) | c) if half != 0 else ((b << 32) | a)
"""
# Half of the 128 bits that Philox 4x32-10 makes of the counter (number, index): the upper half if `half` is 1.
philox = function_of(_PHILOX, "philox", "<philox>")


def word(key, index, place):
    """The 64-bit word at a place of an iteration's sequence."""
    return philox(key, index, place >> 1, place & 1)


def unit(key, index, place):
    """A float64 in [0, 1), a multiple of 2**-53 as in NumPy."""
    return np.float64(np.int64(word(key, index, place) >> 11)) * _TO_UNIT


def quantile_of_middle(q):
    """The quantile of the standard normal distribution for the probability q + 0.5, by Wichura's rational approximation
    ("Algorithm AS 241", 1988) with a relative error of about 1e-16. This one is for q from -0.425 to 0.425."""
    r = 0.180625 - q * q
    above = 2.5090809287301226727e3 * r + 3.3430575583588128105e4
    above = ((above * r + 6.7265770927008700853e4) * r + 4.5921953931549871457e4) * r + 1.3731693765509461125e4
    above = ((above * r + 1.9715909503065514427e3) * r + 1.3314166789178437745e2) * r + 3.3871328727963666080e0
    under = 5.2264952788528545610e3 * r + 2.8729085735721942674e4
    under = ((under * r + 3.9307895800092710610e4) * r + 2.1213794301586595867e4) * r + 5.3941960214247511077e3
    under = ((under * r + 6.8718700749205790830e2) * r + 4.2313330701600911252e1) * r + 1.0
    return q * above / under


def quantile_of_tail(p):
    """The magnitude of that quantile in the tails: `p`, at most 0.075, is the probability beyond it on one side."""
    r = np.sqrt(-np.log(p))
    if r <= 5:
        r = r - 1.6
        above = 7.74545014278341407640e-4 * r + 2.27238449892691845833e-2
        above = ((above * r + 2.41780725177450611770e-1) * r + 1.27045825245236838258e0) * r + 3.64784832476320460504e0
        above = ((above * r + 5.76949722146069140550e0) * r + 4.63033784615654529590e0) * r + 1.42343711074968357734e0
        under = 1.05075007164441684324e-9 * r + 5.47593808499534494600e-4
        under = ((under * r + 1.51986665636164571966e-2) * r + 1.48103976427480074590e-1) * r
        under = ((under + 6.89767334985100004550e-1) * r + 1.67638483018380384940e0) * r
        under = (under + 2.05319162663775882187e0) * r + 1.0
        return above / under
    r = r - 5
    above = 2.01033439929228813265e-7 * r + 2.71155556874348757815e-5
    above = ((above * r + 1.24266094738807843860e-3) * r + 2.65321895265761230930e-2) * r + 2.96560571828504891230e-1
    above = ((above * r + 1.78482653991729133580e0) * r + 5.46378491116411436990e0) * r + 6.65790464350110377720e0
    under = 2.04426310338993978564e-15 * r + 1.42151175831644588870e-7
    under = ((under * r + 1.84631831751005468180e-5) * r + 7.86869131145613259100e-4) * r + 1.48753612908506148525e-2
    under = ((under * r + 1.36929880922735805310e-1) * r + 5.99832206555887937690e-1) * r + 1.0
    return above / under


def normal(key, index, place):
    """A normal float64 of mean 0 and variance 1: the quantile of the middle of one of 2**53 equal intervals."""
    q = (np.float64(np.int64(word(key, index, place) >> 11)) - 4503599627370495.5) * _TO_UNIT
    if np.abs(q) <= 0.425:
        return quantile_of_middle(q)
    return np.copysign(quantile_of_tail(0.5 - np.abs(q)), q)


def exponential(key, index, place):
    """An exponential float64 of mean 1, by the inverse of the distribution function."""
    return -np.log1p(-unit(key, index, place))


def upper_product(x, y):
    """The upper 64 bits of the 128-bit product of two uint64."""
    low = (x & 0xFFFFFFFF) * (y & 0xFFFFFFFF)
    first = (x >> 32) * (y & 0xFFFFFFFF) + (low >> 32)
    second = (x & 0xFFFFFFFF) * (y >> 32) + (first & 0xFFFFFFFF)
    return (x >> 32) * (y >> 32) + (first >> 32) + (second >> 32)


def below(key, index, place, count):
    """A uniform integer from 0 to count - 1, by Lemire's method ("Fast random integer generation in an interval",
    2019): it multiplies a word by the count, and rejects words that would make some results more likely."""
    drawn = word(key, index, place)
    if drawn * count < count:
        least = (np.uint64(0) - count) % count
        while drawn * count < least:
            place = place + _AGAIN
            drawn = word(key, index, place)
    return upper_product(drawn, count)


def integer(key, index, place, low, high):
    """A uniform int64 from low to high - 1."""
    if low >= high:
        raise ValueError("low >= high")
    count = np.uint64(np.int64(high)) - np.uint64(np.int64(low))
    return np.int64(np.uint64(np.int64(low)) + below(key, index, place, count))


def integer_up_to(key, index, place, low, high):
    """A uniform int64 from low to high, inclusive."""
    if low > high:
        raise ValueError("low > high")
    count = np.uint64(np.int64(high)) - np.uint64(np.int64(low)) + np.uint64(1)
    if count == 0:  # the range has all 2**64 integers
        return np.int64(word(key, index, place))
    return np.int64(np.uint64(np.int64(low)) + below(key, index, place, count))


def choice(key, index, place, a):
    """A uniform choice among the integers below a number, or among the elements of an array."""
    if a.ndim == 0:
        return choice_below(key, index, place, a)
    return choice_of_elements(key, index, place, a)


def choice_below(key, index, place, n):
    if n <= 0:
        raise ValueError("a must be greater than 0 unless no samples are taken")
    return np.int64(below(key, index, place, np.uint64(np.int64(n))))


def choice_of_elements(key, index, place, a):
    if a.shape[0] == 0:
        raise ValueError("a cannot be empty unless no samples are taken")
    return a[np.int64(below(key, index, place, np.uint64(a.shape[0])))]


def weighed(key, index, place, p):
    """An index of `p`, drawn with the probabilities in `p`."""
    s = np.sum(p)
    if not np.abs(s - 1) <= 1e-8:
        raise ValueError("Probabilities do not sum to 1.  Please check.")
    u = unit(key, index, place) * s
    i = 0
    reached = p[0]
    while reached <= u and i < p.shape[0] - 1:
        i += 1
        reached += p[i]
    return np.int64(i)


def weighed_choice(key, index, place, a, p):
    if a.ndim == 0:
        return weighed(key, index, place, p)
    return a[weighed(key, index, place, p)]


# ------------------------------------------------------------ arrays: each has a key, and so a sequence, of its own


def units(key, n):
    x = np.empty(n)
    for i in range(n // 2):
        x[2 * i] = unit(key, np.uint64(i), np.uint64(0))
        x[2 * i + 1] = unit(key, np.uint64(i), np.uint64(1))
    if n % 2 == 1:
        x[n - 1] = unit(key, np.uint64(n // 2), np.uint64(0))
    return x


def normals(key, n):
    x = np.empty(n)
    for i in range(n // 2):
        x[2 * i] = normal(key, np.uint64(i), np.uint64(0))
        x[2 * i + 1] = normal(key, np.uint64(i), np.uint64(1))
    if n % 2 == 1:
        x[n - 1] = normal(key, np.uint64(n // 2), np.uint64(0))
    return x


def exponentials(key, n):
    x = np.empty(n)
    for i in range(n):
        x[i] = exponential(key, np.uint64(0), np.uint64(i))
    return x


def integers(key, n, low, high):
    x = np.empty(n, dtype=np.int64)
    for i in range(n):
        x[i] = integer(key, np.uint64(0), np.uint64(i), low, high)
    return x


def integers_up_to(key, n, low, high):
    x = np.empty(n, dtype=np.int64)
    for i in range(n):
        x[i] = integer_up_to(key, np.uint64(0), np.uint64(i), low, high)
    return x


def choices(key, n, a):
    if a.ndim == 0:
        return integers(key, n, 0, a)
    if n > 0 and a.shape[0] == 0:
        raise ValueError("a cannot be empty unless no samples are taken")
    return a[integers(key, n, 0, a.shape[0])]


def weighed_choices(key, n, a, p):
    places = np.empty(n, dtype=np.int64)
    for i in range(n):
        places[i] = weighed(key, np.uint64(0), np.uint64(i), p)
    return places if a.ndim == 0 else a[places]


def with_shape(values, x):
    """The numbers in the shape of the array `x`."""
    if x.ndim == 1:
        return values
    if x.ndim == 2:
        return values.reshape(x.shape[0], x.shape[1]).copy()
    if x.ndim == 3:
        return values.reshape(x.shape[0], x.shape[1], x.shape[2]).copy()
    builtin.static_fail("sizes of random numbers are shapes of 1 to 3 dimensions here")
    return values


def shuffle(key, x):
    """Fisher and Yates's shuffle: from the last element on, each is exchanged with itself or an element before it."""
    if x.ndim != 1:
        builtin.static_fail("only an array of one dimension can be shuffled here: permute row numbers instead")
    for i in range(x.shape[0] - 1, 0, -1):
        j = np.int64(below(key, np.uint64(0), np.uint64(i), np.uint64(i + 1)))
        held = x[i]
        x[i] = x[j]
        x[j] = held


def permutation(key, x):
    """A random permutation of the integers below a number, or of the elements of an array."""
    if x.ndim == 0:
        numbers = np.empty(x, dtype=np.int64)
        for i in range(x):
            numbers[i] = i
        shuffle(key, numbers)
        return numbers
    y = x.copy()
    shuffle(key, y)
    return y


def seeded(seed):
    """The key of a generator that compiled code makes from a seed."""
    if seed < 0:
        raise ValueError("expected non-negative integer")
    return word(np.uint64(np.int64(seed)), np.uint64(2**63), np.uint64(0))
