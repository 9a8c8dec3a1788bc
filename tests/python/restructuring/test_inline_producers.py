"""Arrays whose elements are computed at each use (inline-producers): results stay the same bit for bit."""

from __future__ import annotations

import random

import numpy as np
import pytest

import parpy
from backends import TARGETS
from nests import Nest

CPU = parpy.auto(backend=parpy.CompileBackend.Cpu)
SIM = parpy.auto(backend=parpy.CompileBackend.Sim)


def inlined(function, arguments, opts=CPU):
    return parpy.explain(function, *arguments, opts=opts).facts["inlined"]


def random_chain(seed: int) -> Nest:
    """Local arrays that are computed from arguments and from each other at shifted elements. Some chains store to an
    array from which they are computed before the use."""
    rng = random.Random(seed)
    sources, lines = ["x", "z"], []
    for number in range(rng.randint(1, 4)):
        name = f"t{number}"
        lines.append(f"{name} = np.{rng.choice(['empty', 'empty', 'empty', 'zeros'])}(60)")
        if rng.random() < 0.2:
            lines += [f"for i in range({rng.randint(20, 30)}, 45):", f"    {rng.choice('xz')}[i + 1] += 3"]
        lines.append(f"for i in range({number + 1}, {59 - number}):")
        if rng.random() < 0.3:
            lines += [f"    s = {rng.choice(sources)}[i] - i", f"    {name}[i] = s * s"]
        else:
            terms = [f"{rng.choice(sources)}[i{rng.choice(['', ' + 1', ' - 1'])}]" for _ in range(rng.randint(1, 3))]
            lines.append(f"    {name}[i] = {' - '.join(terms)}")
        if rng.random() < 0.3:
            lines.append(f"    y[i] = {name}[i] + {rng.choice(sources)}[i]")
        sources.append(name)
        if rng.random() < 0.5:
            continue
        lines.append(f"for j in range({rng.randint(8, 12)}, {rng.randint(48, 51)}):")
        use = f"{name}[j + {rng.randint(0, 2)}] - {rng.choice(sources)}[j - {rng.randint(0, 3)}]"
        store = f"{rng.choice('yyx')}[j] {rng.choice(['=', '+='])} {use}"
        lines += ["    if j != 20:", f"        {store}"] if rng.random() < 0.3 else [f"    {store}"]
    lines += ["for j in range(10, 50):", f"    y[j] = y[j] + {sources[-1]}[j] - {sources[-1]}[j + 1]"]
    values = np.random.default_rng(seed).integers(-9, 9, (3, 60)).astype(np.float64)
    return Nest("\n".join(lines), dict(zip("xyz", (v.copy() for v in values), strict=True)))


@pytest.mark.parametrize("block", range(4))
def test_random_chains_keep_every_result(block):
    gone = 0
    for seed in range(20 * block, 20 * block + 20):
        nest = random_chain(seed)
        nest.check(CPU)
        gone += len(inlined(nest.function, tuple(nest.copies().values())))
    assert gone > 9


def test_random_chains_keep_every_result_on_the_gpu():
    gone = 0
    for seed in range(1000, 1012):
        nest = random_chain(seed)
        nest.check(SIM)
        gone += len(inlined(nest.function, tuple(nest.copies().values()), SIM))
    assert gone > 5


@parpy.jit
def limited(x, w, y):
    I, J = y.shape  # noqa: RUF059 - programs unpack what they need next
    t = 4.0 * x[1:-1, 1:-1] - (x[2:, 1:-1] + x[:-2, 1:-1])
    r = t[1:, 1:-1] - t[:-1, 1:-1]
    f = np.where(r * (x[2:-1, 2:-2] - x[1:-2, 2:-2]) > 0, 0, r)
    y[:, :] = x[2:-2, 2:-2] - w[:, :] * (f[1:, :] - f[:-1, :])


def limited_arguments(n=700, m=300):
    rng = np.random.default_rng(3)
    return rng.random((n + 4, m + 4)), rng.random((n, m)), np.zeros((n, m))


@pytest.mark.parametrize("backend", TARGETS)
def test_a_chain_of_statements_over_slices_becomes_one_nest(backend):
    got, want = limited_arguments(), limited_arguments()
    limited(*got, opts=parpy.auto(backend=parpy.CompileBackend(backend)))
    limited(*want, seq=True)
    np.testing.assert_array_equal(got[2], want[2])


def test_explain_lists_the_arrays_that_are_not_stored():
    found = parpy.explain(limited, *limited_arguments(), opts=CPU)
    assert found.facts["inlined"] == ["t", "r", "f"]
    assert "computed where they are used, not stored: t, r, f" in str(found)
    assert [loop["variable"] for loop in found.facts["loops"]] == ["i", "j"]
    assert {array["name"] for array in found.facts["arrays"]} == {"x", "w", "y"}
    again = parpy.explain(limited, *limited_arguments(), opts=found.opts)
    assert again.mapping == found.mapping and again.facts["inlined"] == ["t", "r", "f"]


def test_a_mapping_by_hand_keeps_its_loops():
    by_hand = parpy.explain(limited, *limited_arguments(), opts=parpy.par({"i@77": parpy.threads(32)}))
    assert by_hand.facts["inlined"] == []


def test_cuda_text_has_one_kernel_without_scratch_memory():
    text = parpy.print_compiled(limited, limited_arguments(), parpy.auto(backend=parpy.CompileBackend.Cuda))
    assert text.count("__global__") == 1
    assert "scratch" not in text


def test_a_cheap_array_that_stays_in_caches_may_be_stored():
    """Five error functions of each element take longer than storing and loading a small array in the cache."""

    @parpy.jit
    def weighted(x, y):
        t = np.empty(2000)
        for i in range(2000):
            t[i] = parpy.math.erf(x[i])
        for i in range(1990):
            y[i] = t[i] + t[i + 1] + t[i + 2] + t[i + 3] + t[i + 4]

    assert inlined(weighted, (np.zeros(2000), np.zeros(2000))) == []


def test_elements_that_a_condition_protects_are_not_computed_without_it():
    @parpy.jit
    def padded(x, y):
        t = np.empty(5000)
        for i in range(5000):
            t[i] = 2 * x[i]
        for i in range(5000):
            y[i] = (t[i - 1] if i > 0 else 0.0) + (t[i + 1] if i < 4999 else 0.0)

    x = np.random.default_rng(0).random(5000)
    got, want = np.zeros(5000), np.zeros(5000)
    padded(x, got, opts=CPU)
    padded(x, want, seq=True)
    np.testing.assert_array_equal(got, want)
    assert inlined(padded, (x, got)) == []
