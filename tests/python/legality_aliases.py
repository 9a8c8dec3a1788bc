"""Cases of legality_cases.py whose arguments share memory."""

from __future__ import annotations

from typing import Any

import numpy as np


def _views(*slices: tuple[Any, ...], shape: tuple[int, ...] = (24,)) -> list[np.ndarray]:
    base = np.zeros(shape)
    return [base[s] for s in slices]


def _overlapping(first: slice, second: slice) -> dict[str, np.ndarray]:
    a, b = _views(first, second)
    return {"a": a, "b": b}


_base = np.zeros((12, 12))

# name: (verdicts, arguments, text)
ALIASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "same array twice": ("X", _overlapping(slice(0, 8), slice(0, 8)), "for i in range(7):\n    a[i] = b[i + 1]"),
    "same array twice, same element": (
        "P",
        _overlapping(slice(0, 8), slice(0, 8)),
        "for i in range(8):\n    a[i] = b[i]",
    ),
    "slices one apart": ("X", _overlapping(slice(1, 9), slice(0, 8)), "for i in range(8):\n    a[i] = b[i]"),
    "slices eight apart": ("P", _overlapping(slice(8, 20), slice(0, 12)), "for i in range(8):\n    a[i] = b[i]"),
    "slices four apart": ("X", _overlapping(slice(4, 16), slice(0, 12)), "for i in range(8):\n    a[i] = b[i]"),
    "evens and odds": ("P", _overlapping(slice(0, 24, 2), slice(1, 24, 2)), "for i in range(11):\n    a[i] = b[i + 1]"),
    "evens and all": ("X", _overlapping(slice(0, 24, 2), slice(0, 12)), "for i in range(12):\n    a[i] = b[i]"),
    "reversed view": ("X", _overlapping(slice(0, 8), slice(7, None, -1)), "for i in range(8):\n    a[i] = b[i]"),
    "reversed view, half": ("P", _overlapping(slice(0, 8), slice(7, None, -1)), "for i in range(4):\n    a[i] = b[i]"),
    "transposed view": (
        "XP",
        {"a": _base[:5, :5], "b": _base[:5, :5].T},
        "for i in range(5):\n    for j in range(5):\n        a[i, j] = b[i, j]",
    ),
    "rows of one matrix": (
        "P",
        {"a": _base[0], "b": _base[1]},
        "for i in range(11):\n    a[i] = b[i + 1]",
    ),
    "columns of one matrix": (
        "P",
        {"a": _base[:, 0], "b": _base[:, 1]},
        "for i in range(11):\n    a[i] = b[i + 1]",
    ),
    "blocks side by side": (
        "PP",
        {"a": _base[:6, :6], "b": _base[:6, 6:]},
        "for i in range(5):\n    for j in range(6):\n        a[i, j] = b[i + 1, j]",
    ),
    "blocks that overlap": (
        "PX",
        {"a": _base[:6, :6], "b": _base[:6, 5:11]},
        "for i in range(6):\n    for j in range(6):\n        a[i, j] = b[i, j]",
    ),
    "stored twice": ("X", _overlapping(slice(0, 8), slice(4, 12)), "for i in range(8):\n    a[i] = 1\n    b[i] = 2"),
    "different types": (
        "X",
        {"a": _base[0], "b": _base[0].view(np.float32)},
        "for i in range(12):\n    a[i] = b[2 * i + 1 - (i % 2) * 2]",
    ),
    "windows of one array": (
        "XP",
        {"a": np.lib.stride_tricks.as_strided(np.zeros(16), (5, 4), (16, 8))},
        "for i in range(5):\n    for j in range(4):\n        a[i, j] = i",
    ),
    "windows apart": (
        "PP",
        {"a": np.lib.stride_tricks.as_strided(np.zeros(24), (5, 4), (32, 8))},
        "for i in range(5):\n    for j in range(4):\n        a[i, j] = i",
    ),
}
