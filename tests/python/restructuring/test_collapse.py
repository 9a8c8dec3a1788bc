"""Perfectly nested loops that become one (collapse-loops): results stay the same bit for bit."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import parpy
from nests import Nest

CPU = parpy.auto(backend=parpy.CompileBackend.Cpu)
SIM = parpy.auto(backend=parpy.CompileBackend.Sim)


def explained(nest: Nest, opts: parpy.CompileOptions) -> Any:
    return parpy.explain(nest.function, *nest.copies().values(), opts=opts)


def random_nest(seed: int) -> Nest:
    """A perfect nest of few iterations around a loop that computes, with any bounds and steps."""
    rng = random.Random(seed)
    depth = rng.choice([2, 2, 3])
    names = "ijk"[:depth]
    lines = []
    for level, name in enumerate(names):
        trips, step, low = rng.randint(1, 6), rng.choice([1, 1, 2, -1, -3]), rng.randint(0, 4)
        end = low + trips * abs(step)
        bounds = f"{low}, {end}, {step}" if step > 0 else f"{end}, {low}, {step}"
        lines.append("    " * level + f"for {name} in range({bounds}):")
    pad = "    " * depth
    if rng.random() < 0.3:
        lines += [f"{pad}if {names[0]} == {names[1]}:", f"{pad}    continue"]
    lines += [f"{pad}t = {names[-1]}", f"{pad}for m in range(2000):", f"{pad}    t += x[m % 200, {names[1]}] // 7 % 5"]
    element = ", ".join(rng.sample(names, 2)) if depth == 2 else f"{names[2]}, 30 * {names[0]} + {names[1]}"
    lines.append(f"{pad}y[{element}] = t + {names[0]}")
    values = np.random.default_rng(seed).integers(-1000, 1000, (2, 200, 800))
    return Nest("\n".join(lines), {"x": values[0].copy(), "y": values[1].copy()})


@pytest.mark.parametrize("block", range(3))
def test_random_nests_keep_every_result(block):
    collapsed = 0
    for seed in range(30 * block, 30 * block + 30):
        nest = random_nest(seed)
        nest.check(CPU)
        found = explained(nest, CPU)
        collapsed += len(found.facts["loops"]) < nest.body.count("for ")
        assert explained(nest, found.opts).mapping == found.mapping
    assert collapsed > 5


SMALL_ROWS = """
for i in range(n):
    for j in range(m):
        y[i, j] = 2.0 * x[i, j] + j
"""


def small_rows(n: int = 60_000, m: int = 20) -> Nest:
    x = np.random.default_rng(1).random((n, m))
    return Nest(SMALL_ROWS, {"x": x, "y": np.zeros((n, m)), "n": n, "m": m})


def test_warps_are_filled():
    nest = small_rows()
    found = explained(nest, SIM)
    assert list(found.mapping.values()) == [parpy.threads(1_200_128).tpb(256)]
    got = nest.copies()
    nest.function(*got.values(), opts=SIM)
    np.testing.assert_array_equal(got["y"], 2 * got["x"] + np.arange(20))


def test_rows_that_fill_warps_stay():
    assert len(explained(small_rows(20_000, 60), SIM).facts["loops"]) == 2


def test_vectors_stay():
    assert len(explained(small_rows(5, 200_000), CPU).facts["loops"]) == 2


FEW = """
for i in range(5):
    for j in range(6):
        t = 0
        for k in range(500):
            t += x[i, j, k] // 7 % 5
        y[i, j] = t
"""


def few() -> Nest:
    x = np.random.default_rng(1).integers(0, 1000, (5, 6, 500))
    return Nest(FEW, {"x": x, "y": np.zeros((5, 6), np.int64)})


def test_few_iterations_are_spread_together():
    nest = few()
    found = explained(nest, CPU)
    assert [loop["level"] for loop in found.facts["loops"]] == ["workers", "vector"]
    nest.check(CPU)


def test_a_mapping_by_hand_that_names_both_keeps_them_apart():
    nest = few()
    both = {"L0": parpy.threads(5), "L1": parpy.threads(6)}
    cpu = {"backend": CPU.backend, "restructure": True}
    assert len(explained(nest, parpy.CompileOptions(parallelize=both, **cpu)).facts["loops"]) == 3
    assert len(explained(nest, parpy.CompileOptions(parallelize={"L1": parpy.threads(6)}, **cpu)).facts["loops"]) == 2
    nest.check(parpy.CompileOptions(parallelize=both, **cpu))


@pytest.mark.parametrize(
    "text",
    [
        FEW.replace("range(6)", "range(i + 1)"),
        FEW.replace("y[i, j] = t", "y[i, j] = y[i, j - 1] + t"),
        FEW.replace("y[i, j] = t", "y[0, 0] += t"),
        FEW.replace("        t = 0\n", "        t = 0\n        if j == 3:\n            break\n"),
    ],
)
def test_they_stay_apart(text):
    nest = Nest(text, few().arguments)
    assert len(explained(nest, CPU).facts["loops"]) == 3
    nest.check(CPU)


def test_variables_that_are_wanted_later():
    nest = Nest(FEW + "y[0, 0] = j", few().arguments)
    assert explained(nest, CPU).facts["loops"][-2]["trips"] == 30
    nest.check(CPU)
