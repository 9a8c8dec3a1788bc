"""Small loop nests with the correct verdict for each of their loops, in the order of the text.

P proved, R a reduction (updates of one scalar or element), S a reduction whose elements vary (it would need atomic
updates), X refuted, U unknown.
"""

# ruff: noqa: E501
from __future__ import annotations

from typing import Any

import numpy as np

from legality_aliases import ALIASES

PERMUTATION = np.array([3, 1, 4, 0, 2, 7, 5, 6])
ROWS = np.array([0, 2, 2, 5, 7, 8])


# name: (verdicts, arguments (a shape is an array of doubles), text)
CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    # ------------------------------------------------------------ one loop, no conflict
    "copy": ("P", {"a": (8,), "b": (8,)}, "for i in range(8):\n    b[i] = a[i]"),
    "scale in place": ("P", {"a": (8,)}, "for i in range(8):\n    a[i] = 2 * a[i]"),
    "update in place": ("P", {"a": (8,)}, "for i in range(8):\n    a[i] += 1"),
    "shifted copy": ("P", {"a": (9,), "b": (8,)}, "for i in range(8):\n    b[i] = a[i + 1]"),
    "reversed copy": ("P", {"a": (8,), "b": (8,)}, "for i in range(8):\n    b[7 - i] = a[i]"),
    "negative subscripts": ("P", {"a": (8,), "b": (8,)}, "for i in range(8):\n    b[-1 - i] = a[i]"),
    "negative step": ("P", {"a": (8,), "b": (8,)}, "for i in range(7, -1, -1):\n    b[i] = a[i]"),
    "strided": ("P", {"a": (16,)}, "for i in range(0, 16, 2):\n    a[i] = a[i + 1]"),
    "stride by factor": ("P", {"a": (16,)}, "for i in range(8):\n    a[2 * i] = a[2 * i + 1]"),
    "one iteration": ("P", {"a": (8,)}, "for i in range(3, 4):\n    a[0] = a[i]"),
    "halves": ("P", {"a": (16,)}, "for i in range(8):\n    a[i + 8] = a[i]"),
    "distance beyond the trip count": ("P", {"a": (16,)}, "for i in range(5):\n    a[i + 5] = a[i]"),
    "empty by condition": ("P", {"a": (8,)}, "for i in range(1, 8):\n    if i < 1:\n        a[i] = a[i - 1]"),
    "private scalar": ("P", {"a": (8,)}, "for i in range(8):\n    t = a[i] * 2\n    a[i] = t + 1"),
    "through a scalar subscript": ("P", {"a": (9,), "b": (9,)}, "for i in range(8):\n    k = i + 1\n    b[k] = a[k]"),
    "ping-pong": ("P", {"a": (8,), "b": (8,)}, "for i in range(1, 7):\n    b[i] = a[i - 1] + a[i + 1]"),
    "swap halves": (
        "P",
        {"a": (16,)},
        "for i in range(8):\n    t = a[i]\n    a[i] = a[i + 8]\n    a[i + 8] = t",
    ),
    "reverse in place": (
        "P",
        {"a": (16,)},
        "for i in range(8):\n    t = a[i]\n    a[i] = a[15 - i]\n    a[15 - i] = t",
    ),
    "reverse in place, odd": (
        "P",
        {"a": (15,)},
        "for i in range(7):\n    t = a[i]\n    a[i] = a[14 - i]\n    a[14 - i] = t",
    ),
    # ------------------------------------------------------------ recurrences
    **{
        f"recurrence of distance {d}": ("X", {"a": (31,)}, f"for i in range({d}, 31):\n    a[i] = a[i - {d}] + 1")
        for d in (1, 2, 3, 7, 15)
    },
    "recurrence of distance 16": ("P", {"a": (32,)}, "for i in range(16, 32):\n    a[i] = a[i - 16] + 1"),
    "backward recurrence": ("X", {"a": (9,)}, "for i in range(7, -1, -1):\n    a[i] = a[i + 1]"),
    "anti dependence": ("X", {"a": (9,)}, "for i in range(8):\n    a[i] = a[i + 1]"),
    "backward anti dependence": ("X", {"a": (9,)}, "for i in range(8, 0, -1):\n    a[i] = a[i - 1]"),
    "every second depends": ("X", {"a": (16,)}, "for i in range(2, 16, 2):\n    a[i] = a[i - 2]"),
    "evens from odds": ("P", {"a": (17,)}, "for i in range(1, 16, 2):\n    a[i] = a[i - 1] + a[i + 1]"),
    "step three, distance two": ("P", {"a": (20,)}, "for i in range(2, 18, 3):\n    a[i] = a[i - 2]"),
    "step three, distance six": ("X", {"a": (20,)}, "for i in range(6, 18, 3):\n    a[i] = a[i - 6]"),
    "mirror meets itself": ("X", {"a": (16,)}, "for i in range(16):\n    a[i] = a[15 - i]"),
    "same element": ("X", {"a": (8,)}, "for i in range(8):\n    a[0] = i"),
    "first element read": ("X", {"a": (8,)}, "for i in range(8):\n    a[i] = a[0] + 1"),
    "first element read by the others": ("P", {"a": (8,)}, "for i in range(1, 8):\n    a[i] = a[0] + 1"),
    "last element written": ("X", {"a": (8,), "b": (8,)}, "for i in range(8):\n    b[i] = a[7]\n    a[i] = 1"),
    "doubling": ("X", {"a": (32,)}, "for i in range(1, 16):\n    a[2 * i] = a[i]"),
    "doubling of odds": ("P", {"a": (32,)}, "for i in range(1, 16, 2):\n    a[2 * i] = a[i]"),
    "two statements": ("X", {"a": (9,), "b": (9,)}, "for i in range(8):\n    a[i] = i\n    b[i] = a[i + 1]"),
    "two statements apart": ("P", {"a": (9,), "b": (9,)}, "for i in range(8):\n    a[i] = i\n    b[i] = a[i]"),
    "stencil in place": ("X", {"a": (10,)}, "for i in range(1, 9):\n    a[i] = a[i - 1] + a[i + 1]"),
    "overlapping pairs": ("X", {"a": (9,)}, "for i in range(8):\n    a[i] = 0\n    a[i + 1] = 1"),
    "disjoint pairs": ("P", {"a": (16,)}, "for i in range(8):\n    a[2 * i] = 0\n    a[2 * i + 1] = 1"),
    # ------------------------------------------------------------ scalars
    "sum": ("R", {"a": (8,), "s": (1,)}, "for i in range(8):\n    s[0] += a[i]"),
    "sum of a scalar": ("R", {"a": (8,), "s": (1,)}, "t = 0.0\nfor i in range(8):\n    t += a[i]\ns[0] = t"),
    "product": ("R", {"a": (8,), "s": (1,)}, "for i in range(8):\n    s[0] *= a[i]"),
    "difference": ("R", {"a": (8,), "s": (1,)}, "for i in range(8):\n    s[0] -= a[i]"),
    "minimum": ("R", {"a": (8,), "s": (1,)}, "for i in range(8):\n    s[0] = min(s[0], a[i])"),
    "maximum by comparison": (
        "R",
        {"a": (8,), "s": (1,)},
        "m = a[0]\nfor i in range(8):\n    if a[i] > m:\n        m = a[i]\ns[0] = m",
    ),
    "maximum through a temporary": (
        "R",
        {"a": (8,), "s": (1,)},
        "m = a[0]\nfor i in range(8):\n    t = a[i] * a[i]\n    if t > m:\n        m = t\ns[0] = m",
    ),
    "sum under a condition": (
        "R",
        {"a": (8,), "s": (1,)},
        "for i in range(8):\n    if a[i] > 0:\n        s[0] += a[i]",
    ),
    "bits": (
        "R",
        {"a": np.arange(8), "s": np.zeros(1, np.int64)},
        "for i in range(8):\n    s[0] = s[0] | a[i]",
    ),
    "exclusive or": ("R", {"a": np.arange(8), "s": np.zeros(1, np.int64)}, "for i in range(8):\n    s[0] ^= a[i]"),
    "conjunction": (
        "R",
        {"a": np.ones(8, np.bool_), "s": np.ones(1, np.bool_)},
        "t = True\nfor i in range(8):\n    t = t and a[i]\ns[0] = t",
    ),
    "two sums": ("R", {"a": (8,), "s": (2,)}, "for i in range(8):\n    s[0] += a[i]\n    s[1] += a[i] * a[i]"),
    "sum used meanwhile": ("X", {"a": (8,), "s": (1,)}, "for i in range(8):\n    s[0] += a[i]\n    a[i] = s[0]"),
    "sum and product": ("X", {"a": (8,), "s": (1,)}, "for i in range(8):\n    s[0] += a[i]\n    s[0] *= 2"),
    "prefix sum": ("X", {"a": (8,), "b": (8,)}, "t = 0.0\nfor i in range(8):\n    t += a[i]\n    b[i] = t"),
    "carried scalar": ("X", {"a": (8,), "b": (8,)}, "t = 0.0\nfor i in range(8):\n    b[i] = t\n    t = a[i]"),
    "exponential average": ("X", {"a": (8,), "b": (1,)}, "t = 0.0\nfor i in range(8):\n    t = t / 2 + a[i]\nb[0] = t"),
    "last value": ("X", {"a": (8,), "b": (1,)}, "t = 0.0\nfor i in range(8):\n    t = a[i]\nb[0] = t"),
    "maximum with index": (
        "X",
        {"a": (8,), "b": np.zeros(1, np.int64)},
        "m = a[0]\nk = 0\nfor i in range(8):\n    if a[i] > m:\n        m = a[i]\n        k = i\nb[0] = k",
    ),
    "counter as subscript": (
        "X",
        {"a": (8,), "b": (8,)},
        "k = 0\nfor i in range(8):\n    if a[i] > 0:\n        b[k] = a[i]\n        k += 1",
    ),
    "fibonacci": ("X", {"a": (8,)}, "p = 0.0\nq = 1.0\nfor i in range(8):\n    a[i] = p\n    p, q = q, p + q"),
    # ------------------------------------------------------------ data-dependent subscripts and conditions
    "gather": ("P", {"a": (8,), "b": (8,), "p": PERMUTATION}, "for i in range(8):\n    b[i] = a[p[i]]"),
    "scatter": ("U", {"a": (8,), "b": (8,), "p": PERMUTATION}, "for i in range(8):\n    b[p[i]] = a[i]"),
    "gather in place": ("U", {"a": (8,), "p": PERMUTATION}, "for i in range(8):\n    a[i] = a[p[i]]"),
    "histogram": ("S", {"h": (8,), "p": PERMUTATION}, "for i in range(8):\n    h[p[i]] += 1"),
    "scatter into rows": (
        "UP",
        {"a": (8, 4), "p": PERMUTATION},
        "for i in range(8):\n    for j in range(4):\n        a[p[i], j] = i",
    ),
    "scatter along rows": (
        "PU",
        {"a": (8, 8), "p": PERMUTATION},
        "for i in range(8):\n    for j in range(8):\n        a[i, p[j]] = i",
    ),
    "one element, by data": ("U", {"a": (8,), "p": PERMUTATION}, "k = p[0]\nfor i in range(8):\n    a[k] = i"),
    "sum at a place by data": ("R", {"a": (8,), "p": PERMUTATION}, "k = p[0]\nfor i in range(8):\n    a[k] += i"),
    "offset by data": ("U", {"a": (20,), "p": PERMUTATION}, "k = p[0]\nfor i in range(8):\n    a[k + i] = i"),
    "offset by bounded data": (
        "P",
        {"a": (20,), "p": PERMUTATION},
        "k = p[0] % 8\nfor i in range(8):\n    a[k + i] = i",
    ),
    "offset by narrow data": (
        "U",
        {"a": (20,), "p": PERMUTATION.astype(np.int32)},
        "k = p[0]\nfor i in range(8):\n    a[k + i] = i",
    ),
    "distance by data": ("U", {"a": (20,), "p": PERMUTATION}, "k = p[0]\nfor i in range(8):\n    a[i] = a[i + k]"),
    "trip count by data": ("P", {"a": (8,), "p": PERMUTATION}, "for i in range(p[0]):\n    a[i] = i"),
    "trip count by data, one element": ("U", {"a": (8,), "p": PERMUTATION}, "for i in range(p[0]):\n    a[0] = i"),
    "conditional write": ("P", {"a": (8,), "b": (8,)}, "for i in range(8):\n    if a[i] > 0:\n        b[i] = a[i]"),
    "conditional conflict": (
        "U",
        {"a": (8,), "b": (9,)},
        "for i in range(8):\n    if a[i] > 0:\n        b[i] = b[i + 1]",
    ),
    "conflict unless skipped": (
        "U",
        {"a": (8,), "b": (9,)},
        "for i in range(8):\n    if a[i] > 0:\n        continue\n    b[i] = b[i + 1]",
    ),
    "skipped iterations": (
        "P",
        {"a": (8,), "b": (9,)},
        "for i in range(8):\n    if i % 2 == 0:\n        continue\n    b[i] = b[i + 1]",
    ),
    "sparse matrix times vector": (
        "PR",
        {"r": ROWS, "c": np.array([0, 3, 1, 2, 4, 0, 1, 3]), "v": (8,), "x": (5,), "y": (5,)},
        "for i in range(5):\n    for k in range(r[i], r[i + 1]):\n        y[i] += v[k] * x[c[k]]",
    ),
    "sparse scatter": (
        "SS",
        {"r": ROWS, "c": np.array([0, 3, 1, 2, 4, 0, 1, 3]), "v": (8,), "x": (5,), "y": (5,)},
        "for i in range(5):\n    for k in range(r[i], r[i + 1]):\n        y[c[k]] += v[k] * x[i]",
    ),
    "segments": (
        "UU",
        {"r": ROWS, "v": (8,)},
        "for i in range(5):\n    for k in range(r[i], r[i + 1]):\n        v[k] = i",
    ),
    "segments, unsigned": (
        "UP",
        {"r": ROWS.astype(np.uint32), "v": (8,)},
        "for i in range(5):\n    for k in range(r[i], r[i + 1]):\n        v[k] = i",
    ),
    "while inside": (
        "P",
        {"a": (8,), "b": (8,)},
        "for i in range(8):\n    t = 1.0\n    while t < a[i]:\n        t *= 2\n    b[i] = t",
    ),
    "while inside, one element": (
        "U",
        {"a": (8,), "b": (8,)},
        "for i in range(8):\n    t = 1.0\n    while t < a[i]:\n        t *= 2\n        b[0] = t",
    ),
    "while around": (
        "X",
        {"a": (9,)},
        "t = 0\nwhile t < 3:\n    for i in range(8):\n        a[i] = a[i + 1]\n    t += 1",
    ),
    "while around, upwards": (
        "X",
        {"a": (9,)},
        "t = 3\nwhile t > 0:\n    for i in range(8):\n        a[i] = a[i + 1]\n    t -= 1",
    ),
    "if around, below": (
        "X",
        {"a": (9,), "k": np.array([1])},
        "if k[0] < 3:\n    for i in range(8):\n        a[i] = a[i + 1]",
    ),
    # ------------------------------------------------------------ division, modulo, minimum
    "halved subscript": ("X", {"a": (4,)}, "for i in range(8):\n    a[i // 2] = i"),
    "neighbours, both updated": ("S", {"a": (9,)}, "for i in range(8):\n    a[i] += 1.5\n    a[i + 1] -= i"),
    "halved subscript, sum": ("S", {"a": (4,)}, "for i in range(8):\n    a[i // 2] += i"),
    "halved subscript, evens": ("P", {"a": (4,)}, "for i in range(0, 8, 2):\n    a[i // 2] = i"),
    "modulo": ("X", {"a": (5,)}, "for i in range(8):\n    a[i % 5] = i"),
    "modulo beyond the trip count": ("P", {"a": (8,)}, "for i in range(8):\n    a[i % 8] = i"),
    "rotated": ("P", {"a": (8,), "b": (8,)}, "for i in range(8):\n    b[(i + 3) % 8] = a[i]"),
    "rotated in place": ("X", {"a": (8,)}, "for i in range(8):\n    a[(i + 3) % 8] = a[i]"),
    "split subscript": ("P", {"a": (2, 4)}, "for i in range(8):\n    a[i // 4, i % 4] = i"),
    "split subscript, too narrow": ("X", {"a": (3, 3)}, "for i in range(8):\n    a[i // 4, i % 3] = i"),
    "transposed split": ("P", {"a": (4, 2)}, "for i in range(8):\n    a[i % 4, i // 4] = i"),
    "three digits": ("P", {"a": (2, 3, 4)}, "for i in range(24):\n    a[i // 12, i // 4 % 3, i % 4] = i"),
    "two digits of three": ("X", {"a": (2, 4)}, "for i in range(24):\n    a[i // 12, i % 4] = i"),
    "digits in another order": ("P", {"a": (24,)}, "for i in range(24):\n    a[i % 4 * 6 + i // 4] = i"),
    "digits that overlap": ("X", {"a": (24,)}, "for i in range(24):\n    a[i % 4 + i // 4 * 3] = i"),
    "odd iterations by modulo": ("P", {"a": (9,)}, "for i in range(8):\n    if i % 2 == 1:\n        a[i] = a[i + 1]"),
    "shifted bits": ("X", {"a": (4,)}, "for i in range(8):\n    a[i >> 1] = i"),
    "masked bits": ("X", {"a": (4,)}, "for i in range(8):\n    a[i & 3] = i"),
    "clamped": ("X", {"a": (8,)}, "for i in range(8):\n    a[min(i, 6)] = i"),
    "clamped in vain": ("P", {"a": (8,)}, "for i in range(8):\n    a[min(i, 7)] = i"),
    "clamped neighbours": ("P", {"a": (8,), "b": (8,)}, "for i in range(8):\n    b[i] = a[max(i - 1, 0)]"),
    "absolute value": ("X", {"a": (5,)}, "for i in range(-4, 5):\n    a[abs(i)] = i"),
    "absolute value, one side": ("P", {"a": (5,)}, "for i in range(-4, 1):\n    a[abs(i)] = i"),
    "chosen subscript": ("P", {"a": (16,)}, "for i in range(8):\n    a[2 * i if i < 4 else 2 * i + 1] = i"),
    "chosen subscript meets": ("X", {"a": (16,)}, "for i in range(8):\n    a[i if i < 4 else i - 4] = i"),
    "assigned by branch": (
        "P",
        {"a": (17,)},
        "for i in range(8):\n    if i < 4:\n        k = i\n    else:\n        k = i + 4\n    a[k] = i",
    ),
    # ------------------------------------------------------------ conditions that are known
    "first half only": ("P", {"a": (16,)}, "for i in range(15):\n    if i < 8:\n        a[i] = a[i + 8]"),
    "all but one": ("X", {"a": (16,)}, "for i in range(15):\n    if i != 7:\n        a[i] = a[i + 1]"),
    "one iteration by condition": ("P", {"a": (16,)}, "for i in range(15):\n    if i == 7:\n        a[0] = i"),
    "two iterations by condition": (
        "X",
        {"a": (16,)},
        "for i in range(15):\n    if i == 7 or i == 9:\n        a[0] = i",
    ),
    "band": ("X", {"a": (16,)}, "for i in range(15):\n    if 3 < i < 6:\n        a[i] = a[i + 1]"),
    "band of one": ("P", {"a": (16,)}, "for i in range(15):\n    if 3 < i < 5:\n        a[i] = a[i + 1]"),
    "read under a condition": (
        "P",
        {"a": (16,), "b": (16,)},
        "for i in range(16):\n    b[i] = a[i - 1] if i > 0 else a[i]",
    ),
    # ------------------------------------------------------------ two loops
    "rows": ("PP", {"a": (4, 5)}, "for i in range(4):\n    for j in range(5):\n        a[i, j] = i + j"),
    "transposed": (
        "PP",
        {"a": (4, 5), "b": (5, 4)},
        "for i in range(4):\n    for j in range(5):\n        b[j, i] = a[i, j]",
    ),
    "transposed in place": (
        "XP",
        {"a": (5, 5)},
        "for i in range(5):\n    for j in range(5):\n        a[i, j] = a[j, i]",
    ),
    "swapped over the diagonal": (
        "PP",
        {"a": (5, 5)},
        "for i in range(5):\n    for j in range(i):\n        t = a[i, j]\n        a[i, j] = a[j, i]\n        a[j, i] = t",
    ),
    "row sums": ("PR", {"a": (4, 5), "y": (4,)}, "for i in range(4):\n    for j in range(5):\n        y[i] += a[i, j]"),
    "column sums": (
        "SP",
        {"a": (4, 5), "y": (5,)},
        "for i in range(4):\n    for j in range(5):\n        y[j] += a[i, j]",
    ),
    "total": ("RR", {"a": (4, 5), "s": (1,)}, "for i in range(4):\n    for j in range(5):\n        s[0] += a[i, j]"),
    "row sums by a scalar": (
        "PR",
        {"a": (4, 5), "y": (4,)},
        "for i in range(4):\n    t = 0.0\n    for j in range(5):\n        t += a[i, j]\n    y[i] = t",
    ),
    "antidiagonals": ("XP", {"y": (8,)}, "for i in range(4):\n    for j in range(4):\n        y[i + j] = i"),
    "antidiagonal sums": ("SP", {"y": (8,)}, "for i in range(4):\n    for j in range(4):\n        y[i + j] += i"),
    "convolution": (
        "PR",
        {"a": (10,), "w": (3,), "y": (8,)},
        "for i in range(8):\n    for j in range(3):\n        y[i] += a[i + j] * w[j]",
    ),
    "linearised": ("PP", {"y": (20,)}, "for i in range(4):\n    for j in range(5):\n        y[i * 5 + j] = i"),
    "linearised, too narrow": (
        "XP",
        {"y": (20,)},
        "for i in range(4):\n    for j in range(5):\n        y[i * 4 + j] = i",
    ),
    "linearised by an argument": (
        "PP",
        {"y": (20,), "m": 5},
        "for i in range(4):\n    for j in range(m):\n        y[i * m + j] = i",
    ),
    "overlapping tiles": ("XP", {"y": (20,)}, "for i in range(4):\n    for r in range(5):\n        y[4 * i + r] = i"),
    "tiles": ("PP", {"y": (20,)}, "for i in range(4):\n    for r in range(5):\n        y[5 * i + r] = i"),
    "interleaved": ("PP", {"y": (20,)}, "for i in range(4):\n    for r in range(5):\n        y[i + 4 * r] = i"),
    "row recurrence": (
        "PX",
        {"a": (4, 6)},
        "for i in range(4):\n    for j in range(1, 6):\n        a[i, j] = a[i, j - 1]",
    ),
    "column recurrence": (
        "XP",
        {"a": (4, 6)},
        "for i in range(1, 4):\n    for j in range(6):\n        a[i, j] = a[i - 1, j]",
    ),
    "diagonal recurrence": (
        "XP",
        {"a": (5, 6)},
        "for i in range(1, 5):\n    for j in range(1, 6):\n        a[i, j] = a[i - 1, j - 1]",
    ),
    "gauss-seidel": (
        "XX",
        {"a": (6, 6)},
        "for i in range(1, 5):\n    for j in range(1, 5):\n        a[i, j] = a[i - 1, j] + a[i, j - 1] + a[i + 1, j] + a[i, j + 1]",
    ),
    "gauss-seidel wavefront": (
        "XP",
        {"a": (6, 6)},
        "for d in range(2, 9):\n    for i in range(max(1, d - 4), min(5, d)):\n"
        "        a[i, d - i] = a[i - 1, d - i] + a[i, d - i - 1] + a[i + 1, d - i] + a[i, d - i + 1]",
    ),
    "red-black": (
        "PP",
        {"a": (6, 6)},
        "for i in range(1, 5):\n    for j in range(1, 5):\n        if (i + j) % 2 == 0:\n"
        "            a[i, j] = a[i - 1, j] + a[i, j - 1] + a[i + 1, j] + a[i, j + 1]",
    ),
    "time steps, ping-pong": (
        "XPP",
        {"a": (10,), "b": (10,)},
        "for t in range(3):\n    for i in range(1, 9):\n        b[i] = a[i - 1] + a[i + 1]\n"
        "    for j in range(1, 9):\n        a[j] = b[j]",
    ),
    "time steps in place": (
        "XX",
        {"a": (10,)},
        "for t in range(3):\n    for i in range(1, 9):\n        a[i] = a[i - 1] + a[i + 1]",
    ),
    "one plane per step": (
        "XP",
        {"a": (4, 10)},
        "for t in range(1, 4):\n    for i in range(1, 9):\n        a[t, i] = a[t - 1, i - 1] + a[t - 1, i + 1]",
    ),
    "two planes": (
        "XP",
        {"a": (2, 10)},
        "for t in range(4):\n    for i in range(1, 9):\n        a[(t + 1) % 2, i] = a[t % 2, i - 1] + a[t % 2, i + 1]",
    ),
    "triangle": ("PP", {"a": (6, 6)}, "for i in range(6):\n    for j in range(i + 1):\n        a[i, j] = 1"),
    "triangle with a row read": (
        "XP",
        {"a": (6, 6)},
        "for i in range(1, 6):\n    for j in range(i):\n        a[i, j] = a[i - 1, j]",
    ),
    "symmetric update": (
        "PP",
        {"a": (6, 6)},
        "for i in range(6):\n    for j in range(i + 1):\n        a[i, j] = i * j\n        a[j, i] = i * j",
    ),
    "symmetric update, whole square": (
        "XP",
        {"a": (6, 6)},
        "for i in range(6):\n    for j in range(6):\n        a[i, j] = i\n        a[j, i] = i",
    ),
    "mirrored triangle": (
        "PP",
        {"a": (6, 6)},
        "for i in range(6):\n    for j in range(i):\n        a[j, i] = a[i, j]",
    ),
    "row of the diagonal": (
        "PP",
        {"a": (6, 6)},
        "for i in range(6):\n    for j in range(6):\n        a[i, j] = a[i, j] + 1",
    ),
    "divided by the diagonal": (
        "PX",
        {"a": (6, 6)},
        "for i in range(6):\n    for j in range(6):\n        a[i, j] = a[i, j] / a[i, i]",
    ),
    "divided by the diagonal, right of it": (
        "PP",
        {"a": (6, 6)},
        "for i in range(6):\n    for j in range(i + 1, 6):\n        a[i, j] = a[i, j] / a[i, i]",
    ),
    "shared counter": (
        "XX",
        {"a": (30,)},
        "k = 0\nfor i in range(5):\n    for j in range(6):\n        a[k] = i\n        k += 1",
    ),
    "product of counters": ("UU", {"a": (30,)}, "for i in range(5):\n    for j in range(6):\n        a[i * j] = i"),
    "bubble": (
        "UU",
        {"a": (8,)},
        "for i in range(7):\n    for j in range(7 - i):\n        if a[j] > a[j + 1]:\n"
        "            a[j], a[j + 1] = a[j + 1], a[j]",
    ),
    "odd-even sort": (
        "UP",
        {"a": (8,)},
        "for t in range(8):\n    for i in range(t % 2, 7, 2):\n        if a[i] > a[i + 1]:\n"
        "            a[i], a[i + 1] = a[i + 1], a[i]",
    ),
    # ------------------------------------------------------------ linear algebra
    "matrix product": (
        "PPR",
        {"a": (4, 5), "b": (5, 6), "c": (4, 6)},
        "for i in range(4):\n    for j in range(6):\n        for k in range(5):\n            c[i, j] += a[i, k] * b[k, j]",
    ),
    "matrix product, k outermost": (
        "SPP",
        {"a": (4, 5), "b": (5, 6), "c": (4, 6)},
        "for k in range(5):\n    for i in range(4):\n        for j in range(6):\n            c[i, j] += a[i, k] * b[k, j]",
    ),
    "triangular solve": (
        "XR",
        {"l": (5, 5), "x": (5,), "b": (5,)},
        "for i in range(5):\n    x[i] = b[i]\n    for j in range(i):\n        x[i] = x[i] - l[i, j] * x[j]\n    x[i] = x[i] / l[i, i]",
    ),
    "triangular solve by columns": (
        "XP",
        {"l": (5, 5), "x": (5,)},
        "for j in range(5):\n    x[j] = x[j] / l[j, j]\n    for i in range(j + 1, 5):\n        x[i] -= l[i, j] * x[j]",
    ),
    "triangular product": (
        "XPR",
        {"a": (5, 5), "b": (5, 6)},
        "for i in range(5):\n    for j in range(6):\n        for k in range(i + 1, 5):\n"
        "            b[i, j] += a[k, i] * b[k, j]",
    ),
    "triangular product, diagonal included": (
        "XPX",
        {"a": (5, 5), "b": (5, 6)},
        "for i in range(5):\n    for j in range(6):\n        for k in range(i, 5):\n"
        "            b[i, j] += a[k, i] * b[k, j]",
    ),
    "an element that another iteration stores": (
        "X",
        {"b": (8,), "c": (8,)},
        "for i in range(8):\n    if i > 9:\n        b[0] += c[i]\n    b[i] += 2 * c[i]\n    c[i] = b[i] + b[0]",
    ),
    "cholesky by columns": (
        "XPPP",
        {"a": (5, 5)},
        "for k in range(5):\n    a[k, k] = np.sqrt(a[k, k])\n    for i in range(k + 1, 5):\n        a[i, k] /= a[k, k]\n"
        "    for m in range(k + 1, 5):\n        for j in range(k + 1, m + 1):\n            a[m, j] -= a[m, k] * a[j, k]",
    ),
    "cholesky by rows": (
        "XXR",
        {"a": (5, 5)},
        "for i in range(5):\n    for j in range(i):\n        for k in range(j):\n            a[i, j] -= a[i, k] * a[j, k]\n"
        "        a[i, j] /= a[j, j]",
    ),
    "lu": (
        "XPPP",
        {"a": (5, 5)},
        "for k in range(5):\n    for i in range(k + 1, 5):\n        a[i, k] = a[i, k] / a[k, k]\n"
        "    for m in range(k + 1, 5):\n        for j in range(k + 1, 5):\n            a[m, j] -= a[m, k] * a[k, j]",
    ),
    "rank-one update": (
        "PP",
        {"a": (5, 6), "x": (5,), "y": (6,)},
        "for i in range(5):\n    for j in range(6):\n        a[i, j] += x[i] * y[j]",
    ),
    "floyd-warshall": (
        "XXX",
        {"a": (4, 4)},
        "for k in range(4):\n    for i in range(4):\n        for j in range(4):\n            a[i, j] = min(a[i, j], a[i, k] + a[k, j])",
    ),
    "normalised rows": (
        "PRP",
        {"a": (4, 5)},
        "for i in range(4):\n    t = 0.0\n    for j in range(5):\n        t += a[i, j]\n"
        "    for k in range(5):\n        a[i, k] /= t",
    ),
    "softmax": (
        "PRRP",
        {"a": (4, 5), "b": (4, 5)},
        "for i in range(4):\n    m = a[i, 0]\n    for j in range(5):\n        m = max(m, a[i, j])\n    s = 0.0\n"
        "    for k in range(5):\n        s += np.exp(a[i, k] - m)\n    for n in range(5):\n"
        "        b[i, n] = np.exp(a[i, n] - m) / s",
    ),
    "batched jacobi": (
        "PXPP",
        {"a": (3, 10), "b": (3, 10)},
        "for n in range(3):\n    for t in range(2):\n        for i in range(1, 9):\n"
        "            b[n, i] = a[n, i - 1] + a[n, i + 1]\n        for j in range(1, 9):\n            a[n, j] = b[n, j]",
    ),
    "pairwise forces": (
        "PR",
        {"x": (6,), "f": (6,)},
        "for i in range(6):\n    for j in range(6):\n        if i != j:\n            f[i] += x[i] - x[j]",
    ),
    "pairwise forces, both updated": (
        "SR",
        {"x": (6,), "f": (6,)},
        "for i in range(6):\n    for j in range(i):\n        f[i] += x[i] - x[j]\n        f[j] -= x[i] - x[j]",
    ),
    **ALIASES,
}

# name: (verdicts, arguments, helpers, text)
HELPERS: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "helper stores its element": (
        "P",
        {"a": (8,)},
        "def put(a, i):\n    a[i] = i",
        "for i in range(8):\n    put(a, i)",
    ),
    "helper stores its neighbour too": (
        "X",
        {"a": (9,)},
        "def put(a, i):\n    a[i] = i\n    a[i + 1] = i",
        "for i in range(8):\n    put(a, i)",
    ),
    "helper with a loop": (
        "P",
        {"a": (8, 5)},
        "def put(a, i):\n    for j in range(5):\n        a[i, j] = j",
        "for i in range(8):\n    put(a, i)",
    ),
    "helper that reads": (
        "X",
        {"a": (9,)},
        "def get(a, i):\n    return a[i] * 2",
        "for i in range(8):\n    a[i] = get(a, i + 1)",
    ),
    "helper that computes a subscript": (
        "P",
        {"a": (9,)},
        "def mirrored(i, n):\n    return n - 1 - i",
        "for i in range(8):\n    a[mirrored(i, 9)] = i",
    ),
    "helper that recurs": (
        "U",
        {"a": (9,)},
        "def fill(a, i, n):\n    a[i] = n\n    if n > 0:\n        fill(a, i, n - 1)",
        "for i in range(8):\n    fill(a, i, 2)",
    ),
}
