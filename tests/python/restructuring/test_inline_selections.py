"""Loops over selected elements that run over all elements instead (inline-selections): the results stay the same."""

from __future__ import annotations

import random

import numpy as np
import pytest

import parpy
from backends import TARGETS
from nests import Nest

CPU = parpy.auto(backend=parpy.CompileBackend.Cpu)
SIM = parpy.auto(backend=parpy.CompileBackend.Sim)


def stored(function, arguments, opts=CPU):
    """Whether the program stores elements at places that it counts."""
    return "place = 0;" in parpy.print_compiled(function, list(arguments), opts)


def random_selections(seed: int) -> Nest:
    """Selections of whole numbers, read by a few loops and functions. Some programs change the operands or the mask in
    between, or use the selected elements in a way that needs all of them."""
    rng = random.Random(seed)
    lines, names = [], []
    shape = rng.choice(["1", "1", "2"])
    a, b = ("a", "b") if shape == "1" else ("c", "d")
    for number in range(rng.randint(1, 3)):
        if number == 0 or rng.random() < 0.4:
            condition = rng.choice([f"{a} > 0", f"({a} > -3) & ({b} < 4)", f"({a} > 2) | ({b} == 1)", f"{a} > 99"])
            lines.append(f"m{number} = {condition}")
            mask = f"m{number}"
        source = rng.choice([a, b])
        lines.append(f"v{number} = {source}[{mask}]")
        names.append((f"v{number}", mask))
        if rng.random() < 0.15:
            lines.append(rng.choice([f"{a}[3] = 5", f"{b}[2] = -7", f"{mask}[1] = True", f"{mask}[1:4] = False"]))
    for number in range(rng.randint(1, 4)):
        v, mask = rng.choice(names)
        alike = rng.choice([w for w, other in names if other == mask])
        lines += rng.choice(
            [
                [f"r[{number}] = {v}.sum()"],
                [f"r[{number}] = np.sum({v} * {v})"],
                [f"if len({v}) > 0:", f"    r[{number}] = np.max({v})"],
                [f"if len({v}) > 0:", f"    r[{number}] = np.mean({v}) + {v}.min()"],
                [f"for e in {v}:", f"    r[{number}] += e * {number + 1}"],
                [f"for k in range(min(len({v}), len({alike}))):", f"    r[{number}] += {v}[k] * {alike}[k]"],
                [f"for k in range(len({v})):", f"    h[int({v}[k]) + 9] += 1"],
                [f"for k in range(len({v})):", f"    if {v}[k] > 2:", f"        r[{number}] += {v}[k]"],
                [f"for k in range(len({v})):", f"    r[{number}] = r[{number}] * 2 % 1001 + {v}[k]"],
                [f"for k in range(len({v})):", f"    r[{number}] += {v}[k] * k"],
                [f"for k in range(1, len({v})):", f"    r[{number}] += {v}[k]"],
                [f"for k in range(len({v})):", f"    r[{number}] += {v}[len({v}) - 1 - k] * (k % 3)"],
                [f"for k in range(len({v})):", f"    if {v}[k] > 3:", "        break", f"    r[{number}] += {v}[k]"],
                [f"for e in {v}:", "    a[5] = 1", f"    r[{number}] += e"],
                [f"r[{number}] = len({v})"],
            ]
        )
    if rng.random() < 0.4:
        lines = ["for i in range(3):", "    a[i + 1] += i", "    c[i, 1] += i", *(f"    {line}" for line in lines)]
    values = np.random.default_rng(seed).integers(-9, 9, (2, 40)).astype(np.float64)
    arguments = {"a": values[0].copy(), "b": values[1].copy(), "r": np.zeros(4), "h": np.zeros(20, np.int64)}
    arguments |= {"c": values[0].reshape(8, 5).copy(), "d": values[1].reshape(8, 5).copy()}
    text = "\n".join(lines)
    if shape == "2":
        for old, new in [
            ("[1:4]", "[1, 1:4]"),
            ("[1] = T", "[1, 2] = T"),
            ("c[3] =", "c[3, 1] ="),
            ("d[2] =", "d[2, 1] ="),
        ]:
            text = text.replace(old, new)
    return Nest(text, arguments)


@pytest.mark.parametrize("block", range(6))
def test_random_selections_keep_every_result(block):
    gone = 0
    for seed in range(20 * block, 20 * block + 20):
        nest = random_selections(seed)
        nest.check(CPU)
        if seed % 3 == 0:
            nest.check(SIM)
        gone += not stored(nest.function, nest.copies().values())
    assert gone > 2


def moments(x, w, m, r):
    v, u = x[m], w[m]
    r[0] = len(v)
    r[1] = v.sum()
    r[2] = (v * u).sum()
    if len(v) > 0:
        r[3] = v.max()
        r[4] = u.min()
        r[5] = v.mean()
    for e in v:
        if e > 2:
            r[6] += e


def check(backend, x, w, m, **fields):
    got, want = np.zeros(7), np.zeros(7)
    parpy.jit(moments)(x, w, m, got, opts=parpy.auto(backend=parpy.CompileBackend(backend), **fields))
    moments(x, w, m, want)
    np.testing.assert_allclose(got, want, rtol=1e-5 if np.float32 in (x.dtype, w.dtype) else 1e-12)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, np.float32, np.float64])
def test_elements_of_every_type(backend, dtype):
    rng = np.random.default_rng(0)
    x, w = rng.integers(0, 11, (2, 500)).astype(dtype)
    check(backend, x, w, x > w)
    check(backend, x[::-2], w[1::2], x[::2] != 3)  # parts of arrays, and a mask with steps


@pytest.mark.parametrize("backend", TARGETS)
def test_masks_of_all_and_none_and_empty_arrays(backend):
    rng = np.random.default_rng(1)
    for size in (0, 1, 2, 33, 1000):
        x, w = rng.standard_normal((2, size))
        check(backend, x, w, np.zeros(size, np.bool_))
        check(backend, x, w, np.ones(size, np.bool_))
        check(backend, x, w, x > 0)


@pytest.mark.parametrize("backend", TARGETS)
def test_unselected_elements_have_no_effect(backend):
    x, w = np.random.default_rng(2).random((2, 300))
    m = x > 0.5
    x[~m], w[~m] = np.nan, np.inf
    check(backend, x, w, m)
    x[np.flatnonzero(m)[7]] = np.nan
    got = np.zeros(7)
    parpy.jit(moments)(x, w, m, got, opts=parpy.auto(backend=parpy.CompileBackend(backend)))
    assert np.isnan(got[[1, 2, 3, 5]]).all() and np.isfinite(got[[0, 4, 6]]).all()


def scaled(x, y, m):
    v = x[m]
    for e in v:
        y[0] += e


@pytest.mark.parametrize("opts", [CPU, SIM], ids=["cpu", "sim"])
def test_stores_to_memory_of_the_operands(opts):
    """The selected elements are those from before the stores."""
    memory = np.arange(50.0)
    for apart in (False, True):
        got, want = memory.copy(), memory.copy()
        for values, run in ((got, parpy.jit(scaled)), (want, scaled)):
            y = np.zeros(1) if apart else values[30:31]
            run(values, y, np.arange(50) % 3 == 0, **({} if run is scaled else {"opts": opts}))
        np.testing.assert_array_equal(got, want)


def test_sums_keep_their_order_if_they_must():
    x, w = np.random.default_rng(3).standard_normal((2, 5000))
    arguments = (x, w, x > 0.3)
    function = parpy.jit(moments)
    assert not stored(function, (*arguments, np.zeros(7)))
    got, want = np.zeros(7), np.zeros(7)
    function(*arguments, got, opts=parpy.auto(backend=parpy.CompileBackend.Cpu, deterministic=True))
    function(*arguments, want, opts=parpy.CompileOptions(backend=parpy.CompileBackend.Cpu, deterministic=True))
    np.testing.assert_array_equal(got, want)


def rings(values, radius, means):
    for i in range(means.shape[0]):
        inside = np.logical_and(radius >= i, radius < i + 1)
        means[i] = np.mean(values[inside])


def named_rings(values, radius, means):
    for i in range(means.shape[0]):
        inside = np.logical_and(radius >= i, radius < i + 1)
        chosen = values[inside]
        means[i] = np.mean(chosen)


@pytest.mark.parametrize("function", [rings, named_rings])
def test_iterations_that_select_run_in_parallel(function):
    rng = np.random.default_rng(4)
    values, radius, means = rng.random(30000), rng.random(30000) * 50, np.zeros(50)
    loops = parpy.explain(function, values, radius, means, opts=CPU).facts["loops"]
    assert loops[0]["verdict"] == "proved"
    parpy.jit(function)(values, radius, means, opts=CPU)
    want = np.zeros(50)
    function(values, radius, want)
    np.testing.assert_allclose(means, want, rtol=1e-12)
