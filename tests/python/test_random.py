"""Random numbers in compiled code: the generator's published vectors, what a program's draws are, the same numbers on
every back end and mapping, and statistics. Seeds are fixed, so no test fails by chance; the bounds are of four standard
deviations."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

import parpy
from backends import BACKENDS, run
from parpy.library import random as library

CPU = parpy.CompileBackend.Cpu
N = 40_000


def generator(seed=1):
    return np.random.default_rng(seed)


def is_likely(counts, probabilities=None):
    """Chi-square: whether counts are those of categories with these probabilities, else of like ones."""
    counts = np.asarray(counts, float).ravel()
    expected = counts.sum() * (np.full(counts.size, 1 / counts.size) if probabilities is None else probabilities)
    found = ((counts - expected) ** 2 / expected).sum()
    free = counts.size - 1
    return abs(found - free) < 4 * math.sqrt(2 * free)


def are_uncorrelated(a, b):
    return abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 4 / math.sqrt(a.size)


def verdict(function, *arguments):
    """Of the first loop, in automatic mode."""
    return parpy.explain(function, *arguments, opts=parpy.auto(backend=CPU)).facts["loops"][0]["verdict"]


# ------------------------------------------------------------ the generator


@parpy.jit
def philox_words(out, key, index, number):
    parpy.label("i")
    for i in range(out.shape[0]):
        out[i, 0] = library.philox(key[i], index[i], number[i], np.uint64(0))
        out[i, 1] = library.philox(key[i], index[i], number[i], np.uint64(1))


@pytest.mark.parametrize("backend", BACKENDS)
def test_philox_gives_the_published_words(backend):
    ones = 2**64 - 1
    pi = (0x299F31D0A4093822, 0x0370734413198A2E, 0x85A308D3243F6A88)  # the digits: key, upper and lower counter
    key, index, number = (np.array(each, np.uint64) for each in zip((0, 0, 0), (ones, ones, ones), pi, strict=True))
    out = np.zeros((3, 2), np.uint64)
    run(backend, philox_words, (out, key, index, number), {"i": 8})
    words = [[f"{int(half) >> shift & 0xFFFFFFFF:08x}" for half in row for shift in (0, 32)] for row in out]
    assert words == [
        ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"],
        ["408f276d", "41c83b0e", "a20bc7c6", "6d5451fd"],
        ["d16cfe09", "94fdcceb", "5001e420", "24126ea1"],
    ]


@parpy.jit
def quantiles(x, p):
    for i in range(x.shape[0]):
        q = p[i] - 0.5
        if np.abs(q) <= 0.425:
            x[i] = library.quantile_of_middle(q)
        else:
            x[i] = np.copysign(library.quantile_of_tail(0.5 - np.abs(q)), q)


def test_the_inverse_of_the_normal_distribution():
    p = np.concatenate((np.linspace(0, 1, 5001)[1:-1], 2.0 ** -np.arange(2, 55)))
    x = np.zeros(p.size)
    quantiles(x, p)
    np.testing.assert_allclose(x, [NormalDist().inv_cdf(each) for each in p], rtol=1e-14, atol=1e-15)


# ------------------------------------------------------------ the same on every back end and mapping


@parpy.jit
def estimate(n, rng):
    inside = 0
    for i in range(n):
        x = rng.random()
        y = rng.random()
        inside += x * x + y * y < 1
    return inside


def test_pi_is_estimated_in_parallel():
    assert verdict(estimate, N, generator()) == "reduction"
    counts = {estimate(N, generator(), opts=parpy.auto(backend=CPU)) for _ in range(2)}
    assert abs(counts.pop() / N * 4 - math.pi) < 4 * 1.65 / math.sqrt(N) and not counts


@parpy.jit
def counted(out, rng):
    parpy.label("i")
    for i in range(out.shape[0]):
        x = rng.random()
        y = rng.random()
        out[0] += x * x + y * y < 1


@parpy.jit
def mixture(x, k, rng):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i] = rng.uniform(-1.0, 2.0)
        if x[i] < 0:
            x[i] += rng.random()
        s = 0.0
        for j in range(3):
            s += rng.random() * (j + 1)
        n = 0
        while rng.random() > 0.3:
            n += 1
        x[i] += s
        k[i] = rng.integers(-5, 6) * 100 + n


MAPPINGS = ({}, {"i": 1}, {"i": 2}, {"i": 7}, {"i": 64}, {"i": parpy.threads(64).tpb(32)})


@pytest.mark.parametrize("backend", BACKENDS)
def test_numbers_do_not_depend_on_back_end_and_mapping(backend):
    wanted_x, wanted_k = np.zeros(150), np.zeros(150, np.int64)
    mixture(wanted_x, wanted_k, generator(), opts=parpy.par({}, backend=CPU))
    assert len(np.unique(wanted_x)) == 150 and len(np.unique(wanted_k)) > 30
    inside = np.zeros(200)
    counted(inside, generator(), opts=parpy.par({}, backend=CPU))
    assert 140 < inside[0] < 175
    for mapping in MAPPINGS:
        x, k = np.zeros(150), np.zeros(150, np.int64)
        run(backend, mixture, (x, k, generator()), mapping)
        assert np.array_equal(x, wanted_x) and np.array_equal(k, wanted_k)
        out = np.zeros(200)
        loops = {label: parpy.threads(n if isinstance(n, int) else 64).reduce() for label, n in mapping.items()}
        if loops or backend != "sim":
            run(backend, counted, (out, generator()), loops)
            assert out[0] == inside[0]


def test_two_threads_give_what_one_gives(monkeypatch):
    x, y = np.zeros(5000), np.zeros(5000)
    k, m = np.zeros(5000, np.int64), np.zeros(5000, np.int64)
    mixture(x, k, generator(5), opts=parpy.par({"i": parpy.threads(1)}, backend=CPU))
    mixture(y, m, generator(5), opts=parpy.par({"i": parpy.threads(2)}, backend=CPU))
    assert np.array_equal(x, y) and np.array_equal(k, m)


@parpy.jit
def of_each_kind(x, rng):
    parpy.label("i")
    for i in range(x.shape[0]):
        x[i, 0] = rng.normal(1.0, 2.0)
        x[i, 1] = rng.exponential(3.0)
        x[i, 2] = rng.standard_normal()


@pytest.mark.parametrize("backend", BACKENDS)
def test_deterministic_normal_and_exponential_numbers_have_the_same_bits(backend):
    def options(name):
        return parpy.CompileOptions(
            parallelize={"i": parpy.threads(32)}, backend=parpy.CompileBackend(name), deterministic=True
        )

    x, y = np.zeros((500, 3)), np.zeros((500, 3))
    of_each_kind(x, generator(), opts=options("cpu"))
    if backend == "eval":
        parpy.calls.jit.interpret(of_each_kind, (y, generator()), options("cpu"))
        np.testing.assert_allclose(x, y, rtol=1e-14)  # it has the elementary functions of its compiler
    else:
        of_each_kind(y, generator(), opts=options(backend))
        assert np.array_equal(x, y)


def test_checks_change_no_number():
    x, y = np.zeros(100), np.zeros(100)
    k = np.zeros(100, np.int64)
    mixture(x, k, generator(), opts=parpy.par({"i": parpy.threads(4)}, backend=CPU))
    mixture(y, k, generator(), opts=parpy.par({"i": parpy.threads(4)}, backend=CPU, check="all"))
    assert np.array_equal(x, y)


# ------------------------------------------------------------ what a program means


@parpy.jit
def filled(x, rng):
    for i in range(x.shape[0]):
        x[i] = rng.random()


def test_a_call_takes_a_key_from_its_generator():
    x, y, z = np.zeros(100), np.zeros(100), np.zeros(100)
    rng = generator()
    filled(x, rng)
    filled(y, rng)
    filled(z, generator())
    assert np.array_equal(x, z) and not np.isin(x, y).any()
    other = generator()
    other.bytes(16)
    assert rng.bytes(8) == other.bytes(8)  # which moves it on by 64 bits
    filled(x, np.random.RandomState(3))
    filled(y, np.random.RandomState(3))
    assert np.array_equal(x, y)


def test_sequential_calls_are_those_of_numpy():
    x = np.zeros(10)
    filled(x, generator(), seq=True)
    assert np.array_equal(x, generator().random(10))


@parpy.jit
def by_global_state(x):
    for i in range(x.shape[0]):
        x[i] = np.random.random()


@parpy.jit
def seeded(n):
    np.random.seed(n)
    x = np.random.rand(5)
    y = np.random.randn(3, 2)
    return x, y


def test_functions_of_numpy_random_take_the_key_from_the_global_state():
    x, y, z = np.zeros(50), np.zeros(50), np.zeros(50)
    np.random.seed(8)
    by_global_state(x)
    by_global_state(y)
    np.random.seed(8)
    by_global_state(z)
    assert np.array_equal(x, z) and not np.isin(x, y).any()
    first, second = seeded(3), seeded(3)
    assert all(map(np.array_equal, first, second)) and first[1].shape == (3, 2)
    assert not np.array_equal(first[0], seeded(4)[0])


module_generator = generator(77)


@parpy.jit
def one_of_module():
    return module_generator.random() + np.random.uniform(10, 11)


@parpy.jit
def calls_it(x):
    for i in range(x.shape[0]):
        x[i] = one_of_module() + one_of_module()


def test_generators_outside_are_passed_to_the_functions_that_draw(monkeypatch):
    def call():
        np.random.seed(1)
        monkeypatch.setitem(globals(), "module_generator", generator(77))
        x = np.zeros(N)
        calls_it(x)
        return x

    x = call()
    assert np.array_equal(x, call()) and len(np.unique(x)) == N
    assert abs(x.mean() - 22) < 4 * math.sqrt(4 / 12 / N)
    assert are_uncorrelated(x[1:], x[:-1])


@parpy.jit
def steps(rng, count):
    place = 0
    for t in range(count):
        place += 2 * rng.integers(0, 2) - 1
    return place


@parpy.jit
def walks(out, rng):
    for i in range(out.shape[0]):
        out[i] = steps(rng, 64) + steps(rng, 36)


def test_called_functions_draw_their_own_numbers():
    out = np.zeros(N, np.int64)
    walks(out, generator())
    assert verdict(walks, out, generator()) == "proved"
    assert abs(out.mean()) < 4 * 10 / math.sqrt(N) and abs(out.var() - 100) < 4 * 100 * math.sqrt(2 / N)


@parpy.jit
def with_own_seed(i):
    rng = np.random.default_rng(i)
    return rng.random()


@parpy.jit
def by_own_seeds(x, y):
    for i in range(x.shape[0]):
        rng = np.random.default_rng(i)
        x[i] = rng.random()
        y[i] = with_own_seed(i)


def test_generators_made_in_loops_have_the_numbers_of_their_seed():
    x, y = np.zeros(N), np.zeros(N)
    by_own_seeds(x, y)
    assert np.array_equal(x, y) and len(np.unique(x)) == N
    assert is_likely(np.histogram(x, 50, (0, 1))[0]) and are_uncorrelated(x[1:], x[:-1])
    assert with_own_seed(17) != x[17]  # called by Python it is NumPy's generator that gives the key
    assert verdict(by_own_seeds, x, y) == "proved"
    with pytest.raises(ValueError, match="non-negative"):
        negative(np.zeros(3))


@parpy.jit
def negative(x):
    for i in range(x.shape[0]):
        rng = np.random.default_rng(i - 1)
        x[i] = rng.random()


@parpy.jit
def made_outside(n, seed):
    rng = np.random.default_rng(seed)
    x = np.empty(n)
    for i in range(n):
        x[i] = rng.random()
    y = np.empty(n)
    for i in range(n):
        y[i] = rng.random()
    return x, y


seen: list[int] = []


@parpy.callback
def note(t):
    seen.append(t)


@parpy.jit
def with_callbacks(x):
    for t in range(x.shape[0]):
        rng = np.random.default_rng(t)
        note(t)
        for j in range(x.shape[1]):
            x[t, j] = rng.random()


def test_generators_made_by_the_function_itself():
    x, y = made_outside(1000, 4)
    again = made_outside(1000, 4)
    assert np.array_equal(x, again[0]) and np.array_equal(y, again[1])
    assert not np.isin(x, y).any() and not np.isin(x, made_outside(1000, 5)[0]).any()
    z, w = np.zeros((3, 4)), np.zeros((3, 4))
    with_callbacks(z)
    with_callbacks(w)
    assert np.array_equal(z, w) and len(np.unique(z)) == 12 and seen == [0, 1, 2] * 2


@parpy.jit
def of_sequences(x, y, rng):
    for i, (u, v) in enumerate(zip(x, y, strict=False)):
        x[i] = v * 0 + rng.random()
    for k in range(y.shape[0] - 1, -1, -2):
        y[k] = rng.random() if rng.random() < 0.5 else -rng.random()


def test_other_loops_and_choices():
    x, y = np.zeros(2000), np.zeros(2000)
    of_sequences(x, y, generator())
    assert len(np.unique(x)) == 2000 and len(np.unique(y)) == 1001 and (y[::2] == 0).all()
    assert abs((y > 0).mean() - 0.25) < 0.03 and not np.isin(x, np.abs(y)).any()


@parpy.jit
def tree(rng, depth):
    if depth == 0:
        return rng.random()
    return tree(rng, depth - 1) + tree(rng, depth - 1)


@parpy.jit
def noise(n, rng):
    return rng.random(n)


@parpy.jit
def elsewhere(x, h, *, rng):
    count = 0
    for i in range(rng.integers(5, 10)):
        count += 1
    if (rng.random() < 0.5 and rng.random() < 0.5) or rng.random() < 0.1:
        count += 100
    for i in range(x.shape[0]):
        h[rng.integers(0, h.shape[0])] += 1
        t = noise(3, rng)
        x[i] = t[0] + t[1] + t[2] - rng.random(size=2).sum()
    return count


def test_draws_in_every_kind_of_place():
    x, h = np.zeros(5000), np.zeros(10)
    counts = [elsewhere(x, h, rng=generator(s)) for s in range(200)]
    assert {each % 100 for each in counts} == set(range(5, 10))
    assert abs(np.mean(np.array(counts) > 99) - 0.325) < 4 * math.sqrt(0.325 * 0.675 / 200)
    assert is_likely(h) and len(np.unique(x)) == 5000 and abs(x.mean() - 0.5) < 4 * math.sqrt(5 / 12 / 5000)
    sums = np.array([tree(generator(s), 8) for s in range(100)])
    assert abs(sums.mean() - 128) < 4 * math.sqrt(256 / 12 / 100) and 2 < sums.std() < 7


def polar(rng):
    u, v, s = 0.0, 0.0, 2.0
    while s >= 1 or s == 0:
        u = rng.uniform(-1, 1)
        v = rng.uniform(-1, 1)
        s = u * u + v * v
    m = math.sqrt(-2 * math.log(s) / s)
    return u * m, v * m


def shift():
    return np.random.uniform(2.0, 3.0), np.random.random()


@parpy.jit
def of_plain_functions(x, rng):
    for i in range(x.shape[0]):
        a, b = polar(rng)
        c, d = shift()
        x[i, 0] = a
        x[i, 1] = b
        x[i, 2] = c
        x[i, 3] = d


def test_plain_functions_and_those_with_several_results():
    x, y = np.zeros((N, 4)), np.zeros((N, 4))
    for each in (x, y):
        np.random.seed(6)
        of_plain_functions(each, generator())
    assert np.array_equal(x, y) and len(np.unique(x)) == 4 * N
    assert verdict(of_plain_functions, x, generator()) == "proved"
    uniform = np.stack([*np.vectorize(NormalDist().cdf)(x[:, :2].T), x[:, 2] - 2, x[:, 3]])
    for a in range(4):
        assert is_likely(np.histogram(uniform[a], 100, (0, 1))[0])
        assert all(are_uncorrelated(uniform[a], uniform[b]) for b in range(a))


def one_normal(rng):
    return rng.normal()


@parpy.jit
def each_by(draw, rng, x):
    for i in range(x.shape[0]):
        x[i] = draw(rng)


@parpy.jit
def hands_on(x, rng):
    each_by(one_normal, rng, x)


@parpy.jit
def with_or_without(x, rng=None):
    for i in range(x.shape[0]):
        if rng is None:
            x[i] = -1.0
        else:
            x[i] = rng.random()


def test_functions_as_arguments_and_absent_generators():
    x = np.zeros(100)
    for call in (
        lambda: each_by(one_normal, generator(), x),
        lambda: each_by(lambda rng: rng.random(), generator(), x),
        lambda: hands_on(x, generator()),
        lambda: with_or_without(x, generator()),
    ):
        call()
        assert len(np.unique(x)) == 100
    with_or_without(x)
    assert (x == -1).all()


@parpy.jit
def by_branches(x, n):
    rng = np.random.default_rng(n) if n > 3 else np.random.RandomState(n)
    if n == 2:
        rng = np.random.default_rng(20)
    for i in range(x.shape[0]):
        x[i] = rng.random()


def test_generators_of_branches():
    found = []
    for n in (2, 3, 4, 2):
        found.append(np.zeros(50))
        by_branches(found[-1], n)
    assert np.array_equal(found[0], found[3]) and len(np.unique(found[:3])) == 150


def test_printed_text_takes_a_generator():
    x, y = np.zeros(20), np.zeros(20)
    text = parpy.print_compiled(filled, (x, generator()), parpy.auto(backend=CPU))
    parpy.compile_string("filled", text)(x, generator())
    filled(y, generator())
    assert np.array_equal(x, y)
    text = parpy.print_compiled(by_global_state, (x,), parpy.auto(backend=CPU))
    with pytest.raises(parpy.CompileError, match="make it a parameter"):
        parpy.compile_string("by_global_state", text)


def test_a_closure_draws_from_its_generator():
    own = generator(3)

    @parpy.jit
    def local(x):
        for i in range(x.shape[0]):
            x[i] = own.random()

    x, y = np.zeros(100), np.zeros(100)
    local(x)
    own = generator(3)
    local(y)
    assert np.array_equal(x, y) and len(np.unique(x)) == 100


# ------------------------------------------------------------ statistics


@parpy.jit
def sites(x, rng):
    for i in range(x.shape[0]):
        x[i, 0] = rng.random()
        x[i, 1] = rng.random()
        for j in range(2):
            x[i, 2 + j] = rng.random()
        x[i, 4] = rng.random()


def test_sites_iterations_and_calls_are_independent():
    x, y = np.zeros((N, 5)), np.zeros((N, 5))
    rng = generator()
    sites(x, rng)
    sites(y, rng)
    for a in range(5):
        assert is_likely(np.histogram(x[:, a], 100, (0, 1))[0])
        assert are_uncorrelated(x[1:, a], x[:-1, a]) and are_uncorrelated(x[:, a], y[:, a])
        for b in range(a):
            assert are_uncorrelated(x[:, a], x[:, b])
            assert is_likely(np.histogram2d(x[:, a], x[:, b], 10, [(0, 1), (0, 1)])[0])
    keys = np.zeros((200, 5))
    for seed in range(200):
        sites(keys[seed : seed + 1], generator(seed))
    assert len(np.unique(keys)) == 1000


def test_every_bit_of_a_uniform_number_is_fair():
    x = np.zeros(N)
    filled(x, generator(2))
    words = (x * 2.0**53).astype(np.uint64)
    for bit in range(53):
        ones = int((words >> np.uint64(bit) & np.uint64(1)).sum())
        assert abs(ones - N / 2) < 4.5 * math.sqrt(N / 4)


@parpy.jit
def standard(x, rng):
    for i in range(x.shape[0]):
        x[i, 0] = rng.standard_normal()
        x[i, 1] = rng.standard_exponential()
    x[:, 2] = rng.standard_normal(x.shape[0])
    x[:, 3] = rng.standard_exponential(size=x.shape[0])
    x[:, 4] = rng.normal(3, 2, x.shape[0])
    x[:, 5] = rng.exponential(0.5, (x.shape[0],))
    x[:, 6] = rng.uniform(-2, 5, x.shape[0])
    x[:, 7] = rng.random(x.shape[0])


def test_distributions():
    x = np.zeros((N + 1, 8))
    standard(x, generator())
    normal = np.vectorize(NormalDist().cdf)
    uniform = np.stack([
        normal(x[:, 0]), 1 - np.exp(-x[:, 1]), normal(x[:, 2]), 1 - np.exp(-x[:, 3]), normal((x[:, 4] - 3) / 2),
        1 - np.exp(-x[:, 5] * 2), (x[:, 6] + 2) / 7, x[:, 7],
    ])  # fmt: skip
    for k, each in enumerate(uniform):
        assert is_likely(np.histogram(each, 100, (0, 1))[0]), k
        steps = np.arange(1, N + 2) / (N + 1)
        assert np.abs(np.sort(each) - steps).max() < 1.95 / math.sqrt(N)  # Kolmogorov and Smirnov
        assert are_uncorrelated(each[1:], each[:-1])
    for a in range(8):
        assert all(are_uncorrelated(uniform[a], uniform[b]) for b in range(a))
    for column in (0, 2):
        z = x[:, column]
        for power, (moment, variance) in {1: (0, 1), 2: (1, 2), 3: (0, 15), 4: (3, 96)}.items():
            assert abs((z**power).mean() - moment) < 4 * math.sqrt(variance / N)


@parpy.jit
def whole(x, rng):
    for i in range(x.shape[0]):
        x[i, 0] = rng.integers(7)
        x[i, 1] = rng.integers(-3, 4)
        x[i, 2] = rng.integers(-3, 3, endpoint=True)
        x[i, 3] = rng.integers(0, 3 * 2**61)
        x[i, 4] = rng.integers(-(2**63), 2**63 - 1, endpoint=True)
        x[i, 5] = rng.choice(7)
    x[:, 6] = rng.integers(0, 7, x.shape[0])
    x[:, 7] = rng.integers(0, 6, size=x.shape[0], endpoint=True)
    x[:, 8] = rng.choice(7, size=x.shape[0])


def test_integers_are_unbiased():
    x = np.zeros((N, 9), np.int64)
    whole(x, generator())
    for column, low in ((0, 0), (1, -3), (2, -3), (5, 0), (6, 0), (7, 0), (8, 0)):
        assert x[:, column].min() == low and x[:, column].max() == low + 6
        assert is_likely(np.bincount(x[:, column] - low, minlength=7)), column
    # Words that were only scaled would be a third more likely in some parts of a range this large.
    assert x[:, 3].min() >= 0 and is_likely(np.histogram(x[:, 3], 64, (0, 3 * 2.0**61))[0])
    assert is_likely(np.bincount(x[:, 3] % 3)) and is_likely(np.bincount(x[:, 3] % 16))
    assert is_likely(np.histogram(x[:, 4].astype(float), 64, (-(2.0**63), 2.0**63))[0])


@parpy.jit
def too_few(x, low, high, rng):
    for i in range(x.shape[0]):
        x[i] = rng.integers(low, high)


def test_empty_ranges_raise_what_numpy_raises():
    for low, high in ((3, 3), (4, 2)):
        with pytest.raises(ValueError, match="low >= high"):
            generator().integers(low, high)
        with pytest.raises(ValueError, match="low >= high"):
            too_few(np.zeros(5), low, high, generator())
    too_few(np.zeros(0), 3, 3, generator())
    x = np.zeros(5)
    too_few(x, 3, 4, generator())
    assert (x == 3).all()


@parpy.jit
def chosen(x, values, p, rng):
    for i in range(x.shape[0]):
        x[i, 0] = rng.choice(values)
        x[i, 1] = rng.choice(values, p=p)
        x[i, 2] = rng.choice(3, p=p)
    x[:, 3] = rng.choice(values, x.shape[0], p=p)
    x[:, 4] = rng.choice(values, x.shape[0])


def test_choice():
    values, p = np.array([1.0, 4.0, 9.0]), np.array([0.2, 0.5, 0.3])
    x = np.zeros((N, 5))
    chosen(x, values, p, generator())
    for column, weights, among in ((0, None, values), (1, p, values), (2, p, [0, 1, 2]), (3, p, values)):
        found, counts = np.unique(x[:, column], return_counts=True)
        assert list(found) == list(among) and is_likely(counts, weights)
    assert is_likely(np.unique(x[:, 4], return_counts=True)[1])
    with pytest.raises(ValueError, match="do not sum to 1"):
        chosen(x, values, p * 2, generator())


@parpy.jit
def permuted(x, y, rng):
    for i in range(x.shape[0]):
        p = rng.permutation(4)
        for j in range(4):
            x[i, j] = p[j]
    rng.shuffle(y)
    return rng.permutation(y), rng.permutation(10)


def test_permutations_are_equally_likely():
    x, y = np.zeros((24_000, 4), np.int64), np.arange(100.0)
    z, ten = permuted(x, y, generator())
    assert sorted(y) == sorted(z) == list(range(100)) and sorted(ten) == list(range(10))
    assert not np.array_equal(y, z) and not np.array_equal(y, np.arange(100))
    _, counts = np.unique(x @ [1000, 100, 10, 1], return_counts=True)
    assert counts.size == 24 and is_likely(counts)


@parpy.jit
def of_shapes(x, y, z, rng):
    x += rng.normal(size=x.shape)
    y[:] = rng.random((y.shape[0], 3))
    z[:] = rng.random(z.shape)
    return rng.random(0), rng.integers(0, 2, (2, 3, 4))


def test_sizes():
    x, y, z = np.zeros(5), np.zeros((2, 3)), np.zeros((2, 3, 2))
    empty, bits = of_shapes(x, y, z, generator())
    assert empty.shape == (0,) and bits.shape == (2, 3, 4) and set(bits.ravel()) == {0, 1}
    assert len(np.unique(np.concatenate((x, y.ravel(), z.ravel())))) == 5 + 6 + 12


# ------------------------------------------------------------ what is refused


def test_what_is_no_generator_is_refused():
    for given in (3, None, 1j, np.zeros(2), "seed"):
        with pytest.raises(TypeError, match="a generator of random numbers is needed"):
            filled(np.zeros(3), given)


@parpy.jit
def carried(x):
    rng = np.random.default_rng(0)
    parpy.label("i")
    for i in range(x.shape[0]):
        if i % 10 == 0:
            rng = np.random.default_rng(i)
        x[i] = rng.random()


@parpy.jit
def carries(x):
    carried(x)


def test_a_generator_that_iterations_hand_on_is_no_parallel_loop():
    x = np.zeros(100)
    carries(x)
    assert len(np.unique(x)) == 100
    with pytest.raises(parpy.CompileError, match="'rng'"):
        carries(x, opts=parpy.par({"i": parpy.threads(8)}, backend=CPU))
