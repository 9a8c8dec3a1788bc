"""Operators of a statement, and statements of one worker or of one pragma, become one loop if the order allows it, and
no values go through memory."""

# ruff: noqa: E501
from __future__ import annotations

import numpy as np
import pytest

import parpy
import parpy.appy as appy
from backends import TARGETS

A, B, X, Y = np.ones((70, 300)), np.zeros((70, 300)), np.ones(300), np.zeros(70)
CUDA = parpy.auto(backend=parpy.CompileBackend.Cuda)
# The statements, and the loops in their only kernel.
PROGRAMS = {
    "operators": ("#pragma :M=>parallel :N=>parallel\nB[:M, :N] = np.exp(A[:M, :N] * 2 + 1) - x[None, :N]", 2),
    "products": ("#pragma :M=>parallel :N=>reduce(sum)\ny[:M] = appy.mv(2 * A[:M, :N], x[:N]) + appy.mv(B[:M, :N], x[:N])", 2),
    "statements": (
        "#pragma :M=>parallel :N=>parallel\nB[:M, :N] = A[:M, :N] * 2\n"
        "#pragma :M=>parallel :N=>parallel\nA[:M, :N] = B[:M, :N] + 1",
        2,
    ),
    "reductions_of_a_worker": (
        "#pragma parallel for\nfor i in range(M):\n    s = sum(A[i, :N])\n    q = sum(A[i, :N] * A[i, :N])\n    y[i] = q - s * s",
        2,
    ),
    "softmax": (
        "#pragma parallel for\nfor i in range(M):\n"
        "    B[i, :N] = np.exp(A[i, :N] - max(A[i, :N])) / sum(np.exp(A[i, :N] - max(A[i, :N])))",
        4,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_kernel_without_memory(name):
    body, loops = PROGRAMS[name]
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    function = appy.compile_from_src(f"@appy.jit(auto_simd=True)\ndef f(A, B, x, y, M, N):\n{lines}")
    found = parpy.explain(function, A, B, X, Y, 70, 300, opts=CUDA)
    assert len(found.facts["kernels"]) == 1 and len(found.facts["loops"]) == loops, found
    text = parpy.print_compiled(function, (A, B, X, Y, 70, 300), CUDA)
    assert "alloc" not in text


@appy.jit(auto_simd=True)
def symmetric_product(alpha, beta, C, A, B, M, N):
    #pragma parallel for
    for i in range(M):
        C[i, :N] *= beta
        for k in range(i + 1):
            C[i, :N] += alpha * A[i, k] * B[k, :N]
        for k in range(i + 1, M):
            C[i, :N] += alpha * A[k, i] * B[k, :N]


@pytest.mark.parametrize("alpha", [1.5, -1.5, 0.0])
@pytest.mark.parametrize("backend", TARGETS)
def test_rows_that_loops_add_to_are_one_contraction(backend, alpha):
    rng = np.random.default_rng(5)
    A, B = rng.random((70, 70)), rng.random((70, 90))
    got, want = np.ones((70, 90)), np.ones((70, 90))
    opts = parpy.auto(backend=parpy.CompileBackend(backend))
    symmetric_product(alpha, 0.5, got, A, B, 70, 90, opts=opts)
    symmetric_product(alpha, 0.5, want, A, B, 70, 90, seq=True)
    np.testing.assert_allclose(got, want, rtol=1e-13)
    if backend != "cpu":
        found = parpy.explain(symmetric_product, alpha, 0.5, got, A, B, 70, 90, opts=opts)
        assert found.facts["loops"][0]["contraction"].startswith("a contraction of rows 'i'")
        assert [kernel["name"] for kernel in found.facts["kernels"]] == ["symmetric_product_kernel"]


def test_a_constant_factor_does_not_stand_in_the_way_of_asynchronous_copies():
    """The elements of A are copied to shared memory unchanged, and multiplied in registers."""
    arguments = (1.5, 0.5, np.ones((700, 900)), np.ones((700, 700)), np.ones((700, 900)), 700, 900)
    text = parpy.print_compiled(symmetric_product, arguments, CUDA)
    assert "1.5 * a[" in text
    assert "], &A[" in text
