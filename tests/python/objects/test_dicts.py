"""Functions query dicts and lists that are arguments: the presence of a key, its value or a default, the number of
entries; and store into them."""

from __future__ import annotations

import copy
import warnings
from collections import deque

import numpy as np
import pytest

import parpy
from backends import TARGETS, compiled_throughout, options
from results import same


def asks(d, x):
    dt = d.get("dt", 0.1)
    if d.get("mode", "slow") == "fast":
        dt *= 2
    for i in range(len(x)):
        x[i] *= dt
        if "offset" in d:
            x[i] += d["offset"]
    if "n" not in d or d.get("absent") is not None:
        x[0] = -1
    return len(d) + d["n"]


def over_entries(d, x):
    s = 0.0
    for key, value in d.items():
        s += value
        if key == "n":
            x[0] = value
    for key in d:
        s += d[key]
    return s + len(d)


def new_entries(d, x):
    d["sum"] = d["n"] + x.sum()
    d["n"] = 7
    return d["sum"] + x[0]


def grows(values, x):
    for i in range(len(x)):
        values.append(x[i])
    values[0] = 9.0
    return len(values) + x.sum()


def shrinks(values, x):
    for i in range(2):
        x[i] = values.pop()


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(
    ("function", "given"),
    [
        (asks, {"n": 3}),
        (asks, {"n": 3, "mode": "fast", "dt": 0.5}),
        (asks, {"mode": "slow", "offset": 2.0, "n": 1, "absent": 0.5}),
        (over_entries, {"n": 3, "b": 2.5}),
        (new_entries, {"n": 3}),
        (new_entries, {"n": 3, "sum": 2}),
        (grows, [1.0, 2.0]),
        (grows, deque([1.0, 2.0])),
        (shrinks, [1.0, 2.0]),
        (shrinks, {1.5, 2.5}),
    ],
)
def test_as_python(backend, function, given):
    compiled = parpy.jit(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", parpy.PerformanceWarning)
        for _ in range(2):
            got, want = copy.deepcopy(given), copy.deepcopy(given)
            x, y = np.arange(4.0), np.arange(4.0)
            assert same(compiled(got, x, opts=options(backend, {})), function(want, y))
            assert got == want
            assert same(x, y)


def over_keys(d, x):
    total = 0.0
    for k in ("n", "b", "c"):
        if k in d:
            total += d[k] * x[1]
    for k in ["n", "absent"]:
        total += d.get(k, 0.25)
    for k in ("n", "b"):
        for i in range(2):
            x[i] += d.get(k, 1.0)
    return total


def updates_arrays(p, x):
    for name in ("w", "b"):
        p[name] -= 0.5 * x
    return p["w"][0] + p["b"][1]


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(
    "function, given",
    [(over_keys, {"n": 3, "b": 2.5}), (over_keys, {"n": 3.5}), (updates_arrays, {"w": np.ones(4), "b": np.zeros(4)})],
)
def test_loops_over_keys_that_are_written_out(backend, function, given):
    got, want = copy.deepcopy(given), copy.deepcopy(given)
    x, y = np.arange(4.0), np.arange(4.0)
    with compiled_throughout():
        assert same(parpy.jit(function)(got, x, opts=options(backend, {})), function(want, y))
    assert same(tuple(got.values()), tuple(want.values()))
    assert same(x, y)


@parpy.jit
def only_counted(d):
    return len(d)


def test_a_dict_of_which_the_length_alone_is_asked():
    assert only_counted({"a": 1.0, "b": np.zeros(2)}) == 2
    assert only_counted({}) == 0
