"""Loops that are interchanged (interchange-loops): results stay the same bit for bit; the order of memory decides."""

from __future__ import annotations

import random

import numpy as np
import pytest

import parpy
from nests import Nest

CPU = parpy.auto(backend=parpy.CompileBackend.Cpu)
SIM = parpy.auto(backend=parpy.CompileBackend.Sim)
CUDA = parpy.auto(backend=parpy.CompileBackend.Cuda)


def order(nest: Nest, opts: parpy.CompileOptions) -> list[str]:
    """The labels of the loops, the outermost first."""
    return [loop["key"] for loop in parpy.explain(nest.function, *nest.copies().values(), opts=opts).facts["loops"]]


def random_nest(seed: int) -> Nest:
    """A perfect nest of two or three loops over neighbouring elements, mostly against the order of memory."""
    rng = random.Random(seed)
    names = "ijk"[: rng.choice([2, 2, 3])]
    lines = []
    for level, name in enumerate(names):
        bounds = rng.choice(["2, 9", "8, 1, -1", "2, 9, 2", "3, 4"] if level else ["2, 9", "8, 1, -1", "2, 9, 2"])
        lines.append("    " * level + f"for {name} in range({bounds}):")
    pad = "    " * len(names)

    def element(array: str) -> str:
        first, second = rng.choice(names), rng.choice(names)
        if rng.random() < 0.6:
            first, second = names[1], names[0]  # against the order of memory
        offsets = [rng.choice(["", "", " + 1", " - 1", " - 2"]) for _ in range(2)]
        return f"{array}[{first}{offsets[0]}, {second}{offsets[1]}]"

    for _ in range(rng.randint(1, 2)):
        target = element(rng.choice("xy"))
        source = f"{element('x')} {rng.choice('+-')} {rng.choice([element('y'), '3', names[0], names[-1]])}"
        assign = rng.choice(["=", "=", "+=", "="])
        if rng.random() < 0.2:
            lines.append(f"{pad}t = {source}")
            source = "t"
        if rng.random() < 0.2:
            lines.append(f"{pad}if {names[0]} != {names[1]}:")
            lines.append(f"{pad}    {target} {assign} {source}")
        else:
            lines.append(f"{pad}{target} {assign} {source}")
    values = np.random.default_rng(seed).integers(-1000, 1000, (2, 11, 11))
    return Nest("\n".join(lines), {"x": values[0].copy(), "y": values[1].copy()})


@pytest.mark.parametrize("block", range(6))
def test_random_nests_keep_every_result(block):
    moved = 0
    for seed in range(40 * block, 40 * block + 40):
        nest = random_nest(seed)
        nest.check(CPU)
        moved += order(nest, CPU) != sorted(order(nest, CPU))
    assert moved > 4


@pytest.mark.parametrize("block", range(3))
def test_random_nests_keep_every_result_on_the_gpu(block):
    moved = 0
    for seed in range(1000 + 15 * block, 1015 + 15 * block):
        nest = random_nest(seed)
        nest.check(SIM)
        moved += order(nest, SIM) != sorted(order(nest, SIM))
    assert moved > 1


PRODUCT = """
for i in range(40):
    for j in range(50):
        for k in range(60):
            c[i, j] += a[i, k] * b[k, j]
"""


def product(dtype=np.float64) -> Nest:
    rng = np.random.default_rng(3)
    shapes = {"a": (40, 60), "b": (60, 50), "c": (40, 50)}
    return Nest(PRODUCT, {name: rng.standard_normal(shape).astype(dtype) for name, shape in shapes.items()})


@pytest.mark.parametrize("dtype", [np.complex128, np.int32])
def test_a_matrix_product_adds_in_the_same_order(dtype):
    # deterministic=True, because complex numbers are a contraction otherwise.
    product(dtype).check(parpy.auto(backend=parpy.CompileBackend.Cpu, deterministic=True))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_matrix_product_of_floats_is_a_chain_in_the_same_order(dtype):
    nest = product(dtype)
    got, want = nest.copies(), nest.copies()
    nest.function(*got.values(), opts=CPU)
    settled = parpy.auto(backend=parpy.CompileBackend.Cpu, deterministic=True)
    parpy.calls.jit.interpret(nest.function, list(want.values()), settled, "settle-reductions")
    np.testing.assert_array_equal(got["c"], want["c"])


def test_the_innermost_loop_walks_through_memory_on_the_cpu():
    assert order(product(), CPU) == ["L0", "L2", "L1"]
    assert order(product(), CUDA) == ["L0", "L1", "L2"]


def test_fortran_order_keeps_what_is_right_for_it():
    text = """
    for j in range(50):
        for i in range(40):
            y[i, j] = x[i, j] * 2
    """
    arrays = {name: np.zeros((40, 50)) for name in "xy"}
    assert order(Nest(text, arrays), CPU) == ["L1", "L0"]
    columns = {name: np.asfortranarray(value) for name, value in arrays.items()}
    found = parpy.explain(Nest(text, arrays).function, *columns.values(), opts=CPU).facts["loops"]
    assert [loop["key"] for loop in found] == ["L0", "L1"]


def test_column_sums_run_a_thread_per_column_on_the_gpu():
    text = """
    for i in range(300):
        for j in range(500):
            y[j] += x[i, j]
    """
    nest = Nest(text, {"x": np.arange(150000.0).reshape(300, 500), "y": np.zeros(500)})
    assert order(nest, CUDA) == ["L1", "L0"]
    nest.check(SIM)


@pytest.mark.parametrize(
    "body",
    [
        "x[i - 1, j + 1] = x[i, j] + 1",  # depends on another column
        "s = s * 0.5 + x[i, j]\n        x[i, j] = s",  # passes on a scalar
        "if x[i, j] > 900:\n            break\n        x[i, j] = 1",  # data decide the end
        "x[i, j] += x[int(y[i, j]) % 9, 1]",  # data decide the element
    ],
)
def test_what_depends_on_the_order_keeps_it(body):
    text = f"s = 1.0\nfor j in range(1, 9):\n    for i in range(1, 9):\n        {body}\n"
    values = np.random.default_rng(5).integers(0, 1000, (2, 11, 11)).astype(float)
    nest = Nest(text, {"x": values[0].copy(), "y": values[1].copy()})
    assert order(nest, CPU) == ["L0", "L1"]
    nest.check(CPU)


@pytest.mark.parametrize("opts", [CPU, CUDA], ids=["cpu", "cuda"])
def test_no_order_is_worth_a_parallel_loop(opts):
    """With `i` innermost memory is read in order, but then the loops over diagonals conflict, in any position."""
    text = """
    for i in range(300):
        for k in range(40):
            for j in range(50):
                a[j - k + 100, i] = a[j - k + 100, i] * 0.5 + 1
    """
    nest = Nest(text, {"a": np.ones((200, 300))})
    assert order(nest, opts) == ["L0", "L1", "L2"]
    nest.check(CPU)


def test_ranges_that_the_nest_changes_keep_their_order():
    text = """
    for j in range(8):
        for i in range(int(n[0])):
            x[i, j] = 1
            n[0] = 3
    """
    nest = Nest(text, {"x": np.zeros((9, 9)), "n": np.array([7.0])})
    assert order(nest, CPU) == ["L0", "L1"]
    nest.check(CPU)


def test_overlapping_arguments():
    memory = np.arange(200.0)
    text = "for j in range(9):\n    for i in range(9):\n        y[i, j] = x[i, j] + 1\n"
    near = {"x": memory[:90].reshape(9, 10), "y": memory[9:99].reshape(9, 10)}
    Nest(text, near).check(CPU)


def test_what_is_explained_can_be_asked_for():
    nest = product(np.int32)
    found = parpy.explain(nest.function, *nest.copies().values(), opts=CPU)
    assert found.opts.restructure
    assert "restructure=True" in str(found)
    again = parpy.explain(nest.function, *nest.copies().values(), opts=found.opts)
    assert again.mapping == found.mapping
    assert [loop["level"] for loop in again.facts["loops"]] == [loop["level"] for loop in found.facts["loops"]]
    nest.check(found.opts)
    by_hand = parpy.par(found.mapping, backend=parpy.CompileBackend.Cpu)
    assert order(nest, by_hand) == ["L0", "L1", "L2"]
    assert not parpy.explain(nest.function, *nest.copies().values(), opts=by_hand).opts.restructure
