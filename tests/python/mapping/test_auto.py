"""Automatic mode: the compiler chooses the mapping; with any choice, results are those of the interpreter."""

from __future__ import annotations

import re

import numpy as np
import pytest

import parpy
from legality_cases import CASES, HELPERS
from nests import Nest, nest_of

CPU = parpy.auto(backend=parpy.CompileBackend.Cpu)
CUDA = parpy.auto(backend=parpy.CompileBackend.Cuda)
SIM = parpy.auto(backend=parpy.CompileBackend.Sim)


def check(nest: Nest, opts: parpy.CompileOptions) -> None:
    got, want = nest.copies(), nest.copies()
    nest.function(*got.values(), opts=opts)
    nest.function(*want.values(), seq=True)
    for name, value in want.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-12, err_msg=nest.body)


@pytest.mark.parametrize("name", [*CASES, *HELPERS])
def test_legality_cases_run_right(name):
    case = CASES.get(name) or HELPERS[name]
    check(nest_of(case[1], case[-1], case[2] if name in HELPERS else ""), CPU)


# ---------------------------------------------------------------- the choice


@parpy.jit
def row_sums(x, y, n, m):
    for i in range(n):
        for j in range(m):
            y[i] += x[i, j]


@parpy.jit
def smooth(a, b, steps, n):
    for _ in range(steps):
        for i in range(1, n - 1):
            b[i] = (a[i - 1] + a[i + 1]) / 2
        for i in range(1, n - 1):
            a[i] = b[i]


@parpy.jit
def normalise(x, out, n):
    total = 0.0
    for i in range(n):
        total += x[i]
    out[0] = total
    for i in range(n):
        x[i] = x[i] / out[0]


ARGUMENTS = {
    row_sums: lambda rng: (rng.random((90, 900)), np.zeros(90), 90, 900),
    smooth: lambda rng: (rng.random(2000), np.zeros(2000), 3, 2000),
    normalise: lambda rng: (rng.random(5000), np.zeros(1), 5000),
}


def run_cuda_text(function, arguments) -> str:
    text = parpy.print_compiled(function, arguments, CUDA)
    function(*arguments, opts=SIM)
    return text


@pytest.mark.parametrize("function", ARGUMENTS, ids=lambda f: f.__name__)
def test_kernels_for_cuda_compute_the_same(function):
    got, want = (ARGUMENTS[function](np.random.default_rng(1)) for _ in range(2))
    text = run_cuda_text(function, got)
    assert "__global__" in text
    function(*want, seq=True)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_without_options_the_mode_is_automatic():
    arguments = ARGUMENTS[row_sums](np.random.default_rng(1))
    text = parpy.print_compiled(row_sums, arguments, CPU)
    assert "parpy_parallel_for" in text
    assert "parpy_parallel_for" not in parpy.print_compiled(
        row_sums, arguments, parpy.CompileOptions(backend=CPU.backend)
    )
    row_sums(*arguments)
    np.testing.assert_allclose(arguments[1], arguments[0].sum(axis=1))


@parpy.jit
def row_means(x, y):
    for i in range(x.shape[0]):
        y[i] = 0.0
        for j in range(x.shape[1]):
            y[i] += x[i, j]
        y[i] = y[i] / x.shape[1]


def test_few_long_rows_are_summed_by_several_blocks_each():
    x, y = np.random.default_rng(1).random((4, 300_000)), np.ones(4)
    found = parpy.explain(row_means, x, y, opts=SIM)
    assert [kernel["grid"][:2] for kernel in found.facts["kernels"]] == [(1, 1), (18, 4)]  # the last block divides
    row_means(x, y, opts=SIM)
    np.testing.assert_allclose(y, x.mean(axis=1), rtol=1e-13)


@parpy.jit
def sparse_product(row, col, val, x, y, n):
    for i in range(n):
        total = 0.0
        for k in range(row[i], row[i + 1]):
            total += val[k] * x[col[k]]
        y[i] = total


def test_short_rows_of_a_sparse_matrix_are_not_spread_one_by_one():
    n = 30_000
    row = np.arange(0, 2 * n + 1, 2).astype(np.uint32)
    col = np.random.default_rng(1).integers(0, n, 2 * n).astype(np.uint32)
    arguments = row, col, np.ones(2 * n), np.ones(n), np.zeros(n), n
    loops = parpy.explain(sparse_product, *arguments, opts=CPU).facts["loops"]
    assert [loop["level"] for loop in loops] == ["workers", "sequential"]
    assert loops[1]["trips"] == 2
    sparse_product(*arguments, opts=CPU)
    np.testing.assert_array_equal(arguments[4], 2.0)


def test_little_work_stays_on_one_thread():
    x, y = np.random.default_rng(1).random((30, 500)), np.zeros(30)
    loops = parpy.explain(row_sums, x, y, 30, 500, opts=CPU).facts["loops"]
    assert [loop["level"] for loop in loops] == ["sequential", "vector"]
    assert "parpy_parallel_for" not in parpy.print_compiled(row_sums, (x, y, 30, 500), CPU)
    row_sums(x, y, 30, 500, opts=CPU)
    np.testing.assert_allclose(y, x.sum(axis=1), rtol=1e-13)


def test_the_same_input_has_the_same_mapping():
    texts = {parpy.print_compiled(smooth, ARGUMENTS[smooth](np.random.default_rng(k)), CUDA) for k in range(3)}
    assert len(texts) == 1


def test_a_recurrence_runs_sequentially():
    @parpy.jit
    def running_sum(a, n):
        for i in range(1, n):
            a[i] += a[i - 1]

    a = np.ones(1000)
    running_sum(a, 1000, opts=CPU)
    np.testing.assert_array_equal(a, np.arange(1.0, 1001))
    assert "parpy_parallel_for" not in parpy.print_compiled(running_sum, (a, 1000), CPU)
    text = parpy.print_compiled(running_sum, (a, 1000), CUDA)
    assert re.search(r"parpy_launch\(context, 0, 1, 1, 1, 1, 1, 1,", text)


def test_extents_that_keep_changing_are_generalised():
    for n in range(20, 40):
        x, y = np.random.default_rng(n).random((n, n + 1)), np.zeros(n)
        row_sums(x, y, n, n + 1, opts=CPU)
        np.testing.assert_allclose(y, x.sum(axis=1))
    assert parpy.calls.jit.cache_info(row_sums).compilations < 20


# ---------------------------------------------------------------- options


def test_contradictory_options():
    with pytest.raises(ValueError, match="contradictory"):
        parpy.auto(parallelize={"i": parpy.threads(4)})
    opts = parpy.par({"i": parpy.threads(4)})
    with pytest.raises(ValueError, match="contradictory"):
        opts.automatic = True
    opts.parallelize = {}
    opts.automatic = True
    assert opts == parpy.auto()


def test_loops_without_labels_are_mapped_by_their_place():
    line = row_sums.__wrapped__.__code__.co_firstlineno + 2
    arguments = ARGUMENTS[row_sums](np.random.default_rng(1))
    mapping = {f"i@{line}": parpy.threads(30), f"j@{line + 1}": parpy.threads(64).reduce()}
    opts = parpy.CompileOptions(parallelize=mapping, backend=CPU.backend)
    assert "parpy_parallel_for" in parpy.print_compiled(row_sums, arguments, opts)
    with pytest.raises(parpy.CompileError, match="P301"):
        row_sums(*arguments, opts=parpy.par({f"i@{line + 7}": parpy.threads(30)}))
