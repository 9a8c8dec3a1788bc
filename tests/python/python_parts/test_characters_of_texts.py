"""Loops that only compare the characters of texts, or take their numbers, are compiled."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import parpy
from backends import TARGETS, compiled_throughout, options
from results import same


def edit_distance(a, b):
    m, n = len(a), len(b)
    d = np.zeros((m + 1, n + 1), dtype=np.int64)
    d[:, 0] = np.arange(m + 1)
    d[0, :] = np.arange(n + 1)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[m, n]


def differences(a, b):
    n = 0
    for x, y in zip(a, b):  # noqa: B905
        if x != y:
            n += 1
    return n


def depth(text, other):
    d = best = 0
    where = -1
    for i, c in enumerate(text):
        if c in "([{":
            d += 1
            if d > best:
                best, where = d, i
        elif c in ")]}":
            d -= 1
        elif c not in " a":
            where = -i
    return d, best, where


def is_palindrome(s, other):
    for i in range(len(s) // 2):  # noqa: SIM110
        if s[i] != s[-1 - i]:
            return False
    return True


def found(text, pattern):
    places = []
    for i in range(len(text) - len(pattern) + 1):
        is_here = True
        for j in range(len(pattern)):
            if text[i + j] != pattern[j]:
                is_here = False
                break
        if is_here:
            places.append(i)
    return places


def prefixes(p, other):
    lengths = np.zeros(len(p), dtype=int)
    k = 0
    for i in range(1, len(p)):
        while k > 0 and p[k] != p[i]:
            k = lengths[k - 1]
        if p[k] == p[i]:
            k += 1
        lengths[i] = k
    return lengths


def ranges(s, other):
    digits = total = 0
    for c in s:
        if "0" <= c <= "9":
            digits += 1
            total += ord(c) - ord("0")
        if c >= "a" and c < "é":
            total += 100
    return digits, total


def nested(s, t):
    k = 0
    for c in s:
        for d in t:
            k += c == d
    return k


COMPILED = [edit_distance, differences, depth, is_palindrome, found, prefixes, ranges, nested]
TEXTS = [
    ("GATTACA", "GCATGCU"),
    ("", "abc"),
    ("é€😀x", "x😀€é"),
    ("a(b[1]{d})", "b"),
    ("abcabcab", "ab"),
    ("racecar", ""),
]


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", COMPILED)
def test_compiled(backend, function):
    compiled = parpy.jit(function)
    with compiled_throughout():
        for texts in TEXTS:
            got, want = compiled(*texts, opts=options(backend, {})), function(*texts)
            assert same(got, want)
            assert isinstance(got, bool) == isinstance(want, bool)


def last(s, n):
    c = ""
    for c in s:
        if c == "o":
            break
    return c


def counted(s, n):
    out = {}
    for c in s:
        out[c] = out.get(c, 0) + 1
    return out


def sliced(s, n):
    k = 0
    for i in range(n):
        if s[i : i + 2] == "ll":
            k += 1
    return k


def kept(s, n):
    out = []
    for i in range(len(s)):
        c = s[i]
        if c != "e":
            out.append(c)
    return out


def before(s, n):
    k = 0
    c = s[0]
    for i in range(len(s)):
        if s[i] == c:
            k += 1
        c = s[i]
    return k, c


def with_argument(s, letter):
    k = 0
    for c in s:
        if c == letter:
            k += 1
    return k


@pytest.mark.parametrize("function", [last, counted, sliced, kept, before])
def test_other_uses(function):
    compiled = parpy.jit(function)
    with pytest.warns(parpy.PerformanceWarning, match="'s' is a text, of which compiled loops only compare characters"):
        assert compiled("hello world", 8) == function("hello world", 8)
    assert compiled("oll", 2) == function("oll", 2)


def test_a_letter_that_is_an_argument():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", parpy.PerformanceWarning)
        assert parpy.jit(with_argument)("hello", "l") == 2


def test_places_out_of_range():
    @parpy.jit
    def beyond(s, n):
        k = 0
        for i in range(n):
            if s[i] == "l":
                k += 1
        return k

    assert beyond("hello", 5) == 2
    with pytest.raises(IndexError, match="string index out of range"):
        beyond("hello", 6)
    assert beyond("hello", 4) == 2
