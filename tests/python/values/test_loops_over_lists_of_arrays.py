"""Loops over lists and tuples of arrays, and over the indices of their elements: their statements are repeated in
order."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, options, run


def zipped(a, b, c, d):
    for p, g in zip([a, b], [c, d], strict=False):
        p -= 0.5 * g


def shortest(a, b, c, d):
    for p, g in zip((a, b, c), (c, d), strict=False):
        p[:] = p - g


def numbered(a, b, c, d):
    for k, (p, g) in enumerate(zip((a, b), (c, d), strict=False)):
        p += k * g


def named(a, b, c, d):
    params = [a, b]
    grads = [c, d]
    for p, g in zip(params, grads, strict=False):
        p *= g


def twice_the_same(a, b, c, d):
    for p in [a, b, a]:
        p[0] = 2 * p[0] + 1


def by_numbers(a, b, c, d):
    arrays = (a, b, c, d)
    for k in range(len(arrays) - 1):
        arrays[k + 1][0] += arrays[k][1]
    a[2] = k


def backwards(a, b, c, d):
    arrays = (a, b, c, d)
    for k in range(len(arrays) - 1, 0, -1):
        arrays[k - 1][1] = arrays[k][1] + k


def pairs(a, b, c, d):
    arrays = (a, b, c, d)
    for i, p in enumerate(arrays):
        for q in arrays[i + 1 :]:
            p[0] += q[1] * i


def no_iterations(a, b, c, d):
    arrays = (a, b)
    for k in range(2, len(arrays)):
        arrays[k][0] = 1
    for q in arrays[2:]:
        q[0] = 2
    for p, q in zip(arrays, arrays[2:], strict=False):
        p[0] = q[0]


def nested_targets(a, b, c, d):
    for k, (p, (q, s)) in enumerate([(a, (b, 2.0)), (c, (d, 3.0))]):
        p[:] = q * s + k


PROGRAMS = [
    zipped, shortest, numbered, named, twice_the_same, by_numbers, backwards, pairs, no_iterations, nested_targets,
]  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python(program, backend):
    for sizes in ((3, 3, 3, 3), (4, 4, 4, 4)):
        want = [np.arange(1.0, n + 1) + k for k, n in enumerate(sizes)]
        got = [x.copy() for x in want]
        program(*want)
        run(backend, parpy.jit(program), got, {})
        for ours, theirs in zip(got, want, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_arrays_that_share_memory(program):
    """Each argument is a part of one array: with a step, and the same part twice."""
    for parts in ((slice(0, 3), slice(1, 4), slice(2, 5), slice(0, 6, 2)), (slice(0, 3),) * 4):
        want, got = np.arange(1.0, 7), np.arange(1.0, 7)
        program(*(want[part] for part in parts))
        parpy.jit(program)(*(got[part] for part in parts), opts=options("cpu", {}))
        np.testing.assert_array_equal(got, want)


def layers(ws, bs, x):
    for w, b in zip(ws[:-1], bs[:-1], strict=False):
        x = np.maximum(x @ w + b, 0)
    return x @ ws[-1] + bs[-1]


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("count", [1, 2, 4])
def test_lists_that_are_arguments(count, backend):
    rng = np.random.default_rng(0)
    ws, bs, x = rng.normal(size=(count, 3, 3)), rng.normal(size=(count, 3)), rng.normal(size=(2, 3))
    got = parpy.jit(layers)([*ws], [*bs], x, opts=options(backend, {}))
    np.testing.assert_allclose(got, layers([*ws], [*bs], x), rtol=1e-12)


def energy(bodies):
    e = 0.0
    for i, b in enumerate(bodies):
        for c in bodies[i + 1 :]:
            e -= b.m * c.m / np.sqrt(((b.x - c.x) ** 2).sum())
            b.x[0] += 1
    return e


@pytest.mark.parametrize("count", [0, 1, 3])
def test_lists_of_objects(count):
    def bodies() -> list[Any]:
        return [SimpleNamespace(m=1.0 + k, x=np.array([k, k * k, 1.0])) for k in range(count)]

    want, got = bodies(), bodies()
    assert parpy.jit(energy)(got) == pytest.approx(energy(want), rel=1e-13)
    assert [[*each.x] for each in got] == [[*each.x] for each in want]


def test_loops_that_are_left_and_have_labels_stay_loops():
    @parpy.jit
    def leaves(a, b):
        for p in (a, b):
            if p[0] > 1:
                break
            p[0] = 5

    @parpy.jit
    def labelled(a, b):
        parpy.label("k")
        for p in (a, b):
            p[0] = 5

    for function in (leaves, labelled):
        with pytest.raises(parpy.CompileError, match="P217"):
            function(np.zeros(2), np.zeros(3), opts=parpy.par({}))
