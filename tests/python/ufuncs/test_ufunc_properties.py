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


class Override:
    """Tells what it is asked for (NEP 13)."""

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return ufunc, method, [type(each).__name__ for each in inputs], sorted(keywords)


class Refusal:
    __array_ufunc__ = None


def _checked(u, fault, *arguments):
    with np.errstate(**{fault: "raise"}):
        return u(*arguments)


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
    "casting that is none": lambda u: u(np.arange(3, dtype="i4"), np.ones(3, "f4"), casting="no"),
    "casting that is safe": lambda u: _into(u, X, X, out=np.empty((3, 4), "f4"), casting="safe"),
    "casting, unsafe": lambda u: _into(u, X, X, out=np.empty((3, 4), "i4"), casting="unsafe"),
    "casting of no name": lambda u: u(X, X, casting="nothing"),
    "order of no name": lambda u: u(X, X, order="Z"),
    "order of the operands": lambda u: [
        u(a, b, order=order).flags.f_contiguous
        for order in "CFA"
        for a, b in ((X, X), (X.T, X.T), (X.T, 1.0), (X.T, X.T[::1]))
    ],
    "order": lambda u: u(X, X, order="F").flags.f_contiguous,
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
    "reduce, dtype and out": lambda u: u.reduce(X, dtype="f4", out=np.zeros(4)),
    "reduce axes, keepdims": lambda u: u.reduce(np.ones((2, 3, 4)), axis=(0, -1), keepdims=True),
    "reduce axes, where and initial": lambda u: u.reduce(X, axis=None, where=X > 4, initial=2.0),
    "reduce an axis twice": lambda u: u.reduce(X, axis=(0, 0)),
    "reduce a number": lambda u: u.reduce(3.0),
    "reduce integers": lambda u: u.reduce(np.full(300, 100, "i1")),
    "reduce nothing": lambda u: u.reduce(np.ones((0, 3))),
    "reduce to nothing": lambda u: u.reduce(np.ones((3, 0))),
    "reduce many": lambda u: u.reduce(np.arange(100000)),
    "reduce an axis too far": lambda u: u.reduce(X, axis=2),
    "accumulate": lambda u: u.accumulate(X),
    "accumulate an axis": lambda u: u.accumulate(X, axis=1),
    "accumulate, out": lambda u: u.accumulate(X, out=np.zeros((3, 4))),
    "accumulate, dtype": lambda u: u.accumulate(X, dtype="c8"),
    "accumulate a number": lambda u: u.accumulate(3.0),
    "accumulate axes": lambda u: u.accumulate(X, axis=(0, 1)),
    "accumulate nothing": lambda u: u.accumulate(np.ones((0, 3))),
    "reduceat": lambda u: u.reduceat(np.arange(8.0), [0, 4, 1, 5]),
    "reduceat an axis": lambda u: u.reduceat(X, [0, 2], axis=1),
    "reduceat, out": lambda u: u.reduceat(np.arange(8.0), [0, 4], out=np.zeros(2)),
    "reduceat, dtype": lambda u: u.reduceat(np.arange(8.0), [0, 4], dtype="f4"),
    "reduceat of no indices": lambda u: u.reduceat(np.arange(8.0), np.zeros(0, int)),
    "reduceat beyond": lambda u: u.reduceat(np.arange(8.0), [0, 8]),
    "outer": lambda u: u.outer([1.0, 2.0], X),
    "outer, out": lambda u: u.outer(X[0], X[1], out=np.zeros((4, 4))),
    "outer, dtype": lambda u: u.outer(X[0], X[1], dtype="f4"),
    "outer, where": lambda u: u.outer(X[0], X[1], out=np.zeros((4, 4)), where=np.eye(4, dtype=bool)),
    "outer of nothing": lambda u: u.outer(np.zeros(0), X),
    "outer of one": lambda u: u.outer(X),
    "outer of numbers": lambda u: u.outer(2.0, 3.0),
    "at": lambda u: _at(u, np.zeros(4), [0, 0, -1], 1.0),
    "at, values": lambda u: _at(u, np.zeros(4), [0, 0, 2], np.array([1.0, 2.0, 3.0])),
    "at, two dimensions": lambda u: _at(u, np.zeros((2, 2)), ([0, 0], [1, 1]), 1.0),
    "at, slices": lambda u: _at(u, np.zeros((3, 4)), (slice(None, 2), [0, 0, 1]), 1.0),
    "at, an ellipsis": lambda u: _at(u, np.zeros((2, 3, 4)), (0, ..., [1, 1]), np.arange(6.0).reshape(3, 2)),
    "at, a row": lambda u: _at(u, X.copy(), [0, 0, -1], X[1]),
    "at, rows and a new dimension": lambda u: _at(u, X.copy(), (None, 1), X[:1]),
    "at, no places": lambda u: _at(u, X.copy(), [], 1.0),
    "at, too many dimensions": lambda u: _at(u, X.copy(), (0, 0, 0), 1.0),
    "at, a slice beyond": lambda u: _at(u, X.copy(), (slice(0, 99), [5]), 1.0),
    "at, truth values": lambda u: _at(u, X.copy(), X > 4, 1.0),
    "at, casting": lambda u: _at(u, np.zeros(3, "f4"), [0, 0], np.arange(2, dtype="f4")),
    "at, shapes that do not fit": lambda u: _at(u, np.zeros(3), [0, 1, 2], np.ones(2)),
    "at beyond": lambda u: u.at(np.zeros(4), [4], 1.0),
    "at without values": lambda u: u.at(np.zeros(4), [0]),
    "an object that overrides": lambda u: [
        getattr(u, method)(*values)[1:]
        for method, values in (
            ("__call__", (X, Override())),
            ("reduce", (Override(),)),
            ("accumulate", (Override(),)),
            ("reduceat", (Override(), [0, 1])),
            ("outer", (Override(), X)),
        )
    ],
    "an object that overrides, keywords": lambda u: [
        u.reduce(Override(), axis=1, keepdims=True)[1:],
        u.reduce(X, out=Override(), where=X > 3, initial=1.0)[1:],
        u.accumulate(Override(), 1, "f4")[1:],
        u.outer(X, Override(), dtype="f4")[1:],
        u.at(Override(), [0], 1.0)[1:],
        u(X, Override(), dtype="f4", order="F")[1:],
        u(X, Override(), casting="unsafe", where=X > 3)[1:],
    ],
    "an object that refuses": lambda u: u(X, Refusal()),
    "infinities": lambda u: u(np.array([np.inf, -np.inf, np.nan]), np.array([-np.inf, 1, 1])),
    "invalid, raised": lambda u: _checked(u, "invalid", np.array([np.inf, 1.0]), np.array([-np.inf, 1.0])),
    "overflow, raised": lambda u: _checked(u, "over", np.full(3, 3e38, "f4"), np.full(3, 3e38, "f4")),
    "no fault, raised": lambda u: _checked(u, "all", X, X),
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


OF_THE_HOST = ("invalid, raised", "overflow, raised")  # a GPU notes no faults


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROPERTIES)
def test_is_as_of_numpys_addition(name, target):
    if name in OF_THE_HOST and target not in HOSTS:
        pytest.skip("'np.errstate' has no effect on a device")
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
