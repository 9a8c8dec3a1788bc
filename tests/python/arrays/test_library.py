"""NumPy's functions that the library expands into loops, against NumPy: values, types and shapes."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, copies, options, run
from fresh_functions import plain_function
from parpy.library import table

rng = np.random.default_rng(23)
FLOATS, NUMBERS = ("f4", "f8"), ("i2", "i8", "f4", "f8")

# Expressions of x, y (one dimension), A (two) and n, with the types for which they are tested.
EXPRESSIONS = {
    "np.cumsum(x)": ("?", "u1", *NUMBERS), "x.cumsum() * 2": NUMBERS, "np.cumprod(x)": NUMBERS, "np.diff(x)": NUMBERS,
    "np.gradient(x)": NUMBERS, "np.trapezoid(x)": FLOATS, "np.trapezoid(x, dx=0.5)": ("f8",),
    "np.trapezoid(x, y)": FLOATS, "np.argmax(x)": NUMBERS, "x.argmin()": NUMBERS, "np.sort(x)": NUMBERS,
    "np.argsort(x)": ("f8",), "np.median(x)": NUMBERS, "np.percentile(x, 30)": ("i8", "f8"),
    "np.quantile(x, 0.75)": ("f8",), "np.searchsorted(np.sort(x), y[0])": NUMBERS, "np.flip(x) + 0": NUMBERS,
    "np.flipud(A) * 1": NUMBERS, "np.roll(x, n)": NUMBERS, "np.roll(x, -n - 20)": ("f8",), "A.flatten()": NUMBERS,
    "np.tile(x, 3)": NUMBERS, "np.repeat(x, n)": NUMBERS, "np.concatenate((x, y))": ("?", *NUMBERS),
    "np.hstack((x, y, x))": NUMBERS, "np.concatenate([x, A[0]])": ("f8",), "np.vstack((x, y))": NUMBERS,
    "np.hstack((A, A[:, :2]))": NUMBERS, "np.vstack((A, x, A[::-1]))": ("f8",),
    "np.concatenate((A, A * 2), axis=1)": NUMBERS,
    "np.concatenate([A, A[1:]], -1 + 1)": ("f8",), "np.concatenate((A, A, A, A), axis=-1)": ("i2", "f8"),
    "np.concatenate((x, x[:2], y, x))": ("f8",), "np.stack((x, y))": NUMBERS,
    "np.stack((x, y, x), axis=1)": ("f8", "c16"),
    "np.stack((x, y), -1)": ("f8",), "np.column_stack((x, y))": NUMBERS, "np.atleast_2d(x)": ("f8",),
    "np.hstack((A[:, 0:1], A[:, 1:2], A.T[:4, :1]))": ("f8",), "np.hstack((A[::-1], A))": ("f8",),
    "np.tril(A)": NUMBERS, "np.triu(A, 1)": NUMBERS, "np.triu(A, -1)": ("f8",), "np.tril(A, k=-n)": ("f8",),
    "np.outer(x, y)": NUMBERS, "np.add.outer(x, y)": NUMBERS, "np.subtract.outer(x, y)": NUMBERS,
    "np.cross(x[:3], y[:3])": NUMBERS,
    "np.trace(A)": NUMBERS, "np.linalg.norm(x)": NUMBERS, "np.linalg.norm(A)": ("f8", "c16"),
    "np.polyval(x[:3], 0.5)": ("f8",), "np.polyval(x[:3], y)": ("f8",), "np.isin(x, y)": NUMBERS,
    "np.allclose(x, y)": FLOATS, "np.allclose(x, x + 1e-9, rtol=1e-3)": ("f8",),
    "np.cumsum(np.sort(x))[2] + np.diff(x)[0]": ("f8",),
    "np.argmax(A)": NUMBERS, "np.argmin(A, axis=0)": NUMBERS, "A.argmax(axis=1)": NUMBERS, "A.argmin(-1)": ("f8",),
    "np.cumsum(A)": NUMBERS, "np.cumsum(A, axis=0)": ("?", "u1", *NUMBERS), "A.cumsum(1)": NUMBERS,
    "np.cumprod(A, axis=-2)": ("f4", "f8"), "np.sort(A)": NUMBERS, "np.sort(A, axis=0)": NUMBERS,
    "np.argsort(A, 1)": ("f8",), "A.argsort(axis=0)": ("f8",), "np.median(A)": NUMBERS,
    "np.median(A, axis=0)": NUMBERS, "np.median(A, axis=1)": ("f8",), "np.sort(x, axis=0)": ("f8",),
    "np.argmax(x, axis=0)": ("f8",), "np.sort(A.reshape(-1))": ("f8",), "np.sort(A.T)": ("f8",),
    "np.einsum('i,i', x, y)": NUMBERS, "np.einsum('ij,j->i', A, x)": NUMBERS, "np.einsum('ij,kj', A, A)": ("f8", "c16"),
    "np.einsum('ij->ji', A)": NUMBERS, "np.einsum('i,j,kj->ki', x, y, A, optimize=True)": ("f8",),
    "np.einsum('ij, ij ->', A, A)": NUMBERS, "np.einsum('ii->i', A[:, :4])": ("f8",),
    "np.einsum('i,j->', x, y)": ("f4", "f8"),
    "np.sort(A, axis=None)": NUMBERS, "np.argmax(A, axis=None)": ("f8",), "A.cumsum(axis=None)": ("f8",),
    "np.median(A, None)": ("f8",), "np.argsort(x, axis=None)": ("f8",), "np.cumsum(x, axis=-1)": ("f8",),
    "np.einsum('ij,kj->ik', A[:0], A)": ("f8",), "np.einsum('ij,ij->j', A[:0], A[:0])": ("f8", "i2"),
    "np.einsum('ij,j->i', A[::-1, ::-1], x * np.nan)": ("f8",),
    "np.isclose(x, y, atol=0.5)": NUMBERS, "np.isclose(A, x, 0.1)": FLOATS, "np.inner(x, y)": ("i2", "f8", "c16"),
    "np.inner(A, x)": ("f8",), "np.inner(x, A)": ("f8",), "np.inner(A, A)": ("f8", "i8"), "np.inner(A, 2)": ("f8",),
    "np.vdot(x, y)": ("i8", "f8", "c16"), "np.vdot(A, A)": ("f8", "c16"), "np.roll(A, n, axis=0)": NUMBERS,
    "np.roll(A, -n, 1)": ("f8",), "np.roll(A, 50, axis=-2)": ("f8",), "np.gradient(A)[1]": ("i8", "f8"),
    "np.amax(x) - np.amin(x)": NUMBERS, "np.amax(A, axis=1)": NUMBERS, "np.amin(A, 0, keepdims=True)": ("f8",),
    "np.size(A) + np.size(A, 1) + np.ndim(A) + np.ndim(n) + np.shape(A)[0]": ("f8",),
    "np.expand_dims(x, 1) * y": NUMBERS, "np.expand_dims(A, axis=-1) + 1": ("f8",), "np.expand_dims(A, -2)": ("f8",),
    "np.heaviside(x, 0.5)[1:]": FLOATS, "np.heaviside(x, y)[::-1]": FLOATS,
    "x.dot(y)": FLOATS, "A.dot(x)": FLOATS, "x.clip(-1, 2)": NUMBERS, "x.round(1)": FLOATS, "x.conj()": ("c16",),
}  # fmt: skip


def function_of(expression: str):
    return plain_function(f"def f(x, y, A, n):\n    return {expression}\n", f"<{expression}>")


def numbers(dtype: str, size) -> np.ndarray:
    """Random numbers. Sums of products of f4 numbers are exact, so that they do not depend on the order."""
    values = rng.integers(0, 6, size) if dtype in ("?", "u1") else rng.integers(-6, 7, size)
    if dtype == "f4":
        return (values + rng.integers(0, 64, size) / 64).astype(dtype)
    return (values + (rng.random(size) if dtype[0] in "fc" else 0)).astype(dtype)


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize("backend", TARGETS)
def test_as_numpy(backend, expression):
    function = function_of(expression)
    compiled = parpy.jit(function)
    for dtype in EXPRESSIONS[expression]:
        for size in (5, 8, 37):
            x, y, a = numbers(dtype, size), numbers(dtype, size), numbers(dtype, (4, size))
            want = function(x, y, a, 3)
            got = compiled(x, y, a, 3, opts=options(backend, {}))
            assert np.shape(got) == np.shape(want)
            if isinstance(want, np.ndarray):
                assert got.dtype == want.dtype
            rtol, atol = (1e-5, 1e-6) if dtype == "f4" else (1e-12, 1e-13)  # terms of sums cancel
            np.testing.assert_allclose(got, want, rtol, atol)


SPECIAL = [
    np.array([3.0, np.nan, 1.0, np.nan, -0.0, 0.0, np.inf, -np.inf]), np.array([np.nan]), np.array([2.0]),
    np.full(9, 1.5), np.array([1.0, 1.0, 3.0, 3.0, 2.0, 2.0]), np.array([np.inf, np.inf, -np.inf, 1.0]),
]  # fmt: skip


@pytest.mark.parametrize(
    "expression", ["np.sort(x)", "np.argmax(x)", "np.argmin(x)", "np.median(x)", "np.quantile(x, 0.5)", "np.cumsum(x)"]
)
def test_special_values(expression):
    function = function_of(expression)
    compiled = parpy.jit(function)
    for x in SPECIAL:
        with np.errstate(all="ignore"):
            want = function(x, x, x, 1)
        np.testing.assert_array_equal(compiled(x, x, x, 1), want, err_msg=str(x))


def test_equal_elements_keep_their_order():
    compiled = parpy.jit(function_of("np.argsort(x)"))
    for size in (1, 2, 3, 100, 1000):
        x = rng.integers(0, 5, size) * 1.0
        np.testing.assert_array_equal(compiled(x, x, x, 1), np.argsort(x, kind="stable"))


@pytest.mark.parametrize(
    "expression", ["np.sort(x)", "np.cumsum(x)", "np.concatenate((x, x))", "np.roll(x, 1)", "np.diff(x)"]
)
@pytest.mark.filterwarnings("ignore")
def test_no_elements(expression):
    function, x = function_of(expression), np.zeros(0)
    np.testing.assert_array_equal(parpy.jit(function)(x, x, x, 1), function(x, x, x, 1))


def of_rows(A, out):
    parpy.label("N")
    for i in range(A.shape[0]):
        row = A[i]
        ranks = np.argsort(row)
        out[i] = np.median(row) + np.cumsum(row)[ranks[0]] + row.argmax() + np.linalg.norm(np.diff(row))


@pytest.mark.parametrize("mapping", [{}, {"N": 6}], ids=["host", "parallel"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_in_loops(backend, mapping):
    given = rng.random((6, 7)), np.zeros(6)
    want, got = copies(given), copies(given)
    of_rows(*want)
    run(backend, parpy.jit(of_rows), got, mapping)
    np.testing.assert_allclose(got[1], want[1], rtol=1e-12)


OF_OTHER_DIMENSIONS = (
    "np.diff(A)", "np.sort(A[None])", "np.roll(A, 1)", "np.isin(A, x)", "np.cross(A, A[::-1])", "np.tile(A, 2)",
    "np.repeat(A, 2)", "np.flip(A)", "np.percentile(A, 30)", "np.searchsorted(np.sort(x), A)", "np.triu(A[None])",
    "np.argmax(A[None], axis=1)", "np.concatenate((A[None], A[None]))",
    "np.roll(A, (1, 2), axis=(0, 1))",
)  # fmt: skip


@pytest.mark.parametrize("expression", OF_OTHER_DIMENSIONS)
def test_numpy_is_called_for_other_dimensions(expression):
    function = plain_function(
        f"def f(x, A):\n    for i in range(3):\n        x[i] += i\n    return {expression}, x.sum()\n", "<dimensions>"
    )
    compiled = parpy.jit(function)
    for _ in range(2):
        x, a = rng.random(3), rng.random((3, 3))
        want, got = function(x.copy(), a), compiled(x.copy(), a)
        np.testing.assert_array_equal(got[0], want[0])
        assert got[1] == pytest.approx(want[1])


def test_why_python_runs_a_loop_over_other_dimensions():
    def products(a, b):
        s = 0.0
        for i in range(2):
            s += np.cross(a[i:], b[i:]).sum()
        return s

    a, b = rng.random((4, 3)), rng.random((4, 3))
    with pytest.warns(parpy.PerformanceWarning, match=r"P315.*np\.cross"):
        assert parpy.jit(products)(a, b) == pytest.approx(products(a, b))


def test_sums_of_arrays_of_numpys_functions():
    def neighbours(g):
        return sum(np.roll(np.roll(g, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))

    g = rng.integers(0, 2, (6, 5))
    np.testing.assert_array_equal(parpy.jit(neighbours)(g), neighbours(g))


def test_other_names_for_elements():
    def stores(x):
        d = np.einsum("ii->i", x)
        d[:] = 3
        x[1, 1] = 7
        np.einsum("ij->ji", x)[0, 2] = 5
        return d, d.sum()

    got, want = np.ones((3, 3)), np.ones((3, 3))
    found, expected = parpy.jit(stores)(got), stores(want)
    np.testing.assert_array_equal(got, want)
    assert found[1] == expected[1]
    assert np.shares_memory(found[0], got)


@pytest.mark.parametrize("b", [np.inf, -np.inf, np.nan, 1.0])
@pytest.mark.parametrize("a", [np.inf, np.nan, 1.0, 1.0 + 1e-9])
def test_close(a, b):
    x, y = np.array([a, 2.0]), np.array([b, 2.0])
    for expression in ("np.isclose(x, y)", "np.allclose(x, y)", "np.allclose(x, A[0], 1e-3)"):
        function = function_of(expression)
        want = function(x, y, y[None], 1)
        np.testing.assert_array_equal(parpy.jit(function)(x, y, y[None], 1), want)


@pytest.mark.parametrize(
    "expression", ["np.sort(A, axis=2)", "np.argmin(A, -3)", "np.cumsum(x, axis=1)", "np.median(x, axis=-2)"]
)
def test_an_axis_that_is_out_of_bounds(expression):
    with pytest.raises((parpy.CompileError, np.exceptions.AxisError)):
        parpy.jit(function_of(expression))(np.zeros(3), np.zeros(3), np.zeros((3, 3)), 1)


def test_an_axis_that_is_known_when_it_runs():
    for expression in ("np.sort(A, n)", "np.cumprod(A, axis=n)"):
        function = function_of(expression)
        a = rng.random((4, 3))
        for axis in (0, 1, -1, -2):
            np.testing.assert_array_equal(parpy.jit(function)(a[0], a[0], a, axis), function(a[0], a[0], a, axis))
        with pytest.raises(ValueError, match="out of bounds"):
            parpy.jit(function)(a[0], a[0], a, 2)


METHODS = {"x.nonzero()[0]": FLOATS, "x.take([1, 2])": ("i8",), "x.squeeze() + 0": ("f8",), "A.diagonal() * 2": ("f8",)}


@pytest.mark.parametrize("expression", METHODS)
def test_methods_that_python_calls(expression):
    function = function_of(expression)
    for dtype in METHODS[expression]:
        x, a = numbers(dtype, 5), numbers(dtype, (4, 5))
        np.testing.assert_array_equal(parpy.jit(function)(x, x, a, 3), function(x, x, a, 3))


def test_arrays_sort_themselves():
    @parpy.jit
    def f(x):
        y = x * -1
        y.sort()
        x[::2].sort()
        return y, y[0] + x[0], x.tolist()

    got, want = rng.random(7), None
    x = got.copy()
    want = f.__wrapped__(x)
    found = f(got)
    np.testing.assert_array_equal(found[0], want[0])
    assert found[1:] == want[1:]
    np.testing.assert_array_equal(got, x)


def test_einsum_of_operands_that_do_not_fit():
    with pytest.raises(parpy.CompileError, match="einsum"):
        parpy.jit(function_of("np.einsum('i,i', x, A)"))(np.zeros(3), np.zeros(3), np.zeros((3, 3)), 1)
    with pytest.raises(ValueError, match="differ in the dimension 'j'"):
        parpy.jit(function_of("np.einsum('ij,j', A, x)"))(np.zeros(4), np.zeros(3), np.zeros((3, 3)), 1)


def test_parameters_have_numpys_names():
    import inspect

    for theirs, ours in table._FUNCTIONS.items():
        for each in ours:
            made = each() if isinstance(each, functools.partial) and each.func is table.along else each
            names = list(inspect.signature(made).parameters)
            if theirs in table._OF_TUPLES or isinstance(getattr(theirs, "__self__", None), np.ufunc):
                continue
            known = inspect.signature(theirs).parameters
            if any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in known.values()):
                continue
            assert all(name in known for name in names), (theirs, names)


@parpy.jit
def of_a_dict(d):
    d["x"][0] = np.outer(d["x"], d["y"][1:]).sum()


def test_outer_products_of_dict_entries():
    x, y = np.arange(3.0), np.arange(4.0)
    of_a_dict({"x": x, "y": y})
    assert x[0] == 3 * 6
