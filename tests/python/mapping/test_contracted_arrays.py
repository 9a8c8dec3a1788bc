"""Arrays of the program that are loaded only after their stores, element by element (contract-arrays)."""

from __future__ import annotations

import numpy as np
import pytest

import parpy

CPU = parpy.auto(backend=parpy.CompileBackend.Cpu)


def covariance(cov, data):
    for i in range(cov.shape[0]):
        cov[i:, i] = cov[i, i:] = data[:, i] @ data[:, i:]


def scaled_triangle(cov, data):
    for i in range(cov.shape[0] - 1):
        cov[i + 1 :, i] = cov[i, i + 1 :] = 2.0 * (data[:, i] @ data[:, i + 1 :])


def differences(y, x):
    for i in range(x.shape[0]):
        d = x[i, 1:] - x[i, :-1]
        y[i] = d * d + np.abs(d)


def overlapping(y, x):
    """The second store loads elements of earlier rows that the first one stores."""
    for i in range(1, x.shape[0]):
        d = y[i - 1, 1:] - x[i, :-1]
        y[i] = np.append(d, 1.0)
        y[:-1, i] = y[:-1, i - 1] * 2.0 + x[:-1, i]


def transposed(y, x):
    """The stores to the row and the column of y share elements other than the first."""
    for i in range(y.shape[0]):
        d = x[i] * 2.0
        y[i, :] = d
        y[:, y.shape[0] - 1 - i] = d


CASES = {
    "covariance": (covariance, lambda n: (np.zeros((n, n)), np.random.default_rng(n).random((n + 7, n)))),
    "triangle": (scaled_triangle, lambda n: (np.ones((n, n)), np.random.default_rng(n).random((n + 7, n)))),
    "differences": (differences, lambda n: (np.zeros((n, n)), np.random.default_rng(n).random((n, n + 1)))),
    "overlapping": (overlapping, lambda n: (np.ones((n, n)), np.random.default_rng(n).random((n, n)))),
    "transposed": (transposed, lambda n: (np.zeros((n, n)), np.random.default_rng(n).random((n, n)))),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [1, 2, 9, 33, 40])
def test_results(name, size):
    function, make = CASES[name]
    want = make(size)
    function(*want)
    for opts in (
        None,
        CPU,
        parpy.auto(backend=parpy.CompileBackend.Sim),
        parpy.auto(backend=CPU.backend, deterministic=True),
    ):
        got = make(size)
        parpy.jit(function)(*got, opts=opts)
        for ours, theirs in zip(got, want, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-13)


def test_products_of_columns_are_a_contraction():
    """The array of the sums is removed, so that rows do not share it: the nest is one product of matrices."""
    for opts in (CPU, parpy.auto(backend=parpy.CompileBackend.Sim)):
        found = str(parpy.explain(parpy.jit(covariance), np.zeros((64, 64)), np.ones((80, 64)), opts=opts))
        assert "a contraction of rows 'i'" in " ".join(found.split()), found
        assert "refuted" not in found


@pytest.mark.parametrize("backend", [parpy.CompileBackend.Cpu, parpy.CompileBackend.Sim])
def test_infinities_strides_and_arguments_in_one_memory(backend):
    def cases():
        wide = np.random.default_rng(0).random((47, 80))
        yield np.zeros((80, 40))[::2], wide[::-1, ::2]  # steps
        inner = wide.copy()
        yield inner[:40, :40], inner[:, :40]  # later iterations read the stored elements
        holes = wide[:, :40].copy()
        holes[3, 5], holes[7, 9], holes[8, 9] = np.nan, np.inf, -np.inf
        yield np.zeros((40, 40)), holes
        yield np.zeros((0, 0)), np.zeros((7, 0))

    for got, want in zip(cases(), cases(), strict=True):
        with np.errstate(invalid="ignore"):
            covariance(*want)
        parpy.jit(covariance)(*got, opts=parpy.auto(backend=backend))
        np.testing.assert_allclose(got[0], want[0], rtol=1e-11)
