"""np.concatenate, np.stack and similar functions, of arrays of any dimensions and types, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
from fresh_functions import plain_function

rng = np.random.default_rng(5)
ROW, COUNTS = rng.random(4), np.arange(4, dtype=np.int32)
MATRIX, WHOLE = rng.random((3, 4)).astype(np.float32), np.arange(12).reshape(3, 4)
CUBE, LAYERS = rng.random((2, 3, 4)), np.arange(24).reshape(2, 3, 4)
PAIRS = [
    (ROW, COUNTS), (COUNTS, ROW), (MATRIX, WHOLE), (CUBE, LAYERS), (ROW, MATRIX), (WHOLE, COUNTS),
    (MATRIX, MATRIX[:, :2]), (MATRIX, MATRIX[:2]), (CUBE, CUBE[:1]), (CUBE, CUBE[:, :, :2]),
    (COUNTS > 1, COUNTS.astype(np.uint8)), (ROW[:0], COUNTS), (MATRIX[:0], WHOLE), (ROW[::-1], ROW[::2]),
    (np.asfortranarray(MATRIX), WHOLE.T[:3, ::-1]), (ROW * np.nan, -COUNTS),
]  # fmt: skip
CALLS = [
    "np.concatenate((a, b))", "np.concatenate([a, b, a], axis=1)", "np.concatenate((a, b), 2)",
    "np.concatenate((a, b), axis=-1)", "np.concatenate((a, b, b, a), axis=-2)", "np.concatenate((a,))",
    "np.stack((a, b))", "np.stack([a, b, a], axis=1)", "np.stack((a, b), axis=-1)", "np.stack((a, b), 2)",
    "np.vstack((a, b))", "np.hstack((a, b))", "np.column_stack((a, b))", "np.dstack((a, b))",
    "np.vstack((a, b, a, b, a))", "np.concatenate((a * 2, b + 1))",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("backend", TARGETS)
def test_joined_as_by_numpy(backend, call):
    function = plain_function(f"def f(a, b):\n    return {call}\n", f"<{call}>")
    compiled, joined = parpy.jit(function), 0
    for a, b in PAIRS:
        try:
            want = function(a, b)
        except (ValueError, np.exceptions.AxisError):
            with pytest.raises((ValueError, parpy.CompileError)):
                compiled(a, b, opts=options(backend, {}))
            continue
        got = compiled(a, b, opts=options(backend, {}))
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
        joined += 1
    assert joined >= 2


@parpy.jit
def in_a_loop(x, out):
    for i in range(x.shape[0]):
        row = np.concatenate((x[i], x[i, :2], np.zeros(3)))
        out[i] = np.hstack((row, row)).sum() + len(row)


@pytest.mark.parametrize("backend", TARGETS)
def test_memory_of_iterations(backend):
    x, out, want = rng.random((50, 6)), np.zeros(50), np.zeros(50)
    in_a_loop(x, out, opts=options(backend, {}))
    in_a_loop.__wrapped__(x, want)
    np.testing.assert_allclose(out, want)


@parpy.jit
def of_a_name(a, b):
    parts = (a, b, a)
    size = 0
    for part in parts:
        size += part.shape[0]
    like = np.empty(size, dtype=np.result_type(a, b))
    like[:] = np.concatenate(parts)
    return like


def test_parts_have_a_name():
    a, b = np.arange(3, dtype=np.int16), rng.random(5).astype(np.float32)
    got = of_a_name(a, b)
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, np.concatenate((a, b, a)))


@parpy.jit
def after_growing(x, n):
    size = 0
    for part in (x, x):
        size += part.shape[0]
    for _ in range(n):
        size += 2
    t = x[: size - x.shape[0]] * 2
    u = np.concatenate((t, x))
    return u.sum()


def test_sizes_that_loops_count():
    x = rng.random(9)
    for n in (0, 1, 3):
        np.testing.assert_allclose(after_growing(x, n), after_growing.__wrapped__(x, n))


@parpy.jit
def with_first_axes(x):
    shape = (*x.shape[: x.ndim - 1], 2)
    made = np.zeros(shape)
    made[..., 0] = 1
    made[..., 1] = x.ndim if x.ndim > 1 else -1.0
    return made


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4)])
def test_shapes_made_of_shapes(shape):
    np.testing.assert_array_equal(with_first_axes(np.ones(shape)), with_first_axes.__wrapped__(np.ones(shape)))


@parpy.jit
def rows_joined(x, y, out):
    for k in range(3):
        d = x.T - y
        row = np.hstack((d[0] * k, y))
        out[k] = np.concatenate((row, d[k])).sum()


@pytest.mark.parametrize("mapping", [parpy.CompileOptions, parpy.auto], ids=["sequential", "automatic"])
@pytest.mark.parametrize("backend", TARGETS)
def test_types_of_computed_arrays(backend, mapping):
    opts = mapping(backend=parpy.CompileBackend(backend))
    for x, y in ((rng.random((3, 3)), rng.random(3)), (MATRIX[:, :3], COUNTS[:3]), (WHOLE[:, :3], COUNTS[:3])):
        got, want = np.zeros(3), np.zeros(3)
        rows_joined(x, y, got, opts=opts)
        rows_joined.__wrapped__(x, y, want)
        np.testing.assert_allclose(got, want)


def test_explain_knows_the_types_of_computed_arrays():
    found = parpy.explain(rows_joined, rng.random((3, 3)), rng.random(3), np.zeros(3))
    assert not found.facts["refused"]
    assert not any("P313" in note for note in found.facts["notes"])


def with_lists(c, out):
    starts = np.concatenate(([0], np.cumsum(c)[:-1]))
    more = np.hstack(([0.5, 1], c, [2]))
    out[0] = starts[1] + starts.sum() + more.sum()
    for i in range(1, 3):
        p = np.concatenate(([i], np.cumsum(c), [1, i]))
        out[i] = p[1] * p[-1] + p.sum() + np.stack(([1, 2, i], c)).sum()


def list_first(c):
    return np.concatenate(([0], np.cumsum(c)[:-1])), np.vstack([[1, 2, 3], c])


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
def test_lists_of_numbers_are_parts(backend, dtype):
    c, want, got = np.arange(1, 4).astype(dtype), np.zeros(3), np.zeros(3)
    with_lists(c, want)
    parpy.jit(with_lists)(c, got, opts=options(backend, {}))
    np.testing.assert_array_equal(got, want)
    for a, b in zip(parpy.jit(list_first)(c, opts=options(backend, {})), list_first(c), strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype
