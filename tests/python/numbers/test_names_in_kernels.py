"""Names of kernels for parts of one array, for dates of several units, and for constants that are zero."""

from __future__ import annotations

import numpy as np
import pytest

import parpy.cuda as cuda

pytestmark = pytest.mark.usefixtures("simulator")


def windows(y, i):
    a, b = y[i, 1:4], y[i, 2:5]
    a[0] = 100.0
    b[1:] = a[:2]
    return a.sum() + 10 * b.sum()


def rows(y, i):
    p, q = y[i, 0], y[i, 1:3]
    p[1:] = q[0, :3]
    q[1] = p
    return p.sum() + q[1].sum()


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
@pytest.mark.parametrize("order", ["C", "T"])
@pytest.mark.parametrize(("parts", "shape"), [(windows, (4, 6)), (rows, (2, 3, 4))])
def test_slices_of_a_reshaped_name(parts, shape, order, dtype):
    device = cuda.jit(device=True)(parts)

    if order == "C":

        @cuda.jit
        def kernel(x, out):
            i = cuda.grid(1)
            if i < out.shape[0]:
                y = x.reshape(shape)
                out[i] = device(y, i)

        x = np.arange(24).astype(dtype)
        view = x.copy().reshape(shape)
    else:

        @cuda.jit
        def kernel(x, out):
            i = cuda.grid(1)
            if i < out.shape[0]:
                y = x.T
                out[i] = device(y, i)

        x = np.arange(24).astype(dtype).reshape(shape[::-1])
        view = x.copy().T
    out = np.zeros(shape[0])
    kernel[1, 32](x, out)
    wanted = [parts(view, i) for i in range(shape[0])]
    np.testing.assert_allclose(out, wanted)
    np.testing.assert_array_equal(x.reshape(shape) if order == "C" else x.T, view)


def test_a_row_that_moves_by_one():
    @cuda.jit
    def kernel(x):
        y = x.reshape(4, 6)
        i = cuda.grid(1)
        if i < 4:
            y[i, 1:] = y[i, :5]

    x = np.arange(24.0)
    kernel[1, 4](x)
    wanted = np.arange(24.0).reshape(4, 6)
    wanted[:, 1:] = wanted[:, :5].copy()
    np.testing.assert_array_equal(x.reshape(4, 6), wanted)


def test_variables_of_two_units():
    @cuda.jit
    def chosen(x, y, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            v = x[i]
            if i % 2:
                v = y[i]
            out[i] = v

    @cuda.jit
    def grown(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            total = np.timedelta64(0, "D")
            for j in range(i + 1):
                total += x[j]
            out[i] = total

    x, y, out = np.array([1, "NaT", 3], "m8[h]"), np.array([10, 20, 30], "m8[m]"), np.zeros(3, "m8[m]")
    chosen[1, 4](x, y, out)
    assert (out == np.array([60, 20, 180], "m8[m]")).all()
    grown[1, 4](x, out)
    assert out[0] == np.timedelta64(60, "m") and np.isnat(out[1:]).all()


@pytest.mark.parametrize("operator", ["//", "%"])
@pytest.mark.parametrize("divisor", ["0", "ZERO", "(3 - 3)"])
def test_integers_that_are_divided_by_a_constant_zero(operator, divisor, tmp_path):
    text = f"""
ZERO = 0

def kernel(x, out, only):
    i = cuda.grid(1)
    if i < x.shape[0]:
        if x[i] > only:
            out[i] = x[i] {operator} {divisor}
        else:
            out[i] = 5
"""
    file = tmp_path / "divisions.py"
    file.write_text(text)
    names = {"cuda": cuda}
    exec(compile(text, str(file), "exec"), names)
    kernel = cuda.jit(debug=True)(names["kernel"])
    x, out = np.arange(3), np.zeros(3, int)
    kernel[1, 32](x, out, 5)
    assert out.tolist() == [5, 5, 5]
    with pytest.raises(ZeroDivisionError, match="an integer is divided by zero"):
        kernel[1, 32](x, out, 0)
