"""Arrays of records from outside of kernels: globals, closure variables and ``cuda.const.array_like`` of them."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from parpy import cuda

pytestmark = pytest.mark.usefixtures("simulator")

INNER = [("x", np.float32), ("y", np.float32)]


def record(align):
    inner = np.dtype(INNER, align=align)
    return np.dtype([("a", np.int32), ("b", np.float64), ("v", np.float32, 3), ("p", inner)], align=align)


def filled(align=True):
    made = np.zeros(4, record(align))
    made["a"], made["b"], made["p"]["y"] = np.arange(4), np.arange(4) / 2, 10 * np.arange(4)
    made["v"] = np.arange(12).reshape(4, 3)
    return made


def total(records):
    return records["a"] + records["b"] + records["v"][:, 1] + records["v"][:, 2] + records["p"]["y"]


TABLE = filled()


@pytest.mark.parametrize("where", ["host", "packed", "device"])
def test_globals_are_read_at_each_launch(where):
    records = filled(where != "packed")
    if where == "device":
        records = cuda.to_device(records)

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if i < len(records):
            out[i] = records[i].a + records[i]["b"] + records["v"][i, 1] + records[i].v[2] + records[i].p.y

    out, known = np.zeros(4), filled()
    kernel[1, 8](out)
    np.testing.assert_array_equal(out, total(known))
    known["a"][1] = 100
    if isinstance(records, np.ndarray):
        records["a"][1] = 100
    else:
        records["a"].copy_to_device(known["a"])
    kernel[1, 8](out)
    np.testing.assert_array_equal(out, total(known))


def test_constants_stay_what_they_were():
    table = filled()

    @cuda.jit
    def kernel(out):
        r = cuda.const.array_like(table)
        i = cuda.grid(1)
        if i < r.shape[0]:
            p = r[i]
            out[i] = p.a + p["b"] + r["v"][i, 1] + p.v[2] + p.p.y

    out = np.zeros(4)
    for _ in range(2):
        kernel[1, 8](out)
        np.testing.assert_array_equal(out, total(filled()))
        table["a"] = 7


@cuda.jit(device=True)
def of_one(p):
    return p.b + p.p.y


@cuda.jit(device=True)
def of_all(r, i):
    return r[i].a + r[i].p.y


@cuda.jit(device=True)
def of_table(i):
    return TABLE[i].b


@cuda.jit(device=True)
def two(p):
    return p.b, TABLE[1].a


def test_functions_get_and_use_them():
    @cuda.jit
    def kernel(out):
        for i in range(cuda.grid(1), TABLE.size, cuda.gridsize(1)):
            b, a = two(TABLE[i])
            q = TABLE[i].p
            out[i] = of_one(TABLE[i]) + of_all(TABLE, i) + of_table(i) + b + a + q.y

    out = np.zeros(4)
    kernel[1, 2](out)
    np.testing.assert_array_equal(out, 3 * TABLE["b"] + 3 * TABLE["p"]["y"] + TABLE["a"] + TABLE["a"][1])


def test_records_are_copied_out_of_them():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if i < len(TABLE):
            out[i] = TABLE[3 - i]

    out = np.zeros_like(TABLE)
    kernel[1, 8](out)
    np.testing.assert_array_equal(out, TABLE[::-1])


def test_another_array_under_the_name_has_its_own_fields():
    table = filled()

    @cuda.jit
    def kernel(out):
        out[0] = table[1].a

    out = np.zeros(1)
    kernel[1, 1](out)
    table = np.zeros((2, 2), [("a", np.float32)])

    with pytest.raises(parpy.CompileError):
        kernel[1, 1](out)
    table = np.full(2, 0.5, [("z", np.int8), ("a", np.float32)])
    kernel[1, 1](out)
    assert out[0] == 0.5


def test_a_field_that_is_none():
    @cuda.jit
    def kernel(out):
        out[0] = TABLE[0].z

    with pytest.raises(parpy.CompileError, match="'z' is not a field of numbers of 'TABLE'") as caught:
        kernel[1, 1](np.zeros(1))
    assert str(caught.value).count("error") == 1
