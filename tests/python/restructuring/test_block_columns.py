"""Columns that take their steps together (block-columns): rows are read as they lie, and results stay bit for bit."""

from __future__ import annotations

import random

import numpy as np
import pytest

import parpy
from nests import Nest, nest_of

CPU = parpy.auto(backend=parpy.CompileBackend.Cpu)


def text_of(nest: Nest, opts: parpy.CompileOptions = CPU) -> str:
    return parpy.print_compiled(nest.function, tuple(nest.copies().values()), opts)


def is_blocked(nest: Nest, opts: parpy.CompileOptions = CPU) -> bool:
    return "first_column" in text_of(nest, opts)


def random_nest(seed: int) -> Nest:
    """Columns of an array, walked down by loops in one another and behind one another."""
    rng = random.Random(seed)
    size = [rng.choice([16, 31, 130, 513]), rng.choice([16, 17, 23, 24])]
    columns, rows = rng.choice([size, ["size[0]", "size[1]"]])  # known before the call, or not
    lines = [f"for j in range({rng.choice([0, 0, 3])}, {columns}):", "    t = 0"]
    if rng.random() < 0.3:
        lines.append("    u = c[j] + 1")
    for _ in range(rng.randint(1, 2)):
        lines.append(f"    for i in range({rng.choice(['0', '1', 'first'])}, {rows}):")
        deep = rng.random() < 0.3
        if deep:
            lines += ["        v = i", f"        for k in range({rng.choice(['16', 'min(i, 16)'])}):"]
        pad = "            " if deep else "        "
        element = f"x[{'i, k' if deep else 'i, 2'}, j]"
        kept = "v" if deep else "t"
        for _ in range(rng.randint(1, 2)):
            lines += {
                0: [f"{pad}{kept} += {element}"],
                1: [f"{pad}{kept} = max({kept}, {element} * 3)"],
                2: [f"{pad}if {element} > {rng.choice(['0', 'i'])}:", f"{pad}    {kept} -= {element}"],
                3: [f"{pad}y[i, j] += {element} + {kept}", f"{pad}{kept} += y[i, j]"],
                4: [f"{pad}w = {element} * 2", f"{pad}{kept} += w * {'u' if 'u =' in lines[2] else 'j'}"],
                5: [f"{pad}s[j] += {element}"],
                6: [f"{pad}s[j] = {element}", f"{pad}s[j] -= 2", f"{pad}{kept} += s[j]"],
            }[rng.randrange(7)]
        if deep:
            lines.append("        t += v * 5")
        if rng.random() < 0.3:
            lines.append(rng.choice(["    s[j] += t", "    if t > 0:", "    t = t // 2"]))
            if lines[-1].endswith(":"):
                lines.append("        s[j] = t")
    lines.append(rng.choice(["    s[j] += t", "    s[j] = t", "    total[0] += t * c[j]"]))
    values = np.random.default_rng(seed).integers(-99, 99, (24, 16, 513))
    arguments = {
        "x": values,
        "y": values[:, 3].copy(),
        "s": values[0, 0].copy(),
        "c": values[1, 1].copy(),
        "total": np.zeros(1, int),
        "size": np.array(size),
        "first": rng.choice([0, 2, 30]),
    }
    return Nest("\n".join(lines), arguments)


@pytest.mark.parametrize("block", range(4))
def test_random_nests_keep_every_result(block):
    blocked = 0
    for seed in range(15 * block, 15 * block + 15):
        nest = random_nest(seed)
        nest.check(CPU)
        blocked += is_blocked(nest)
    assert blocked > 3


SUMS = """
for j in range(700):
    t = 0.0
    for i in range(90):
        t += x[i, j]
    s[j] = t
"""


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("deterministic", [False, True])
def test_sums_of_columns_are_chains_in_the_order_of_the_text(dtype, deterministic):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((90, 700)).astype(dtype)
    text = SUMS.replace("0.0", "s[j]")  # of the type of the elements
    nest = Nest(text, {"x": x, "s": np.zeros(700, dtype)})
    opts = parpy.auto(backend=parpy.CompileBackend.Cpu, deterministic=deterministic)
    assert is_blocked(nest, opts)
    nest.check(opts)


@pytest.mark.parametrize("method", ["sum", "mean", "max", "std", "prod"])
def test_reductions_along_the_first_axis_read_rows(method):
    nest = nest_of({"x": (90, 700), "s": (700,)}, f"s[:] = x.{method}(axis=0)")
    assert is_blocked(nest)
    given = nest.copies()
    nest.function(*given.values(), opts=CPU)
    np.testing.assert_allclose(given["s"], getattr(given["x"], method)(axis=0), rtol=1e-12)


def test_a_product_that_is_only_summed_reads_rows():
    nest = nest_of({"w": (200,), "x": (200, 200), "s": (1,)}, "s[0] = w @ x @ w")
    assert is_blocked(nest)
    given = nest.copies()
    nest.function(*given.values(), opts=CPU)
    np.testing.assert_allclose(given["s"][0], given["w"] @ given["x"] @ given["w"], rtol=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "for j in range(90):\n    for i in range(700):\n        s[j] += x[j, i]",  # rows already
        "for j in range(90):\n    for i in range(j, 90):\n        s[j] += x[i, j]",  # steps of its own
        "for j in range(1, 90):\n    for i in range(90):\n        x[i, j] += x[i, j - 1] * 0.5",  # on the one before
        "for j in range(5):\n    for i in range(90):\n        s[j] += x[i, j]",  # too few
    ],
)
def test_other_nests_stay_what_they_are(text):
    nest = nest_of({"x": (90, 700), "s": (700,)}, text)
    assert not is_blocked(nest)


@pytest.mark.parametrize(
    ("text", "stored"), [("s[j] += x[i, j]", "s_column"), ("s[j + 1] = x[i, j] + s[j + 1]", "s_column")]
)
def test_elements_that_every_step_stores_are_kept(text, stored):
    nest = nest_of({"x": (90, 700), "s": (701,)}, f"for j in range(700):\n    for i in range(90):\n        {text}")
    assert stored in text_of(nest)
    nest.check(CPU)


def test_an_element_that_is_one_of_the_column_is_stored_at_every_step():
    x = np.random.default_rng(0).random((90, 700))
    text = "for j in range(700):\n    for i in range(90):\n        s[j] += x[i, j]"
    nest = Nest(text, {"x": x, "s": x[40]})
    assert is_blocked(nest)
    assert "s_column" not in text_of(nest)
    nest.check(CPU)


def test_rows_that_are_added_up_are_shared_by_columns():
    nest = nest_of(
        {"x": (900, 700), "s": (700,)}, "for i in range(900):\n    for j in range(700):\n        s[j] += x[i, j]"
    )
    assert is_blocked(nest)
    assert "parpy_parallel_for" in text_of(nest)
    nest.check(CPU)


def test_arrays_in_the_order_of_fortran_are_read_along_their_columns():
    nest = nest_of(
        {"x": (90, 700), "s": (90,)}, "for j in range(90):\n    for i in range(700):\n        s[j] += x[j, i]"
    )
    nest.arguments = {"x": np.asfortranarray(nest.arguments["x"]), "s": np.zeros(90)}
    x, s = np.asfortranarray(nest.arguments["x"]), np.zeros(90)
    assert "first_column" in parpy.print_compiled(nest.function, (x, s), CPU)
    want = s.copy()
    nest.function(x, s, opts=CPU)
    nest.function(x, want, seq=True)
    np.testing.assert_array_equal(s, want)


@parpy.jit
def down_columns(x, s, best):
    for j in range(x.shape[1]):
        t = 0.0
        m = -np.inf
        for i in range(x.shape[0]):
            t += x[i, j]
            m = max(m, x[i, j])
        s[j] = t
        best[j] = m


EDGES = {
    "plain": lambda x: x,
    "no rows": lambda x: x[:0],
    "no columns": lambda x: x[:, :0],
    "one row": lambda x: x[:1],
    "one column": lambda x: x[:, :1],
    "rows backwards": lambda x: x[::-1],
    "columns backwards": lambda x: x[:, ::-1],
    "every third column": lambda x: x[:, ::3],
    "Fortran order": np.asfortranarray,
}


@pytest.mark.parametrize("edge", EDGES)
def test_edges_of_shapes_and_of_numbers(edge):
    """NaN, infinities and zeros of both signs in arrays of any strides and extents, to the bit."""
    x = np.random.default_rng(3).standard_normal((90, 700))
    x[4, 5], x[9, 9], x[9, 10], x[0, 11], x[:, 12] = np.nan, np.inf, -np.inf, np.nan, -0.0
    view = EDGES[edge](x)
    for opts in (CPU, parpy.auto(backend=parpy.CompileBackend.Cpu, deterministic=True)):
        made = [np.zeros(view.shape[1]), np.zeros(view.shape[1])]
        want = [each.copy() for each in made]
        down_columns(view, *made, opts=opts)
        down_columns(view, *want, seq=True)
        if opts is CPU and edge == "Fortran order":  # sums of columns that lie side by side may be added otherwise
            np.testing.assert_allclose(made[0], want[0], rtol=1e-12, atol=1e-13)
            made[0] = want[0]
        for found, expected in zip(made, want, strict=True):
            np.testing.assert_array_equal(found, expected)
            if opts is CPU:  # deterministic extrema take -0.0 for 0.0
                np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
    if edge == "plain":
        assert "first_column" in parpy.print_compiled(down_columns, (view, *made), CPU)


@pytest.mark.parametrize("row", [0, 45, 89])
def test_sums_into_a_row_of_the_same_array(row):
    """Later steps of a column would read what its sum has overwritten: the order of Python holds."""
    x = np.random.default_rng(4).integers(-9, 9, (90, 700)).astype(float)
    want = x.copy()

    @parpy.jit
    def f(x, s):
        for j in range(x.shape[1]):
            for i in range(x.shape[0]):
                s[j] += x[i, j]

    f(x, x[row], opts=CPU)
    f(want, want[row], seq=True)
    np.testing.assert_array_equal(x, want)


SYMMETRIC = """
for i in range(90):
    for j in range(700):
        t = 0.0
        for k in range(i):
            y[k, j] += x[i, j] * a[i, k]
            t += x[k, j] * a[i, k]
        s[j] = t
    for j in range(700):
        y[i, j] += s[j] + x[i, j] * a[i, i]
"""


def test_inner_steps_have_bounds_that_depend_on_outer_ones():
    nest = nest_of({"x": (90, 700), "y": (90, 700), "a": (90, 90), "s": (700,)}, SYMMETRIC)
    assert is_blocked(nest)
    nest.check(CPU)


def test_loops_without_accesses_of_their_own_save_nothing():
    text = "for i in range(60):\n    for j in range(60):\n        for k in range(1, 40):\n"
    nest = nest_of(
        {"x": (60, 60, 40), "y": (60, 60, 40)}, text + "            y[i, j, k] += y[i, j, k - 1] * x[i, j, k]"
    )
    assert not is_blocked(nest)
    assert "parpy_chunks(context, 60, " in text_of(nest)
    nest.check(CPU)


@parpy.jit
def roots(a, x, steps):
    for _ in range(steps):
        x[:] = (x + a / x) * 0.5


@parpy.jit
def left_alone_outside(c, z, steps, counts):
    for n in range(steps):
        inside = np.abs(z) < 2
        counts[inside] = n
        z[inside] = z[inside] ** 2 + c[inside]


@pytest.mark.parametrize("edge", ["plain", "backwards", "every third", "one", "none"])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("steps", [0, 7, 8, 21])
def test_costly_steps_on_the_same_elements_keep_every_bit(edge, kind, steps):
    cut = {"plain": np.s_[:], "backwards": np.s_[::-1], "every third": np.s_[::3], "one": np.s_[:1], "none": np.s_[:0]}
    rng = np.random.default_rng(5)
    a, x = (rng.standard_normal(700).astype(kind)[cut[edge]] for _ in range(2))
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0][: x.size]
    x[: len(special)] = special
    found, want = (np.repeat(x, 2)[::2] for _ in range(2)) if edge == "every third" else (x.copy(), x.copy())
    with np.errstate(all="ignore"):
        if kind is np.complex128:
            counts = [np.zeros(x.shape, int) for _ in range(2)]
            left_alone_outside(a, found, steps, counts[0], opts=CPU)
            left_alone_outside(a, want, steps, counts[1], seq=True)
            np.testing.assert_array_equal(*counts)
        else:
            roots(a, found, steps, opts=CPU)
            roots(a, want, steps, seq=True)
    np.testing.assert_array_equal(found, want)


def test_costly_steps_on_the_same_elements_are_taken_by_vectors():
    a = np.ones(700)
    assert "first_column" in parpy.print_compiled(roots, (a, a.copy(), 21), CPU)
    assert "first_column" not in parpy.print_compiled(roots, (a, a.copy(), 7), CPU)
    assert "first_column" not in parpy.print_compiled(roots, (a, np.ones(1400)[::2], 21), CPU)
