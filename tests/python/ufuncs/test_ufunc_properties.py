"""One table of properties, for NumPy's addition and for ours on each target: results and errors are the same."""

from __future__ import annotations

import operator
import warnings
from functools import cache

import numpy as np
import pytest

from ufunc_targets import HOSTS, TARGETS, add, check_same, on_device, on_host

ufunc_on = cache(add)

X = np.arange(12.0).reshape(3, 4)
SHAPES = [(), (3,), (1, 3), (2, 1), (2, 3), (4, 1, 3), (0, 3), (4, 2, 3)]


def _broadcast(u):
    for first in SHAPES:
        for second in SHAPES:
            a, b = np.full(first, 2.0), np.full(second, 3.0)
            try:
                wanted = np.broadcast_shapes(first, second)
            except ValueError:
                continue
            assert np.shape(u(a, b)) == wanted
            yield u(a, b)


def _into(u, *arguments, out, **more):
    assert u(*arguments, out=out, **more) is out
    return out


def _at(u, array, indices, *values):
    assert u.at(array, indices, *values) is None
    return array


def _overlapping(u):
    x = np.arange(10.0)
    u(x[:-1], x[1:], out=x[1:])
    return x


PROPERTIES = {
    "arrays": lambda u: u(X, X),
    "lists": lambda u: u([1, 2], [3.5, 4]),
    "scalars": lambda u: u(2, 3),
    "numpy scalars": lambda u: u(np.float32(2), np.float32(3)),
    "0-d arrays": lambda u: u(np.array(2.0), np.array(3.0)),
    "broadcasting": lambda u: tuple(_broadcast(u)),
    "empty": lambda u: u(np.empty((0, 3)), np.empty(3)),
    "strides": lambda u: u(X[::2, ::-1], X.T[::2, :2].T),
    "Fortran order": lambda u: u(np.asfortranarray(X), X),
    "weak numbers": lambda u: u(X.astype("f4"), 2.0),
    "weak integers": lambda u: u(np.arange(3, dtype="i1"), 2),
    "an integer too large": lambda u: u(np.arange(3, dtype="i1"), 1000),
    "casting": lambda u: u(np.arange(3, dtype="i4"), np.ones(3, "f4")),
    "mixed signs": lambda u: u(np.arange(3, dtype="i1"), np.ones(3, "u1")).dtype.kind,
    "complex": lambda u: u(X, 1j),
    "wrapping": lambda u: u(np.full(3, 127, "i1"), np.ones(3, "i1")),
    "dtype": lambda u: u(X, X, dtype="f4"),
    "dtype that is unsafe": lambda u: u(X, X, dtype="i4"),
    "dtype that is unsafe, allowed": lambda u: u(X, X, dtype="i4", casting="unsafe"),
    "signature": lambda u: u(X, X, signature="ff->f"),
    "out": lambda u: _into(u, X, X, out=np.empty((3, 4))),
    "out by position": lambda u: u(X, X, np.empty((3, 4))),
    "out in a tuple": lambda u: u(X, X, out=(np.empty((3, 4)),)),
    "out twice": lambda u: u(X, X, np.empty((3, 4)), out=np.empty((3, 4))),
    "out of another type": lambda u: _into(u, X, X, out=np.empty((3, 4), "f4")),
    "out of a type that loses": lambda u: _into(u, X, X, out=np.empty((3, 4), "i4")),
    "out with strides": lambda u: _into(u, X, X, out=np.empty((6, 8))[::2, ::2]),
    "out of another shape": lambda u: u(X, X, out=np.empty(4)),
    "out that is larger": lambda u: _into(u, X, X, out=np.empty((2, 3, 4))),
    "out that is read-only": lambda u: u(X, X, out=np.broadcast_to(0.0, (3, 4))),
    "out that is no array": lambda u: u(X, X, out=[0]),
    "in place": lambda u: _into(u, y := X.copy(), 1.0, out=y),
    "overlapping": _overlapping,
    "where": lambda u: _into(u, X, X, out=np.zeros((3, 4)), where=X > 5),
    "where, broadcast": lambda u: _into(u, X, X, out=np.zeros((3, 4)), where=X[0] > 1),
    "where that is none": lambda u: u(X, X, out=np.zeros((3, 4)), where=X),
    "shapes that do not fit": lambda u: u(X, np.ones(3)),
    "too few": lambda u: u(X),
    "too many": lambda u: u(X, X, X, X),
    "texts": lambda u: u("a", 1).shape,
    "keyword of nothing": lambda u: u(X, X, nothing=1),
    "reduce": lambda u: u.reduce(X),
    "reduce an axis": lambda u: u.reduce(X, axis=-1),
    "reduce axes": lambda u: u.reduce(np.ones((2, 3, 4)), axis=(0, 2)),
    "reduce all": lambda u: u.reduce(X, axis=None),
    "reduce, keepdims": lambda u: u.reduce(X, axis=1, keepdims=True),
    "reduce, initial": lambda u: u.reduce(X, initial=10.0),
    "reduce, where": lambda u: u.reduce(X, where=X > 4),
    "reduce, out": lambda u: u.reduce(X, out=np.zeros(4)),
    "reduce, out of another shape": lambda u: u.reduce(X, out=np.zeros(3)),
    "reduce, dtype": lambda u: u.reduce(X, dtype="f4"),
    "reduce nothing": lambda u: u.reduce(np.ones((0, 3))),
    "reduce to nothing": lambda u: u.reduce(np.ones((3, 0))),
    "reduce many": lambda u: u.reduce(np.arange(100000)),
    "reduce an axis too far": lambda u: u.reduce(X, axis=2),
    "accumulate": lambda u: u.accumulate(X),
    "accumulate an axis": lambda u: u.accumulate(X, axis=1),
    "accumulate, out": lambda u: u.accumulate(X, out=np.zeros((3, 4))),
    "accumulate nothing": lambda u: u.accumulate(np.ones((0, 3))),
    "reduceat": lambda u: u.reduceat(np.arange(8.0), [0, 4, 1, 5]),
    "reduceat an axis": lambda u: u.reduceat(X, [0, 2], axis=1),
    "reduceat beyond": lambda u: u.reduceat(np.arange(8.0), [0, 8]),
    "outer": lambda u: u.outer([1.0, 2.0], X),
    "outer of numbers": lambda u: u.outer(2.0, 3.0),
    "at": lambda u: _at(u, np.zeros(4), [0, 0, -1], 1.0),
    "at, values": lambda u: _at(u, np.zeros(4), [0, 0, 2], np.array([1.0, 2.0, 3.0])),
    "at, two dimensions": lambda u: _at(u, np.zeros((2, 2)), ([0, 0], [1, 1]), 1.0),
    "at beyond": lambda u: u.at(np.zeros(4), [4], 1.0),
    "at without values": lambda u: u.at(np.zeros(4), [0]),
    "numbers of operands": lambda u: (u.nin, u.nout, u.nargs),
    "identity": operator.attrgetter("identity"),
    "signature of the core": operator.attrgetter("signature"),
    "name": operator.attrgetter("__name__"),
    "resolve_dtypes": lambda u: u.resolve_dtypes((np.dtype("f4"), float, None)),
}


def outcome(test, ufunc):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return None, test(ufunc)
        except Exception as error:
            return error, None


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROPERTIES)
def test_is_as_of_numpys_addition(name, target):
    ufunc = ufunc_on(target)
    wanted_error, wanted = outcome(PROPERTIES[name], np.add)
    found_error, found = outcome(PROPERTIES[name], ufunc)
    if wanted_error is None:
        assert found_error is None, found_error
        if isinstance(wanted, np.ndarray | np.generic | tuple) and name != "resolve_dtypes":
            check_same(found, wanted)
        else:
            assert found == wanted
        return
    assert found_error is not None, f"NumPy refuses it: {wanted_error!r}"
    # NumPy raises subclasses of TypeError for the rows of its own table of types.
    assert isinstance(found_error, TypeError if isinstance(wanted_error, TypeError) else type(wanted_error))


@pytest.mark.parametrize("target", HOSTS)
def test_ufuncs_of_the_host_are_numpys(target):
    ufunc = ufunc_on(target)
    assert type(ufunc) is np.ufunc
    assert ufunc.types == ["bb->b", "ii->i", "ll->l", "BB->B", "ff->f", "dd->d", "FF->F", "DD->D"]


@pytest.mark.parametrize("target", [each for each in TARGETS if each not in HOSTS])
def test_arrays_on_the_device_give_arrays_there(target):
    ufunc, x = ufunc_on(target), on_device(X)
    for result, wanted in [
        (ufunc(x, x), X + X),
        (ufunc(x, 1.0), X + 1),
        (ufunc(x, X[0]), X + X[0]),
        (ufunc(x.T, x.T), X.T + X.T),
        (ufunc(x[:, ::2], 1), X[:, ::2] + 1),
        (ufunc.reduce(x), X.sum(0)),
        (ufunc.reduce(x, axis=None), X.sum()),
        (ufunc.accumulate(x), X.cumsum(0)),
        (ufunc.outer(x[0], x[1]), np.add.outer(X[0], X[1])),
    ]:
        assert type(result) is type(x)
        np.testing.assert_allclose(on_host(result), wanted)
    assert ufunc(x, x, out=x) is x
    np.testing.assert_allclose(on_host(x), X + X)


@pytest.mark.parametrize("target", [each for each in TARGETS if each not in HOSTS])
def test_a_reduction_leaves_its_operand_alone(target):
    x = on_device(np.arange(1000.0))
    assert on_host(ufunc_on(target).reduce(x)) == 499500
    np.testing.assert_array_equal(on_host(x), np.arange(1000.0))
