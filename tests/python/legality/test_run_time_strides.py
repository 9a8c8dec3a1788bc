"""Subscripts that multiply by numbers of run time: verdicts, compared with the conflicts of runs with some numbers."""

from __future__ import annotations

import random

import numpy as np
import pytest

import parpy
from backends import TARGETS
from nests import Nest, facts, trace

# name: (verdicts of the loops that read the numbers h and w, text)
CASES = {
    "rows": ("PP", "for i in range(4):\n    for j in range(h):\n        a[i * h + j] = 1"),
    "rows of rows": (
        "PPP",
        "for i in range(3):\n    for j in range(h):\n        for k in range(w):\n"
        "            a[(i * h + j) * w + k] = a[(i * h + j) * w + k] + 1",
    ),
    "rows of a size with a name": (
        "PP",
        "n = h * w\nfor i in range(3):\n    for j in range(n):\n        a[i * n + j] = 1",
    ),
    "rows, walked downwards": ("PP", "for i in range(3, -1, -1):\n    for j in range(h):\n        a[i * h + j] = 1"),
    "pairs of halves": (
        "PP",
        "for k in range(0, 64, 2 * h):\n    for j in range(h):\n        t = a[k + j + h]\n"
        "        a[k + j + h] = a[k + j] - t\n        a[k + j] = a[k + j] + t",
    ),
    "blocks in halves": (
        "PP",
        "for b in range(4):\n    for j in range(h // 2):\n        a[b * h + j] = a[b * h + j + h // 2]",
    ),
    "last of each half": ("P", "for i in range(0, 64, 2 * h):\n    a[i + 2 * h - 1] += a[i + h - 1]"),
    "halves": ("P", "for i in range(h):\n    a[i] = a[h + i]"),
    "every h-th": ("P", "for i in range(0, 64, h):\n    a[i] = 1"),
    "columns of rows": ("PP", "for j in range(h):\n    for i in range(4):\n        a[i * h + j] = 1"),
    "the next row": ("UP", "for i in range(4):\n    for j in range(h):\n        a[i * h + j] = a[(i + 1) * h + j]"),
    "a row that is too long": ("UU", "for i in range(4):\n    for j in range(h + 1):\n        a[i * h + j] = 1"),
    "rows that overlap by half": ("UU", "for i in range(4):\n    for j in range(2 * h):\n        a[i * h + j] = i"),
    "the row is one of two sizes": (
        "UU",
        "for i in range(4):\n    for j in range(h):\n        a[i * h + j] = a[i * w + j]",
    ),
    "a size that the loop changes": (
        "XU",
        "for i in range(4):\n    h += 1\n    for j in range(h):\n        a[i * h + j] = 1",
    ),
    "rows of no known size": ("U", "for i in range(4):\n    a[i * h] = 1"),
    "the number that is not bounded": ("UU", "for i in range(4):\n    for j in range(w):\n        a[i * h + j] = 1"),
}
_NUMBERS = [(1, 1), (1, 3), (2, 1), (2, 2), (3, 2), (4, 5), (8, 4), (0, 2), (3, 0), (-1, 2), (2, -2), (-3, -2)]


def _nest(text: str, h: int, w: int) -> Nest:
    arguments = {"a": np.arange(3000.0), "p": np.array([h, w])}
    return Nest(f"h = p[0]\nw = p[1]\n{text}", arguments)


def _letters(found) -> str:
    return "".join({"proved": "P", "unknown": "U", "refuted": "X", "reduction": "R"}[loop["verdict"]] for loop in found)


def _check_truth(text: str) -> list[str]:
    """The verdicts, which do not depend on h and w, after a comparison with the conflicts for each of _NUMBERS."""
    verdicts = [loop["verdict"] for loop in facts(_nest(text, 1, 1))]
    for h, w in _NUMBERS:
        try:
            truth = trace(_nest(text, h, w))
        except ValueError:  # range() with a step of 0
            assert h == 0
            continue
        for number, verdict in enumerate(verdicts):
            assert verdict != "proved" or not truth.conflicts(number), (text, number, h, w)
    return verdicts


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    verdicts, text = CASES[name]
    assert _letters(facts(_nest(text, 1, 1))) == verdicts
    _check_truth(text)


def _subscript(rng: random.Random, counters: list[str]) -> str:
    digits = [rng.choice([*counters, "0", "1"]) for _ in range(3)]
    digits = [digit + rng.choice(["", "", "", " + 1", " - 1", " + h", " + h // 2"]) for digit in digits]
    form = rng.choice(
        ["({0}) * h + {1}", "(({0}) * h + {1}) * w + {2}", "{1} + ({0}) * w", "({0}) * (2 * h) + {1}", "{0}"]
    )
    return form.format(*digits)


def _random_text(rng: random.Random) -> str:
    counters = ["i", "j", "k"][: rng.choice((1, 2, 2, 3))]
    lines = []
    for depth, counter in enumerate(counters):
        span = rng.choice(
            ["h", "h", "w", "3", "2 * h", "h + 1", "h - 1", "h // 2", "1, h", "0, 3 * h, h", "h - 1, -1, -1"]
        )
        lines.append("    " * depth + f"for {counter} in range({span}):")
    inside = "    " * len(counters)
    if rng.random() < 0.3:
        lines.append(
            inside + f"if {rng.choice(counters)} {rng.choice(['<', '>=', '!='])} {rng.choice(['1', 'h', 'w'])}:"
        )
        inside += "    "
    first = _subscript(rng, counters)
    second = rng.choice([first, _subscript(rng, counters), None])
    lines.append(f"{inside}a[{first}] = " + ("1" if second is None else f"a[{second}] + 1"))
    return "\n".join(lines)


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_random_nests(first):
    proved = 0
    for seed in range(first, first + 100):
        proved += _check_truth(_random_text(random.Random(seed))).count("proved")
    assert proved > 8


@parpy.jit
def transform(x, w):
    n = len(x)
    h = 1
    while h < n:
        for k in range(0, n, 2 * h):
            for j in range(h):
                t = w[j * (n // (2 * h))] * x[k + j + h]
                x[k + j + h] = x[k + j] - t
                x[k + j] += t
        h *= 2


@parpy.jit
def running_sums(x):
    n = len(x)
    d = 1
    while d < n:
        for i in range(0, n, 2 * d):
            x[i + 2 * d - 1] += x[i + d - 1]
        d *= 2
    while d > 1:
        d //= 2
        for i in range(2 * d, n, 2 * d):
            x[i + d - 1] += x[i - 1]


@parpy.jit
def sorted_pairs(x):
    """Batcher's bitonic sort of a power of two of numbers, with blocks in place of exclusive or."""
    n = len(x)
    size = 2
    while size <= n:
        half = size // 2
        for b in range(n // size):
            for j in range(half):
                first, last = b * size + j, b * size + size - 1 - j
                if x[first] > x[last]:
                    x[first], x[last] = x[last], x[first]
        half //= 2
        while half > 0:
            for b in range(n // (2 * half)):
                for j in range(half):
                    first, last = b * (2 * half) + j, b * (2 * half) + half + j
                    if x[first] > x[last]:
                        x[first], x[last] = x[last], x[first]
            half //= 2
        size *= 2


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [1, 2, 8, 256])
def test_programs(target, n):
    rng, opts = np.random.default_rng(n), parpy.auto(backend=parpy.CompileBackend(target))
    x = rng.random(n) + 1j * rng.random(n)
    bits = n.bit_length() - 1
    order = [int(format(i, f"0{bits}b")[::-1] or "0", 2) if bits else 0 for i in range(n)]
    got = x[order]
    transform(got, np.exp(-2j * np.pi * np.arange(max(1, n)) / n), opts=opts)
    np.testing.assert_allclose(got, np.fft.fft(x), rtol=1e-12, atol=1e-12)
    y = rng.integers(0, 9, n)
    got = y.copy()
    running_sums(got, opts=opts)
    np.testing.assert_array_equal(got, np.cumsum(y))
    z = rng.random(n)
    got = z.copy()
    sorted_pairs(got, opts=opts)
    np.testing.assert_array_equal(got, np.sort(z))


def test_the_loops_of_these_programs_are_proved():
    for function, arguments in (
        (transform, (np.zeros(64, complex), np.zeros(64, complex))),
        (running_sums, (np.zeros(64),)),
    ):
        verdicts = [loop["verdict"] for loop in parpy._native.loop_facts(function, arguments)]
        assert set(verdicts) == {"proved"}, function
