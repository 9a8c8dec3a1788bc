"""Rows of arrays as arguments of external functions: `h(x[i])` passes the address of the row's first element."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
from nvrtc import cubin, device_part
from parpy import CompileBackend, Target
from parpy.builtin import static_backend_eq
from parpy.types import F64, I64, buffer, symbol

HEADER = """
static WHERE inline double total(const double* v, long long n) {
    double s = 0;
    for (long long i = 0; i < n; ++i) s += v[i];
    return s;
}
static WHERE inline void bump(double* v, long long n) {
    for (long long i = 0; i < n; ++i) v[i] += 1;
}
"""
N, M, K = symbol(), symbol(), symbol()


def declared(backend, header):
    @parpy.external("total", backend, Target.Device, header=header)
    def total(v: buffer(F64, [N]), n: I64) -> F64:
        return v[:n].sum()

    @parpy.external("bump", backend, Target.Device, header=header)
    def bump(v: buffer(F64, [N, M]), n: I64):
        v.reshape(-1)[:n] += 1

    return total, bump


total_cpu, bump_cpu = declared(CompileBackend.Cpu, "rows.h")
total_cuda, bump_cuda = declared(CompileBackend.Cuda, "rows.cuh")


def with_headers(tmp_path, backend, **loops):
    (tmp_path / "rows.h").write_text(HEADER.replace("WHERE ", ""))
    (tmp_path / "rows.cuh").write_text(HEADER.replace("WHERE", "__device__"))
    opts = options(backend, loops)
    opts.includes = [str(tmp_path)]
    return opts


@parpy.jit
def rows(x, z, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        if static_backend_eq(CompileBackend.Cuda):
            bump_cuda(z[i, :, :], z.shape[1] * z.shape[2])
            y[i] = total_cuda(x[i], x.shape[1]) + total_cuda(x[-1, :], 2) + total_cuda(z[i][1], z.shape[2])
        else:
            bump_cpu(z[i, :, :], z.shape[1] * z.shape[2])
            y[i] = total_cpu(x[i], x.shape[1]) + total_cpu(x[-1, :], 2) + total_cpu(z[i, -1], z.shape[2])


def data(n=4, m=5):
    return np.arange(float(n * m)).reshape(n, m), np.arange(n * 6.0).reshape(n, 2, 3), np.zeros(n)


@pytest.mark.parametrize("check", ["", "all"])
@pytest.mark.parametrize("backend", TARGETS)
def test_rows(backend, check, tmp_path):
    if check and backend == "cuda":
        pytest.skip("checks run on the CPU")
    opts = with_headers(tmp_path, backend, i=4)
    if check:
        opts.check = check
    for sizes in [(4, 5), (3, 5), (3, 6), (7, 2), (5, 3), (6, 9), (8, 4)]:  # sizes of the call, then any sizes
        got, want = data(*sizes), data(*sizes)
        rows(*want, seq=True)
        rows(*got, opts=opts)
        for a, b in zip(got, want, strict=True):
            assert np.array_equal(a, b)


def test_the_text_of_cuda(tmp_path):
    text = parpy.print_compiled(rows, data(), with_headers(tmp_path, "cuda", i=4))
    assert "total(&x[i * 5], 5" in text
    assert "bump(&z[i * 6], 6" in text
    cubin(device_part(text).replace('#include "rows.cuh"', HEADER.replace("WHERE", "__device__")))


@parpy.jit
def bumped(x):
    parpy.label("i")
    for i in range(1, x.shape[0]):
        bump_cpu(x[i], x.shape[1])
        x[i, 0, 0] += total_cpu(x[i - 1, 0], 1)


@parpy.jit
def alone(x):
    for i in range(x.shape[0]):
        bump_cpu(x[i], x.shape[1])


@parpy.jit
def one_by_one(x):
    for i in range(1000):
        bump_cpu(x, x.shape[1])


def test_calls_are_judged(tmp_path):
    auto = parpy.auto(backend=CompileBackend.Cpu, includes=with_headers(tmp_path, "cpu").includes)
    x = np.zeros((100, 1, 1000))
    assert "proved" in str(parpy.explain(alone, x, opts=auto))
    # The effect of one iteration on the whole array is not known.
    assert "sequential" in str(parpy.explain(one_by_one, x[0], opts=auto))
    with pytest.raises(parpy.ParallelError, match="may not be run in parallel"):
        strict = with_headers(tmp_path, "cpu", i=4)
        strict.legality = "strict"
        bumped(np.zeros((4, 1, 3)), opts=strict)


@parpy.jit
def of_a_row(x, n):
    return total_cpu(x, n)


@parpy.jit
def through_a_helper(x, y):
    for i in range(x.shape[0]):
        y[i] = of_a_row(x[i], x.shape[1])


def test_rows_that_helpers_get(tmp_path):
    x, _, y = data()
    through_a_helper(x, y, opts=with_headers(tmp_path, "cpu"))
    assert np.array_equal(y, x.sum(axis=1))


@parpy.jit
def beyond(x):
    for i in range(x.shape[0] + 1):
        bump_cpu(x[i], x.shape[1])


@parpy.jit
def indirect(x, k):
    for i in range(k.shape[0]):
        bump_cpu(x[k[i]], x.shape[1])


def test_rows_out_of_bounds(tmp_path):
    opts = with_headers(tmp_path, "cpu")
    x = np.zeros((3, 4, 1))
    with pytest.raises(IndexError, match="subscript 3 is out of bounds for axis 0 of 'x'"):
        beyond(x, opts=opts)
    assert not x.any()
    opts.check = "bounds"
    indirect(x, np.array([1, -1]), opts=opts)
    assert x[:, 0, 0].tolist() == [0, 1, 1]
    with pytest.raises(IndexError, match="subscript -4 is out of bounds for axis 0 of 'x'"):
        indirect(x, np.array([1, -4]), opts=opts)


@parpy.jit
def column(x, y):
    for j in range(x.shape[1]):
        y[j] = total_cpu(x[:, j], x.shape[0])


@parpy.jit
def part(x, y):
    for i in range(x.shape[0]):
        y[i] = total_cpu(x[i, 1:], x.shape[1] - 1)


@parpy.jit
def element(x, y):
    y[0] = total_cpu(x[0, 1], 1)


@parpy.jit
def plain(x, y):
    for i in range(x.shape[0]):
        y[i] = total_cpu(x[i], x.shape[1])


def test_what_is_no_row(tmp_path):
    opts, x, y = with_headers(tmp_path, "cpu"), np.ones((4, 4)), np.zeros(4)
    with pytest.raises(TypeError, match=r"'total' gets a pointer, but this part of 'x' is not a row") as error:
        column(x, y, opts=opts)
    assert "x[:, j]" in str(error.value) and "numbers that select the part" in str(error.value)
    with pytest.raises(TypeError, match="is not a row"):
        part(x, y, opts=opts)
    with pytest.raises(TypeError, match="takes a float64 array of 1 dimension here, not a float64"):
        element(x, y, opts=opts)
    for strided in (x.T, np.ones((4, 8))[:, ::2], x[:, ::-1]):
        with pytest.raises(TypeError, match=r"the elements of this row of 'x' do not lie side by side"):
            plain(strided, y, opts=opts)
    plain(x[::-2], y, opts=opts)  # whole rows, with others between them
    assert y.tolist() == [4, 4, 0, 0]
