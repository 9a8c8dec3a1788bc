"""Calls that skip NumPy's preparations, and the calls beside them that must not: results, errors and warnings are those
of NumPy's own ufuncs."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from ufunc_targets import HOSTS


def added(a, b):
    return a + b


def both(a, b):
    return a + b, a - b


def multiplied(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


def doubled(row, out):
    for i in range(row.shape[0]):
        out[i] = 2 * row[i]


def swapped(pair, out):
    out[0] = pair[1]
    out[1] = pair[0]


class Tagged(np.ndarray):
    pass


def unaligned(array):
    raw = np.zeros(array.nbytes + 1, np.uint8)
    made = raw[1:].view(array.dtype)
    made[:] = array
    return made


ROWS = np.arange(12.0).reshape(3, 4)
ROW = np.arange(6.0)
OPERANDS = [
    (ROWS, ROWS), (ROWS, ROWS[0]), (ROWS, ROWS[:, :1]), (ROWS.T, ROWS.T), (ROWS[:, ::2], ROWS[:, ::2]), (ROW, ROW),
    (ROW[::-1], ROW), (ROW[::2], ROW[1::2]), (ROW, 2.0), (ROW, np.float32(2)), (ROW, np.arange(6)), (ROW[:0], ROW[:0]),
    (ROW, ROW.astype(">f8")), (unaligned(ROW), ROW), (ROW.view(Tagged), ROW), (np.array(2.0), np.array(3.0)),
    (ROW[:1], ROW[:1]), (ROWS[None], ROWS[None]), (np.broadcast_to(ROW[:1], 6), ROW),
]  # fmt: skip


@pytest.mark.parametrize("target", HOSTS)
@pytest.mark.parametrize("case", range(len(OPERANDS)))
def test_any_operands(case, target):
    f = parpy.vectorize(["float64(float64, float64)"], target=target)(added)
    a, b = OPERANDS[case]
    found, wanted = f(a, b), np.add(a, b)
    assert type(found) is type(wanted) and np.array_equal(found, wanted)
    if isinstance(wanted, np.ndarray):
        assert found.dtype == wanted.dtype and found.strides == wanted.strides
        out = np.zeros_like(wanted)
        assert f(a, b, out=out) is out and np.array_equal(out, wanted)
        assert f(a, b, out) is out and f(a, b, out=(out,)) is out
        narrow = np.zeros(wanted.shape, np.float32)
        assert f(a, b, out=narrow) is narrow and np.array_equal(narrow, wanted)


@pytest.mark.parametrize("shift", [-3, -1, 0, 1, 3])
@pytest.mark.parametrize("target", HOSTS)
def test_outputs_that_overlap_operands(shift, target):
    f = parpy.vectorize(["float64(float64, float64)"], target=target)(added)
    g = parpy.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", target=target)(doubled)
    ours, numpys = np.arange(20.0), np.arange(20.0)
    f(ours[5:15], ours[4:14], out=ours[5 + shift : 15 + shift])
    np.add(numpys[5:15], numpys[4:14], out=numpys[5 + shift : 15 + shift])
    assert np.array_equal(ours, numpys)
    values = np.arange(20.0)
    g(values[5:15], out=values[5 + shift : 15 + shift])
    assert np.array_equal(values[5 + shift : 15 + shift], np.arange(5, 15) * 2.0)
    pairs = np.arange(8.0).reshape(4, 2)
    parpy.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", target=target)(swapped)(pairs, pairs)
    assert np.array_equal(pairs, np.arange(8.0).reshape(4, 2)[:, ::-1])


@pytest.mark.parametrize("target", HOSTS)
def test_several_outputs(target):
    f = parpy.vectorize(["Tuple((float64, float64))(float64, float64)"], target=target)(both)
    total, difference = f(ROW, ROW[::-1])
    assert np.array_equal(total, ROW + ROW[::-1]) and np.array_equal(difference, ROW - ROW[::-1])
    out = np.zeros(6), np.zeros(6)
    found = f(ROW, ROW, *out)
    assert found[0] is out[0] and found[1] is out[1] and np.array_equal(out[0], 2 * ROW)
    with pytest.raises(TypeError):
        f(ROW, ROW, out=out[0])


SHAPES = [
    ((2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (1, 3, 4)), ((1, 2, 3), (1, 3, 4)), ((1, 2, 3), (3, 4)), ((4, 5, 2, 3), (5, 3, 4)), ((0, 2, 3), (3, 4)),
    ((5, 0, 3), (3, 4)), ((5, 2, 0), (0, 4)), ((1, 1, 1), (1, 1, 1)),
]  # fmt: skip


@pytest.mark.parametrize("target", HOSTS)
@pytest.mark.parametrize(("first", "second"), SHAPES)
def test_shapes_of_generalised_functions(first, second, target):
    f = parpy.guvectorize(["void(f8[:,:], f8[:,:], f8[:,:])"], "(m,n),(n,p)->(m,p)", target=target)(multiplied)
    rng = np.random.default_rng(0)
    a, b = rng.random(first), rng.random(second)
    wanted = np.matmul(a, b)
    for x, y in [
        (a, b),
        (np.asfortranarray(a), b),
        (a[..., ::-1, ::-1][..., ::-1, ::-1], np.repeat(b, 2, -1)[..., ::2]),
    ]:
        found = f(x, y)
        assert found.shape == wanted.shape and np.allclose(found, wanted)
        out = np.full(wanted.shape, np.nan)
        assert f(x, y, out=out) is out and np.allclose(out, wanted)
        wide = np.full((*wanted.shape[:-1], 2 * wanted.shape[-1]), np.nan)
        f(x, y, wide[..., ::2])
        assert np.allclose(wide[..., ::2], wanted) and np.isnan(wide[..., 1::2]).all()


@pytest.mark.parametrize("target", HOSTS)
def test_errors_are_those_of_numpy(target):
    f = parpy.guvectorize(["void(f8[:,:], f8[:,:], f8[:,:])"], "(m,n),(n,p)->(m,p)", target=target)(multiplied)
    g = parpy.vectorize(["float64(float64, float64)"], target=target)(added)
    ones = np.ones
    with pytest.raises(ValueError, match="mismatch in its core dimension 0"):
        f(ones((2, 3)), ones((4, 2)))
    with pytest.raises(ValueError, match="mismatch in its core dimension 1"):
        f(ones((2, 3)), ones((3, 2)), ones((2, 3)))
    with pytest.raises(ValueError, match="does not have enough dimensions"):
        f(ones(3), ones((3, 2)))
    with pytest.raises(ValueError, match="could not be broadcast"):
        f(ones((4, 2, 3)), ones((5, 3, 2)))
    with pytest.raises(ValueError, match="non-broadcastable output"):
        f(ones((4, 2, 3)), ones((3, 2)), ones((1, 2, 2)))
    frozen = ones(6)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        g(ROW, ROW, frozen)
    with pytest.raises(ValueError, match="could not be broadcast"):
        g(ROW, ROW[:5])
    with pytest.raises(ValueError, match="non-broadcastable output"):
        g(ROW, ROW, np.zeros(1))
    with pytest.raises(TypeError, match="takes from 2 to 3 positional arguments"):
        g(ROW)
    with pytest.raises(TypeError, match="unexpected keyword argument 'output'"):
        g(ROW, ROW, output=ROW)
    with pytest.raises(TypeError, match="both a positional and keyword argument"):
        g(ROW, ROW, ROW, out=ROW)


@pytest.mark.parametrize("target", HOSTS)
def test_flags_of_generalised_functions(target):
    def inverted(row, out):
        for i in range(row.shape[0]):
            out[i] = 1.0 / row[i]

    f = parpy.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", target=target)(inverted)
    rows = np.array([1.0, 2.0, 0.0])
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in inverted"):
        f(rows)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
        f(rows, np.zeros(3))
    with np.errstate(all="raise"):
        f(rows[:2], np.zeros(2))
        parpy.vectorize(["float64(float64, float64)"], target=target)(added)(rows, rows)


def test_a_function_that_raises():
    def checked(row, out):
        for i in range(row.shape[0]):
            if row[i] < 0:
                raise ValueError("negative")
            out[i] = row[i]

    f = parpy.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")(checked)
    assert f(ROW).tolist() == ROW.tolist()
    for call in (lambda: f(-ROW), lambda: f(-ROW, np.zeros(6))):
        with pytest.raises(ValueError, match="negative"):
            call()
