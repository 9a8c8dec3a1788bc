"""Random numbers in compiled code are distributed as documented, and independent. Seeds are fixed, so no test fails by
chance; the bounds are of four standard deviations."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

import parpy
from draws import N, are_uncorrelated, filled, generator, is_likely

CPU = parpy.CompileBackend.Cpu


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
