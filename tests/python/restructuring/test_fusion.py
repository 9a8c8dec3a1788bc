"""Neighbouring nests that become one (fuse-loops): results stay the same bit for bit."""

from __future__ import annotations

import random

import numpy as np
import pytest

import parpy
from nests import Nest

CPU = parpy.auto(backend=parpy.CompileBackend.Cpu)
SIM = parpy.auto(backend=parpy.CompileBackend.Sim)


def count(nest: Nest, opts: parpy.CompileOptions) -> int:
    """The number of loops."""
    return len(parpy.explain(nest.function, *nest.copies().values(), opts=opts).facts["loops"])


def random_neighbours(seed: int) -> Nest:
    """Two to four loops or nests that mostly run over the same elements of three arrays."""
    rng = random.Random(seed)
    depth = rng.choice([1, 1, 2])
    bounds = [rng.choice(["2, 8", "7, 1, -1", "2, 8, 2"]) for _ in range(depth)]
    lines = []
    for _ in range(rng.randint(2, 4)):
        if rng.random() < 0.2:
            lines.append("t = 1")
        names = rng.sample("ijkl", depth)
        for level, name in enumerate(names):
            other = "3, 7" if rng.random() < 0.1 else bounds[level]
            lines.append("    " * level + f"for {name} in range({other}):")
        pad = "    " * depth

        def element(array: str, near: float, names: list[str] = names) -> str:
            offsets = [rng.choice([" + 1", " - 1"]) if rng.random() < near else "" for _ in names]
            row = [f"{name}{offset}" for name, offset in zip(names, offsets, strict=True)]
            return f"{array}[{', '.join(row if depth == 2 else ['3', *row])}]"

        for _ in range(rng.randint(1, 2)):
            source = f"{element(rng.choice('xyz'), 0.25)} {rng.choice('+-')} {element(rng.choice('xyz'), 0.25)}"
            if rng.random() < 0.3:
                lines.append(f"{pad}t = {source}")
                source = f"t * {names[0]}"
            if rng.random() < 0.2:
                lines.append(f"{pad}if {names[0]} != 4:")
                lines.append(f"{pad}    {element(rng.choice('yz'), 0.1)} = {source}")
            else:
                lines.append(f"{pad}{element(rng.choice('yz'), 0.1)} {rng.choice(['=', '=', '+='])} {source}")
    values = np.random.default_rng(seed).integers(-1000, 1000, (3, 10, 10))
    return Nest("\n".join(lines), dict(zip("xyz", (v.copy() for v in values), strict=True)))


@pytest.mark.parametrize("block", range(6))
def test_random_neighbours_keep_every_result(block):
    fused = 0
    for seed in range(40 * block, 40 * block + 40):
        nest = random_neighbours(seed)
        nest.check(CPU)
        fused += count(nest, CPU) < nest.body.count("for ")
    assert fused > 8


@pytest.mark.parametrize("block", range(3))
def test_random_neighbours_keep_every_result_on_the_gpu(block):
    fused = 0
    for seed in range(1000 + 15 * block, 1015 + 15 * block):
        nest = random_neighbours(seed)
        nest.check(SIM)
        fused += count(nest, SIM) < nest.body.count("for ")
    assert fused > 2


CHAIN = """
    for i in range(x.shape[0]):
        y[i] = 2 * x[i]
    s = 0.0
    for j in range(x.shape[0]):
        z[j] = y[j] + x[j]
    for k in range(x.shape[0]):
        s += z[k]
    y[0] = s
"""


def chain(n: int = 500) -> Nest:
    return Nest(CHAIN, {"x": np.arange(float(n)), "y": np.zeros(n), "z": np.zeros(n)})


SKIPPING = """
    for i in range(x.shape[0]):
        if x[i] > 100:
            continue
        y[i] = 2 * x[i]
    for j in range(x.shape[0]):
        z[j] = y[j] + x[j]
"""


@pytest.mark.parametrize("opts", [CPU, SIM], ids=["cpu", "sim"])
def test_what_one_loop_skips_the_other_does_not(opts):
    nest = Nest(SKIPPING, dict(chain().arguments))
    assert count(nest, opts) == 2
    nest.check(opts)
    text = SKIPPING.replace("continue", "y[i] = 0")
    turned = Nest(text.replace("z[j] =", "if x[j] > 7:\n            continue\n        z[j] ="), dict(chain().arguments))
    assert count(turned, opts) == 1
    turned.check(opts)


@pytest.mark.parametrize("n", [1, 2, 500])
@pytest.mark.parametrize("opts", [CPU, SIM], ids=["cpu", "sim"])
def test_a_chain_is_one_loop(opts, n):
    nest = chain(n)
    assert count(nest, opts) == 1
    nest.check(opts)


def test_overlapping_arguments_are_not_fused():
    memory = np.arange(64.0)
    nest = Nest(CHAIN, {"x": memory[:20], "y": memory[30:50], "z": memory[29:49]})
    assert count(nest, CPU) > 1
    nest.check(CPU)


LARGEST = """
    for i in range(x.shape[0]):
        y[i] = x[i] * 2
    for j in range(x.shape[0]):
        z[j] = max(y[j], x[j])
    m = -1.0
    for k in range(x.shape[0]):
        if z[k] > m:
            m = z[k]
    w[0] = m
"""


@pytest.mark.parametrize("n", [0, 1, 7, 300])
@pytest.mark.parametrize("opts", [CPU, SIM], ids=["cpu", "sim"])
def test_edge_values_and_strides(opts, n):
    holes = np.where(np.arange(2 * n) % 3 == 0, np.nan, np.arange(2.0 * n))[1::2]
    for x in (holes, np.arange(2.0 * n)[::-2], np.full(n, -np.inf), np.full(n, -0.0)):
        y, z = np.zeros(3 * n)[::3], np.zeros(2 * n)[::-2]
        Nest(LARGEST, {"x": x, "y": y, "z": z, "w": np.zeros(1)}).check(opts)
    one = np.arange(float(n))
    Nest(LARGEST, {"x": one, "y": one, "z": one, "w": np.zeros(1)}).check(opts)


def test_what_is_explained_can_be_asked_for():
    nest = chain()
    found = parpy.explain(nest.function, *nest.copies().values(), opts=CPU)
    assert found.opts.restructure and "restructure=True" in str(found)
    again = parpy.explain(nest.function, *nest.copies().values(), opts=found.opts)
    assert again.mapping == found.mapping
    nest.check(found.opts)
    assert count(nest, parpy.par(found.mapping, backend=parpy.CompileBackend.Cpu)) == 3


def test_a_mapping_by_hand_keeps_the_loops_that_it_names():
    @parpy.jit
    def f(x, y, z):
        parpy.label("a")
        for i in range(x.shape[0]):
            y[i] = 2 * x[i]
        parpy.label("b")
        for j in range(x.shape[0]):
            z[j] = y[j] + x[j]

    arguments = [np.arange(100.0), np.zeros(100), np.zeros(100)]
    for mapping, loops in (({"a": parpy.threads(64)}, 1), ({"a": parpy.threads(64), "b": parpy.threads(32)}, 2)):
        opts = parpy.CompileOptions(parallelize=mapping, restructure=True, backend=parpy.CompileBackend.Cpu)
        assert len(parpy.explain(f, *arguments, opts=opts).facts["loops"]) == loops
        f(*arguments, opts=opts)
        np.testing.assert_array_equal(arguments[2], np.arange(100.0) * 3)


@parpy.jit
def shares(x, y):
    """Each row of `y` is that of `x` divided by its sum, after the largest element is taken off."""
    top = np.max(x, axis=-1, keepdims=True)
    rest = np.exp(x - top)
    total = np.sum(rest, axis=-1, keepdims=True)
    y[:] = rest / total


@parpy.jit
def returned_shares(x):
    top = np.max(x, axis=-1, keepdims=True)
    rest = x - top
    return rest - np.min(rest, axis=-1, keepdims=True)


def outer_loops(function, *arguments) -> int:
    facts = parpy.explain(function, *arguments, opts=CPU).facts
    return sum(loop["depth"] == 0 for loop in facts["loops"])


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(700, 400), (9, 60, 700)])
def test_rows_of_large_arrays_stay_in_the_cache(kind, shape):
    x = np.random.default_rng(6).standard_normal(shape).astype(kind)
    assert outer_loops(shares, x, x.copy()) == outer_loops(returned_shares, x) == 1
    x[1, 3], x[2, 0], x[3, 1], x[4], x[5] = np.nan, np.inf, -np.inf, -np.inf, -0.0
    for view in (x, x[::-1], x[..., ::-1], np.asfortranarray(x)):
        y, want = np.zeros_like(x), np.zeros_like(x)
        with np.errstate(invalid="ignore"):
            shares(view, want, seq=True)
            expected = returned_shares(view, seq=True)
        shares(view, y, opts=CPU)
        np.testing.assert_allclose(y, want, rtol=1e-5)
        np.testing.assert_array_equal(returned_shares(view, opts=CPU), expected)


def test_rows_that_others_follow_stay_apart():
    x = np.random.default_rng(7).integers(-9, 9, (600, 500))

    @parpy.jit
    def f(x, s):
        for i in range(x.shape[0] - 1):
            for j in range(x.shape[1]):
                x[i, j] = x[i, j] * 3 + i
        for i in range(x.shape[0] - 1):
            for j in range(x.shape[1]):
                s[i] += x[i + 1, j]
            s[i] *= 2

    found, want = (x.copy(), np.zeros(600, int)), (x.copy(), np.zeros(600, int))
    f(*found, opts=CPU)
    f(*want, seq=True)
    for a, b in zip(found, want, strict=True):
        np.testing.assert_array_equal(a, b)
    memory = x.reshape(-1)
    shifted = memory[:-500].reshape(-1, 500), memory[500:].reshape(-1, 500)

    @parpy.jit
    def g(x, y, s):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                x[i, j] = x[i, j] * 3 + i
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                s[i] += y[i, j]
            s[i] *= 2

    before = x.copy()
    got, expected = np.zeros(599, int), np.zeros(599, int)
    g(*shifted, got, opts=CPU)
    after = x.copy()
    x[:] = before
    g(*shifted, expected, seq=True)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(after, x)


def softmax(x, y):
    most = np.max(x, axis=1, keepdims=True)
    weights = np.exp(x - most)
    y[:] = weights / np.sum(weights, axis=1, keepdims=True)


FORMS = {
    "two arrays": lambda a: (a[:, :300], np.zeros((1024, 300), np.float32)),
    "steps": lambda a: (a[::-1, ::2], np.zeros((1024, 300), np.float32)),
    "in place": lambda a: (a[:, :300], a[:, :300]),
    "overlap": lambda a: (a[:, :300], a[:, 1:301]),
}


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_a_large_array_follow_each_other(form):
    """From 1 MB on, nests over rows are one loop on a GPU, with NaN and infinities in some rows."""
    base = np.random.default_rng(2).random((1024, 600)).astype(np.float32)
    base[3, 6], base[7, 8], base[8, 2] = np.nan, np.inf, -np.inf
    x, want = FORMS[form](base.copy())
    with np.errstate(all="ignore"):
        softmax(x.copy(), want)
    x, got = FORMS[form](base.copy())
    parpy.jit(softmax)(x, got, opts=SIM)
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_rows_of_a_large_array_are_one_kernel():
    x, y = np.ones((2, 1024, 300), np.float32)
    found = str(parpy.explain(parpy.jit(softmax), x, y, opts=parpy.auto(backend=parpy.CompileBackend.Cuda)))
    assert sum(line.startswith("kernel") for line in found.splitlines()) == 1
