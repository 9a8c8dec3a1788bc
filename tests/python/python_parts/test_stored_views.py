"""Stores through other shapes of arrays and their real parts: `x.T[i] = v`, `y = x.reshape(n)`, `x.imag += 1`."""

from __future__ import annotations

import numpy as np
import pytest

import parpy

pytestmark = pytest.mark.filterwarnings("ignore:(?s).*P31[56]:parpy.PerformanceWarning")
BACKENDS = [parpy.CompileBackend.Cpu, parpy.CompileBackend.Sim]


def elements(x):
    x.T[0, 1] = 7.0
    x.T[1] += x[0, 1]
    x.reshape(-1)[2:4] = x.T[0, :2] * 3


def a_name(x):
    a = x.T
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = i * 10 + j + x[0, 0]


def a_mirror(x):
    a = x.T
    for i in range(4):
        for j in range(i):
            a[i, j], x[i, j] = x[i, j], a[i, j]


def a_row(x):
    y = x.reshape(16)
    for i in range(1, len(y)):
        y[i] = y[i] * 2 + y[i - 1]
    return y[3]


def a_row_in_place(x):
    y = x.ravel()
    y *= 2
    y[1:] -= y[:-1]


def columns(x):
    for column in x.T:
        column -= column.mean()


def labelled_columns(x):
    parpy.label("j")
    for j, column in enumerate(x.T):
        column[0] = j


def two_columns(x):
    a, b = x.reshape(2, 8)
    a[1:] = b[:-1]
    b += 1
    return a @ b


def parts_of_parts(x):
    a = x.T
    b = a[1:]
    b[0] = 5
    b[1:, 2] = x[0, 0]


def doubled(values):
    values *= 2


def by_a_helper(x):
    a = x.T
    doubled(a[1])


def in_a_helper(x):
    elements(x)
    x[0] += 1


def by_numbers(x):
    x.flat[3] = 9
    x.flat[::5] = 0
    x.flat[1] += x[0, 3]


def real_parts(x):
    z = x * (1 + 2j)
    re = z.real
    z[0] = 5
    z.imag[1:] = x[1:]
    z.real[0, 1] += 3
    z.imag += 1
    re[2] = re[0] + 1
    return z


def replaced_parts(x):
    z = x + 1j
    z.imag = 2
    z.real = x.T
    return z


FUNCTIONS = [
    elements,
    a_name,
    a_mirror,
    a_row,
    a_row_in_place,
    columns,
    labelled_columns,
    two_columns,
    parts_of_parts,
    by_a_helper,
    in_a_helper,
    by_numbers,
    real_parts,
    replaced_parts,
]
LAYOUTS = {
    "rows": lambda x: x.copy(),
    "columns": np.asfortranarray,
    "every second": lambda x: np.repeat(np.repeat(x, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_python(function, layout, backend):
    want, got = (LAYOUTS[layout](np.arange(16.0).reshape(4, 4) * 7 % 11) for _ in range(2))
    expected = function(want)
    result = parpy.jit(function)(got, opts=parpy.auto(backend=backend))
    np.testing.assert_allclose(got, want, rtol=1e-14)
    if expected is not None:
        np.testing.assert_allclose(result, expected, rtol=1e-14)


@parpy.jit
def kept(x):
    y = x.real
    y[0] = 9
    return y


def test_a_returned_real_part_is_the_arrays():
    x = np.zeros(3, complex)
    y = kept(x)
    assert np.shares_memory(x, y)
    assert x[0] == 9


@parpy.jit
def imaginary(x):
    y = x.imag
    return y + 1, y.sum(), np.imag(x)


@pytest.mark.parametrize("dtype", [bool, np.int32, np.float32, np.complex64])
def test_imaginary_parts_of_real_arrays_are_zeros(dtype):
    x = np.arange(4).astype(dtype)
    for ours, theirs in zip(imaginary(x), imaginary.__wrapped__(x), strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype


class Plate:
    def __init__(self):
        self.T = np.zeros((3, 4))
        self.rate = 0.5

    @parpy.jit
    def step(self):
        for i in range(self.T.shape[0]):
            self.T[i] += self.rate

    @parpy.jit
    def warm(self):
        temperature = self.T
        temperature[0] += self.rate


@pytest.mark.filterwarnings("error::parpy.PerformanceWarning")
def test_an_attribute_of_an_object_is_no_transposed_array():
    plate = Plate()
    plate.step()
    plate.warm()
    assert (plate.T[0] == 1).all()
    assert (plate.T[1:] == 0.5).all()
