"""Kernels written by hand as text: printed, edited, compiled again."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from kernel_places import backend  # noqa: F401
from parpy import cuda


@cuda.jit
def scaled(x, y, a):
    s = cuda.shared.array(0, np.float64)
    i = cuda.grid(1)
    s[cuda.threadIdx.x] = x[i, 0]
    cuda.syncthreads()
    if i < y.size:
        y[i] = a * s[cuda.threadIdx.x] + x[i, 1]


def test_text_of_a_kernel():
    x, y = np.arange(12.0).reshape(6, 2), np.zeros(6)
    text = scaled.inspect_source(x, y, 2.0)
    same = parpy.compile_string("scaled", text)
    other = parpy.compile_string("scaled", text.replace("a * s", "a + s"))
    for rows in (6, 4):
        y[:] = 0
        same[1, rows, 0, 8 * rows](x[:rows], y[:rows], 2.0)
        np.testing.assert_array_equal(y[:rows], 2 * x[:rows, 0] + x[:rows, 1])
        other[(1,), (rows,), 0, 8 * rows](x=x[:rows], y=y[:rows], a=2.0)
        np.testing.assert_array_equal(y[:rows], 2 + x[:rows, 0] + x[:rows, 1])
    wide = np.zeros((6, 4))
    same[1, 6, 0, 48](wide[:, :2], y, 2.0)
    assert not y.any()


def test_text_is_for_such_arguments():
    x, y = np.zeros((6, 2)), np.zeros(6)
    kernel = parpy.compile_string("scaled", scaled.inspect_source(x, y, 2.0))
    with pytest.raises(parpy.CompileError, match="strides"):
        kernel[1, 6](x[:, ::-1], y, 2.0)
    with pytest.raises(parpy.CompileError, match="shape"):
        kernel[1, 6](x, x, 2.0)
    with pytest.raises(parpy.CompileError, match="type"):
        kernel[1, 6](x, y, 2)
    with pytest.raises(parpy.CompileError, match="too large"):
        kernel[2**22, 6](x, y, 2.0)
    with pytest.raises(ValueError, match="1024"):
        kernel[1, 2000](x, y, 2.0)
    with pytest.raises(ValueError, match="threads"):
        kernel(x, y, 2.0)
    with pytest.raises(ValueError, match="stream"):
        kernel[1, 6, 5](x, y, 2.0)


@cuda.jit
def prints_many(x, n):
    if n > 0:
        print("a", x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11], x[12], x[13], x[14], x[15])
        print(
            "b",
            x[0],
            x[1],
            x[2],
            x[3],
            x[4],
            x[5],
            x[6],
            x[7],
            x[8],
            n,
            x[9],
            x[10],
            x[11],
            x[12],
            x[13],
            x[14],
            x[15],
            n,
            "!",
        )
    if n > 1:
        print(n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n)


def test_no_call_of_printf_has_more_arguments_than_cuda_takes(capfd):
    x = np.arange(16) / 4
    text = prints_many.inspect_source(x, 2).partition("// ---- host code")[0]
    calls = [line.strip() for line in text.splitlines() if line.strip().startswith('printf("')]
    counts = [call.count("printable(") + call.count("point_zero(") + call.count("(long long)") for call in calls]
    assert counts == 3 * [32] + 3 * [31, 3] + [32, 1]
    assert [call.count("\\n") for call in calls] == 3 * [1] + 3 * [0, 1] + [0, 1]
    prints_many[1, 1](x, 2)
    shown = [str(each) for each in x]
    other = [*shown[:9], "2", *shown[9:]]
    assert capfd.readouterr().out.splitlines() == [
        " ".join(["a", *shown]), " ".join(["b", *other, "2", "!"]), " ".join(33 * ["2"])
    ]  # fmt: skip
    prints_many[1, 1](x, 0)
    assert capfd.readouterr().out == ""
