"""Sums down the columns of a table that the nest in front of them makes: on GPUs their partial sums make its elements
(factor-reductions), if each element is read where it is made."""

from __future__ import annotations

import re

import numpy as np
import pytest

import nvrtc
import parpy
from parpy import CompileBackend

SIM = parpy.auto(backend=CompileBackend.Sim)
IN_ORDER = parpy.auto(backend=CompileBackend.Cpu, deterministic=True)
CUDA = parpy.auto(backend=CompileBackend.Cuda)
ROWS, COLUMNS = 3000, 257


@parpy.jit
def by_rows(a, b, r, c, s):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] += r[i] * c[j]
    for j in range(a.shape[1]):
        total = 0.0
        for i in range(a.shape[0]):
            total += a[i, j] * r[i]
        s[j] += 1.5 * total


@parpy.jit
def by_columns(a, b, r, c, s):
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            value = r[i] - c[j]
            b[i, j] = value * value
            if value > 0.5:
                a[i, j] = -value
    for j in range(a.shape[1]):
        total = 0.0
        for i in range(a.shape[0]):
            total += a[i, j] * b[i, j]
        s[j] = total


@parpy.jit
def in_steps(a, b, r, c, s):
    for t in range(3):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] = 0.5 * a[i, j] + r[i] * c[j]
        for j in range(a.shape[1]):
            total = 0.0
            for i in range(a.shape[0]):
                total += a[i, j]
            s[j] += total
        for j in range(a.shape[1]):
            c[j] += s[j] / 9000


@parpy.jit
def neighbours(a, b, r, c, s):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] * c[j]
    for j in range(a.shape[1]):
        total = 0.0
        for i in range(a.shape[0]):
            total += b[i, max(j - 1, 0)] * r[i]
        s[j] = total


@parpy.jit
def mirrored(a, b, r, c, s):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[a.shape[0] - 1 - i, j] = a[i, j] * c[j]
    for j in range(a.shape[1]):
        total = 0.0
        for i in range(a.shape[0]):
            total += b[i, j] * a[i, j]
        s[j] = total


@parpy.jit
def last_rows(a, b, r, c, s):
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] *= r[i]
    for j in range(a.shape[1]):
        total = 0.0
        for i in range(a.shape[0]):
            total += a[i, j]
        s[j] = total


@parpy.jit
def sum_is_factor(a, b, r, c, s):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] *= s[j]
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            s[j] += a[i, j]


# fmt: off
@parpy.jit
def with_pragmas(a, b, r, c, s):
    #pragma parallel for
    for i in range(a.shape[0]):
        #pragma simd
        for j in range(a.shape[1]):
            a[i, j] += r[i] * c[j]
    #pragma parallel for
    for j in range(a.shape[1]):
        total = 0.0
        #pragma simd
        for i in range(a.shape[0]):
            total += a[i, j] * r[i]
        s[j] += 1.5 * total
# fmt: on


JOINED = [by_rows, by_columns, with_pragmas]
APART = [neighbours, mirrored, last_rows, in_steps, sum_is_factor]


def data(rows=ROWS):
    r = np.random.default_rng(rows)
    return [r.random((rows, COLUMNS)), r.random((rows, COLUMNS)), r.random(rows), r.random(COLUMNS), r.random(COLUMNS)]


@pytest.mark.parametrize("function", JOINED + APART, ids=lambda f: f.__name__)
@pytest.mark.parametrize("rows", [ROWS, 2999])
def test_results(function, rows):
    got, want = data(rows), data(rows)
    function(*got, opts=SIM)
    function(*want, opts=IN_ORDER)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


@pytest.mark.parametrize("function", JOINED + APART, ids=lambda f: f.__name__)
def test_text(function):
    text = parpy.print_compiled(function, *data(), opts=CUDA)
    kernels = text.split("// ---- host code ----")[0].split("__global__")[1:]
    makes = [kernel for kernel in kernels if re.search(r"\b[ab]\[[^\]]*\] = ", kernel)]
    assert any("_partials[" in kernel for kernel in makes) == (function in JOINED)
    nvrtc.cubin(text)


@pytest.mark.parametrize("function", [by_rows, by_columns], ids=lambda f: f.__name__)
@pytest.mark.parametrize("place", ["row", "column", "last row", "sum", "other table"])
def test_arrays_that_share_memory(function, place):
    def given():
        a, b, r, c, s = data()
        a /= 100
        if place == "row":
            c = a[0]
        elif place == "last row":
            c = a[-1]
        elif place == "column":
            r = a[:, 3]
        elif place == "sum":
            s = a[7]
        else:
            b = a
        return [a, b, r, c, s]

    got, want = given(), given()
    function(*got, opts=SIM)
    function(*want, opts=IN_ORDER)
    for x, y in zip(got, want, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9)
