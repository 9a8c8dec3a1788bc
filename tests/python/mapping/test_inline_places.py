"""The mapping that explain prints names loops by their places, also loops of helpers that are inlined."""

from __future__ import annotations

import numpy as np
import pytest

import backends
import parpy
from backends import copies
from parpy import CompileBackend

rng = np.random.default_rng(7)
N, M = 512, 400


@parpy.jit
def add_row(x, y, i, m):
    for j in range(m):
        y[i] += x[i, j]


@parpy.jit
def add(y, v):
    y[0] += v


@parpy.jit
def scale(y, n):
    parpy.label("N")
    for i in range(n):
        y[i] *= 2


@parpy.jit
def scale_slice(y, n):
    parpy.label("S")
    y[:n] *= 2


@parpy.jit
def early(x, y, i, m):
    if m == 0:
        return
    for j in range(m):
        y[i] += x[i, j]


@parpy.jit
def rows(x, y, n, m):
    for i in range(n):
        add_row(x, y, i, m)


@parpy.jit
def tuned_rows(x, y, n, m):
    for i in range(n):
        add_row(x, y, i, m)


@parpy.jit
def total(x, y, n, m):
    for i in range(n):
        add(y, x[i, m - 1])


@parpy.jit
def rows_in_two_loops(x, y, n, m):
    add_row(x, y, 0, m)
    for i in range(1, n):
        add_row(x, y, i, m)
    for i in range(n):
        y[i] *= 2
        add_row(x, y, i, m)


@parpy.jit
def twice(x, y, n, m):
    scale(y, n)
    scale(y, n)


@parpy.jit
def slices_twice(x, y, n, m):
    scale_slice(y, n)
    scale_slice(y, m)


@parpy.jit
def early_rows(x, y, n, m):
    for i in range(n):
        early(x, y, i, m)


def arguments():
    return rng.integers(0, 9, (N, M)) * 1.0, rng.integers(0, 9, N) * 1.0, N, M


ASKED = {rows: None, total: None, rows_in_two_loops: None, twice: {"N": 64}, slices_twice: {"S": 64}}


@pytest.mark.parametrize("backend", ["cpu", "sim", "cuda"])
@pytest.mark.parametrize("function", ASKED, ids=lambda function: function.__name__)
def test_the_mapping_of_explain_can_be_given_back(function, backend):
    asked = ASKED[function]
    how = parpy.auto(backend=CompileBackend(backend)) if asked is None else backends.options(backend, asked)
    got = arguments()
    found = parpy.explain(function, *got, opts=how).opts
    if found.parallelize:
        assert parpy.print_compiled(function, got, found) == parpy.print_compiled(function, got, how)
    if backend == "cuda":
        return
    want = copies(got)
    function(*want, seq=True)
    function(*got, opts=found)
    np.testing.assert_array_equal(got[1], want[1])


def test_explain_names_loops_of_helpers():
    for function, names in ((rows, {"i", "j"}), (rows_in_two_loops, {"i", "j"}), (total, {"i"})):
        how = parpy.auto(backend=CompileBackend.Cuda)
        mapping = parpy.explain(function, *arguments(), opts=how).opts.parallelize
        assert {key.split("@")[0] for key in mapping if "@" in key} == names


def test_mappings_of_helpers_are_tuned():
    got = arguments()
    best = parpy.tune(tuned_rows, *got, seconds=10, force=True, opts=parpy.auto(backend=CompileBackend.Cpu))
    want = copies(got)
    tuned_rows(*want, seq=True)
    tuned_rows(*got, opts=best)
    np.testing.assert_array_equal(got[1], want[1])
    tried = [trial for trial in best.tuning.trials if trial.outcome in ("tried", "skipped")]
    assert any(key.startswith("j@") for trial in tried for key in trial.opts.parallelize)


def test_places_in_helpers_that_stay_calls():
    line = early.__wrapped__.__code__.co_firstlineno + 4
    how = backends.options("cpu", {f"j@{line}": 8})
    with pytest.raises(parpy.CompileError, match="P305"):
        early_rows(*arguments(), opts=how)
