"""Numba's own types, signatures and compiled functions are recognised by their names and parts: Numba need not be
installed; if it is, its real objects are tested too."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import kernel_places
import parpy
from parpy import cuda
from parpy.cuda import types
from parpy.vocabulary.signatures import argument_type, of_numba, signature

backend = kernel_places.backend


def of(kind, **attributes):
    """An object that looks like Numba's: of a class of this name, in a module of Numba."""
    return type(kind, (), {"__module__": "numba.core.types.made_up"} | attributes)()


FLOAT32, INT32, INT64 = of("Float", name="float32"), of("Integer", name="int32"), of("Integer", name="int64")
BOOLEAN, COMPLEX = of("Boolean", name="bool"), of("Complex", name="complex64")
NONE = of("NoneType", name="none")


def array(element, ndim, layout="A"):
    return of("Array", dtype=element, ndim=ndim, layout=layout, name="array")


def made(result, *arguments):
    return of("Signature", return_type=result, args=arguments)


def njit(function):
    return type("CPUDispatcher", (), {"__module__": "numba.core.registry", "py_func": staticmethod(function)})()


def test_types():
    pairs = [
        (FLOAT32, types.float32), (INT32, types.int32), (BOOLEAN, types.boolean), (COMPLEX, types.complex64),
        (array(FLOAT32, 2, "C"), types.float32[:, ::1]), (array(INT32, 1), types.int32[:]),
        (array(INT32, 2, "F"), types.int32[::1, :]), (of("CPointer", dtype=INT32), types.CPointer(types.int32)),
        (of("UniTuple", types=(INT64, INT64)), types.UniTuple(types.int64, 2)),
        (of("Tuple", types=(INT64, FLOAT32)), types.Tuple((types.int64, types.float32))),
    ]  # fmt: skip
    for theirs, ours in pairs:
        assert argument_type(theirs) == ours
        assert ours == theirs
        assert [each == theirs for _, each in pairs].count(True) == 1
    assert of_numba(NONE) is types.void and of_numba(3) == 3
    assert signature(made(NONE, array(FLOAT32, 1), INT32)) == types.void(types.float32[:], types.int32)
    assert signature(made(FLOAT32, INT32)) == types.float32(types.int32)
    assert signature((array(FLOAT32, 1), INT32)).arguments == (types.float32[:], types.int32)
    with pytest.raises(TypeError, match="is not the type of an argument"):
        argument_type(of("Opaque", name="opaque"))


def test_their_signatures_and_types_are_equal_to_ours():
    assert types.void == NONE and types.void != INT32 and types.int32 != NONE
    assert types.void(types.float32[:]) == made(NONE, array(FLOAT32, 1))
    assert types.void(types.float32[:]) != made(NONE, array(FLOAT32, 1, "C"))
    assert types.float32 not in (3, "float32", np.float32, None)
    assert (types.float32, types.int32) == (FLOAT32, INT32)


def test_results_for_their_types(monkeypatch):
    def added(x, y):
        return x + y

    def stored(x):
        x[0] = 1

    theirs = SimpleNamespace(types=SimpleNamespace(float32=FLOAT32, void=NONE))
    monkeypatch.setitem(sys.modules, "numba", theirs)
    for given in ((FLOAT32, FLOAT32), made(FLOAT32, FLOAT32, FLOAT32)):
        assert cuda.compile(added, given)[1] is FLOAT32
    assert cuda.compile_ptx(stored, (array(FLOAT32, 1),))[1] is NONE
    assert cuda.compile(added, (types.float32, types.float32))[1] is types.float32


def test_kernels_with_their_types():
    @cuda.jit(made(NONE, array(FLOAT32, 1), INT32))
    def kernel(x, n):
        own = cuda.shared.array(4, dtype=FLOAT32)
        mine = cuda.local.array((2,), BOOLEAN)
        i = cuda.threadIdx.x
        own[i] = n
        cuda.syncthreads()
        mine[0] = True
        x[i] = own[3 - i] + FLOAT32(1.5) + INT64(2) + mine[0]

    x = np.zeros(4, np.float32)
    kernel[1, 4](x, 3)
    assert (x == 7.5).all()
    with pytest.raises(TypeError, match=r"'x' must be a float32\[:\], not an array of float64"):
        kernel[1, 4](np.zeros(4), 3)


def doubled(x):
    return 2 * x


DOUBLED = njit(doubled)


@njit
def plus_one(x):
    return DOUBLED(x) + 1


def test_their_functions_are_called():
    @cuda.jit
    def kernel(out):
        out[0], out[1] = DOUBLED(3), plus_one(2.5)

    out = np.zeros(2)
    kernel[1, 1](out)
    assert out.tolist() == [6, 6]
    again = cuda.jit(DOUBLED, device=True)

    @cuda.jit
    def other(out):
        out[0] = again(out[0])

    other[1, 1](out)
    assert out[0] == 12

    @parpy.jit
    def loops(out):
        for i in range(2):
            out[i] = plus_one(out[i])

    loops(out)
    assert out.tolist() == [25, 13]


def test_records_of_theirs():
    fields = {"a": (FLOAT32, 0), "b": (of("NestedArray", dtype=INT32, shape=(2,)), 4)}
    record = of(
        "Record", fields=fields, size=12, typeof=lambda self, name: fields[name][0],
        offset=lambda self, name: fields[name][1],
    )  # fmt: skip
    dtype = np.dtype([("a", np.float32), ("b", np.int32, (2,))])

    @cuda.jit(made(NONE, array(record, 1)))
    def kernel(r):
        own = cuda.shared.array(2, record)
        own[0].a = 3
        r[0].a = own[0].a
        r[1].b[1] = 2

    r = np.zeros(2, dtype)
    kernel[1, 1](r)
    assert r["a"].tolist() == [3, 0] and r["b"].tolist() == [[0, 0], [0, 2]]


def test_numba_itself():
    numba = pytest.importorskip("numba")
    assert argument_type(numba.float32[:, ::1]) == types.float32[:, ::1]
    assert signature(numba.void(numba.float32[:], numba.intp)) == types.void(types.float32[:], types.int64)
    assert argument_type(numba.types.UniTuple(numba.boolean, 2)) == types.UniTuple(types.boolean, 2)
    dtype = np.dtype([("a", np.float32), ("b", np.int32, (2,))])
    assert argument_type(numba.from_dtype(dtype)[:]).element.dtype == dtype

    @numba.njit
    def squared(x):
        return x * x

    @cuda.jit(numba.void(numba.float64[:]))
    def kernel(out):
        out[0] = squared(out[0])

    out = np.full(1, 3.0)
    kernel[1, 1](out)
    assert out[0] == 9
