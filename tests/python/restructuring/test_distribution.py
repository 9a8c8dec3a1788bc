"""Loops that are split because a part may run in parallel (distribute-loops): results stay the same bit for bit."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
from nests import Nest

CPU = parpy.auto(backend=parpy.CompileBackend.Cpu)
SIM = parpy.auto(backend=parpy.CompileBackend.Sim)
BACKENDS = pytest.mark.parametrize("opts", [CPU, SIM], ids=["cpu", "sim"])


def loops(nest: Nest, opts: parpy.CompileOptions) -> list[dict[str, Any]]:
    return parpy.explain(nest.function, *nest.copies().values(), opts=opts).facts["loops"]


def random_body(seed: int) -> Nest:
    """A nest of one or two loops over two to four statements, some of which pass elements or scalars to the others."""
    rng = random.Random(seed)
    depth = rng.choice([1, 1, 2])
    names = "ij"[:depth]
    lines = [
        "    " * level + f"for {name} in range({rng.choice(['2, 300', '290, 3, -1', '2, 300, 3'])}):"
        for level, name in enumerate(names)
    ]
    pad = "    " * depth

    def element(array: str, near: float) -> str:
        row = [f"{name}{rng.choice([' + 1', ' - 1', ' - 2']) if rng.random() < near else ''}" for name in names]
        return f"{array}[{', '.join(row if depth == 2 else ['3', *row])}]"

    for number in range(rng.randint(2, 4)):
        if number == 0 and rng.random() < 0.5:  # a recurrence
            lines.append(f"{pad}{element('y', 0)} = {element('y', 1)} + {element('x', 0.3)}")
            continue
        source = f"{element(rng.choice('xyz'), 0.3)} {rng.choice('+-')} {element(rng.choice('xxxyz'), 0.1)}"
        if rng.random() < 0.8:  # much work
            source = f"({source}) // 7 + {element('x', 0.1)} // 5 % 11 // 3"
        kind = rng.random()
        if kind < 0.2:
            lines.append(f"{pad}t = {source}")
            source = f"t + {names[0]}"
        if kind > 0.9:
            lines.append(f"{pad}for m in range(3):")
            lines.append(f"{pad}    {element(rng.choice('yzz'), 0.1)} += {source} - m")
        elif kind > 0.75:
            lines.append(f"{pad}if {names[0]} % 4 != 0:")
            lines.append(f"{pad}    {element(rng.choice('yzz'), 0.1)} = {source}")
        else:
            lines.append(f"{pad}{element(rng.choice('yzz'), 0.1)} {rng.choice(['=', '=', '+='])} {source}")
    values = np.random.default_rng(seed).integers(-1000, 1000, (3, 310, 310))
    return Nest("\n".join(lines), dict(zip("xyz", (v.copy() for v in values), strict=True)))


def check_random(seeds: range, opts: parpy.CompileOptions) -> int:
    distributed = 0
    for seed in seeds:
        nest = random_body(seed)
        nest.check(opts)
        distributed += len(loops(nest, opts)) > nest.body.count("for ")
    return distributed


@pytest.mark.parametrize("block", range(4))
def test_random_bodies_keep_every_result(block):
    assert check_random(range(40 * block, 40 * block + 40), CPU) > 0


@pytest.mark.parametrize("block", range(2))
def test_random_bodies_keep_every_result_on_the_gpu(block):
    assert check_random(range(1000 + 20 * block, 1020 + 20 * block), SIM) > 0


RUNNING = """
for i in range(1, n):
    a[i] = a[i - 1] + x[i]
    y[i] = (x[i] + 1.0) / (a[i] + 2.0) / (x[i] + 3.0) + np.sqrt(x[i])
    x[i] = 0.0
"""


def running(n: int = 20_000) -> Nest:
    return Nest(RUNNING, {"a": np.zeros(n), "x": np.random.default_rng(1).random(n), "y": np.zeros(n), "n": n})


@BACKENDS
def test_what_does_not_depend_on_the_recurrence_is_parallel(opts):
    nest = running()
    assert [loop["verdict"] for loop in loops(nest, opts)] == ["refuted", "proved"]
    nest.check(opts)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@BACKENDS
def test_few_iterations(n, opts):
    running(n).check(opts)


def test_overlapping_arguments_stay_together():
    memory, n = np.random.default_rng(1).random(40_000), 20_000
    nest = Nest(RUNNING, {"a": memory[:n], "x": memory[n:], "y": memory[n - 1 : -1], "n": n})
    assert len(loops(nest, CPU)) == 1
    nest.check(CPU)


def test_a_chosen_mapping_can_be_asked_for():
    nest = running()
    found = parpy.explain(nest.function, *nest.copies().values(), opts=CPU)
    assert "restructure=True" in str(found)
    again = parpy.explain(nest.function, *nest.copies().values(), opts=found.opts)
    assert again.mapping == found.mapping
    assert [loop["verdict"] for loop in again.facts["loops"]] == ["refuted", "proved"]
    nest.check(found.opts)


def test_a_label_means_the_part_that_may_run_in_parallel():
    nest = running()
    mapping = {"L0": parpy.threads(64)}
    with pytest.raises(parpy.ParallelError, match=r"writes a\[1\]"):
        nest.check(parpy.CompileOptions(parallelize=mapping, backend=CPU.backend))
    nest.check(parpy.CompileOptions(parallelize=mapping, backend=CPU.backend, restructure=True))


WORK = "y[i] = 1.0 / (a[i] + 1.0) / (x[i] + 3.0)"
TOGETHER = {
    "a scalar is passed on": "t = a[i - 1] + x[i]; a[i] = t; y[i] = t / x[i] / (t + 1.0)",
    "they form a cycle": f"a[i] = a[i - 1] + y[i - 1]; {WORK}",
    "too little to gain": "a[i] = a[i - 1] + x[i]; y[i] = x[i]",
}


@pytest.mark.parametrize("name", TOGETHER)
def test_one_loop_remains(name):
    nest = Nest("\n    ".join(["for i in range(1, n):", *TOGETHER[name].split("; ")]), running().arguments)
    assert len(loops(nest, CPU)) == 1
    nest.check(CPU)


def test_a_loop_that_may_end_early_remains():
    text = RUNNING.replace("    y[i] =", "    if a[i] > 90.0:\n        break\n    y[i] =")
    nest = Nest(text, running().arguments)
    assert len(loops(nest, CPU)) == 1
    nest.check(CPU)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("threads", [32, 4096])
def test_continue_in_front_of_a_loop_over_blocks(target, threads):
    """The parts of the body would be kernels of their own, and only one of them would end early."""
    a, x, skip = np.zeros((6, 5000)), np.ones(6), np.array([0, 1, 0, 1, 1, 0])
    continues(a, x, skip, 6, opts=options(target, {"i": 6, "j": threads}))
    np.testing.assert_array_equal(x, [-1, 1, -1, 1, 1, -1])
    np.testing.assert_array_equal(a, np.repeat((skip == 0)[:, None] * 1.0, 5000, axis=1))


@parpy.jit
def continues(a, x, skip, n):
    parpy.label("i")
    for i in range(n):
        if skip[i] > 0:
            continue
        parpy.label("j")
        a[i, :] = a[i, :] + 1.0
        x[i] = x[i] * -1.0
