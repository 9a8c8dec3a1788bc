"""Iterations that a thread runs side by side (jam-loops): the same numbers bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, options

GPUS = [target for target in TARGETS if target != "cpu"]


@parpy.jit
def product(a, b, c):
    parpy.label("rows")
    for i in range(c.shape[0]):
        parpy.label("columns")
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@parpy.jit
def scaled(a, b, c):
    parpy.label("rows")
    parpy.label("columns")
    c[:, :] = 2 * (a @ b) - c[:, :]


@parpy.jit
def backwards(a, b, c):
    parpy.label("rows")
    for i in range(c.shape[0] - 1, -1, -1):
        parpy.label("columns")
        for j in range(1, c.shape[1], 2):
            least, sum = np.inf, 0.0
            for k in range(a.shape[1]):
                near = a[i, k] - b[k, j]
                if near * near < least:
                    least = near * near
                for l in range(2):
                    sum += near * b[k, j - l]
            if least < 3:
                c[i, j] = sum
            c[i, j - 1] = c[i, j] + least


@parpy.jit
def batches(a, b, c):
    parpy.label("rows")
    for i in range(c.shape[0]):
        parpy.label("columns")
        for j in range(c.shape[1]):
            parpy.label("depth")
            for l in range(3):
                for k in range(a.shape[1]):
                    c[i, j] = max(c[i, j], a[i, k] * b[k, j] * l)


def arrays(rows, columns, depth, dtype, seed=0):
    rng = np.random.default_rng(seed)
    made = [rng.standard_normal(shape) for shape in ((rows, depth), (depth, columns), (rows, columns))]
    return [(8 * array).astype(dtype) for array in made]


def text(function, arguments, **loops):
    return parpy.print_compiled(function, arguments, options("cuda", loops))


@pytest.mark.parametrize("target", GPUS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int32, np.uint8])
@pytest.mark.parametrize("function", [product, scaled])
@pytest.mark.parametrize(
    ("shape", "threads"),
    [
        ((40, 64, 30), (10, 32)),
        ((41, 53, 7), (10, 32)),
        ((1, 300, 5), (1, 64)),
        ((63, 65, 1), (8, 32)),
        ((16, 33, 3), (16, 32)),
        ((9, 250, 4), (2, parpy.threads(64).tpb(32))),
        ((5, 70, 0), (2, 32)),
    ],
)
def test_products(target, function, dtype, shape, threads):
    a, b, c = arrays(*shape, dtype)
    one, other = c.copy(), c.copy()
    function(a, b, one, opts=options(target, {"rows": threads[0], "columns": threads[1]}))
    function(a, b, other, opts=options(target, {"rows": shape[0], "columns": shape[1]}))
    assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("target", GPUS)
@pytest.mark.parametrize("shape", [(40, 64, 30), (41, 133, 7), (3, 5, 2)])
def test_scalars_that_are_passed_on(target, shape):
    a, b, c = arrays(*shape, np.float64, 1)
    one, other = c.copy(), c.copy()
    backwards(a, b, one, opts=options(target, {"rows": 9, "columns": 32}))
    backwards(a, b, other, opts=options(target, {"rows": shape[0], "columns": shape[1]}))
    assert one.tobytes() == other.tobytes()


def test_text_has_copies():
    a, b, c = arrays(40, 64, 30, np.float64)
    assert "double c_kept[4 * 2]" in text(product, [a, b, c], rows=10, columns=32)
    assert "_copy" not in text(product, [a, b, c], rows=40, columns=64)
    assert "_copy" in text(backwards, [a, b, c], rows=10, columns=32)


def test_what_overlaps_is_left_alone():
    x, b = np.ones((40, 94)), np.ones((30, 64))
    assert "_copy" not in text(product, [x[:, :30], b, x[:, 30:]], rows=10, columns=32)


def test_other_parallel_loops_inside_are_left_alone():
    a, b, c = arrays(40, 64, 30, np.float64)
    assert "_copy" not in text(batches, [a, b, c], rows=10, depth=2)


def test_chosen_for_large_products():
    a, b, c = arrays(1024, 1024, 512, np.int32)
    automatic = parpy.auto(backend=parpy.CompileBackend.Cuda)
    source = parpy.print_compiled(product, [a, b, c], automatic)
    assert "_copy" in source
    # The explained mapping can be used as options.
    found = parpy.explain(product, a, b, c, opts=automatic)
    assert parpy.print_compiled(product, [a, b, c], found.opts) == source
    few = arrays(64, 64, 20, np.int32)
    assert "_copy" not in parpy.print_compiled(product, few, automatic)


@parpy.jit
def chased(p, a, b, c):
    parpy.label("rows")
    for i in range(c.shape[0]):
        at = p[i]
        p[i] = -77
        total = 0.0
        for k in range(b.shape[0]):
            total += a[at, k] * b[k]
        c[i] = total


@pytest.mark.parametrize("target", GPUS)
@pytest.mark.parametrize("n", [33, 61, 64])
def test_subscripts_read_in_front_of_the_loop(target, n):
    rng = np.random.default_rng(n)
    p, a, b, c = rng.permutation(n), rng.random((n, 7)), rng.random(7), np.zeros(n)
    expected = [sum((a[i, k] * b[k] for k in range(7)), 0.0) for i in p]
    chased(p, a, b, c, opts=options(target, {"rows": parpy.threads(32)}))
    np.testing.assert_allclose(c, expected, rtol=1e-14)
    assert (p == -77).all()
