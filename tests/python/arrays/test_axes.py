"""Arrays with permuted axes or another shape: `x.T`, `np.transpose`, `x.reshape(…)`, `np.ravel`, against NumPy."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, compiled_throughout, copies, options, run

rng = np.random.default_rng(29)

# Statements of A (4 × 6), B (6 × 4), C (2 × 3 × 4), x (24), w (12 × 5) and n = 4.
STATEMENTS = (
    "A[:] = B.T", "A += B.T * 2", "A[:, 1:] = B[1:].T", "A[:2] = np.transpose(B)[1:3]" , "A[:] = (B + 1).T",
    "A[:] = A.T.T + B.transpose()", "A[:] = np.transpose(B, (1, 0))",
    "A[:] = B.transpose(1, 0) - B.transpose((-1, -2))",
    "A[0] = np.sum(B.T, axis=0)", "A[:, 0] = B.T @ B[:, 1]", "A[0, 0] = np.sum(A @ B.T.T)", "A[:4, :4] = (A @ A.T)",
    "A[:] = (A.T + B).T", "B[:4] = B[:4].T", "B[:4] += B[:4].T", "B[:4, :] = B[3::-1].T", "x[0] = np.max(B.T[1])",
    "C[:] = np.transpose(C, (0, 1, 2)) * 2", "C[0] = np.transpose(C, (2, 1, 0))[:3, :, 1].T[:3, :3].sum()",
    "C[1] = np.transpose(C, (1, 2, 0))[:, :, 0] + 1", "x[:] = A.reshape(24)", "x[:] = A.reshape(-1) * 2",
    "x[:] = np.ravel(A) + A.ravel()", "A[:] = x.reshape(4, 6)", "A[:] = x.reshape((n, -1))",
    "A[:] = np.reshape(x, (-1, 6))",
    "A[:] = C.reshape(n, 6)", "A[:] = B.reshape(4, 6)", "x[:] = B.T.reshape(-1)", "x[:] = (A * 2).reshape(24)",
    "C[:] = C.reshape(3, 2, 4).transpose(1, 0, 2)", "x[:] = A[:, ::-1].reshape(24)", "x[:12] = A[::2].ravel()",
    "A[:2, :5] = C.reshape(C.shape[0], -1) @ w", "A[:, 0] = np.sum(C.reshape(4, 6), axis=1)",
    "x[:] = x.reshape(6, 4).T.ravel()",
    "A[:] = np.reshape(C, (2, 12)).reshape(4, 6)", "x[:24] = A.flatten()", "x[1:] = C.ravel()[1:] - C.ravel()[:-1]",
    "A[0] = A.reshape(6, 4)[:, 1]", "x[:] = x.T", "A[:] = B.reshape(2, 2, 6).reshape(4, 6)",
    "t = A.T\n        B[:] = t * 2",
    "t = A.T[1:]\n        B[0, :] = t[0] + t[1, 2]", "t = C.reshape(4, 6)\n        A[:] = t + t[1]",
    "t = x.reshape(4, -1)\n        A[:] = t[::-1]",
    "t = np.ravel(A)\n        for i in range(t.shape[0]): x[i] = t[i] + t[0]",
)  # fmt: skip


def function_of(statement: str):
    text = f"def f(A, B, C, x, w, n):\n    for k in range(2):\n        {statement}\n"
    file = f"<{statement}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"np": np}
    exec(compile(text, file, "exec"), space)
    return space["f"]


def layouts(dtype: str):
    """The arguments in C order, in Fortran order, and as parts of larger, reversed arrays."""
    shapes = ((4, 6), (6, 4), (2, 3, 4), (24,), (12, 5))
    values = [rng.integers(0, 9, shape).astype(dtype) for shape in shapes]
    yield [*values, 4]
    yield [*(np.asfortranarray(each) for each in values), 4]
    strided = []
    for each in values:
        whole = np.zeros([2 * size for size in each.shape], dtype)
        part = whole[tuple(slice(None, None, -2) for _ in each.shape)]
        part[...] = each
        strided.append(part)
    yield [*strided, 4]


def same_layout(arguments):
    made = []
    for each in arguments:
        if not isinstance(each, np.ndarray):
            made.append(each)
            continue
        root = each if each.base is None else each.base
        while root.base is not None:
            root = root.base
        copy = root.copy(order="K")
        start = each.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        made.append(
            np.ndarray(
                each.shape, each.dtype, copy.data if copy.flags.c_contiguous else copy.T.data, start, each.strides
            )
        )
    return made


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_as_numpy(backend, statement):
    function = function_of(statement)
    compiled = parpy.jit(function)
    for dtype in ("f8", "i4") if backend in ("cpu", "cuda") else ("f8",):
        for arguments in layouts(dtype):
            want, got = same_layout(arguments), same_layout(arguments)
            function(*want)
            run(backend, compiled, tuple(got), {})
            for ours, numpy in zip(got[:-1], want[:-1], strict=True):
                assert np.array_equal(ours, numpy)


RESULTS = ("A.T * 2", "A.reshape(-1, 3) + 1", "(A + 1).T", "A.T @ A", "np.ravel(A * A)", "C.reshape(6, 4).T.copy()",
           "np.transpose(C, (2, 0, 1)) - 1", "x.reshape(n, -1).sum(axis=0)", "(A * 2).reshape(3, -1)",
    "A.T.copy()")  # fmt: skip


@pytest.mark.parametrize("expression", RESULTS)
@pytest.mark.parametrize("backend", TARGETS)
def test_results(backend, expression):
    text = f"def f(A, C, x, n):\n    return {expression}\n"
    linecache.cache[expression] = (len(text), None, text.splitlines(True), expression)
    space = {"np": np}
    exec(compile(text, expression, "exec"), space)
    function, compiled = space["f"], parpy.jit(space["f"])
    for rows, columns in ((4, 6), (6, 3), (12, 12), (4, 6)):
        arguments = (rng.random((rows, columns)), rng.random((2, 3, 4)), rng.random(24), 4)
        got = compiled(*arguments, opts=options(backend, {}))
        want = function(*arguments)
        assert got.shape == want.shape
        assert np.allclose(got, want, rtol=1e-12)


def changed_below(x, y):
    for k in range(2):
        t = x.reshape(-1)
        x[0, 0] = k
        y[k] = t[0]


def handed_to_a_writer(x, y):
    for k in range(2):
        clear(x.T)


@parpy.jit
def clear(v):
    v[0, 0] = 0


def changed_by_a_call_beside_it(x, y):
    for k in range(2):
        t = x.T[1]
        y[k] = moved(x[:, 1], t) + moved(x[:, 1], t)


def changed_by_the_call_that_gets_it(x, y):
    for k in range(2):
        y[k] = set_first(x[k], x.T[:, k])


def moved(v, w):
    v[0] += w[0]
    return v[0] * 2


def set_first(v, w):
    v[0] = 5
    return w[0]


@pytest.mark.parametrize(
    "function", [changed_below, handed_to_a_writer, changed_by_a_call_beside_it, changed_by_the_call_that_gets_it]
)
@pytest.mark.parametrize("backend", TARGETS)
def test_what_the_elements_become(backend, function):
    got = rng.random((3, 3)), np.zeros(2)
    want = copies(got)
    function(*want)
    with compiled_throughout():
        parpy.jit(function)(*got, opts=options(backend, {}))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


def test_python_makes_the_views_between_its_parts():
    @parpy.jit
    def f(x):
        t = x.T
        out = np.zeros(t.shape[0] * 2)
        for i in range(t.shape[0]):
            t[i, 0] = i
            out[i] = t[i, 1]
        return out

    @parpy.jit
    def g(x):
        t = x.ravel()
        return t

    a, b = rng.random((4, 3)), None
    b = a.copy()
    got, want = f(a), f.__wrapped__(b)
    assert np.array_equal(got, want)
    assert np.array_equal(a, b)
    assert np.shares_memory(g(a), a)


@pytest.mark.parametrize("backend", TARGETS)
def test_sizes_that_do_not_fit(backend):
    @parpy.jit
    def f(x, y, n):
        for k in range(1):
            y[:] = np.sum(x.reshape(n, -1), axis=0)

    f(np.ones(12), np.zeros(4), 3, opts=options(backend, {}))
    for _ in range(3):  # compiled for these sizes, then for any
        for n in (5, 7, 0):
            with pytest.raises(ValueError, match="an array of 12 elements cannot have a shape for"):
                f(np.ones(12), np.zeros(4), n, opts=options(backend, {}))
    with pytest.raises(ValueError):
        f(np.ones(12), np.zeros(4), -3, opts=options(backend, {}))


@pytest.mark.parametrize(
    ("expression", "message"),
    [("np.transpose(x, (0, 0))", "name each axis once"), ("np.transpose(x, (0,))", "name each axis once"),
     ("x.transpose(n, 0)", "must be integer constants"), ("np.reshape(n, (2, 2))", "a number is given a shape"),
     ("x.reshape(-1, -1)", "two sizes of a shape are -1"), ("x.reshape(1.5, 2)", "takes integers")],
)  # fmt: skip
def test_mistakes(expression, message):
    text = f"def f(x, y, n):\n    for k in range(1):\n        y[:] = {expression}\n"
    linecache.cache[expression] = (len(text), None, text.splitlines(True), expression)
    space = {"np": np}
    exec(compile(text, expression, "exec"), space)
    with pytest.raises(parpy.CompileError, match=message):
        parpy.jit(space["f"])(np.ones((2, 2)), np.zeros((2, 2)), 2)


def test_a_copy_is_not_made_where_the_elements_are_used_once():
    @parpy.jit
    def f(x, y):
        for k in range(1):
            y[:] = x.T + 1

    text = parpy.print_compiled(f, (np.ones((3, 5)), np.ones((5, 3))), options("cpu", {}))
    assert "alloc" not in text


def test_arguments_that_overlap():
    @parpy.jit
    def f(x, y):
        for k in range(2):
            y[:] = x.T
            x += y.reshape(x.shape[0], x.shape[1])

    for first in range(5):
        base = rng.random(64)
        want = base.copy()
        for memory, function in ((base, f), (want, f.__wrapped__)):
            function(memory[:25].reshape(5, 5), memory[first : first + 25].reshape(5, 5))
        assert np.array_equal(base, want)
