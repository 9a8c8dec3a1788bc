"""Jit functions call universal functions and CUDA's libraries between their loops; for a GPU the ufuncs are compiled
for it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import parpy
from nvrtc import cubin
from parpy.cudalib import cublas, cufft
from parpy.syntax.names import source_of
from parpy.ufuncs import reductions
from parpy.ufuncs.element_kernels import Operand, elementwise


@parpy.vectorize(["float64(float64, float64)"])
def on_the_host(a, b):
    return a * b + 1


@parpy.vectorize(target="sim")
def on_the_device(a, b):
    return a * b + 1


def test_jit_functions_call_universal_functions():
    @parpy.jit
    def both(x, y, out):
        for i in range(x.shape[0]):
            x[i] += 1
        z = on_the_host(x, y)
        w = on_the_device(z, 2.0)
        for i in range(x.shape[0]):
            out[i] = w[i] * 2

    x, out = np.arange(5.0), np.zeros(5)
    both(x, np.full(5, 3.0), out)
    np.testing.assert_array_equal(out, ((np.arange(1.0, 6) * 3 + 1) * 2 + 1) * 2)


def test_jit_functions_call_libraries():
    @parpy.jit
    def spectrum(x, a, b, c, out):
        for i in range(x.shape[0]):
            x[i] += 1
        z = cufft.fft(x)
        cublas.matmul(a, b, c)
        for i in range(x.shape[0]):
            out[i] = z[i].real + c[0, 0]

    x, out = np.arange(5.0), np.zeros(5)
    a, b, c = np.random.rand(3, 3, 3)
    spectrum(x, a, b, c, out)
    np.testing.assert_allclose(out, np.fft.fft(np.arange(1.0, 6)).real + (a @ b)[0, 0])


def branching(a, b):
    if a > b:
        return math.exp(a) / b
    return a - b


def plus(a, b):
    return a + b


@pytest.mark.parametrize("function", [branching, plus])
def test_texts_for_a_gpu_compile(function):
    source = source_of(function)
    x, y = np.ones((6, 7)), np.ones(7, np.float32)
    out, flags, row = np.empty((6, 7)), np.ones((6, 7), bool), np.empty(6)
    on_gpu = parpy.auto(backend=parpy.CompileBackend.Cuda)
    operands = [Operand((0, 1), ""), Operand((1,), "f64")]
    masked = elementwise(source, operands, 1, 2, Operand((0, 1), ""))
    made = {
        "elements": (masked, (x, y, out, flags)),
        "fold": (reductions._folding(source, 2, [1], "", "f64", True, False), (x, row)),
        "chunks": (reductions._chunks(source, 1, 0, "f64", "f64"), (y, np.empty(4), 2)),
        "accumulate": (reductions._accumulating(source, 2, 0, "", "f64"), (x, out)),
        "reduceat": (
            reductions._reducing_at(source, 1, 0, "f64", "f64"),
            (y, np.array([0, 2]), np.array([2, 7]), np.empty(2)),
        ),
        "at": (reductions._updating(source, 1, ["", "f64"], "f64", True), (row, np.array([0, 0]), np.ones(2, "f4"))),
    }
    for compiled, arguments in made.values():
        assert cubin(parpy.print_compiled(compiled, arguments, on_gpu))
