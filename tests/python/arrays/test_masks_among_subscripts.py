"""Masks among numbers and slices, in loads, stores and updates, and arrays of values for the selected elements."""

from __future__ import annotations

import numpy as np
import pytest

import parpy
from backends import BACKENDS, copies, run
from fresh_functions import plain_function

rng = np.random.default_rng(4)
MATRICES = ["m5, 0", "m5, :", "m5", "m5, 1:3", "m5, ::2", "m5, -1", "k, m6", ":, m6", "1:4, m6", "::-1, m6", "m56"]
CUBES = [
    "m3", "m3, :, 0", "m3, 1", "m3, 1, 2", "m3, 1, :", "0, m4", ":, m4", ":, m4, 0", ":, :, m5", "0, :, m5", "0, 1, m5",
    ":, 1, m5", "m34", "m34, 0", "m34, 1:3", ":, m45", "1, m45", "k, :, m5", "1:, m45",
]  # fmt: skip
STATEMENTS = [
    "{a} = 3.5", "{a} *= 2", "{a} += k", "{a} = {a} * {b}", "{a} = np.abs({a})", "t = {a}\nout[0] = t.sum() * len(t)",
    "out[0] = (np.sqrt({a} ** 2) * (1 + k)).sum()",
]  # fmt: skip
VALUES = [
    "{a} = {b} + 1", "t = {b}\n{a} = t", "t = {b} * 2\n{a} += t", "t = 1 - {a}\n{a} = np.where(t > 0.5, t, {a})",
]  # fmt: skip
OTHERS = [
    "a[m5, :] = v6", "a[m5] += v6", "a[a[:, 0] > 0, 1] = 3.0", "a[(v5 > 0) & m5, 2] = 0", "a[~m5, 2] = 0",
    "a[v5 > 0] = 0", "a[v5 > v5.mean(), :] = 1", "v5[m5] = v5[m5] * v5.sum()", "v5[m5] = v6[2:5] * 2",
    "v5[v5 > 0] -= v6[1]",
    "for j in range(6):\n    a[a[:, j] > 0, j] = j", "for j in range(5):\n    a[j, a[j] < 0] = 0", "v5[m5] = v6[:3]",
    "for j in range(6):\n    out[0] += a[m5, j].sum()", "a[m5, 0], a[m5, 1] = a[m5, 1], a[m5, 0]",
    "c[:, m4] = c[:, m4] + 1", "out[0] = a[m5][:, m6].sum()", "out[0] = a[m5, 0] @ b[m5, 1]",
]  # fmt: skip


def arguments() -> list[np.ndarray]:
    a, b, c = rng.standard_normal((5, 6)), rng.standard_normal((5, 6)), rng.standard_normal((3, 4, 5))
    v5, v6 = rng.standard_normal(5), rng.standard_normal(6)
    m3, m4, m5 = (
        np.array([True, False, True]),
        np.array([True, False, True, True]),
        np.array([True, False, True, True, False]),
    )
    return [a, b, c, v5, v6, m3, m4, m5, a[0] > 0, b > 0, c[:, :, 0] > 0, c[0] > 0, np.zeros(1), 1]


def function_of(text: str):
    names = "a, b, c, v5, v6, m3, m4, m5, m6, m56, m34, m45, out, k"
    return plain_function(f"def f({names}):\n    " + text.replace("\n", "\n    ") + "\n", f"<{text}>")


def check(backend: str, text: str) -> None:
    function, given = function_of(text), arguments()
    want, got = copies(given), copies(given)
    function(*want)
    if backend in ("sim", "cuda"):  # whole arrays are no loops that a mapping names
        parpy.jit(function)(*got, opts=parpy.CompileOptions(automatic=True, backend=parpy.CompileBackend(backend)))
    else:
        run(backend, parpy.jit(function), got, {})
    for x, y in zip(got, want, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, err_msg=text)


@pytest.mark.parametrize("subscripts", MATRICES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_matrices(backend, subscripts):
    of_values = VALUES if subscripts[0] in "mk" else VALUES[:1]  # no slice stands in front
    for statement in STATEMENTS + of_values:
        check(backend, statement.format(a=f"a[{subscripts}]", b=f"b[{subscripts}]"))


@pytest.mark.parametrize("subscripts", CUBES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_three_dimensions(backend, subscripts):
    for statement in STATEMENTS:
        check(backend, statement.format(a=f"c[{subscripts}]", b=f"c[{subscripts}]"))


@pytest.mark.parametrize("text", OTHERS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_other_forms(backend, text):
    check(backend, text)


@parpy.jit
def placed(x, m, values):
    x[m] = values


def test_the_number_of_values():
    placed(np.zeros(4), np.array([True, False, True, True]), np.ones(3))
    with pytest.raises(ValueError, match="2 values are stored to the 3 elements that a mask selects"):
        placed(np.zeros(4), np.array([True, False, True, True]), np.ones(2))
    with pytest.raises(IndexError):
        placed(np.zeros(4), np.ones(5, bool), np.ones(5))


@parpy.jit
def behind_slices(x, m, values):
    x[:, m] = values


@parpy.jit
def twice(x, m, n):
    x[m, n] = 1


def test_refused():
    with pytest.raises(parpy.CompileError, match=r"P223.*a mask after slices selects"):
        behind_slices(np.ones((2, 3)), np.ones(3, bool), np.ones((2, 3)), opts=parpy.par({}))
    with pytest.raises(parpy.CompileError, match=r"(?s)P203.*only one mask may be among numbers and slices"):
        twice(np.ones((2, 3)), np.ones(2, bool), np.ones(3, bool), opts=parpy.par({}))


@parpy.jit
def placed_more(x, m, values):
    x[m] += values


@parpy.jit
def placed_by_itself(m, values):
    m[m] = values


@pytest.mark.parametrize("function", [placed, placed_more], ids=lambda f: f.__name__)
@pytest.mark.parametrize("start", [0, 1, 2])
def test_values_that_share_memory_are_read_first(function, start):
    m = np.array([True, False, True, True, False])
    want, got = np.arange(7.0), np.arange(7.0)
    function.__wrapped__(want[start : start + 5], m, want[:3].copy())  # NumPy reads some of them late
    function(got[start : start + 5], m, got[:3])
    np.testing.assert_array_equal(got, want)


def test_masks_that_are_stored_to_are_read_first():
    want = np.array([True, False, True, True, False])
    got = want.copy()
    placed_by_itself.__wrapped__(want, want[2:].copy())
    placed_by_itself(got, got[2:])
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["i2", "f4", "c16"])
@pytest.mark.parametrize("share", [-1, 2])  # nothing, and everything
@pytest.mark.parametrize("shape", [(0, 6), (5, 6)])
def test_no_elements_and_all(shape, share, dtype):
    values = rng.integers(-3, 3, shape).astype(dtype)
    values[values == 2] = np.nan if dtype != "i2" else 0
    m = rng.random(shape[0]) < share
    for order in (slice(None), slice(None, None, -1)):
        for statement in (
            "x[m, 1] = 2",
            "x[m] += 1",
            "t = x[m, ::-2]\nx[m, ::2] = t",
            "x[m, 0] = np.sqrt(x[m, 1] * x[m, 1])",
        ):
            text = statement.replace("\n", "\n    ")
            function = plain_function(f"def f(x, m):\n    {text}\n", f"<{statement}>")
            want, got = values.copy()[order], values.copy()[order]
            with np.errstate(all="ignore"):
                function(want, m)
            parpy.jit(function)(got, m)
            np.testing.assert_allclose(got, want, rtol=1e-6)
