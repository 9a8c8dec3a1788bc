"""Lists and tuples that are written out as arguments of NumPy's functions, or as operands beside arrays, are arrays."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import TARGETS, compiled_throughout, options
from results import same

X = np.array([0.5, 2.5, 1.5, 3.0])


def reductions(x, y):
    for i in range(len(x)):
        a, b, c = x[i], x[i] * 2 - 1, x[i - 1] + 0.5
        y[i, 0] = np.argmin([a, b, c])
        y[i, 1] = np.max([a, b]) + np.min((a, b))
        y[i, 2] = np.mean([a, b, c])
        y[i, 3] = np.linalg.norm([a, b])
        y[i, 4] = np.sum([a, b, i])
        y[i, 5] = np.median([a, b, c])
        y[i, 6] = np.argmax((a, b, c))
        y[i, 7] = np.any([a > 1, b > 2]) + np.all([a > 1, b > 2])
        y[i, 8] = np.std([a, b, c]) + np.prod([a, i])
        y[i, 9] = np.percentile([a, b, c], 50)


def arrays(x, y):
    for i in range(len(x)):
        a, b, c = x[i], x[i] * 2 - 1, x[i - 1] + 0.5
        y[i, 0] = np.dot([a, b], [b, c])
        y[i, 1] = np.sort([b, a, c])[0]
        y[i, 2] = np.sqrt([a, c])[1]
        y[i, 3] = np.cross([a, b, c], [c, b, a])[2]
        y[i, 4] = np.minimum([a, b], c)[0]
        y[i, 5] = np.cumsum([a, b, c])[-1]
        y[i, 6] = np.outer([a, b], [c, a])[1, 1]
        y[i, 7] = np.linalg.norm([[a, b], [c, a]])
        y[i, 8] = np.where([a > 1, b > 1], 1, 0)[0]
        y[i, 9] = np.diff([a, b, c])[0] + np.clip([a, b], 1, 2)[0]


def operands(x, y):
    for i in range(len(x)):
        a, b = x[i], x[i] * 2 - 1
        y[i, 0] = x[:2] @ [a, b]
        y[i, 1] = (x[:2] / [a, b]).sum()
        y[i, 2] = (x[:2] - [a, b]).sum()
        y[i, 3] = np.sum(x - [0, 1, 2, 3])
        y[i, 4] = np.sum(x[:3] ** [0, 1, 2])
        y[i, 5] = np.array([a, b]) @ [b, a]
        y[i, 6] = ([1, 2] - x[:2]).sum()
        y[i, 7] = (np.array([a, b]) * [b, a])[1]


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", [reductions, arrays, operands])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_in_loops(backend, function, dtype):
    got, want, x = np.zeros((4, 10)), np.zeros((4, 10)), X.astype(dtype)
    with compiled_throughout():
        parpy.jit(function)(x, got, opts=options(backend, {}))
    function(x, want)
    np.testing.assert_allclose(got, want, rtol=1e-6 if dtype is np.float32 else 1e-14)


def test_results_have_the_types_of_numpy():
    def results(x):
        n = len(x)
        return (
            np.sum([1, n]), np.sum([1, 2.5]), np.max([n > 1, False]), np.cumsum([1, 2, n]), np.sqrt([1, n]),
            np.sort([2.0, n]),
        )  # fmt: skip

    got, want = parpy.jit(results)(X), results(X)
    assert same(got, want)
    assert [np.asarray(each).dtype for each in got] == [np.asarray(each).dtype for each in want]


def test_other_lists():
    """These are lists in Python, and lists of shapes or arrays."""

    def lists(x):
        more = [1, 2] * 2
        y = np.zeros((2, 3))
        return more, len([1, 2] * 3), np.vstack([x, x * 2]), np.concatenate([x[:1], x[2:]]), y + 1

    assert same(parpy.jit(lists)(X), lists(X))


def test_the_module_under_another_name():
    import numpy as other

    @parpy.jit
    def named(x):
        return other.argmin([x[0], x[1], x[2]])

    assert named(X) == 0

    @parpy.jit
    def imported(x):
        import numpy as inner

        return inner.argmax([x[0], x[1], x[2]])

    assert imported(X) == 1


def test_slices_of_tuples_and_lists():
    """Operators that lists and tuples have are not those of arrays."""

    def shapes(x, t, values):
        made = np.zeros(x.shape[:1] + (3,))  # noqa: RUF005
        values[1:] = values[1:] + [5]  # noqa: RUF005
        same_shape = x.shape[:2] == (2, 3)
        total = 0
        for i in range(2):
            total += len(t[1:] + (4, 5)) + i  # noqa: RUF005
        more = t[1:] + (0,)  # noqa: RUF005
        return made.shape, np.ones(x.shape[1:] + (1,)).shape, sorted(more), same_shape, total  # noqa: RUF005

    x, got, want = np.zeros((2, 3)), [1, 2, 3], [1, 2, 3]
    assert parpy.jit(shapes)(x, (1, 2, 3), got) == shapes(x, (1, 2, 3), want)
    assert got == want
