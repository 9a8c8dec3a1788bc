"""The preparations of a call with options are kept for the next call with equal ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parpy
from parpy.host import driver

CPU = parpy.CompileBackend.Cpu


def half(x, names):
    names.append("half")
    y = x * 0.5
    names.append("done")
    return y


def shared(x):
    names: list[str] = []
    y = half(x, names)
    z = half(y, names)
    assert names == ["half", "done", "half", "done"]
    return z + y


def calls(x):
    return shared(x) + 1.0


def test_options_that_are_equal_prepare_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0

    class Counting(driver.Splitter):
        def __init__(self, *args: Any) -> None:
            nonlocal made
            made += 1
            super().__init__(*args)

    monkeypatch.setattr(driver, "Splitter", Counting)
    function, x = parpy.jit(calls), np.arange(5.0)
    function(x, opts=parpy.auto(backend=CPU))
    first = made
    assert first > 0
    for _ in range(3):
        np.testing.assert_array_equal(function(x, opts=parpy.auto(backend=CPU)), calls(x))
    assert made == first
    function(x, opts=parpy.auto(backend=CPU, fast_math=True))
    assert made > first


def test_changes_of_options_count() -> None:
    seen = []

    class Look(driver.Called):
        def __init__(self, opts: Any, *rest: Any) -> None:
            seen.append(opts)
            super().__init__(opts, *rest)

    function, x = parpy.jit(calls), np.arange(5.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "Called", Look)
        options = parpy.auto(backend=CPU)
        function(x, opts=options)
        options.fast_math = True
        function(x, opts=options)
    given = [each for each in seen if each is not None]
    assert not given[0].fast_math and given[-1].fast_math


def test_parameters_with_the_names_of_options():
    """They are the user's own."""

    def scaled(x, opts, debug):
        name = f"{len(x)}"
        found = []
        y = x * opts["scale"]
        if "limits" in opts:
            y = np.clip(y, *opts["limits"])
        for i in range(len(x)):
            if debug:
                found.append(y[i] * opts.get("scale", 1.0))
        return name, y, found

    compiled = parpy.jit(scaled)
    x = np.arange(3.0)
    for opts in ({"scale": 2.0}, {"scale": 3.0, "limits": (0, 2)}):
        for debug in (True, False):
            got, want = compiled(x, opts, debug), scaled(x, opts, debug)
            assert (got[0], got[2]) == (want[0], want[2])
            np.testing.assert_array_equal(got[1], want[1])
