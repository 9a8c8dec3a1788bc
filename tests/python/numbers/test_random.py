"""Random numbers in compiled code: the generator's published vectors, the meaning of a program's draws, and equality on
every back end and mapping. Seeds are fixed, so no test fails by chance; the bounds are of four standard deviations."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, options, run
from draws import N, are_uncorrelated, filled, generator, is_likely
from parpy.library import random as library

CPU = parpy.CompileBackend.Cpu


def verdict(function, *arguments):
    """The verdict of the first loop, in automatic mode."""
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
        np.testing.assert_allclose(x, y, rtol=1e-14)  # the interpreter's elementary functions are its own compiler's
    else:
        of_each_kind(y, generator(), opts=options(backend))
        assert np.array_equal(x, y)


def test_checks_change_no_number():
    x, y = np.zeros(100), np.zeros(100)
    k = np.zeros(100, np.int64)
    mixture(x, k, generator(), opts=parpy.par({"i": parpy.threads(4)}, backend=CPU))
    mixture(y, k, generator(), opts=parpy.par({"i": parpy.threads(4)}, backend=CPU, check="all"))
    assert np.array_equal(x, y)


# ------------------------------------------------------------ the meaning of a program


def test_a_call_takes_a_key_from_its_generator():
    x, y, z = np.zeros(100), np.zeros(100), np.zeros(100)
    rng = generator()
    filled(x, rng)
    filled(y, rng)
    filled(z, generator())
    assert np.array_equal(x, z) and not np.isin(x, y).any()
    other = generator()
    other.bytes(16)
    assert rng.bytes(8) == other.bytes(8)  # the call advances it by 64 bits
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
    assert with_own_seed(17) != x[17]  # called by Python, NumPy's generator gives the key
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


def sizes(rng, n, m):
    x = np.zeros((n, m))
    p = np.array([0.25, 0.0, 0.75])
    a, b = rng.choice(np.array([-1, 1]), size=(n, m)), rng.choice([2.0, 3.0], size=x.shape)
    c, d = rng.choice(3, (n, m, 2)), rng.choice(3, size=x.shape, p=p)
    e, f = rng.choice(np.array([1.0, 2.0, 3.0]), size=(n, m), p=p), rng.integers(0, 2, size=x.shape)
    g, h = rng.integers(1, 3, (n, m), endpoint=True), rng.normal(1.0, 2.0, size=(n, m))
    total = 0.0
    for _ in range(n):
        total += np.abs(rng.choice(np.array([-1, 1]), size=(n, m))).sum()
    return a, b, c, d, e, f, g, h, rng.uniform(0, 5, size=[n, m]), total


@pytest.mark.parametrize("backend", TARGETS)
def test_sizes(backend):
    ours = parpy.jit(sizes)(generator(), 300, 40, opts=options(backend, {}))
    numpys = sizes(generator(), 300, 40)
    assert ours[-1] == numpys[-1]
    for got, want in zip(ours[:-1], numpys[:-1], strict=True):
        assert got.shape == want.shape and got.dtype == want.dtype
        assert abs(got.mean() - want.mean()) < 4 * want.std() * math.sqrt(2 / want.size)
        if np.unique(want).size < 9:
            assert (np.unique(got) == np.unique(want)).all()


def test_nothing_is_chosen_of_an_empty_array():
    def chosen(rng, a, n):
        return rng.choice(a, size=(n, 2))

    with pytest.raises(ValueError, match="a cannot be empty"):
        parpy.jit(chosen)(generator(), np.zeros(0), 3)
    assert parpy.jit(chosen)(generator(), np.zeros(0), 0).shape == (0, 2)


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


# ------------------------------------------------------------ refusals


def test_what_is_no_generator_is_refused():
    for given in (3, None, 1j, np.zeros(2)):
        with pytest.raises(TypeError, match="a generator of random numbers is needed"):
            filled(np.zeros(3), given)
    with pytest.raises(AttributeError, match="'str' object has no attribute 'random'"):  # Python's own
        filled(np.zeros(3), "seed")


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
